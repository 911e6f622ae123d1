/* SPDX-License-Identifier: MIT */
/*
 * The properties that every QARMA kernel has. The paper's vectors hold for all of them; all else is
 * held against c_ref, which writes the paper's steps down one by one.
 */
#include "check.h"

#include <string.h>

#include "everycore/cpu.h"
#include "everycore/qarma.h"

#include "must.h"
#include "check_abi.h"
#include "check_long.h"
#include "key_room.h"
#include "names.h"
#include "port/port.h"
#include "residue.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

#define MANY 72 /* blocks of one call */

static const struct evc_qarma *kernel_of(const struct check *c)
{
    return evc_qarma_named(c->line->name);
}

static bool is_reference(const struct check *c)
{
    return strcmp(c->line->name, "c_ref") == 0;
}

/* A question; and its answer by c_ref. */
struct question {
    uint64_t w0, k0, block, tweak;
    unsigned sigma, rounds;
};

static uint64_t answer(const struct question *q)
{
    KEY_AT_16(union evc_qarma_key, key);

    must(evc_qarma_set_key(key, evc_qarma_named("c_ref"), q->w0, q->k0, q->sigma, q->rounds));
    return evc_qarma_encrypt(key, q->block, q->tweak);
}

static void set_key(const struct check *c, union evc_qarma_key *key, const struct question *q)
{
    memset(key, 0xaa, sizeof *key);
    must(evc_qarma_set_key(key, kernel_of(c), q->w0, q->k0, q->sigma, q->rounds));
}

/* Arm's two variants every other time. */
static struct question random_question(struct random *r)
{
    const unsigned kind = (unsigned)random_below(r, 4);
    struct question q = {random_next(r), random_next(r), random_next(r), random_next(r), kind, 5};

    if (kind == 1) {
        q.rounds = 3;
    } else if (kind != 2) {
        q.sigma = (unsigned)random_below(r, 3);
        q.rounds = 1 + (unsigned)random_below(r, EVC_QARMA_MAX_ROUNDS);
    }
    return q;
}

/* Encryption is right, and decryption undoes it. */
static enum result agree(struct check *c, const struct question *q, uint64_t expected,
                         const char *what)
{
    KEY_AT_16(union evc_qarma_key, key);
    uint64_t got, back;

    set_key(c, key, q);
    got = evc_qarma_encrypt(key, q->block, q->tweak);
    back = evc_qarma_decrypt(key, expected, q->tweak);
    c->cases += 2;
    if (got != expected || back != q->block)
        return check_fail(
            c,
            "%s, sigma %u, %u rounds: %s of %016llx under %016llx, key %016llx %016llx, is %016llx",
            what, q->sigma, q->rounds, got != expected ? "encryption" : "decryption",
            (unsigned long long)(got != expected ? q->block : expected),
            (unsigned long long)q->tweak, (unsigned long long)q->w0, (unsigned long long)q->k0,
            (unsigned long long)(got != expected ? got : back));
    return PASS;
}

/* ---- The descriptor -------------------------------------------------------------------------- */

static enum result descriptor_agrees_with_its_line(struct check *c)
{
    const struct evc_qarma *qarma = kernel_of(c);
    const struct evc_kernel *k = qarma ? &qarma->kernel : NULL;

    c->cases = 6;
    if (!k)
        return check_fail(c, "evc_qarma_named() does not find it");
    if (strcmp(k->name, c->line->name) != 0)
        return check_fail(c, "its name is %s", k->name);
    if (k->needs != c->line->needs || k->timing != c->line->timing || k->use != c->line->use)
        return check_fail(c, "needs, timing class or use differ from the line of kernels.def");
    if (k->key_bytes < sizeof(struct evc_qarma_head) ||
        k->key_bytes > sizeof(union evc_qarma_key) || k->key_align != 16)
        return check_fail(c, "a key of %u bytes, aligned to %u", (unsigned)k->key_bytes,
                          (unsigned)k->key_align);
    if (k->batch == 0)
        return check_fail(c, "a batch of 0 blocks");
    if (!qarma->set_key || !qarma->encrypt || !qarma->decrypt)
        return check_fail(c, "a mandatory operation is missing");
    return PASS;
}

static enum result variants_that_do_not_exist_are_refused(struct check *c)
{
    KEY_AT_16(union evc_qarma_key, key);

    for (unsigned sigma = 0; sigma < 5; sigma++)
        for (unsigned rounds = 0; rounds < 12; rounds++, c->cases++) {
            const bool exists =
                sigma < 3 && rounds >= EVC_QARMA_MIN_ROUNDS && rounds <= EVC_QARMA_MAX_ROUNDS;
            const enum evc_status said = evc_qarma_set_key(key, kernel_of(c), 1, 2, sigma, rounds);
            if (said != (exists ? EVC_OK : EVC_ERR_PARAMETER))
                return check_fail(c, "sigma %u, %u rounds: %s", sigma, rounds,
                                  evc_status_text(said));
        }
    return PASS;
}

static enum result something_is_always_selected(struct check *c)
{
    const uint64_t all = evc_cpu_features();

    for (unsigned policy = 0; policy < 4; policy++)
        for (int i = 0; i < 2000; i++, c->cases++) {
            const uint64_t some = random_next(&c->random) | random_next(&c->random);
            if (!evc_qarma_select(i ? all & some : 0, policy, EVC_USE_SERIAL) ||
                !evc_qarma_select(i ? all & some : 0, policy, EVC_USE_PARALLEL))
                return check_fail(c, "policy %u: nothing fits", policy);
        }
    return PASS;
}

/* ---- Known answers --------------------------------------------------------------------------- */

/* The answers for the paper's block, tweak and key, with sigma 0, 1 and 2. */
struct answers {
    unsigned rounds;
    uint64_t by_sigma[3];
};

static enum result agree_with(struct check *c, const struct answers *answers, size_t n,
                              const char *what)
{
    for (size_t i = 0; i < 3 * n; i++) {
        const struct question q = {UINT64_C(0x84be85ce9804e94b),
                                   UINT64_C(0xec2802d4e0a488e9),
                                   UINT64_C(0xfb623599da6e8127),
                                   UINT64_C(0x477d469dec0b8762),
                                   (unsigned)(i % 3),
                                   answers[i / 3].rounds};
        if (agree(c, &q, answers[i / 3].by_sigma[i % 3], what) == FAIL)
            return FAIL;
    }
    return PASS;
}

/* Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, the test vectors of QARMA-64. */
static enum result known_answers(struct check *c)
{
    static const struct answers of_paper[] = {
        {5,
         {UINT64_C(0x3ee99a6c82af0c38), UINT64_C(0x544b0ab95bda7c3a),
          UINT64_C(0xc003b93999b33765)}},
        {6,
         {UINT64_C(0x9f5c41ec525603c9), UINT64_C(0xa512dd1e4e3ec582),
          UINT64_C(0x270a787275c48d10)}},
        {7,
         {UINT64_C(0xbcaf6c89de930765), UINT64_C(0xedf67ff370a483f2),
          UINT64_C(0x5c06a7501b63b2fd)}},
    };

    return agree_with(c, of_paper, N(of_paper), "the paper's vector");
}

/* The other numbers of rounds have no published vectors. These are what the code of the repository
 * Phantom1003/QARMA64 on GitHub computes (revision b8c203e), which shares nothing with ours and
 * gives all nine of the paper. */
static enum result answers_of_another_implementation(struct check *c)
{
    static const struct answers of_another[] = {
        {1,
         {UINT64_C(0xaf399610fbac5fe0), UINT64_C(0xe3685cdbdeef8d8b),
          UINT64_C(0x19800c9aac6c2829)}},
        {2,
         {UINT64_C(0x2ae77bfe264036c8), UINT64_C(0x3bc80c6999ea2b9a),
          UINT64_C(0x4f6135010ff2aaaf)}},
        {3,
         {UINT64_C(0x77fd3b8e7178a1db), UINT64_C(0xc8b7fdc1d507b9ef),
          UINT64_C(0x2ebe40928448ef3c)}},
        {4,
         {UINT64_C(0xaee3d813bf4e83fd), UINT64_C(0xf108e5dad41ecc75),
          UINT64_C(0x8a3af6946b97f7ad)}},
        {8,
         {UINT64_C(0x8040dc6f3fd4790a), UINT64_C(0xed94ef213cd37716),
          UINT64_C(0x7d33266a5681b528)}},
    };

    return agree_with(c, of_another, N(of_another), "the answer of another implementation");
}

/* ---- Against the reference ------------------------------------------------------------------- */

/* All values of each cell of block, tweak and both halves of the key, the others being random:
 * every S-box at the block as a whole, there and back, in each cell. Quick: with Arm's numbers of
 * rounds. tests/unit/test_qarma.c has the linear layers as a whole, of the functions that kernels
 * share and of c_swar64. */
static enum result every_cell_counts(struct check *c)
{
    if (is_reference(c))
        return check_skip(c, "it is the reference");
    for (unsigned variant = 0; variant < 3 * EVC_QARMA_MAX_ROUNDS; variant++) {
        struct question q = random_question(&c->random);
        uint64_t *const parts[] = {&q.block, &q.tweak, &q.w0, &q.k0};

        q.sigma = variant % 3;
        q.rounds = 1 + variant / 3;
        if (c->quick && q.rounds != 3 && q.rounds != 5)
            continue;
        for (size_t part = 0; part < N(parts); part++)
            for (unsigned cell = 0; cell < 16; cell++)
                for (unsigned value = 0; value < 16; value++) {
                    const uint64_t before = *parts[part];
                    *parts[part] ^= (uint64_t)value << 4 * cell;
                    if (agree(c, &q, answer(&q), "one cell changed") == FAIL)
                        return FAIL;
                    *parts[part] = before;
                }
    }
    return PASS;
}

/* For c_ref itself: decryption undoes encryption, with every number of rounds. */
static enum result every_block_equals_reference(struct check *c)
{
    for (long i = 0; i < (c->quick ? 4000 : 1000000); i++) {
        const struct question q = random_question(&c->random);
        if (agree(c, &q, answer(&q), "random") == FAIL)
            return FAIL;
    }
    return PASS;
}

/* Any number of blocks, at both ends of their pages and near the last, out of place and
 * over each of the inputs. */
static struct guarded fence_in, fence_tweak, fence_out;

struct call {
    const union evc_qarma_key *key;
    uint64_t *in, *tweak, *out;
    size_t n;
};

static void do_call(void *vcall)
{
    const struct call *call = vcall;

    evc_qarma_encrypt_many(call->key, call->in, call->tweak, call->out, call->n);
}

static void fill_margin(uint64_t *blocks, size_t n)
{
    memset(blocks, 0xa5, 8 * n);
}

static bool is_untouched(const uint64_t *blocks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (blocks[i] != UINT64_C(0xa5a5a5a5a5a5a5a5))
            return false;
    return true;
}

static enum result many_equal_one_by_one(struct check *c)
{
    KEY_AT_16(union evc_qarma_key, key);
    uint64_t in[MANY], tweak[MANY];

    if (!fence_in.start) {
        fence_in = port_guarded(sizeof in);
        fence_tweak = port_guarded(sizeof tweak);
        fence_out = port_guarded(sizeof in);
    }
    if (!fence_in.start || !fence_tweak.start || !fence_out.start)
        return check_skip(c, "no guard pages on this system");
    for (size_t n = 0; n <= MANY; n++)
        for (unsigned turn = 0; turn < 12; turn++) {
            const struct question q = random_question(&c->random);
            const bool at_end = turn % 2;
            /* gap, before: blocks that must stay as they are */
            const size_t gap = at_end ? turn / 2 : 0, before = at_end ? 4 : 0;
            struct call call = {key, (void *)port_flush(&fence_in, at_end, 8 * (n + gap)),
                                (void *)port_flush(&fence_tweak, at_end, 8 * (n + gap)),
                                (void *)port_flush(&fence_out, at_end, 8 * (n + gap)), n};

            set_key(c, key, &q);
            random_bytes(&c->random, (uint8_t *)in, 8 * n);
            random_bytes(&c->random, (uint8_t *)tweak, 8 * n);
            memcpy(call.in, in, 8 * n);
            memcpy(call.tweak, tweak, 8 * n);
            const unsigned place = turn / 2 % 3;
            if (place)
                call.out = place == 1 ? call.in : call.tweak;
            fill_margin(call.out - before, before);
            fill_margin(call.out + n, gap);
            if (!port_survives(do_call, &call))
                return check_fail(c, "%zu blocks at the %s of pages: memory fault", n,
                                  at_end ? "end" : "start");
            for (size_t i = 0; i < n; i++, c->cases++)
                if (call.out[i] != evc_qarma_encrypt(key, in[i], tweak[i]))
                    return check_fail(c, "%zu blocks, %s: block %zu differs from one alone", n,
                                      place == 0   ? "out of place"
                                      : place == 1 ? "over the blocks"
                                                   : "over the tweaks",
                                      i);
            if (!is_untouched(call.out - before, before) || !is_untouched(call.out + n, gap))
                return check_fail(
                    c, "%zu blocks, %zu before the end of a page: wrote outside of them", n, gap);
        }
    return PASS;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static enum result keys_may_be_copied(struct check *c)
{
    static struct {
        EVC_ALIGN(64) uint8_t before[16];
        union evc_qarma_key key;
        EVC_ALIGN(64) uint8_t between[16];
        union evc_qarma_key copy;
    } room;

    for (int i = 0; i < 200; i++, c->cases++) {
        const struct question q = random_question(&c->random);
        uint64_t before;
        set_key(c, &room.key, &q);
        before = evc_qarma_encrypt(&room.key, q.block, q.tweak);
        memset(&room.copy, 0, sizeof room.copy);
        memcpy(&room.copy, &room.key, kernel_of(c)->kernel.key_bytes);
        memset(&room.key, 0x55, sizeof room.key);
        if (evc_qarma_encrypt(&room.copy, q.block, q.tweak) != before)
            return check_fail(c, "sigma %u, %u rounds: the copy encrypts to something else",
                              q.sigma, q.rounds);
    }
    return PASS;
}

static enum result keys_change_only_when_set(struct check *c)
{
    static union evc_qarma_key before;
    KEY_AT_16(union evc_qarma_key, key);

    for (int i = 0; i < 200; i++, c->cases++) {
        const struct question q = random_question(&c->random);
        set_key(c, key, &q);
        before = *key;
        (void)evc_qarma_decrypt(key, evc_qarma_encrypt(key, q.block, q.tweak), q.tweak);
        if (memcmp(&before, key, sizeof *key) != 0)
            return check_fail(c, "the key changed");
        for (size_t j = kernel_of(c)->kernel.key_bytes; j < sizeof *key; j++)
            if (key->bytes[j])
                return check_fail(c, "byte %zu is left of what was there before a key of %u bytes",
                                  j, (unsigned)kernel_of(c)->kernel.key_bytes);
    }
    return PASS;
}

static const struct property properties[] = {
#define PROPERTY(name) {#name, name, false}
    PROPERTY(descriptor_agrees_with_its_line),
    PROPERTY(variants_that_do_not_exist_are_refused),
    PROPERTY(something_is_always_selected),
    PROPERTY(known_answers),
    PROPERTY(answers_of_another_implementation),
    PROPERTY(every_cell_counts),
    PROPERTY(every_block_equals_reference),
    PROPERTY(many_equal_one_by_one),
    PROPERTY(keys_may_be_copied),
    PROPERTY(keys_change_only_when_set),
    {"calls_keep_the_abi", qarma_calls_keep_the_abi, false},
    {"long_calls_equal_short_ones", qarma_long_calls_equal_short_ones, false},
    {"leaves_nothing_behind", qarma_leaves_nothing_behind, false},
#undef PROPERTY
};

const struct check_primitive check_qarma = {
    .name = "qarma", .properties = properties, .n_properties = N(properties)};
