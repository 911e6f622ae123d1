/* SPDX-License-Identifier: MIT */
/*
 * The properties that every kernel of GCM has, fused or a pair: in each, messages are sealed and
 * opened through the public functions, and held against gcm_model.c's definition or against
 * published answers.
 */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "everycore/gcm.h"

#include "gcm/pieces.h"

#include "gcm_kernels.h"
#include "gcm_model.h"
#include "check_abi.h"
#include "check_long.h"
#include "key_room.h"
#include "must.h"
#include "names.h"
#include "port/port.h"
#include "registers.h"
#include "residue.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

static struct gcm_kernel kernel_of(const struct check *c)
{
    return gcm_kernel_named(c->line->name);
}

static size_t batch_of(const struct check *c)
{
    const struct gcm_kernel k = kernel_of(c);

    return gcm_batch(&k);
}

/* Vector registers that a program has used before a call: assembly must not take one for zero.
 * Their blocks differ, for a hash adds up those of a vector. */
static __attribute__((noinline)) void use_registers(void)
{
    static const uint8_t with[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};

    registers_fill(registers_count(features_here()), registers_bytes(features_here()), with);
}

/* ---- One message held against what is known -------------------------------------------------- */

static struct known known; /* too big for the stack */
static KEY_ROOM(union evc_gcm_key) key_room;
static union evc_gcm_key *const key = &key_room.key;

/* Fresh random data. */
static void know_key_of(struct check *c, unsigned key_bits)
{
    known.key_bits = key_bits;
    random_bytes(&c->random, known.user_key, sizeof known.user_key);
    know_key(&known);
    memset(key, 0xaa, sizeof *key);
    const struct gcm_kernel k = kernel_of(c);
    must(gcm_set_key(&k, key, known.user_key, known.key_bits));
    must(evc_gcm_allow_short_tags(key));
}

static void know_random_key(struct check *c)
{
    know_key_of(c, 128 + 64 * (unsigned)random_below(&c->random, 3));
}

static void know_random_message(struct check *c, size_t iv_bytes, size_t aad_bytes, size_t n_blocks)
{
    known.iv_bytes = iv_bytes;
    known.aad_bytes = aad_bytes;
    random_bytes(&c->random, known.iv, sizeof known.iv);
    random_bytes(&c->random, known.aad, sizeof known.aad);
    random_bytes(&c->random, known.in, 16 * n_blocks);
    know_message(&known, n_blocks);
}

static void know_random(struct check *c, size_t iv_bytes, size_t aad_bytes, size_t n_blocks)
{
    know_random_key(c);
    know_random_message(c, iv_bytes, aad_bytes, n_blocks);
}

/* Reports a failure with the sizes of the message. */
static enum result wrong(struct check *c, bool sealing, size_t len_bytes, const char *where,
                         const char *what)
{
    return check_fail(
        c, "%s, %u-bit key, %zu bytes of text, %zu of associated data, %zu of IV, %s: %s",
        sealing ? "seal" : "open", known.key_bits, len_bytes, known.aad_bytes, known.iv_bytes,
        where, what);
}

static enum result texts_agree(struct check *c, bool sealing, size_t len_bytes, const uint8_t *out,
                               const char *where)
{
    const uint8_t *expected = sealing ? known.out : known.in;
    char what[80];

    c->cases++;
    for (size_t i = 0; i < len_bytes; i++)
        if (out[i] != expected[i]) {
            snprintf(what, sizeof what, "byte %zu of the text is %02x, not %02x", i, out[i],
                     expected[i]);
            return wrong(c, sealing, len_bytes, where, what);
        }
    return PASS;
}

#define MARGIN 64 /* bytes before and after an output that must stay as they are */
#define PAINT 0xa5

/* Room for a text at any alignment, with margins. */
struct room {
    EVC_ALIGN(64) uint8_t bytes[MARGIN + 64 + MAX_BYTES + MARGIN];
};
static struct room in_room, out_room;

static uint8_t *place(struct room *room, size_t misaligned, size_t len_bytes)
{
    memset(room->bytes, PAINT, misaligned + len_bytes + 2 * MARGIN);
    return room->bytes + MARGIN + misaligned;
}

static bool all_are(const uint8_t *p, uint8_t value, size_t n)
{
    for (; n; n--)
        if (*p++ != value)
            return false;
    return true;
}

static bool margins_are_untouched(const struct room *room, const uint8_t *start, size_t len_bytes)
{
    return all_are(room->bytes, PAINT, (size_t)(start - room->bytes)) &&
           all_are(start + len_bytes, PAINT, MARGIN);
}

/* Placement of the buffers of one call: bytes from alignment. */
struct placement {
    size_t in, out, aad, iv, tag;
    bool in_place;
};
static const struct placement aligned, in_place = {.in_place = true};

/* The first len_bytes bytes of known, sealed or opened in one call, with the
 * buffers placed as at says. */
static enum result run_at(struct check *c, bool sealing, size_t len_bytes,
                          const struct placement *at)
{
    static EVC_ALIGN(64) uint8_t aad[16 + MAX_AAD], iv[16 + MAX_IV];
    EVC_ALIGN(64) uint8_t tags[64], expected[16];
    uint8_t *in = place(&in_room, at->in, len_bytes), *tag = tags + 16 + at->tag,
            *out = at->in_place ? in : place(&out_room, at->out, len_bytes);
    enum evc_status status;
    char where[64];

    snprintf(where, sizeof where, "in + %zu, out + %zu%s", at->in, at->out,
             at->in_place ? ", in place" : "");
    memcpy(in, sealing ? known.in : known.out, len_bytes);
    memcpy(aad + at->aad, known.aad, known.aad_bytes);
    memcpy(iv + at->iv, known.iv, known.iv_bytes);
    memset(tags, PAINT, sizeof tags);
    known_tag(&known, expected, len_bytes);
    if (!sealing)
        memcpy(tag, expected, 16);
    status = sealing ? evc_gcm_seal(key, iv + at->iv, known.iv_bytes, aad + at->aad,
                                    known.aad_bytes, in, out, len_bytes, tag, 16)
                     : evc_gcm_open(key, iv + at->iv, known.iv_bytes, aad + at->aad,
                                    known.aad_bytes, in, out, len_bytes, tag, 16);
    if (status != EVC_OK)
        return wrong(c, sealing, len_bytes, where, evc_status_text(status));
    if (texts_agree(c, sealing, len_bytes, out, where) == FAIL)
        return FAIL;
    if (memcmp(tag, expected, 16) != 0)
        return wrong(c, sealing, len_bytes, where, "another tag");
    if (!all_are(tags, PAINT, 16 + at->tag) || !all_are(tag + 16, PAINT, 16) ||
        !margins_are_untouched(at->in_place ? &in_room : &out_room, out, len_bytes))
        return wrong(c, sealing, len_bytes, where, "wrote outside of its outputs");
    if (!at->in_place && memcmp(in, sealing ? known.in : known.out, len_bytes) != 0)
        return wrong(c, sealing, len_bytes, where, "changed its input");
    return PASS;
}

static enum result run_both(struct check *c, size_t len_bytes, const struct placement *at)
{
    return run_at(c, true, len_bytes, at) == FAIL ? FAIL : run_at(c, false, len_bytes, at);
}

/* ---- Lengths --------------------------------------------------------------------------------- */

/* 1 KiB at least, and beyond two turns of the kernel's batch and some; quick: less. */
static size_t most_blocks(const struct check *c)
{
    size_t batch = batch_of(c), n = c->quick ? 2 * batch + 3 : 4 * batch + 5;

    n = c->quick || n > 65 ? n : 65;
    return n < BEYOND_A_PIECE ? n : BEYOND_A_PIECE;
}

/* Quick: up to 2 blocks; then a byte around whole blocks, and those near multiples of 8 and of the
 * batch. */
static bool take_bytes(const struct check *c, size_t len_bytes)
{
    size_t batch = batch_of(c), n = len_bytes / 16, rest = len_bytes % 16;

    if (!c->quick || len_bytes <= 33)
        return true;
    if (rest > 1 && rest < 15)
        return false;
    return n < 6 || (n < 34 && (n + 1) % 8 < 3) || (batch > 3 && (n + 1) % batch < 3);
}

/* Sizes of associated data: none, parts of blocks, a record's header of TLS
 * and of IPsec, groups. */
static const size_t aad_sizes[] = {13, 0, 20, 16, 1, 31, 8, 33, 64, 255, 600};

/* Beyond the pieces that a pair works in, and beyond a page. */
static enum result long_messages_equal_reference(struct check *c)
{
    static const size_t lengths[] = {
        16 * BEYOND_A_PIECE, 4096, 4097, 4095, 4112, 4600, 8192, 8193, 8191};

    know_random(c, 12, 13, BEYOND_A_PIECE);
    for (size_t i = 0; i < (c->quick ? 3 : N(lengths)); i++)
        if (run_both(c, lengths[i], &aligned) == FAIL || run_both(c, lengths[i], &in_place) == FAIL)
            return FAIL;
    return PASS;
}

static enum result every_length_equals_reference(struct check *c)
{
    for (size_t i = 0; i < (c->quick ? 2 : N(aad_sizes)); i++) {
        know_random(c, i % 3 == 2 ? 17 : 12, aad_sizes[i], most_blocks(c));
        for (size_t len = 0; len <= 16 * most_blocks(c); len++)
            if (take_bytes(c, len) && run_both(c, len, &aligned) == FAIL)
                return FAIL;
    }
    return PASS;
}

/* From one number of blocks to the next: 1, for a kernel may take any number in a way of its own.
 * Pairs, whose kernels are tried with each, and emulators: drawn. */
static size_t step_beyond(struct check *c)
{
    return kernel_of(c).fused ? check_step(c) : 1 + random_below(&c->random, 255);
}

/* Whole blocks, and a part of the last. */
static enum result up_to_1024_blocks_equal_reference(struct check *c)
{
    know_random(c, 12, 13, MAX_BLOCKS);
    for (size_t n = 1; n <= MAX_BLOCKS; n += step_beyond(c))
        if (run_both(c, 16 * n, &aligned) == FAIL ||
            run_both(c, 16 * n - 1 - random_below(&c->random, 15), &aligned) == FAIL)
            return FAIL;
    return PASS;
}

/* Sealed alone: opening reads the same associated data. */
static enum result associated_data_of_every_length_counts(struct check *c)
{
    static const size_t texts[] = {0, 20, 64};
    uint8_t tag[16], expected[16];

    know_random(c, 12, MAX_AAD, 4);
    for (size_t len = 0; len <= MAX_AAD; len++) {
        const size_t text = texts[len % N(texts)];
        if (!take_bytes(c, len))
            continue;
        known_tag_with(&known, expected, len, text);
        must(evc_gcm_seal(key, known.iv, 12, known.aad, len, known.in, out_room.bytes, text, tag,
                          16));
        c->cases++;
        if (memcmp(tag, expected, 16) != 0)
            return check_fail(c, "%zu bytes of associated data, %zu of text: another tag", len,
                              text);
    }
    return PASS;
}

static enum result ivs_of_every_length_count(struct check *c)
{
    know_random_key(c);
    for (size_t n = 1; n <= MAX_IV; n++) {
        if (c->quick && n > 33 && n % 16 > 1 && n != 60)
            continue;
        know_random_message(c, n, 5, 3);
        if (run_both(c, 37, &aligned) == FAIL)
            return FAIL;
    }
    return PASS;
}

static enum result in_place_equals_disjoint(struct check *c)
{
    know_random(c, 12, 13, most_blocks(c));
    for (size_t len = 0; len <= 16 * most_blocks(c); len++)
        if (take_bytes(c, len) && run_both(c, len, &in_place) == FAIL)
            return FAIL;
    return PASS;
}

static enum result without_some_buffers(struct check *c, size_t aad_bytes, size_t len_bytes)
{
    const uint8_t *aad = aad_bytes ? known.aad : NULL, *in = len_bytes ? known.in : NULL;
    uint8_t tag[16], expected[16], *out = len_bytes ? place(&out_room, 0, len_bytes) : NULL;
    struct evc_gcm_state state;

    known_tag_with(&known, expected, aad_bytes, len_bytes);
    c->cases += 3;
    if (evc_gcm_seal(key, known.iv, 12, aad, aad_bytes, in, out, len_bytes, tag, 16) != EVC_OK ||
        memcmp(tag, expected, 16) != 0)
        return wrong(c, true, len_bytes, "empty buffers are NULL", "another tag");
    if (evc_gcm_open(key, known.iv, 12, aad, aad_bytes, out, out, len_bytes, tag, 16) != EVC_OK)
        return wrong(c, false, len_bytes, "empty buffers are NULL", "refused");
    must(evc_gcm_start(key, &state, known.iv, 12));
    must(evc_gcm_aad(key, &state, aad, aad_bytes));
    must(evc_gcm_seal_update(key, &state, in, out, len_bytes));
    must(evc_gcm_seal_finish(key, &state, tag, 16));
    return memcmp(tag, expected, 16) == 0
               ? PASS
               : wrong(c, true, len_bytes, "in pieces, empty buffers are NULL", "another tag");
}

/* A sanitizer sees it, too, if pointers are made from them. */
static enum result empty_buffers_may_be_null(struct check *c)
{
    know_random(c, 12, 21, 3);
    return without_some_buffers(c, 0, 0) == FAIL || without_some_buffers(c, 13, 0) == FAIL ||
                   without_some_buffers(c, 21, 0) == FAIL || without_some_buffers(c, 0, 37) == FAIL
               ? FAIL
               : PASS;
}

/* Each buffer at each place beside aligned ones, and all of them anywhere. */
static enum result every_alignment_equals_reference(struct check *c)
{
    const size_t n = 16 * (batch_of(c) + 2) - 3;

    know_random(c, 12, 21, batch_of(c) + 2);
    for (size_t at = 0; at < 16; at++) {
        const struct placement few[] = {{.in = at}, {.out = at}, {.aad = at},
                                     {.iv = at}, {.tag = at}, {.in = at, .in_place = true}};
        for (size_t i = 0; i < N(few); i++)
            if (run_both(c, 19, &few[i]) == FAIL || run_both(c, n, &few[i]) == FAIL)
                return FAIL;
    }
    for (int turn = 0; turn < (c->quick ? 20 : 600); turn++) {
        struct random *r = &c->random;
        const struct placement some = {random_below(r, 64), random_below(r, 64),
                                       random_below(r, 16), random_below(r, 16),
                                       random_below(r, 16), turn % 5 == 0};
        if (run_both(c, random_below(r, n + 1), &some) == FAIL)
            return FAIL;
    }
    return PASS;
}

/* ---- The descriptor -------------------------------------------------------------------------- */

static enum result descriptor_is(struct check *c, const struct evc_gcm *gcm)
{
    const struct evc_kernel *k = evc_gcm_kernel(gcm);

    if (k->key_bytes < sizeof(struct evc_gcm_head) || k->key_bytes > sizeof *key)
        return check_fail(c, "a key of %u bytes", (unsigned)k->key_bytes);
    if (k->key_align != 16)
        return check_fail(c, "a key aligned to %u, where the union has 16", (unsigned)k->key_align);
    if (k->batch == 0)
        return check_fail(c, "a batch of 0 blocks");
    if (!gcm->encrypt || !gcm->hash || !gcm->seal_blocks || !gcm->open_blocks)
        return check_fail(c, "a mandatory operation is missing");
    if (!gcm->seal != !gcm->open || !gcm->seal != !gcm->open_output_tag)
        return check_fail(c, "it has some of the three operations on whole messages, not all");
    return PASS;
}

/* A pair has the descriptor of its keys. */
static enum result descriptor_agrees_with_its_line(struct check *c)
{
    const struct evc_gcm *gcm = kernel_of(c).fused;
    const struct evc_kernel *k = gcm ? evc_gcm_kernel(gcm) : NULL;

    c->cases = 8;
    if (is_pair_name(c->line->name)) {
        know_random_key(c);
        return descriptor_is(c, key->head.kernel);
    }
    if (!k)
        return check_fail(c, "evc_gcm_named() does not find it");
    if (strcmp(k->name, c->line->name) != 0)
        return check_fail(c, "its name is %s", k->name);
    if (k->needs != c->line->needs || k->timing != c->line->timing || k->use != c->line->use)
        return check_fail(c, "needs, timing class or use differ from the line of kernels.def");
    if (!gcm->set_key)
        return check_fail(c, "it cannot set a key");
    return descriptor_is(c, gcm);
}

/* ---- Known answers --------------------------------------------------------------------------- */

/* McGrew, Viega: The Galois/Counter Mode of Operation (GCM), 2005, appendix B. vectors/gcm.txt has
 * all of them. */
#define KEY_128 "feffe9928665731c6d6a8f9467308308"
#define SHORT_IV "cafebabefacedbaddecaf888"
#define LONG_IV                                                                        \
    "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539" \
    "fcf0e2429a6b525416aedbf5a0de6a57a637b39b"
#define PLAIN                                                                          \
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c9595680953" \
    "2fcf0e2449a6b525b16aedf5aa0de657ba637b39"

static const struct answer {
    const char *source, *key, *iv, *out, *tag;
} answers[] = {
    {"test case 4", KEY_128, SHORT_IV,
     "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c"
     "7d8f6a5aac84aa051ba30b396a0aac973d58e091",
     "5bc94fbc3221a5db94fae95ae7121a47"},
    {"test case 6", KEY_128, LONG_IV,
     "8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca701e4a9a4fba43c90"
     "ccdcb281d48c7c6fd62875d2aca417034c34aee5",
     "619cc5aefffe0bfa462af43c1699d050"},
    {"test case 10", KEY_128 "feffe9928665731c", SHORT_IV,
     "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c7d773d00c144c525"
     "ac619d18c84a3f4718e2448b2fe324d9ccda2710",
     "2519498e80f1478f37ba55bd6d27618c"},
    {"test case 16", KEY_128 KEY_128, SHORT_IV,
     "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3d"
     "a7b08b1056828838c5f61e6393ba7a0abcc9f662",
     "76fc6ece0f4e1768cddf8853bb2d551b"},
    {"test case 18", KEY_128 KEY_128, LONG_IV,
     "5a8def2f0c9e53f1f75d7853659e2a20eeb2b22aafde6419a058ab4f6f746bf40fc0c3b780f24445"
     "2da3ebf1c5d82cdea2418997200ef82e44ae7e3f",
     "a44a8266ee1c8eb0c8b5d4cf5ae9f19a"},
};

static enum result answer_is(struct check *c, const struct answer *a)
{
    const struct gcm_kernel k = kernel_of(c);
    uint8_t user_key[32], iv[60], aad[20], in[60], out[60], expected[60], tag[16], expected_tag[16];
    size_t key_bytes = check_unhex(user_key, a->key), iv_bytes = check_unhex(iv, a->iv),
           n = check_unhex(in, PLAIN);

    check_unhex(aad, "feedfacedeadbeeffeedfacedeadbeefabaddad2");
    check_unhex(expected, a->out);
    check_unhex(expected_tag, a->tag);
    c->cases++;
    if (gcm_set_key(&k, key, user_key, (unsigned)(8 * key_bytes)) != EVC_OK)
        return check_fail(c, "%s: the key is refused", a->source);
    must(evc_gcm_seal(key, iv, iv_bytes, aad, sizeof aad, in, out, n, tag, 16));
    if (memcmp(out, expected, n) != 0)
        return check_fail(c, "%s: another ciphertext", a->source);
    if (memcmp(tag, expected_tag, 16) != 0)
        return check_fail(c, "%s: another tag", a->source);
    if (evc_gcm_open(key, iv, iv_bytes, aad, sizeof aad, out, out, n, expected_tag, 16) != EVC_OK)
        return check_fail(c, "%s: does not open", a->source);
    return memcmp(out, in, n) == 0 ? PASS : check_fail(c, "%s: another plaintext", a->source);
}

static enum result known_answers(struct check *c)
{
    for (const struct answer *a = answers; a < answers + N(answers); a++)
        if (answer_is(c, a) == FAIL)
            return FAIL;
    return PASS;
}

/* ---- The slots ------------------------------------------------------------------------------- */

/* Blocks sealed or opened from any counter and any hash. */
static enum result run_blocks(struct check *c, const uint8_t counter[16], size_t n, bool sealing)
{
    const struct evc_gcm *gcm = key->head.kernel;
    uint8_t now[16], y[16], expected[16], *in = place(&in_room, 0, 16 * n),
                                          *out = place(&out_room, 0, 16 * n);
    uint32_t last = 0;

    memcpy(now, counter, 16);
    memcpy(y, known.y[0], 16);
    memcpy(in, sealing ? known.in : known.out, 16 * n);
    use_registers();
    (sealing ? gcm->seal_blocks : gcm->open_blocks)(key, now, y, in, out, n);
    memcpy(expected, counter, 16);
    for (int i = 12; i < 16; i++)
        last = last << 8 | counter[i];
    last += (uint32_t)n;
    for (int i = 15; i >= 12; i--, last >>= 8)
        expected[i] = (uint8_t)last;
    if (texts_agree(c, sealing, 16 * n, out, "by blocks") == FAIL)
        return FAIL;
    if (memcmp(y, known.y[n], 16) != 0)
        return check_fail(c, "%zu blocks: another hash", n);
    if (memcmp(now, expected, 16) != 0)
        return check_fail(c, "%zu blocks: another counter after them", n);
    return margins_are_untouched(&out_room, out, 16 * n)
               ? PASS
               : check_fail(c, "%zu blocks: wrote outside of its output", n);
}

static enum result every_number_of_blocks_equals_reference(struct check *c)
{
    uint8_t counter[16];

    know_random_key(c);
    random_bytes(&c->random, counter, 16);
    random_bytes(&c->random, known.y[0], 16);
    random_bytes(&c->random, known.in, sizeof known.in);
    know_blocks(&known, counter, MAX_BLOCKS);
    for (size_t n = 0; n <= MAX_BLOCKS; n += n < most_blocks(c) ? 1 : step_beyond(c))
        if (run_blocks(c, counter, n, true) == FAIL || run_blocks(c, counter, n, false) == FAIL)
            return FAIL;
    return PASS;
}

/* The counter before a carry out of its first, second, third and fourth byte, at every place of a
 * group. */
static enum result counter_wraps_modulo_2_32(struct check *c)
{
    static const uint32_t edges[] = {0x100, 0x10000, 0x1000000, 0};
    const size_t batch = batch_of(c), most = most_blocks(c);
    uint8_t counter[16];

    know_random_key(c);
    random_bytes(&c->random, known.y[0], 16);
    random_bytes(&c->random, known.in, sizeof known.in);
    for (size_t i = 0; i < N(edges); i++)
        for (size_t before = 0; before <= 2 * batch; before += c->quick && before > 1 ? 7 : 1) {
            uint32_t first = edges[i] - (uint32_t)before;
            memset(counter, before % 2 ? 0xff : 0, 12);
            for (int j = 0; j < 4; j++)
                counter[12 + j] = (uint8_t)(first >> (24 - 8 * j));
            know_blocks(&known, counter, most);
            if (run_blocks(c, counter, most, true) == FAIL ||
                run_blocks(c, counter, most, false) == FAIL ||
                run_blocks(c, counter, before + 1, true) == FAIL)
                return FAIL;
        }
    return PASS;
}

/* The same through whole messages: the IV is solved for, so that the counter wraps `before` blocks
 * after J_0. */
static enum result messages_whose_counter_wraps_equal_reference(struct check *c)
{
    uint8_t j0[16];

    know_random_key(c);
    for (uint32_t before = 0; before < most_blocks(c); before += c->quick && before > 1 ? 11 : 1) {
        random_bytes(&c->random, j0, 12);
        for (int i = 0; i < 4; i++)
            j0[12 + i] = (uint8_t)((0 - before) >> (24 - 8 * i));
        know_random_message(c, 12, 7, 0);
        know_iv_for(&known, j0);
        know_message(&known, most_blocks(c));
        c->cases++;
        if (memcmp(known.j0, j0, 16) != 0)
            return check_fail(c, "the IV does not give the counter that it is made for");
        if (run_both(c, 16 * most_blocks(c) - 3, &aligned) == FAIL)
            return FAIL;
    }
    return PASS;
}

/* ---- Streams --------------------------------------------------------------------------------- */

/* A length for the next piece: anything, rather often within a block or none. */
static size_t piece_of(struct check *c, size_t left)
{
    size_t n = random_below(&c->random, left + 1);

    return random_below(&c->random, 3) ? n % 40 : n;
}

static enum result run_stream(struct check *c, bool sealing, size_t len_bytes, bool here)
{
    struct evc_gcm_state state;
    uint8_t tag[16], *in = place(&in_room, random_below(&c->random, 16), len_bytes),
                     *out = here ? in : place(&out_room, random_below(&c->random, 16), len_bytes);
    enum evc_status status;

    /* a start begins a message, whatever the state held before */
    memset(&state, PAINT, sizeof state);
    status = evc_gcm_start(key, &state, known.iv, known.iv_bytes);
    memcpy(in, sealing ? known.in : known.out, len_bytes);
    for (size_t at = 0, n; at < known.aad_bytes && status == EVC_OK; at += n) {
        n = piece_of(c, known.aad_bytes - at);
        status = evc_gcm_aad(key, &state, known.aad + at, n);
    }
    for (size_t at = 0, n; at < len_bytes && status == EVC_OK; at += n) {
        n = piece_of(c, len_bytes - at);
        status = (sealing ? evc_gcm_seal_update : evc_gcm_open_update)(key, &state, in + at,
                                                                       out + at, n);
    }
    known_tag(&known, tag, len_bytes);
    if (status == EVC_OK && !sealing)
        status = evc_gcm_open_finish(key, &state, tag, 16);
    if (status == EVC_OK && sealing)
        status = evc_gcm_seal_finish(key, &state, out_room.bytes + sizeof out_room.bytes - 16, 16);
    if (status != EVC_OK)
        return wrong(c, sealing, len_bytes, "in pieces", evc_status_text(status));
    if (texts_agree(c, sealing, len_bytes, out, here ? "in pieces, in place" : "in pieces") == FAIL)
        return FAIL;
    if (sealing && memcmp(out_room.bytes + sizeof out_room.bytes - 16, tag, 16) != 0)
        return wrong(c, sealing, len_bytes, "in pieces", "another tag");
    if (!margins_are_untouched(here ? &in_room : &out_room, out, len_bytes))
        return wrong(c, sealing, len_bytes, "in pieces", "wrote outside of its output");
    return all_are((const uint8_t *)&state, 0, sizeof state)
               ? PASS
               : wrong(c, sealing, len_bytes, "in pieces", "the state is not wiped");
}

/* One message, its associated data and its text cut in two; there is no call for an empty part. */
static enum result run_parts(struct check *c, bool sealing, size_t aad_cut, size_t text_cut,
                             size_t len_bytes)
{
    const size_t aad_ends[] = {aad_cut, known.aad_bytes}, text_ends[] = {text_cut, len_bytes};
    const uint8_t *in = sealing ? known.in : known.out;
    uint8_t tag[16], given[16], *out = place(&out_room, 0, len_bytes);
    struct evc_gcm_state state;
    size_t at = 0;

    known_tag(&known, tag, len_bytes);
    memcpy(given, tag, 16);
    must(evc_gcm_start(key, &state, known.iv, known.iv_bytes));
    for (size_t i = 0; i < 2; at = aad_ends[i++])
        if (aad_ends[i] > at)
            must(evc_gcm_aad(key, &state, known.aad + at, aad_ends[i] - at));
    at = 0;
    for (size_t i = 0; i < 2; at = text_ends[i++])
        if (text_ends[i] > at)
            must((sealing ? evc_gcm_seal_update : evc_gcm_open_update)(
                key, &state, in + at, out + at, text_ends[i] - at));
    if ((sealing ? evc_gcm_seal_finish(key, &state, given, 16)
                 : evc_gcm_open_finish(key, &state, tag, 16)) != EVC_OK)
        return wrong(c, sealing, len_bytes, "in two parts", "refused");
    if (memcmp(given, tag, 16) != 0)
        return wrong(c, sealing, len_bytes, "in two parts", "another tag");
    return texts_agree(c, sealing, len_bytes, out, "in two parts");
}

/* Blocks of associated data wait for the text, of many only the last: each length of them, before
 * text that comes at once, in two parts, or not at all. */
static enum result associated_data_waits_for_text(struct check *c)
{
    static const size_t texts[][2] = {{0, 0}, {0, 1}, {0, 64}, {7, 37}, {32, 53}};

    for (size_t aad_bytes = 0; aad_bytes <= 98; aad_bytes++) {
        know_random(c, aad_bytes % 8 == 7 ? 17 : 12, aad_bytes, 4);
        for (size_t i = 0; i < N(texts); i++) {
            const size_t cut =
                random_below(&c->random, 3) ? random_below(&c->random, aad_bytes + 1) : aad_bytes;
            if (run_parts(c, i % 2 == aad_bytes % 2, cut, texts[i][0], texts[i][1]) == FAIL)
                return FAIL;
        }
    }
    return PASS;
}

static enum result messages_in_pieces_equal_one_call(struct check *c)
{
    if (associated_data_waits_for_text(c) == FAIL)
        return FAIL;
    for (int turn = 0; turn < (c->quick ? 12 : 300); turn++) {
        size_t most = turn % 4 ? most_blocks(c) : 300;
        know_random(c, turn % 3 ? 12 : 1 + random_below(&c->random, MAX_IV),
                    random_below(&c->random, turn % 4 == 1 ? 16 : turn % 2 ? 50 : MAX_AAD), most);
        for (int i = 0; i < 4; i++)
            if (run_stream(c, i & 1, random_below(&c->random, 16 * most - 30), i & 2) == FAIL)
                return FAIL;
    }
    return PASS;
}

/* ---- Guard pages ----------------------------------------------------------------------------- */

static struct guarded fence_in, fence_out, fence_aad, fence_iv, fence_tag, fence_key,
    fence_user_key, fence_state;

static bool have_fences(void)
{
    if (!fence_in.start) {
        fence_in = port_guarded(MAX_BYTES);
        fence_out = port_guarded(MAX_BYTES);
        fence_aad = port_guarded(MAX_AAD);
        fence_iv = port_guarded(MAX_IV);
        fence_tag = port_guarded(16);
        fence_key = port_guarded(sizeof *key);
        fence_user_key = port_guarded(32);
        fence_state = port_guarded(sizeof(struct evc_gcm_state));
    }
    return fence_in.start && fence_out.start && fence_aad.start && fence_iv.start &&
           fence_tag.start && fence_key.start && fence_user_key.start && fence_state.start;
}

struct call {
    bool sealing, at_end, in_place;
    size_t len_bytes;
    union evc_gcm_key *key;
    uint8_t *in, *out, *aad, *iv, *tag;
    enum evc_status status;
};

static void lay_out(struct call *call)
{
    const bool end = call->at_end;

    call->in = port_flush(&fence_in, end, call->len_bytes);
    call->out = call->in_place ? call->in : port_flush(&fence_out, end, call->len_bytes);
    call->aad = port_flush(&fence_aad, end, known.aad_bytes);
    call->iv = port_flush(&fence_iv, end, known.iv_bytes);
    call->tag = port_flush(&fence_tag, end, 16);
    memcpy(call->in, call->sealing ? known.in : known.out, call->len_bytes);
    memcpy(call->aad, known.aad, known.aad_bytes);
    memcpy(call->iv, known.iv, known.iv_bytes);
    known_tag(&known, call->tag, call->len_bytes);
}

static void do_message(void *vcall)
{
    struct call *call = vcall;

    call->status =
        call->sealing
            ? evc_gcm_seal(call->key, call->iv, known.iv_bytes, call->aad, known.aad_bytes,
                           call->in, call->out, call->len_bytes, call->tag, 16)
            : evc_gcm_open(call->key, call->iv, known.iv_bytes, call->aad, known.aad_bytes,
                           call->in, call->out, call->len_bytes, call->tag, 16);
}

/* In two pieces each, the state before a guard page too. */
static void do_stream(void *vcall)
{
    struct call *call = vcall;
    struct evc_gcm_state *s =
        (struct evc_gcm_state *)(void *)port_flush(&fence_state, true, (sizeof *s + 15) / 16 * 16);
    const size_t half = call->len_bytes / 2 + 3 < call->len_bytes ? call->len_bytes / 2 + 3 : 0;

    must(evc_gcm_start(call->key, s, call->iv, known.iv_bytes));
    must(evc_gcm_aad(call->key, s, call->aad, known.aad_bytes));
    for (size_t i = 0; i < 2; i++)
        must((call->sealing ? evc_gcm_seal_update : evc_gcm_open_update)(
            call->key, s, call->in + i * half, call->out + i * half,
            i ? call->len_bytes - half : half));
    call->status = call->sealing ? evc_gcm_seal_finish(call->key, s, call->tag, 16)
                                 : evc_gcm_open_finish(call->key, s, call->tag, 16);
}

static enum result run_fenced(struct check *c, struct call *call, void (*how)(void *))
{
    const char *where = call->at_end ? "before guard pages" : "behind guard pages";
    uint8_t tag[16];

    lay_out(call);
    memcpy(tag, call->tag, 16);
    if (!port_survives(how, call))
        return wrong(c, call->sealing, call->len_bytes, where, "memory fault");
    if (call->status != EVC_OK)
        return wrong(c, call->sealing, call->len_bytes, where, evc_status_text(call->status));
    if (memcmp(call->tag, tag, 16) != 0)
        return wrong(c, call->sealing, call->len_bytes, where, "another tag");
    return texts_agree(c, call->sealing, call->len_bytes, call->out, where);
}

struct fenced_key {
    struct gcm_kernel kernel;
    bool at_end;
};

static union evc_gcm_key *key_between_pages(bool at_end)
{
    return (union evc_gcm_key *)(void *)port_flush(&fence_key, at_end, sizeof *key);
}

static void do_set_key(void *vkey)
{
    const struct fenced_key *k = vkey;

    must(gcm_set_key(&k->kernel, key_between_pages(k->at_end),
                port_flush(&fence_user_key, k->at_end, known.key_bits / 8), known.key_bits));
}

static enum result set_key_stays_inside(struct check *c, unsigned key_bits, bool at_end)
{
    struct fenced_key k = {kernel_of(c), at_end};

    known.key_bits = key_bits;
    memcpy(port_flush(&fence_user_key, at_end, key_bits / 8), known.user_key, key_bits / 8);
    c->cases++;
    return port_survives(do_set_key, &k)
               ? PASS
               : check_fail(c, "set_key, %u bits: memory fault", key_bits);
}

/* Every length, of fused kernels in quick runs too, with IVs of 12 bytes and others, and with
 * associated data; the key between guard pages too. */
static enum result messages_stay_inside(struct check *c, bool at_end, bool in_place_too,
                                        bool other_iv)
{
    struct call call = {.at_end = at_end, .in_place = in_place_too};
    const size_t most_aad = other_iv || in_place_too ? 66 : 16; /* the short have own ways */

    know_random(c, other_iv ? 1 + random_below(&c->random, 40) : 12,
                random_below(&c->random, most_aad + 1), most_blocks(c));
    call.key = key_between_pages(at_end);
    *call.key = *key;
    for (; call.len_bytes <= 16 * most_blocks(c); call.len_bytes++) {
        if (is_pair_name(c->line->name) && !take_bytes(c, call.len_bytes))
            continue;
        for (int i = 0; i < 4; i++) {
            call.sealing = i & 1;
            if (run_fenced(c, &call, i & 2 ? do_stream : do_message) == FAIL)
                return FAIL;
        }
    }
    return PASS;
}

/* Associated data of each length that may wait for the text, and a little more, in one piece. */
static enum result associated_data_stays_inside(struct check *c)
{
    for (size_t aad_bytes = 1; aad_bytes <= 66; aad_bytes++) {
        know_random(c, 12, aad_bytes, 2);
        for (int i = 0; i < 8; i++) {
            struct call call = {.key = key, .len_bytes = 20, .at_end = i & 1, .sealing = i & 2};
            if (run_fenced(c, &call, i & 4 ? do_stream : do_message) == FAIL)
                return FAIL;
        }
    }
    return PASS;
}

static enum result accesses_stay_inside_the_buffers(struct check *c)
{
    if (!have_fences())
        return check_skip(c, "no guard pages on this system");
    know_random_key(c);
    for (unsigned i = 0; i < 6; i++)
        if (set_key_stays_inside(c, 128 + 64 * (i / 2), i & 1) == FAIL)
            return FAIL;
    for (unsigned i = 0; i < (c->quick ? 6 : 8); i++)
        if (messages_stay_inside(c, i & 1, i & 4, i & 2) == FAIL)
            return FAIL;
    return associated_data_stays_inside(c);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* Sizes of associated data at the borders of blocks, vectors and pairs of them, whose parts of
 * blocks have 1, 2, 3, and more bytes; none, with each size of keys; and sizes of tags. A kernel
 * may have a way of its own for each, and meets each with each length of text. */
static const size_t shape_aads[] = {0,  0,  0,  1,  2,  3,  5,  8,  13,  16,  17,  20,  31,  32,
                                    33, 48, 62, 64, 65, 80, 83, 96, 128, 134, 255, 256, 259, 300};
static const size_t shape_tags[] = {16, 4, 12, 8, 13};

struct shapes {
    struct check *c;
    size_t row; /* of shape_aads */
    size_t len_bytes, tag_bytes;
    bool at_end, in_place;
    enum result result;
};

/* An emulator takes long to compute what is expected. */
static bool is_slow(const struct check *c)
{
    return c->quick && port_emulated();
}

static size_t longest_shape(const struct check *c)
{
    return is_slow(c) ? 640 : 4096 + 17;
}

/* Every length to four groups of 512 bytes, so that each number of them meets each tail, and those
 * around 4096: half a second for a fused kernel with instructions of AES, so in quick runs too.
 * Others, and quick runs of an emulator: some of these, with other associated data others. Parts of
 * a block of associated data beyond the first row meet one group and a tail; behind more than 64
 * bytes, two groups meet each tail, and more meet some. */
static bool take_shape(const struct shapes *s, bool slow)
{
    const struct evc_registry_line *line = s->c->line;
    const size_t len = s->len_bytes, aad = known.aad_bytes,
                 most = s->row && aad < 8 ? 640 : 2048 + 17;
    const size_t step = (is_pair_name(line->name) || !line->needs ? 83u : 1u) * (slow ? 7u : 1u);

    if (len > most && (most == 640 || len < 4096 - 17))
        return false;
    return (len + 3 * s->row) % (aad > 64 && len > 1024 + 17 ? 3 * step : step) == 0;
}

static enum result wrong_shape(const struct shapes *s, bool sealing, const char *what)
{
    char where[80];

    snprintf(where, sizeof where, "%zu of tag, %s guard pages%s", s->tag_bytes,
             s->at_end ? "before" : "behind", s->in_place ? ", in place" : "");
    return wrong(s->c, sealing, s->len_bytes, where, what);
}

/* The bytes of a fence on the other side of n bytes than the guard page. */
static uint8_t *beside(const struct guarded *fence, bool at_end, size_t n)
{
    return at_end ? port_flush(fence, true, n) - MARGIN : fence->start + n;
}

/* One call; tag: what it is given to open, what it must write to seal. */
static enum result run_shape(const struct shapes *s, bool sealing, const uint8_t tag[16],
                             enum evc_status expected)
{
    const size_t len = s->len_bytes, n = s->tag_bytes;
    const struct guarded *const fence = s->in_place ? &fence_in : &fence_out;
    uint8_t *const in = port_flush(&fence_in, s->at_end, len),
                   *const out = port_flush(fence, s->at_end, len),
                   *const aad = port_flush(&fence_aad, s->at_end, known.aad_bytes),
                   *const iv = port_flush(&fence_iv, s->at_end, 12),
                   *const tag_at = port_flush(&fence_tag, s->at_end, n);
    enum evc_status status;

    s->c->cases++;
    memset(out, PAINT, len);
    memset(beside(fence, s->at_end, len), PAINT, MARGIN);
    memset(beside(&fence_tag, s->at_end, n), PAINT, MARGIN);
    memcpy(in, sealing ? known.in : known.out, len);
    memcpy(aad, known.aad, known.aad_bytes);
    memcpy(iv, known.iv, 12);
    if (sealing)
        memset(tag_at, PAINT, n);
    else
        memcpy(tag_at, tag, n);
    use_registers();
    status = (sealing ? evc_gcm_seal(key, iv, 12, aad, known.aad_bytes, in, out, len, tag_at, n)
                      : evc_gcm_open(key, iv, 12, aad, known.aad_bytes, in, out, len, tag_at, n));
    if (status != expected)
        return wrong_shape(s, sealing, evc_status_text(status));
    if (memcmp(tag_at, tag, n) != 0)
        return wrong_shape(s, sealing, "another tag");
    if (!all_are(beside(fence, s->at_end, len), PAINT, MARGIN) ||
        !all_are(beside(&fence_tag, s->at_end, n), PAINT, MARGIN))
        return wrong_shape(s, sealing, "wrote outside of its outputs");
    if (status != EVC_OK)
        return all_are(out, 0, len)
                   ? PASS
                   : wrong_shape(s, sealing, "a forgery's text is not zeros alone");
    return memcmp(out, sealing ? known.out : known.in, len) == 0
               ? PASS
               : wrong_shape(s, sealing, "another text");
}

/* The same text as one piece, for which kernels open before they know the tag. */
static enum result run_shape_as_piece(const struct shapes *s, bool sealing, const uint8_t tag[16])
{
    const size_t len = s->len_bytes;
    uint8_t *const in = port_flush(&fence_in, s->at_end, len),
                   *const out = port_flush(&fence_out, s->at_end, len),
                   *const tag_at = port_flush(&fence_tag, s->at_end, s->tag_bytes);
    struct evc_gcm_state state;

    s->c->cases++;
    memcpy(in, sealing ? known.in : known.out, len);
    if (sealing)
        memset(tag_at, PAINT, s->tag_bytes);
    else
        memcpy(tag_at, tag, s->tag_bytes);
    must(evc_gcm_start(key, &state, known.iv, 12));
    use_registers();
    must(evc_gcm_aad(key, &state, known.aad, known.aad_bytes));
    use_registers();
    must((sealing ? evc_gcm_seal_update : evc_gcm_open_update)(key, &state, in, out, len));
    if ((sealing ? evc_gcm_seal_finish(key, &state, tag_at, s->tag_bytes)
                 : evc_gcm_open_finish(key, &state, tag_at, s->tag_bytes)) != EVC_OK)
        return wrong_shape(s, sealing, "as one piece, refused");
    if (memcmp(tag_at, tag, s->tag_bytes) != 0)
        return wrong_shape(s, sealing, "as one piece, another tag");
    if (!all_are((const uint8_t *)&state, 0, sizeof state))
        return wrong_shape(s, sealing, "as one piece, the state is not wiped");
    return memcmp(out, sealing ? known.out : known.in, len) == 0
               ? PASS
               : wrong_shape(s, sealing, "as one piece, another text");
}

static enum result run_each_way(struct shapes *s)
{
    const size_t bit = (7 * s->len_bytes + s->row) % (8 * s->tag_bytes);
    uint8_t tag[16], forged[16];

    known_tag(&known, tag, s->len_bytes);
    memcpy(forged, tag, 16);
    forged[bit / 8] ^= (uint8_t)(1 << bit % 8);
    for (int i = 0; i < 2; i++) {
        s->in_place = i != 0;
        s->at_end = ((s->len_bytes + s->row) & 1) != (size_t)i;
        if (run_shape(s, true, tag, EVC_OK) == FAIL || run_shape(s, false, tag, EVC_OK) == FAIL ||
            run_shape(s, false, forged, EVC_ERR_TAG) == FAIL)
            return FAIL;
    }
    s->in_place = false;
    return run_shape_as_piece(s, true, tag) == FAIL ? FAIL : run_shape_as_piece(s, false, tag);
}

/* Every length with one size of associated data. */
static void do_row(void *vshapes)
{
    struct shapes *s = vshapes;
    const size_t longest = longest_shape(s->c);
    const bool slow = is_slow(s->c);

    for (s->len_bytes = 0; s->len_bytes <= longest && s->result == PASS; s->len_bytes++) {
        s->tag_bytes = shape_tags[(s->len_bytes + s->row) % N(shape_tags)];
        if (take_shape(s, slow))
            s->result = run_each_way(s);
    }
}

static enum result messages_of_every_shape_equal_reference(struct check *c)
{
    if (!have_fences())
        return check_skip(c, "no guard pages on this system");
    for (size_t row = 0; row < N(shape_aads); row++) {
        struct shapes s = {.c = c, .row = row};
        know_key_of(c, 128 + 64 * (unsigned)(row % 3));
        know_random_message(c, 12, shape_aads[row], longest_shape(c) / 16 + 1);
        if (!port_survives(do_row, &s))
            return wrong_shape(&s, true, "or opened: memory fault");
        if (s.result == FAIL)
            return FAIL;
    }
    return PASS;
}

/* ---- Forgeries ------------------------------------------------------------------------------- */

/* Checks that opening len_bytes bytes with this tag is refused and leaves no plaintext behind;
 * opening in pieces is refused as well. */
static enum result is_refused(struct check *c, size_t len_bytes, const uint8_t *tag,
                              size_t tag_bytes, const char *where)
{
    struct evc_gcm_state state;
    uint8_t *in = place(&in_room, 0, len_bytes), *out = place(&out_room, 0, len_bytes);

    c->cases++;
    memcpy(in, known.out, len_bytes);
    if (evc_gcm_open(key, known.iv, known.iv_bytes, known.aad, known.aad_bytes, in, out, len_bytes,
                     tag, tag_bytes) != EVC_ERR_TAG)
        return wrong(c, false, len_bytes, where, "accepted");
    if (!all_are(out, 0, len_bytes) || !margins_are_untouched(&out_room, out, len_bytes))
        return wrong(c, false, len_bytes, where, "the output is not zeros alone");
    if (memcmp(in, known.out, len_bytes) != 0)
        return wrong(c, false, len_bytes, where, "changed its input");
    if (evc_gcm_open(key, known.iv, known.iv_bytes, known.aad, known.aad_bytes, in, in, len_bytes,
                     tag, tag_bytes) != EVC_ERR_TAG ||
        !all_are(in, 0, len_bytes) || !margins_are_untouched(&in_room, in, len_bytes))
        return wrong(c, false, len_bytes, where, "in place, accepted or not zeros alone");
    must(evc_gcm_start(key, &state, known.iv, known.iv_bytes));
    must(evc_gcm_aad(key, &state, known.aad, known.aad_bytes));
    must(evc_gcm_open_update(key, &state, known.out, out, len_bytes));
    if (evc_gcm_open_finish(key, &state, tag, tag_bytes) != EVC_ERR_TAG)
        return wrong(c, false, len_bytes, where, "accepted in pieces");
    if (!all_are((const uint8_t *)&state, 0, sizeof state))
        return wrong(c, false, len_bytes, where, "the state is not wiped");
    return PASS;
}

/* With each bit of `of` changed in turn (step: of some). */
static enum result changes_are_refused(struct check *c, uint8_t *of, size_t n_bytes, size_t step,
                                       size_t len_bytes, const uint8_t *tag, const char *where)
{
    enum result result = PASS;

    for (size_t i = 0; i < 8 * n_bytes && result == PASS; i += step) {
        of[i / 8] ^= (uint8_t)(1 << i % 8);
        result = is_refused(c, len_bytes, tag, 16, where);
        of[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    return result;
}

static enum result forgeries_are_refused_and_leave_only_zeros(struct check *c)
{
    const size_t lengths[] = {0, 1, 16, 31, 100, 16 * batch_of(c) + 5, 16 * most_blocks(c) - 1};
    uint8_t tag[16];

    for (size_t i = 0; i < N(lengths); i++) {
        const size_t len = lengths[i], step = c->quick ? 13 : len < 200 ? 1 : 3;
        know_random(c, i % 3 == 2 ? 20 : 12, 19, most_blocks(c));
        known_tag(&known, tag, len);
        if (changes_are_refused(c, tag, 16, c->quick && len > 100 ? 5 : 1, len, tag,
                                "a bit of the tag") == FAIL ||
            changes_are_refused(c, known.out, len, 1 + len / 40 * step, len, tag,
                                "a bit of the ciphertext") == FAIL ||
            changes_are_refused(c, known.aad, known.aad_bytes, step, len, tag,
                                "a bit of the associated data") == FAIL ||
            changes_are_refused(c, known.iv, known.iv_bytes, step, len, tag, "a bit of the IV") ==
                FAIL)
            return FAIL;
    }
    return PASS;
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static bool short_tags; /* the key allows them */

static bool is_tag_size(size_t n) /* section 5.2.1.2 */
{
    return (short_tags && (n == 4 || n == 8)) || (n >= 12 && n <= 16);
}

/* In one call; nothing is written for a size that is none. */
static enum result tag_of_size(struct check *c, size_t n, const uint8_t expected[16])
{
    const enum evc_status status = is_tag_size(n) ? EVC_OK : EVC_ERR_TAG_SIZE;
    uint8_t tag[24], *out = place(&out_room, 0, 30);

    memset(tag, PAINT, sizeof tag);
    if (evc_gcm_seal(key, known.iv, 12, known.aad, 5, known.in, out, 30, tag, n) != status)
        return check_fail(c, "seal with a tag of %zu bytes: another status", n);
    if (memcmp(tag, expected, status == EVC_OK ? n : 0) != 0 ||
        !all_are(tag + (status == EVC_OK ? n : 0), PAINT, sizeof tag - (status == EVC_OK ? n : 0)))
        return check_fail(c, "a tag of %zu bytes: not the first bytes of the whole one", n);
    if (status != EVC_OK && !all_are(out, PAINT, 30))
        return check_fail(c, "a tag of %zu bytes: refused, but something was written", n);
    if (evc_gcm_open(key, known.iv, 12, known.aad, 5, known.out, out, 30, expected, n) != status)
        return check_fail(c, "open with a tag of %zu bytes: another status", n);
    return PASS;
}

/* In pieces; after a size that is none the state is as before. */
static enum result tag_of_size_in_pieces(struct check *c, size_t n, const uint8_t expected[16])
{
    const enum evc_status status = is_tag_size(n) ? EVC_OK : EVC_ERR_TAG_SIZE;
    struct evc_gcm_state state;
    uint8_t tag[24], *out = place(&out_room, 0, 30);

    for (int sealing = 0; sealing < 2; sealing++) {
        must(evc_gcm_start(key, &state, known.iv, 12));
        must(evc_gcm_aad(key, &state, known.aad, 5));
        must(sealing ? evc_gcm_seal_update(key, &state, known.in, out, 30)
                     : evc_gcm_open_update(key, &state, known.out, out, 30));
        memset(tag, PAINT, sizeof tag);
        if ((sealing ? evc_gcm_seal_finish(key, &state, tag, n)
                     : evc_gcm_open_finish(key, &state, expected, n)) != status)
            return check_fail(c, "finish with a tag of %zu bytes: another status", n);
        if (sealing && (memcmp(tag, expected, status == EVC_OK ? n : 0) != 0 || tag[n] != PAINT))
            return check_fail(c, "in pieces, a tag of %zu bytes: another", n);
        if (status != EVC_OK &&
            (sealing ? evc_gcm_seal_finish(key, &state, tag, 16)
                     : evc_gcm_open_finish(key, &state, expected, 16)) != EVC_OK)
            return check_fail(c, "a tag of %zu bytes is refused, but not nothing done", n);
    }
    return PASS;
}

/* Each bit of a short tag counts, too. */
static enum result tags_of_the_key(struct check *c, uint8_t tag[24])
{
    for (size_t n = 0; n <= 20; n++, c->cases++) {
        if (tag_of_size(c, n, tag) == FAIL || tag_of_size_in_pieces(c, n, tag) == FAIL)
            return FAIL;
        for (size_t i = 0; is_tag_size(n) && i < 8 * n; i++) {
            tag[i / 8] ^= (uint8_t)(1 << i % 8);
            if (is_refused(c, 30, tag, n, "a bit of a short tag") == FAIL)
                return FAIL;
            tag[i / 8] ^= (uint8_t)(1 << i % 8);
        }
    }
    return PASS;
}

/* Short ones only if the key allows them, which none does at first. */
static enum result tags_are_of_the_sizes_allowed(struct check *c)
{
    const struct gcm_kernel k = kernel_of(c);
    uint8_t tag[24] = {0};

    know_random(c, 12, 5, 2);
    known_tag(&known, tag, 30);
    must(gcm_set_key(&k, key, known.user_key, known.key_bits));
    short_tags = false;
    if (tags_of_the_key(c, tag) == FAIL)
        return FAIL;
    must(evc_gcm_allow_short_tags(key));
    short_tags = true;
    return tags_of_the_key(c, tag);
}

/* A list of calls and what each must return; the first that does not is named. */
struct refusal {
    const char *what;
    enum evc_status returned, wanted;
};

static enum result all_are_as_wanted(struct check *c, const struct refusal *r, size_t n)
{
    for (size_t i = 0; i < n; i++, c->cases++)
        if (r[i].returned != r[i].wanted)
            return check_fail(c, "%s: %s", r[i].what, evc_status_text(r[i].returned));
    return PASS;
}

#define LENGTH EVC_ERR_LENGTH

#define STATE EVC_ERR_STATE

static enum result calls_out_of_order_are_refused(struct check *c)
{
    struct evc_gcm_state s;
    uint8_t tag[16], expected[16], *out = place(&out_room, 0, 16);

    memset(&s, 0, sizeof s);
    know_random(c, 12, 0, 1);
    known_tag(&known, expected, 1);
    const struct refusal before[] = {
        {"aad before start", evc_gcm_aad(key, &s, known.aad, 1), STATE},
        {"seal_update before start", evc_gcm_seal_update(key, &s, known.in, out, 1), STATE},
        {"open_update before start", evc_gcm_open_update(key, &s, known.in, out, 1), STATE},
        {"seal_finish before start", evc_gcm_seal_finish(key, &s, tag, 16), STATE},
        {"open_finish before start", evc_gcm_open_finish(key, &s, tag, 16), STATE},
        {"start with an empty IV", evc_gcm_start(key, &s, known.iv, 0), EVC_ERR_NONCE_SIZE},
        {"seal with an empty IV",
         evc_gcm_seal(key, known.iv, 0, known.aad, 0, known.in, out, 1, tag, 16),
         EVC_ERR_NONCE_SIZE},
        {"open with an empty IV",
         evc_gcm_open(key, known.iv, 0, known.aad, 0, known.in, out, 1, tag, 16),
         EVC_ERR_NONCE_SIZE},
    };
    if (all_are_as_wanted(c, before, N(before)) == FAIL)
        return FAIL;
    if (!all_are(out, PAINT, 16))
        return check_fail(c, "a call out of order wrote something");
    must(evc_gcm_start(key, &s, known.iv, 12));
    must(evc_gcm_seal_update(key, &s, known.in, out, 1));
    const struct refusal after[] = {
        {"aad after text", evc_gcm_aad(key, &s, known.aad, 1), STATE},
        {"open_update after seal_update", evc_gcm_open_update(key, &s, known.in, out, 1), STATE},
        {"open_finish after seal_update", evc_gcm_open_finish(key, &s, expected, 16), STATE},
        {"seal_finish", evc_gcm_seal_finish(key, &s, tag, 16), EVC_OK},
        {"seal_update after finish", evc_gcm_seal_update(key, &s, known.in, out, 1), STATE},
        {"open_update after finish", evc_gcm_open_update(key, &s, known.in, out, 1), STATE},
        {"aad after finish", evc_gcm_aad(key, &s, known.aad, 1), STATE},
        {"finish after finish", evc_gcm_seal_finish(key, &s, expected, 16), STATE},
    };
    if (all_are_as_wanted(c, after, N(after)) == FAIL)
        return FAIL;
    return memcmp(tag, expected, 16) == 0
               ? PASS
               : check_fail(c, "associated data refused entered the tag");
}

/* States whose counts are set as if so much had been taken; whole messages whose sizes alone are
 * too large. */
static enum result lengths_over_the_limits_are_refused(struct check *c)
{
    const uint64_t text = EVC_GCM_MAX_TEXT, data = EVC_GCM_MAX_AAD;
    struct evc_gcm_state s;
    uint8_t tag[16], *out = place(&out_room, 0, 64);

    know_random(c, 13, 0, 4);
    /* an IV of 13 bytes: one of 12 bytes the state would only hold */
    must(evc_gcm_start(key, &s, known.iv, 13));
    s.aad_bytes = data - 5;
    const struct refusal of_data[] = {
        {"associated data over the limit", evc_gcm_aad(key, &s, known.aad, 6), LENGTH},
        {"associated data to the limit", evc_gcm_aad(key, &s, known.aad, 5), EVC_OK},
        {"associated data past the limit", evc_gcm_aad(key, &s, known.aad, 1), LENGTH},
    };
    s.text_bytes = text - 32;
    const struct refusal of_text[] = {
        {"text over the limit", evc_gcm_seal_update(key, &s, known.in, out, 33), LENGTH},
        {"text to the limit", evc_gcm_seal_update(key, &s, known.in, out, 32), EVC_OK},
        {"text past the limit", evc_gcm_seal_update(key, &s, known.in, out, 1), LENGTH},
    };
    if (all_are_as_wanted(c, of_data, N(of_data)) == FAIL ||
        all_are_as_wanted(c, of_text, N(of_text)) == FAIL)
        return FAIL;
    if (sizeof(size_t) <= 4)
        return PASS;
    const size_t much = (size_t)text + 1, most = (size_t)data + 1;
    const uint8_t *iv = known.iv, *in = known.in;
    const struct refusal at_once[] = {
        {"a long text sealed", evc_gcm_seal(key, iv, 12, iv, 0, out, out, much, tag, 16), LENGTH},
        {"a long text opened", evc_gcm_open(key, iv, 12, iv, 0, out, out, much, tag, 16), LENGTH},
        {"much associated data", evc_gcm_seal(key, iv, 12, iv, most, in, out, 1, tag, 16), LENGTH},
        {"much, opened", evc_gcm_open(key, iv, 12, iv, most, in, out, 1, tag, 16), LENGTH},
        {"a long IV", evc_gcm_seal(key, iv, most, iv, 0, in, out, 1, tag, 16), EVC_ERR_NONCE_SIZE},
    };
    s.aad_bytes = data, s.text_bytes = text; /* of another message, which the start forgets */
    must(evc_gcm_start(key, &s, iv, 12));
    const struct refusal at_first[] = {
        {"much associated data, the first", evc_gcm_aad(key, &s, iv, most), LENGTH},
        {"a long text sealed, the first", evc_gcm_seal_update(key, &s, in, out, much), LENGTH},
        {"a long text opened, the first", evc_gcm_open_update(key, &s, in, out, much), LENGTH},
        {"five bytes of associated data", evc_gcm_aad(key, &s, iv, 5), EVC_OK},
        {"a byte more", evc_gcm_aad(key, &s, iv, 1), EVC_OK},
        {"much associated data behind them", evc_gcm_aad(key, &s, iv, most - 6), LENGTH},
        {"a long text behind them", evc_gcm_seal_update(key, &s, in, out, much), LENGTH},
        {"a byte of text", evc_gcm_open_update(key, &s, in, out, 1), EVC_OK},
        {"a long text behind it", evc_gcm_open_update(key, &s, in, out, much - 1), LENGTH},
    };
    if (all_are_as_wanted(c, at_once, N(at_once)) == FAIL)
        return FAIL;
    return all_are_as_wanted(c, at_first, N(at_first));
}

/* ---- Own operations, and many messages ------------------------------------------------------- */

/* Its messages in one call as if it had no operations for them. */
static enum result own_operations_equal_composed_ones(struct check *c)
{
    struct evc_gcm bare;

    for (int turn = 0; turn < (c->quick ? 3 : 30); turn++) {
        know_random(c, 12, random_below(&c->random, 80), most_blocks(c));
        bare = *key->head.kernel;
        if (!bare.seal && !bare.open)
            return PASS; /* composed ones are all it has, and every other property is theirs */
        bare.seal = NULL;
        bare.open = NULL;
        bare.seal_any_iv = evc_gcm_seal_pieces;
        bare.open_any_iv = evc_gcm_open_pieces;
        bare.open_output_tag = NULL;
        key->head.kernel = &bare;
        for (size_t len = 0; len <= 16 * most_blocks(c); len++)
            if (take_bytes(c, len) && run_both(c, len, &aligned) == FAIL)
                return FAIL;
    }
    return PASS;
}

#define MOST_MESSAGES 40
#define MOST_MANY_BYTES 300 /* of one message */

static struct batch {
    struct evc_gcm_msg msgs[MOST_MESSAGES], one[MOST_MESSAGES];
    uint8_t iv[MOST_MESSAGES][20], aad[MOST_MESSAGES][40], in[MOST_MESSAGES][MOST_MANY_BYTES];
    uint8_t out[2][MOST_MESSAGES][MOST_MANY_BYTES], tag[2][MOST_MESSAGES][16];
} batch;

/* Messages of any sizes, or of one (same_size); some with sizes that are none. To be opened:
 * sealed, some of them damaged. */
static void fill_batch(struct check *c, size_t n, bool sealing, bool same_size)
{
    const size_t length = random_below(&c->random, MOST_MANY_BYTES + 1);

    random_bytes(&c->random, batch.in[0], sizeof batch.in);
    random_bytes(&c->random, batch.iv[0], sizeof batch.iv);
    random_bytes(&c->random, batch.aad[0], sizeof batch.aad);
    memset(batch.out, PAINT, sizeof batch.out);
    memset(batch.tag, PAINT, sizeof batch.tag);
    for (size_t m = 0; m < n; m++) {
        struct evc_gcm_msg *msg = &batch.msgs[m];
        *msg = (struct evc_gcm_msg){
            .iv = batch.iv[m],
            .aad = batch.aad[m],
            .in = batch.in[m],
            .out = batch.out[0][m],
            .tag = batch.tag[0][m],
            .iv_bytes = same_size || m % 4 ? 12 : m % 20,
            .aad_bytes = same_size ? 13 : random_below(&c->random, 41),
            .len_bytes = same_size ? length : random_below(&c->random, MOST_MANY_BYTES + 1),
            .tag_bytes = same_size ? 16 : 12 + random_below(&c->random, 6),
            .status = EVC_ERR_KERNEL};
        if (!sealing) {
            const enum evc_status sealed =
                evc_gcm_seal(key, msg->iv, msg->iv_bytes, msg->aad, msg->aad_bytes, msg->in,
                             batch.in[m], msg->len_bytes, msg->tag, msg->tag_bytes);
            (void)sealed; /* some sizes are none */
            if (random_below(&c->random, 5) == 0)
                msg->tag[random_below(&c->random, 12)] ^= 1;
            memcpy(batch.tag[1][m], msg->tag, 16);
        }
        batch.one[m] = *msg;
        batch.one[m].out = batch.out[1][m];
        batch.one[m].tag = batch.tag[1][m];
    }
}

static enum result run_batch(struct check *c, size_t n, bool sealing)
{
    enum evc_status status = EVC_OK;

    for (size_t m = 0; m < n; m++) {
        struct evc_gcm_msg *o = &batch.one[m];
        o->status = (sealing ? evc_gcm_seal(key, o->iv, o->iv_bytes, o->aad, o->aad_bytes, o->in,
                                            o->out, o->len_bytes, o->tag, o->tag_bytes)
                             : evc_gcm_open(key, o->iv, o->iv_bytes, o->aad, o->aad_bytes, o->in,
                                            o->out, o->len_bytes, o->tag, o->tag_bytes));
        if (status == EVC_OK)
            status = o->status;
    }
    if ((sealing ? evc_gcm_seal_many : evc_gcm_open_many)(key, batch.msgs, n) != status)
        return check_fail(c, "%zu messages: another status of all", n);
    for (size_t m = 0; m < n; m++, c->cases++) {
        const char *what = batch.msgs[m].status != batch.one[m].status         ? "status"
                           : memcmp(batch.tag[0][m], batch.tag[1][m], 16) != 0 ? "tag"
                           : memcmp(batch.out[0][m], batch.out[1][m], MOST_MANY_BYTES) != 0 ? "text"
                                                                                            : NULL;
        if (what)
            return check_fail(c, "%zu messages %s: another %s of message %zu (%zu bytes)", n,
                              sealing ? "sealed" : "opened", what, m, batch.msgs[m].len_bytes);
    }
    return PASS;
}

/* Alone they are held against the reference by the other properties. */
static enum result many_messages_equal_one_by_one(struct check *c)
{
    for (size_t n = 0; n <= MOST_MESSAGES; n += c->quick && n > 4 ? 7 : 1) {
        know_random_key(c);
        for (int i = 0; i < 4; i++) {
            fill_batch(c, n, i & 1, i & 2);
            if (run_batch(c, n, i & 1) == FAIL)
                return FAIL;
        }
    }
    return PASS;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static enum result bad_keys_are_refused_and_wiped(struct check *c)
{
    const struct gcm_kernel k = kernel_of(c);

    for (unsigned bits = 0; bits <= 512; bits += 8, c->cases++) {
        const bool good = bits == 128 || bits == 192 || bits == 256;
        memset(key, 0xaa, sizeof *key);
        if (gcm_set_key(&k, key, known.user_key, bits) != (good ? EVC_OK : EVC_ERR_KEY_SIZE))
            return check_fail(c, "%u bits: another status", bits);
        if (!good && !all_are(key->bytes, 0, sizeof *key))
            return check_fail(c, "%u bits: refused, but the key is not wiped", bits);
    }
    const struct gcm_kernel halves[] = {
        {NULL, NULL, k.ghash}, {NULL, k.aes, NULL}, {NULL, NULL, NULL}};
    for (size_t i = 0; i < N(halves); i++) {
        memset(key, 0xaa, sizeof *key);
        if (gcm_set_key(&halves[i], key, known.user_key, 128) != EVC_ERR_KERNEL ||
            !all_are(key->bytes, 0, sizeof *key))
            return check_fail(c, "without a kernel: not refused, or not wiped");
    }
    if (evc_gcm_set_key(key, NULL, known.user_key, 128) != EVC_ERR_KERNEL)
        return check_fail(c, "without a fused kernel: not refused");
    const struct evc_ghash *large = evc_ghash_named("c_table8"); /* keys beyond the union */
    if (k.aes && evc_gcm_set_pair(key, k.aes, large, known.user_key, 128) != EVC_ERR_KERNEL)
        return check_fail(c, "a key that does not fit: not refused");
    return PASS;
}

/* set_key of a kernel writes all of its key, so that nothing is written twice; whether
 * it does is seen here. */
static enum result keys_keep_nothing_of_their_memory(struct check *c)
{
    static const uint8_t held[] = {0x00, 0xaa, 0x55};
    static union evc_gcm_key keys[N(held)];
    const struct gcm_kernel k = kernel_of(c);

    for (unsigned bits = 128; bits <= 256; bits += 64)
        for (size_t i = 0; i < N(held); i++, c->cases++) {
            memset(&keys[i], held[i], sizeof keys[i]);
            if (gcm_set_key(&k, &keys[i], known.user_key, bits) != EVC_OK)
                return check_fail(c, "%u bits: refused", bits);
            if (memcmp(&keys[0], &keys[i], sizeof keys[i]) != 0)
                return check_fail(c, "%u bits: the key depends on what its memory held", bits);
        }
    if (k.fused && k.fused->kernel.key_bytes < sizeof keys[0]) {
        const size_t n = k.fused->kernel.key_bytes;

        memset(&keys[0], 0xaa, sizeof keys[0]);
        must(evc_gcm_set_key_in(&keys[0], n, k.fused, known.user_key, 256));
        if (!all_are(keys[0].bytes + n, 0xaa, sizeof keys[0] - n))
            return check_fail(c, "a byte behind a key of %zu bytes was written", n);
    }
    return PASS;
}

static enum result keys_may_be_copied(struct check *c)
{
    static union evc_gcm_key gone;
    uint8_t tag[16];

    know_random(c, 12, 13, most_blocks(c));
    gone = *key;
    memset(key, 0, sizeof *key);
    must(evc_gcm_seal(&gone, known.iv, 12, known.aad, 13, known.in, out_room.bytes, 40, tag, 16));
    memcpy(key, &gone, evc_gcm_kernel(gone.head.kernel)->key_bytes);
    memset(&gone, 0x55, sizeof gone);
    return run_both(c, 16 * most_blocks(c), &aligned);
}

static enum result keys_change_only_when_set(struct check *c)
{
    static union evc_gcm_key before;
    const size_t n = 16 * most_blocks(c) - 7;

    know_random(c, 12, 13, most_blocks(c));
    before = *key;
    if (run_both(c, n, &aligned) == FAIL || run_stream(c, true, n, false) == FAIL)
        return FAIL;
    c->cases += sizeof before;
    if (memcmp(&before, key, sizeof before) != 0)
        return check_fail(c, "the key changed");
    for (size_t i = evc_gcm_kernel(key->head.kernel)->key_bytes; i < sizeof *key; i++)
        if (key->bytes[i])
            return check_fail(c, "byte %zu is left of what was there before a key of %u bytes", i,
                              (unsigned)evc_gcm_kernel(key->head.kernel)->key_bytes);
    return PASS;
}

static enum result wiped_keys_are_zero(struct check *c)
{
    know_random_key(c);
    evc_wipe(key, sizeof *key);
    c->cases = sizeof *key;
    return all_are(key->bytes, 0, sizeof *key) ? PASS : check_fail(c, "something is left");
}

static const struct property properties[] = {
#define PROPERTY(name) {#name, name, false}
    PROPERTY(descriptor_agrees_with_its_line),
    PROPERTY(known_answers),
    PROPERTY(every_length_equals_reference),
    PROPERTY(long_messages_equal_reference),
    PROPERTY(up_to_1024_blocks_equal_reference),
    PROPERTY(associated_data_of_every_length_counts),
    PROPERTY(ivs_of_every_length_count),
    PROPERTY(in_place_equals_disjoint),
    PROPERTY(empty_buffers_may_be_null),
    PROPERTY(every_alignment_equals_reference),
    PROPERTY(accesses_stay_inside_the_buffers),
    PROPERTY(messages_of_every_shape_equal_reference),
    PROPERTY(every_number_of_blocks_equals_reference),
    PROPERTY(counter_wraps_modulo_2_32),
    PROPERTY(messages_whose_counter_wraps_equal_reference),
    PROPERTY(messages_in_pieces_equal_one_call),
    PROPERTY(forgeries_are_refused_and_leave_only_zeros),
    PROPERTY(tags_are_of_the_sizes_allowed),
    PROPERTY(calls_out_of_order_are_refused),
    PROPERTY(lengths_over_the_limits_are_refused),
    PROPERTY(own_operations_equal_composed_ones),
    PROPERTY(many_messages_equal_one_by_one),
    PROPERTY(bad_keys_are_refused_and_wiped),
    PROPERTY(keys_keep_nothing_of_their_memory),
    PROPERTY(keys_may_be_copied),
    PROPERTY(keys_change_only_when_set),
    PROPERTY(wiped_keys_are_zero),
    {"calls_keep_the_abi", gcm_calls_keep_the_abi, false},
    {"messages_of_a_mebibyte_equal_reference", gcm_messages_of_a_mebibyte_equal_reference, false},
    {"set_key_leaves_nothing_behind", gcm_set_key_leaves_nothing_behind, false},
    {"messages_leave_nothing_behind", gcm_messages_leave_nothing_behind, false},
    {"pieces_leave_nothing_behind", gcm_pieces_leave_nothing_behind, false},
#undef PROPERTY
};

const struct check_primitive check_gcm = {
    .name = "gcm", .properties = properties, .n_properties = N(properties), .pairs = true};
