/* SPDX-License-Identifier: MIT */
/*
 * The properties that every AES kernel has: in each, something is computed by the kernel, through
 * the public operations, and held against aes_ops.c's definitions on c_ref, or against published
 * answers.
 */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "everycore/aes.h"
#include "everycore/modes.h"

#include "aes_ops.h"
#include "check_abi.h"
#include "check_long.h"
#include "key_room.h"
#include "must.h"
#include "names.h"
#include "port/port.h"
#include "residue.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

static const unsigned key_sizes[] = {128, 192, 256}; /* bits */

static const struct evc_aes *kernel_of(const struct check *c)
{
    return evc_aes_named(c->line->name);
}

/* ---- Comparison of one run with what is known ------------------------------------------------ */

static struct known known; /* of the operation under test; too big for the stack */

/* Fresh random key, IV and message, and their results for n_blocks blocks. */
static void know_random(struct check *c, const struct aes_op *op, unsigned key_bits,
                        size_t n_blocks)
{
    known.key_bits = key_bits;
    random_bytes(&c->random, known.user_key, sizeof known.user_key);
    random_bytes(&c->random, known.iv[0], 16);
    random_bytes(&c->random, known.in, 16 * n_blocks);
    know(&known, op, n_blocks);
}

static void make_key(const struct check *c, union evc_aes_key *key)
{
    memset(key, 0xaa, sizeof *key);
    must(evc_aes_set_key(key, kernel_of(c), known.user_key, known.key_bits));
}

/* out and iv as the operation left them for the first len_bytes bytes of known; where: words for a
 * failure. */
static enum result agree(struct check *c, size_t len_bytes, const uint8_t *out, const uint8_t *iv,
                         const char *where)
{
    const uint8_t *iv_after = known.iv[(len_bytes + 15) / 16];

    c->cases++;
    for (size_t i = 0; known.op->writes && i < len_bytes; i++)
        if (out[i] != known.out[i])
            return check_fail(
                c, "%s, %u-bit key, %zu bytes, %s: byte %zu of the output is %02x, not %02x",
                known.op->name, known.key_bits, len_bytes, where, i, out[i], known.out[i]);
    for (size_t i = 0; i < 16; i++)
        if (iv[i] != iv_after[i])
            return check_fail(
                c, "%s, %u-bit key, %zu bytes, %s: byte %zu of the IV after it is %02x, not %02x",
                known.op->name, known.key_bits, len_bytes, where, i, iv[i], iv_after[i]);
    return PASS;
}

#define MARGIN 64 /* bytes before and after an output that must stay as they are */

/* Room for a message at any alignment, with margins. */
struct room {
    EVC_ALIGN(64) uint8_t bytes[MARGIN + 16 + MAX_BYTES + MARGIN];
};
static struct room in_room, out_room;

static uint8_t *place(struct room *room, size_t misaligned)
{
    memset(room->bytes, 0xa5, sizeof room->bytes);
    return room->bytes + MARGIN + misaligned;
}

static bool margins_are_untouched(const struct room *room, const uint8_t *start, size_t len_bytes)
{
    for (const uint8_t *p = room->bytes; p < start; p++)
        if (*p != 0xa5)
            return false;
    for (const uint8_t *p = start + len_bytes; p < room->bytes + sizeof room->bytes; p++)
        if (*p != 0xa5)
            return false;
    return true;
}

/* The operation on len_bytes bytes, from in_room to out_room (in place: in in_room) at these
 * alignments. */
static enum result run_at(struct check *c, const union evc_aes_key *key, size_t len_bytes,
                          size_t in_at, size_t out_at, bool in_place)
{
    uint8_t ivs[32], *iv = ivs + (in_at + out_at) % 16, *in = place(&in_room, in_at),
                     *out = in_place ? in : place(&out_room, out_at);
    char where[64];

    snprintf(where, sizeof where, "in + %zu, out + %zu%s", in_at, out_at,
             in_place ? ", in place" : "");
    memcpy(in, known.in, len_bytes);
    memcpy(iv, known.iv[0], 16);
    known.op->run(key, iv, in, out, len_bytes);
    if (agree(c, len_bytes, out, iv, where) == FAIL)
        return FAIL;
    if (!margins_are_untouched(in_place ? &in_room : &out_room, out,
                               known.op->writes ? len_bytes : 0) &&
        !(in_place && !known.op->writes))
        return check_fail(c, "%s, %zu bytes, %s: wrote outside of the output", known.op->name,
                          len_bytes, where);
    if (!in_place &&
        (memcmp(in, known.in, len_bytes) != 0 || !margins_are_untouched(&in_room, in, len_bytes)))
        return check_fail(c, "%s, %zu bytes, %s: changed its input", known.op->name, len_bytes,
                          where);
    return PASS;
}

/* ---- Lengths -------------------------------------------------------------------------------- */

/* Beyond two turns of the composed operations' 32 blocks and four of the kernel's own batch. From
 * 256 blocks on the kernel with the widest vectors has other code for XTS. */
static size_t most_blocks(const struct check *c)
{
    size_t n = 4 * (size_t)kernel_of(c)->kernel.batch + 5;

    n = n < 70 ? 70 : n;
    return n < 128 ? n : MAX_BLOCKS;
}

/* Quick: 0 to 9 blocks, and what lies within one of the multiples of the batch, of 8 and 32. */
static bool take_blocks(const struct check *c, size_t n_blocks)
{
    size_t batch = kernel_of(c)->kernel.batch, n = n_blocks;

    if (!c->quick || n < 10)
        return true;
    if ((n + 1) % 32 < 3 || (n < 40 && (n + 1) % 8 < 3))
        return true;
    return batch > 3 && (n + 1) % batch < 3;
}

/* Bytes within a block, of operations that take any length. */
static bool take_bytes(const struct check *c, size_t len_bytes)
{
    size_t rest = len_bytes % 16;

    return take_blocks(c, len_bytes / 16) &&
           (!c->quick || len_bytes < 40 || rest < 2 || rest == 8 || rest == 15);
}

/* A random length that the operation takes, at most most_bytes. */
static size_t random_length(struct check *c, const struct aes_op *op, size_t most_bytes)
{
    size_t n = random_below(&c->random, most_bytes + 1);

    return op->any_bytes ? n : n / 16 * 16;
}

/* test for all operations and key sizes, with known made for n_blocks. */
static enum result for_all(struct check *c, size_t n_blocks,
                           enum result (*test)(struct check *, const union evc_aes_key *))
{
    KEY_AT_16(union evc_aes_key, key);

    for (size_t i = 0; i < N_OPS; i++)
        for (size_t j = 0; j < N(key_sizes); j++) {
            know_random(c, &aes_ops[i], key_sizes[j], n_blocks);
            make_key(c, key);
            if (test(c, key) == FAIL)
                return FAIL;
        }
    return PASS;
}

/* ---- The descriptor ------------------------------------------------------------------------- */

static enum result descriptor_agrees_with_its_line(struct check *c)
{
    const struct evc_aes *aes = kernel_of(c);
    const struct evc_kernel *k = aes ? &aes->kernel : NULL;

    c->cases = 8;
    if (!k)
        return check_fail(c, "evc_aes_named() does not find it");
    if (strcmp(k->name, c->line->name) != 0)
        return check_fail(c, "its name is %s", k->name);
    if (k->needs != c->line->needs || k->timing != c->line->timing || k->use != c->line->use)
        return check_fail(c, "needs, timing class or use differ from the line of kernels.def");
    if (k->key_bytes < sizeof(struct evc_aes_head) || k->key_bytes > sizeof(union evc_aes_key))
        return check_fail(c, "a key of %u bytes", (unsigned)k->key_bytes);
    if (k->key_align < 16 || (k->key_align & (k->key_align - 1)) != 0)
        return check_fail(c, "a key aligned to %u", (unsigned)k->key_align);
    if (k->batch == 0)
        return check_fail(c, "a batch of 0 blocks");
    if (!aes->set_key || !aes->encrypt || !aes->decrypt)
        return check_fail(c, "a mandatory operation is missing");
    return PASS;
}

/* ---- Known answers -------------------------------------------------------------------------- */

/* SP 800-38A appendix F's common plaintext. */
#define F_PLAIN                                                        \
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51" \
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
#define F_KEY128 "2b7e151628aed2a6abf7158809cf4f3c"
#define F_KEY192 "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b"
#define F_KEY256 "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
#define F_IV "000102030405060708090a0b0c0d0e0f"
#define F_COUNTER "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
#define C_PLAIN "00112233445566778899aabbccddeeff"
#define ZERO16 "00000000000000000000000000000000"

static const struct answer {
    const char *source;
    uint8_t forth, back; /* the operation from in to out, and its inverse */
    const char *key, *iv, *in, *out;
} answers[] = {
    {"FIPS 197 appendix B", ECB_ENC, ECB_DEC, F_KEY128, ZERO16, "3243f6a8885a308d313198a2e0370734",
     "3925841d02dc09fbdc118597196a0b32"},
    {"FIPS 197 (2001) appendix C.1", ECB_ENC, ECB_DEC, F_IV, ZERO16, C_PLAIN,
     "69c4e0d86a7b0430d8cdb78070b4c55a"},
    {"FIPS 197 (2001) appendix C.2", ECB_ENC, ECB_DEC, F_IV "1011121314151617", ZERO16, C_PLAIN,
     "dda97ca4864cdfe06eaf70a0ec0d7191"},
    {"FIPS 197 (2001) appendix C.3", ECB_ENC, ECB_DEC, F_IV "101112131415161718191a1b1c1d1e1f",
     ZERO16, C_PLAIN, "8ea2b7ca516745bfeafc49904b496089"},
    {"SP 800-38A F.1.1", ECB_ENC, ECB_DEC, F_KEY128, ZERO16, F_PLAIN,
     "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf"
     "43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4"},
    {"SP 800-38A F.1.3", ECB_ENC, ECB_DEC, F_KEY192, ZERO16, F_PLAIN,
     "bd334f1d6e45f25ff712a214571fa5cc974104846d0ad3ad7734ecb3ecee4eef"
     "ef7afd2270e2e60adce0ba2face6444e9a4b41ba738d6c72fb16691603c18e0e"},
    {"SP 800-38A F.1.5", ECB_ENC, ECB_DEC, F_KEY256, ZERO16, F_PLAIN,
     "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870"
     "b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7"},
    {"SP 800-38A F.2.1", CBC_ENC, CBC_DEC, F_KEY128, F_IV, F_PLAIN,
     "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
     "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7"},
    {"SP 800-38A F.2.3", CBC_ENC, CBC_DEC, F_KEY192, F_IV, F_PLAIN,
     "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
     "571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd"},
    {"SP 800-38A F.2.5", CBC_ENC, CBC_DEC, F_KEY256, F_IV, F_PLAIN,
     "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
     "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b"},
    {"SP 800-38A F.5.1", CTR32, CTR32, F_KEY128, F_COUNTER, F_PLAIN,
     "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
     "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee"},
    {"SP 800-38A F.5.3", CTR32, CTR32, F_KEY192, F_COUNTER, F_PLAIN,
     "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94"
     "1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050"},
    {"SP 800-38A F.5.5", CTR32, CTR32, F_KEY256, F_COUNTER, F_PLAIN,
     "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
     "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"},
    /* IEEE 1619-2018 annex B, vector 1; the tweak, already encrypted, is E(0) under the same key 0.
     */
    {"IEEE 1619 vector 1", XTS_ENC, XTS_DEC, ZERO16, "66e94bd4ef8a2c3b884cfa59ca342b2e",
     ZERO16 ZERO16, "917cf69ebd68b2ec9b9fe9a3eadda692cd43d2f59598ed858c02c2652fbf922e"},
};

static enum result answer_is(struct check *c, const struct answer *a, const struct aes_op *op,
                             const char *in_hex, const char *out_hex)
{
    KEY_AT_16(union evc_aes_key, key);
    uint8_t user_key[32], iv[16], in[64], expected[64], out[64];
    size_t len_bytes = check_unhex(in, in_hex);

    check_unhex(expected, out_hex);
    check_unhex(iv, a->iv);
    must(evc_aes_set_key(key, kernel_of(c), user_key,
                         (unsigned)(8 * check_unhex(user_key, a->key))));
    op->run(key, iv, in, out, len_bytes);
    c->cases++;
    for (size_t i = 0; i < len_bytes; i++)
        if (out[i] != expected[i])
            return check_fail(c, "%s, %s: byte %zu is %02x, not %02x", a->source, op->name, i,
                              out[i], expected[i]);
    return PASS;
}

static enum result known_answers(struct check *c)
{
    for (const struct answer *a = answers; a < answers + N(answers); a++)
        if (answer_is(c, a, &aes_ops[a->forth], a->in, a->out) == FAIL ||
            answer_is(c, a, &aes_ops[a->back], a->out, a->in) == FAIL)
            return FAIL;
    return PASS;
}

/* ---- Lengths and places --------------------------------------------------------------------- */

static enum result test_every_length(struct check *c, const union evc_aes_key *key)
{
    size_t step = known.op->any_bytes ? 1 : 16;

    for (size_t len = 0; len <= 16 * most_blocks(c); len += step)
        if (take_bytes(c, len) && run_at(c, key, len, 0, 0, false) == FAIL)
            return FAIL;
    return PASS;
}

static enum result every_length_equals_reference(struct check *c)
{
    return for_all(c, most_blocks(c), test_every_length);
}

static enum result test_in_place(struct check *c, const union evc_aes_key *key)
{
    size_t step = known.op->any_bytes ? 1 : 16;

    for (size_t len = 0; len <= 16 * most_blocks(c); len += step)
        if (take_bytes(c, len) && run_at(c, key, len, 0, 0, true) == FAIL)
            return FAIL;
    return PASS;
}

static enum result in_place_equals_disjoint(struct check *c)
{
    return for_all(c, most_blocks(c), test_in_place);
}

#define MOST_BLOCKS 1024

/* The kernel has this operation itself, it is not composed; and it is not the reference. */
static bool has_own(const struct evc_aes *aes, size_t op)
{
    const bool own[N_OPS] = {
        [ECB_ENC] = true,
        [ECB_DEC] = true,
        [CTR32] = aes->ctr32 != NULL,
        [CTR32_LE] = aes->ctr32_le != NULL,
        [CBC_ENC] = aes->cbc_encrypt || aes->cbc_encrypt_message,
        [CBC_DEC] = aes->cbc_decrypt != NULL,
        [CBCMAC] = aes->cbcmac != NULL,
        [XTS_ENC] = aes->xts_encrypt != NULL,
        [XTS_DEC] = aes->xts_decrypt != NULL,
    };

    return own[op] && aes != evc_aes_named("c_ref");
}

/* A message of 1,024 blocks and what an operation makes of each prefix of whole blocks, by
 * definition; the same for all kernels of a run. iv[n]: after n blocks. */
static struct long_known {
    unsigned key_bits; /* 0: not computed yet */
    uint8_t user_key[32], in[16 * MOST_BLOCKS], out[16 * MOST_BLOCKS], iv[MOST_BLOCKS + 1][16];
} long_known[N_OPS];

static const struct long_known *know_long(size_t op)
{
    struct random random = {UINT64_C(0x31303234) + op};
    struct long_known *k = &long_known[op];
    union evc_aes_key ref;
    uint8_t iv[16];

    if (k->key_bits)
        return k;
    k->key_bits = key_sizes[random_below(&random, N(key_sizes))];
    random_bytes(&random, k->user_key, sizeof k->user_key);
    random_bytes(&random, k->in, sizeof k->in);
    random_bytes(&random, iv, 16);
    must(evc_aes_set_key(&ref, evc_aes_named("c_ref"), k->user_key, k->key_bits));
    memcpy(k->iv[0], iv, 16);
    for (size_t n = 0; n < MOST_BLOCKS; n++) {
        aes_ops[op].block(&ref, iv, k->in + 16 * n, k->out + 16 * n);
        memcpy(k->iv[n + 1], iv, 16);
    }
    return k;
}

/* Each number of blocks once, for a kernel may take any number in a way of its own. Operations that
 * it has not itself are tried with some of them, and so are all by an emulator. */
static enum result up_to_1024_blocks_equal_reference(struct check *c)
{
    static uint8_t out[16 * MOST_BLOCKS];
    KEY_AT_16(union evc_aes_key, key);
    uint8_t iv[16];

    for (size_t i = 0; i < N_OPS; i++) {
        const struct long_known *k = know_long(i);
        const bool own = has_own(kernel_of(c), i);
        must(evc_aes_set_key(key, kernel_of(c), k->user_key, k->key_bits));
        for (size_t n = 0; n <= MOST_BLOCKS; c->cases++) {
            memcpy(iv, k->iv[0], 16);
            aes_ops[i].run(key, iv, k->in, out, 16 * n);
            if (aes_ops[i].writes && memcmp(out, k->out, 16 * n) != 0)
                return check_fail(c, "%s of %zu blocks: another output", aes_ops[i].name, n);
            if (memcmp(iv, k->iv[n], 16) != 0)
                return check_fail(c, "%s of %zu blocks: another IV after it", aes_ops[i].name, n);
            n += own ? check_step(c) : 1 + random_below(&c->random, 255);
        }
    }
    return PASS;
}

/* Two lengths: one block (and a byte), and a batch with a rest. */
static enum result test_alignment(struct check *c, const union evc_aes_key *key)
{
    size_t rest = known.op->any_bytes ? 1 : 0, batch = kernel_of(c)->kernel.batch;

    for (size_t in_at = 0; in_at < 16; in_at++)
        for (size_t out_at = 0; out_at < 16; out_at++) {
            if (c->quick && in_at && out_at && in_at != out_at)
                continue;
            if (run_at(c, key, 16 + rest, in_at, out_at, false) == FAIL ||
                run_at(c, key, 16 * (batch + 2) - rest, in_at, out_at, false) == FAIL ||
                run_at(c, key, 16 * (batch + 1) + rest, in_at, out_at, true) == FAIL)
                return FAIL;
        }
    return PASS;
}

static enum result every_alignment_equals_reference(struct check *c)
{
    return for_all(c, (size_t)kernel_of(c)->kernel.batch + 2, test_alignment);
}

static enum result set_key_takes_any_alignment(struct check *c)
{
    KEY_AT_16(union evc_aes_key, key);
    uint8_t user_key[48], iv[16] = {0}, out[16];

    for (size_t i = 0; i < N(key_sizes); i++)
        for (size_t at = 0; at < 16; at++) {
            know_random(c, &aes_ops[at % 2 ? ECB_DEC : ECB_ENC], key_sizes[i], 1);
            memcpy(iv, known.iv[0], 16);
            memcpy(user_key + at, known.user_key, key_sizes[i] / 8);
            must(evc_aes_set_key(key, kernel_of(c), user_key + at, key_sizes[i]));
            known.op->run(key, iv, known.in, out, 16);
            if (agree(c, 16, out, iv, "user key off alignment") == FAIL)
                return FAIL;
        }
    return PASS;
}

/* ---- Guard pages ---------------------------------------------------------------------------- */

/* Between inaccessible pages: input, output, IV, user key, key. Made once. */
static struct guarded fence_in, fence_out, fence_iv, fence_user_key, fence_key;

static bool have_fences(void)
{
    if (fence_in.start)
        return true;
    fence_in = port_guarded(MAX_BYTES);
    fence_out = port_guarded(MAX_BYTES);
    fence_iv = port_guarded(16);
    fence_user_key = port_guarded(32);
    fence_key = port_guarded(sizeof(union evc_aes_key));
    return fence_in.start && fence_out.start && fence_iv.start && fence_user_key.start &&
           fence_key.start;
}

struct call {
    const union evc_aes_key *key;
    uint8_t *iv, *in, *out;
    size_t len_bytes;
};

static void do_call(void *vcall)
{
    struct call *call = vcall;

    known.op->run(call->key, call->iv, call->in, call->out, call->len_bytes);
}

/* in_end, out_end: flush with the end of its pages. */
static enum result run_fenced(struct check *c, const union evc_aes_key *key, size_t len_bytes,
                              bool in_end, bool out_end)
{
    struct call call = {key, port_flush(&fence_iv, in_end, 16),
                        port_flush(&fence_in, in_end, len_bytes),
                        port_flush(&fence_out, out_end, len_bytes), len_bytes};

    memcpy(call.in, known.in, len_bytes);
    memcpy(call.iv, known.iv[0], 16);
    if (!port_survives(do_call, &call))
        return check_fail(
            c, "%s, %u-bit key, %zu bytes, input at the %s, output at the %s: memory fault",
            known.op->name, known.key_bits, len_bytes, in_end ? "end" : "start",
            out_end ? "end" : "start");
    return agree(c, len_bytes, call.out, call.iv, "between guard pages");
}

static enum result test_fences(struct check *c, const union evc_aes_key *key)
{
    size_t step = known.op->any_bytes ? 1 : 16;

    for (size_t len = 0; len <= 16 * most_blocks(c); len += step) {
        if (!take_bytes(c, len))
            continue;
        for (int ends = 0; ends < 4; ends++)
            if (run_fenced(c, key, len, ends & 1, ends & 2) == FAIL)
                return FAIL;
    }
    return PASS;
}

static void do_set_key(void *vcheck)
{
    const size_t key_bytes = kernel_of(vcheck)->kernel.key_bytes;

    must(evc_aes_set_key_in(port_flush(&fence_key, true, key_bytes), key_bytes, kernel_of(vcheck),
                            port_flush(&fence_user_key, true, known.key_bits / 8), known.key_bits));
}

static void do_set_key_at_start(void *vcheck)
{
    must(evc_aes_set_key_in(fence_key.start, kernel_of(vcheck)->kernel.key_bytes, kernel_of(vcheck),
                            fence_user_key.start, known.key_bits));
}

/* The key, as long as the descriptor says, before a guard page, where the size allows its
 * alignment. */
static enum result test_fenced_key(struct check *c, const union evc_aes_key *unused)
{
    size_t key_bytes = kernel_of(c)->kernel.key_bytes;
    const union evc_aes_key *key =
        (const union evc_aes_key *)(const void *)port_flush(&fence_key, true, key_bytes);

    (void)unused;
    memcpy(fence_user_key.start, known.user_key, 32);
    if (!port_survives(do_set_key_at_start, c))
        return check_fail(c, "set_key, %u bits, at the start of pages: memory fault",
                          known.key_bits);
    if (key_bytes % 16 != 0)
        return PASS;
    memcpy(port_flush(&fence_user_key, true, known.key_bits / 8), known.user_key,
           known.key_bits / 8);
    if (!port_survives(do_set_key, c))
        return check_fail(
            c, "set_key, %u bits: memory fault after the user key or the %zu bytes of the key",
            known.key_bits, key_bytes);
    return run_fenced(c, key, 16 * ((size_t)kernel_of(c)->kernel.batch + 1), true, true);
}

static enum result accesses_stay_inside_the_buffers(struct check *c)
{
    if (!have_fences())
        return check_skip(c, "no guard pages on this system");
    if (for_all(c, most_blocks(c), test_fences) == FAIL)
        return FAIL;
    return for_all(c, most_blocks(c), test_fenced_key);
}

/* gap bytes are left between the message and the end of the page, which is followed
 * by one without access. */
static enum result run_before_end(struct check *c, const union evc_aes_key *key, size_t len_bytes,
                                  size_t gap, bool in_place)
{
    uint8_t *in = fence_in.start + fence_in.len_bytes - gap - len_bytes, *iv = fence_iv.start;
    uint8_t *out = in_place ? in : fence_out.start + fence_out.len_bytes - gap - len_bytes;
    struct call call = {key, iv, in, out, len_bytes};
    char where[64];

    snprintf(where, sizeof where, "%zu bytes before the end of a page%s", gap,
             in_place ? ", in place" : "");
    memset(out - MARGIN, 0xa5, MARGIN + len_bytes + gap);
    memcpy(in, known.in, len_bytes);
    memcpy(iv, known.iv[0], 16);
    if (!port_survives(do_call, &call))
        return check_fail(c, "%s, %zu bytes, %s: memory fault", known.op->name, len_bytes, where);
    for (size_t i = 0; i < MARGIN + gap; i++)
        if ((i < MARGIN ? out - MARGIN : out - MARGIN + len_bytes)[i] != 0xa5)
            return check_fail(c, "%s, %zu bytes, %s: wrote outside of the output", known.op->name,
                              len_bytes, where);
    return agree(c, len_bytes, out, iv, where);
}

#define PAGE_END_BLOCKS 20

/* The last two vectors of a message may lie anywhere in the last 64 bytes of a page. */
static enum result test_page_ends(struct check *c, const union evc_aes_key *key)
{
    size_t step = known.op->any_bytes ? 1 : 16;

    for (size_t len = step; len <= 16 * PAGE_END_BLOCKS; len += step) {
        if (!take_bytes(c, len))
            continue;
        for (unsigned turn = 0; turn < 6; turn++) {
            const size_t unit = turn < 2 ? 0 : turn < 4 ? 16 : 1;
            const size_t gap = unit ? unit * random_below(&c->random, 64 / unit) : 0;
            if (run_before_end(c, key, len, gap, turn & 1) == FAIL)
                return FAIL;
        }
    }
    return PASS;
}

static enum result page_ends_change_no_result(struct check *c)
{
    if (!have_fences())
        return check_skip(c, "no guard pages on this system");
    return for_all(c, PAGE_END_BLOCKS, test_page_ends);
}

/* ---- Calls that belong together ------------------------------------------------------------- */

static enum result test_split(struct check *c, const union evc_aes_key *key)
{
    uint8_t iv[16], *out = place(&out_room, 0);
    char where[80] = "";
    size_t len_bytes = random_length(c, known.op, 16 * most_blocks(c)), at = 0, n_parts = 0;

    memcpy(iv, known.iv[0], 16);
    while (at < len_bytes) { /* a part that is not the last is of whole blocks, possibly none */
        size_t part = 16 * random_below(&c->random, (len_bytes - at) / 16 + 2);
        if (n_parts++ % 2)
            part = part < 64 ? part : part % 64;
        part = part < len_bytes - at ? part : len_bytes - at;
        known.op->run(key, iv, known.in + at, out + at, part);
        at += part;
    }
    snprintf(where, sizeof where, "in %zu calls", n_parts);
    return agree(c, len_bytes, out, iv, where);
}

static enum result split_calls_equal_one_call(struct check *c)
{
    for (int i = 0; i < (c->quick ? 4 : 60); i++)
        if (for_all(c, most_blocks(c), test_split) == FAIL)
            return FAIL;
    return PASS;
}

/* The kernel without its optional operations. */
static struct evc_aes without_slots(const struct evc_aes *aes)
{
    struct evc_aes bare = *aes;

    bare.ctr32 = bare.ctr32_le = NULL;
    bare.cbc_encrypt = bare.cbc_decrypt = NULL;
    bare.cbcmac = NULL;
    bare.xts_encrypt = bare.xts_decrypt = NULL;
    bare.cbc_encrypt_many = NULL;
    bare.ccm_encrypt = bare.ccm_decrypt = NULL;
    bare.cbc_encrypt_message = NULL;
    return bare;
}

static enum result test_composed(struct check *c, const union evc_aes_key *key)
{
    struct evc_aes bare = without_slots(kernel_of(c));
    KEY_AT_16(union evc_aes_key, bare_key);
    uint8_t iv[16], bare_iv[16], *out = place(&in_room, 0), *bare_out = place(&out_room, 0);
    size_t len = random_length(c, known.op, 16 * most_blocks(c));

    *bare_key = *key;
    bare_key->head.kernel = &bare;
    memcpy(iv, known.iv[0], 16);
    memcpy(bare_iv, known.iv[0], 16);
    known.op->run(key, iv, known.in, out, len);
    known.op->run(bare_key, bare_iv, known.in, bare_out, len);
    if (agree(c, len, out, iv, "own") == FAIL ||
        agree(c, len, bare_out, bare_iv, "composed") == FAIL)
        return FAIL;
    return PASS;
}

static enum result own_operations_equal_composed_ones(struct check *c)
{
    for (int i = 0; i < (c->quick ? 4 : 60); i++)
        if (for_all(c, most_blocks(c), test_composed) == FAIL)
            return FAIL;
    return PASS;
}

static enum result decryption_inverts_encryption(struct check *c)
{
    static const struct {
        uint8_t forth, back;
    } pairs[] = {{ECB_ENC, ECB_DEC}, {CTR32, CTR32}, {CTR32_LE, CTR32_LE},
                 {CBC_ENC, CBC_DEC}, {XTS_ENC, XTS_DEC}};
    KEY_AT_16(union evc_aes_key, key);
    uint8_t iv[16];

    for (int turn = 0; turn < (c->quick ? 3 : 40); turn++)
        for (size_t i = 0; i < N(pairs) * N(key_sizes); i++) {
            const struct aes_op *forth = &aes_ops[pairs[i % N(pairs)].forth],
                                *back = &aes_ops[pairs[i % N(pairs)].back];
            size_t len = random_length(c, forth, 16 * most_blocks(c));
            uint8_t *text = place(&out_room, 0);
            know_random(c, forth, key_sizes[i / N(pairs)], most_blocks(c));
            make_key(c, key);
            memcpy(iv, known.iv[0], 16);
            forth->run(key, iv, known.in, text, len);
            memcpy(iv, known.iv[0], 16);
            back->run(key, iv, text, text, len);
            c->cases++;
            if (memcmp(text, known.in, len) != 0)
                return check_fail(c, "%s then %s, %u-bit key, %zu bytes: not the message",
                                  forth->name, back->name, known.key_bits, len);
        }
    return PASS;
}

/* ---- Counters ------------------------------------------------------------------------------- */

/* The counter before a carry out of its first, second, third and fourth byte, in every position of
 * a batch. */
static enum result counter_wraps_modulo_2_32(struct check *c)
{
    static const uint32_t edges[] = {0x100, 0x10000, 0x1000000, 0};
    size_t batch = kernel_of(c)->kernel.batch, most = most_blocks(c);
    KEY_AT_16(union evc_aes_key, key);

    for (size_t i = 0; i < N(edges); i++)
        for (size_t before = 0; before <= 2 * batch + 2; before += c->quick && before > 4 ? 5 : 1) {
            uint32_t start = edges[i] - (uint32_t)before;
            know_random(c, &aes_ops[CTR32], key_sizes[before % 3], 0);
            random_bytes(&c->random, known.in, 16 * most);
            memset(known.iv[0], before % 2 ? 0xff : 0, 12);
            for (int j = 0; j < 4; j++)
                known.iv[0][12 + j] = (uint8_t)(start >> (24 - 8 * j));
            know(&known, &aes_ops[CTR32], most);
            make_key(c, key);
            if (run_at(c, key, 16 * most, 0, 0, false) == FAIL ||
                run_at(c, key, 16 * (before + 1), 0, 0, true) == FAIL ||
                run_at(c, key, 16 * before + 5, 0, 0, false) == FAIL)
                return FAIL;
        }
    return PASS;
}

/* ---- CCM ------------------------------------------------------------------------------------ */

/* Text of CCM by definition, on single blocks: chain and counter become those behind it. */
static void ccm_by_definition(const union evc_aes_key *ref, uint8_t counter[16], uint8_t chain[16],
                              const uint8_t *in, uint8_t *out, size_t n_blocks, bool decrypting)
{
    uint8_t stream[16], sum[16], no_iv[16];

    for (; n_blocks; n_blocks--, in += 16, out += 16) {
        aes_ops[ECB_ENC].block(ref, no_iv, counter, stream);
        for (size_t i = 16; i-- > 8;)
            if (++counter[i])
                break;
        for (size_t i = 0; i < 16; i++) {
            out[i] = in[i] ^ stream[i];
            sum[i] = chain[i] ^ (decrypting ? out[i] : in[i]);
        }
        aes_ops[ECB_ENC].block(ref, no_iv, sum, chain);
    }
}

/* The counter carries out of some of its last 8 bytes, after `before` blocks. */
static enum result test_ccm(struct check *c, size_t n_blocks, size_t before, bool decrypting,
                            bool in_place)
{
    const struct evc_aes *kernel = kernel_of(c);
    const unsigned bits = 8 * (unsigned)random_below(&c->random, 9);
    uint64_t start = bits < 64 ? (UINT64_C(1) << bits) - before : 0 - (uint64_t)before;
    uint8_t *in = place(&in_room, random_below(&c->random, 16));
    uint8_t *out = in_place ? in : place(&out_room, random_below(&c->random, 16));
    uint8_t counter[16], chain[16], counter_known[16], chain_known[16];
    KEY_AT_16(union evc_aes_key, key);
    union evc_aes_key ref;

    c->cases++;
    know_random(c, &aes_ops[CTR32], key_sizes[random_below(&c->random, 3)], 0);
    random_bytes(&c->random, known.in, 16 * n_blocks);
    random_bytes(&c->random, chain, 16);
    memcpy(counter, known.iv[0], 8);
    for (size_t i = 16; i-- > 8; start >>= 8)
        counter[i] = (uint8_t)start;
    memcpy(counter_known, counter, 16);
    memcpy(chain_known, chain, 16);
    must(evc_aes_set_key(&ref, evc_aes_named("c_ref"), known.user_key, known.key_bits));
    ccm_by_definition(&ref, counter_known, chain_known, known.in, known.out, n_blocks, decrypting);
    make_key(c, key);
    memcpy(in, known.in, 16 * n_blocks);
    (decrypting ? kernel->ccm_decrypt : kernel->ccm_encrypt)(key, counter, chain, in, out,
                                                             n_blocks);
    if (memcmp(out, known.out, 16 * n_blocks) != 0 || memcmp(chain, chain_known, 16) != 0 ||
        memcmp(counter, counter_known, 16) != 0)
        return check_fail(c, "%u-bit key, %zu blocks %s%s: text, chain or counter differs",
                          known.key_bits, n_blocks, decrypting ? "opened" : "sealed",
                          in_place ? " in place" : "");
    return PASS;
}

/* A sealed message of n_blocks blocks, without associated data: SP 800-38C, appendix A, with a
 * nonce of 12 bytes and a tag of 16. */
static enum result test_ccm_message(struct check *c, size_t n_blocks)
{
    static struct evc_aes_ccm_key key;
    const uint8_t length[3] = {0, (uint8_t)(n_blocks >> 4), (uint8_t)(n_blocks << 4)};
    uint8_t *out = place(&out_room, random_below(&c->random, 16));
    uint8_t first[16], counter[16] = {2}, chain[16], mask[16], no_iv[16], tag[16];
    union evc_aes_key ref;

    c->cases++;
    know_random(c, &aes_ops[CTR32], key_sizes[random_below(&c->random, 3)], 0);
    random_bytes(&c->random, known.in, 16 * n_blocks);
    memcpy(counter + 1, known.iv[0], 12);
    memcpy(first, counter, 16);
    first[0] = 2 | (16 - 2) / 2 << 3;
    memcpy(first + 13, length, 3);
    must(evc_aes_set_key(&ref, evc_aes_named("c_ref"), known.user_key, known.key_bits));
    aes_ops[ECB_ENC].block(&ref, no_iv, first, chain);
    aes_ops[ECB_ENC].block(&ref, no_iv, counter, mask);
    counter[15] = 1;
    ccm_by_definition(&ref, counter, chain, known.in, known.out, n_blocks, false);
    must(evc_aes_ccm_set_key(&key, kernel_of(c), kernel_of(c), known.user_key, known.key_bits));
    must(evc_aes_ccm_seal(&key, known.iv[0], 12, NULL, 0, known.in, out, 16 * n_blocks, tag, 16));
    for (size_t i = 0; i < 16; i++)
        tag[i] ^= mask[i];
    if (memcmp(out, known.out, 16 * n_blocks) != 0 || memcmp(tag, chain, 16) != 0)
        return check_fail(c, "%u-bit key, %zu blocks sealed: text or tag differs", known.key_bits,
                          n_blocks);
    return PASS;
}

/* In pieces as the kernel takes them where it has a pass of its own; of others, whole messages. */
static enum result text_of_ccm_equals_its_definition(struct check *c)
{
    const size_t most = most_blocks(c);

    if (!kernel_of(c)->ccm_encrypt) {
        for (size_t n = 1; n <= most; n += c->quick ? 9 : 5)
            if (test_ccm_message(c, n) == FAIL)
                return FAIL;
        return PASS;
    }
    for (size_t n = 1; n <= most; n += c->quick && n > 8 ? 7 : 1)
        for (unsigned how = 0; how < 4; how++)
            if (test_ccm(c, n, random_below(&c->random, n + 1), how & 1, how & 2) == FAIL)
                return FAIL;
    return PASS;
}

/* ---- Keys ----------------------------------------------------------------------------------- */

static enum result encrypt_only_keys_encrypt_alike(struct check *c)
{
    KEY_AT_16(union evc_aes_key, key);
    uint8_t text[32];

    for (size_t i = 0; i < N_OPS * N(key_sizes); i++) {
        const struct aes_op *op = &aes_ops[i % N_OPS];
        if (op->decrypts)
            continue;
        know_random(c, op, key_sizes[i / N_OPS], most_blocks(c));
        memset(key, 0xaa, sizeof *key);
        must(evc_aes_set_encrypt_key(key, kernel_of(c), known.user_key, known.key_bits));
        for (int turn = 0; turn < 5; turn++)
            if (run_at(c, key, random_length(c, op, 16 * most_blocks(c)), 0, 0, turn & 1) == FAIL)
                return FAIL;
        memset(text, 0xa5, sizeof text);
        if (evc_aes_decrypt(key, known.in, text, 2) != EVC_ERR_DIRECTION || text[0] != 0xa5 ||
            text[31] != 0xa5)
            return check_fail(c, "%u bits: decryption is not refused", known.key_bits);
    }
    return PASS;
}

static enum result test_copied(struct check *c, const union evc_aes_key *key)
{
    static union evc_aes_key gone;
    KEY_AT_16(union evc_aes_key, copy);

    gone = *key;
    memset(copy, 0, sizeof *copy);
    memcpy(copy, &gone, kernel_of(c)->kernel.key_bytes);
    memset(&gone, 0x55, sizeof gone);
    return run_at(c, copy, 16 * ((size_t)kernel_of(c)->kernel.batch + 1), 0, 0, false);
}

static enum result keys_may_be_copied(struct check *c)
{
    return for_all(c, (size_t)kernel_of(c)->kernel.batch + 1, test_copied);
}

static enum result test_unchanged(struct check *c, const union evc_aes_key *key)
{
    union evc_aes_key before = *key;

    if (run_at(c, key, 16 * most_blocks(c), 0, 0, false) == FAIL)
        return FAIL;
    if (memcmp(&before, key, sizeof before) != 0)
        return check_fail(c, "%s, %u bits: the key changed", known.op->name, known.key_bits);
    for (size_t i = kernel_of(c)->kernel.key_bytes; i < sizeof *key; i++)
        if (key->bytes[i])
            return check_fail(c,
                              "set_key, %u bits: byte %zu of what was there before is left behind "
                              "a key of %u bytes",
                              known.key_bits, i, (unsigned)kernel_of(c)->kernel.key_bytes);
    return PASS;
}

static enum result keys_change_only_when_set(struct check *c)
{
    return for_all(c, most_blocks(c), test_unchanged);
}

static enum result rebind_to(struct check *c, const struct evc_aes *other)
{
    bool shared = (kernel_of(c)->kernel.traits & other->kernel.traits & EVC_KEY_FIPS197) != 0;
    KEY_AT_16(union evc_aes_key, key);

    for (size_t i = 0; i < N_OPS * N(key_sizes); i++) {
        size_t n_blocks = (size_t)other->kernel.batch + 3;
        know_random(c, &aes_ops[i % N_OPS], key_sizes[i / N_OPS], n_blocks);
        make_key(c, key);
        enum evc_status status = evc_aes_rebind(key, other);
        if ((status == EVC_OK) != shared || key->head.kernel != (shared ? other : kernel_of(c)))
            return check_fail(c, "to %s: %s", other->kernel.name,
                              shared ? "refused" : "allowed between keys of different form");
        if (run_at(c, key, 16 * n_blocks, 0, 0, false) == PASS)
            continue;
        char detail[sizeof c->detail];
        memcpy(detail, c->detail, sizeof detail);
        return check_fail(c, "to %s: %.200s", other->kernel.name, detail);
    }
    return PASS;
}

static enum result rebinding_keeps_the_key(struct check *c)
{
    const struct evc_registry_line *line;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++)
        if (strcmp(line->primitive, "aes") == 0 && runs_here(line) &&
            rebind_to(c, evc_aes_named(line->name)) == FAIL)
            return FAIL;
    KEY_AT_16(union evc_aes_key, key);
    make_key(c, key);
    return evc_aes_rebind(key, NULL) == EVC_ERR_KERNEL ? PASS : check_fail(c, "to NULL: allowed");
}

static enum result wiped_keys_are_zero(struct check *c)
{
    KEY_AT_16(union evc_aes_key, key);

    know_random(c, &aes_ops[ECB_ENC], 256, 1);
    make_key(c, key);
    evc_wipe(key, sizeof *key);
    c->cases = sizeof *key;
    for (size_t i = 0; i < sizeof *key; i++)
        if (key->bytes[i])
            return check_fail(c, "byte %zu is %02x", i, key->bytes[i]);
    return PASS;
}

/* ---- Many messages -------------------------------------------------------------------------- */

#define MOST_MESSAGES 80
#define MOST_MANY_BYTES 336 /* of one message: 21 blocks */

static struct batch {
    struct evc_msg messages[MOST_MESSAGES];
    uint8_t in[MOST_MESSAGES][MOST_MANY_BYTES], out[MOST_MESSAGES][MOST_MANY_BYTES];
    uint8_t iv[MOST_MESSAGES][16];
    uint8_t in_before[MOST_MESSAGES][MOST_MANY_BYTES], iv_before[MOST_MESSAGES][16];
} batch;

/* same_length: all messages alike; else any lengths, a third without output, a third in place. */
static void fill_batch(struct check *c, size_t n, bool same_length)
{
    size_t length = random_below(&c->random, MOST_MANY_BYTES + 1);

    random_bytes(&c->random, batch.in[0], n * MOST_MANY_BYTES);
    random_bytes(&c->random, batch.iv[0], n * 16);
    memcpy(batch.in_before, batch.in, sizeof batch.in);
    memcpy(batch.iv_before, batch.iv, sizeof batch.iv);
    memset(batch.out, 0xa5, sizeof batch.out);
    for (size_t m = 0; m < n; m++) {
        size_t kind = same_length ? n % 3 : random_below(&c->random, 3);
        struct evc_msg *msg = &batch.messages[m];
        msg->in = batch.in[m];
        msg->out = kind == 0 ? batch.out[m] : kind == 1 ? batch.in[m] : NULL;
        msg->len_bytes = same_length ? length : random_below(&c->random, MOST_MANY_BYTES + 1);
        msg->iv = batch.iv[m];
    }
}

/* Message m against CBC by definition; bytes after its whole blocks stay. */
static enum result message_agrees(struct check *c, const union evc_aes_key *ref, size_t n, size_t m)
{
    const struct evc_msg *msg = &batch.messages[m];
    size_t n_blocks = msg->len_bytes / 16;
    uint8_t iv[16], block[16];
    const uint8_t *rest = msg->out == batch.in[m] ? batch.in_before[m] : NULL;

    c->cases++;
    memcpy(iv, batch.iv_before[m], 16);
    for (size_t i = 0; i < n_blocks; i++) {
        aes_ops[CBC_ENC].block(ref, iv, batch.in_before[m] + 16 * i, block);
        if (msg->out && memcmp(msg->out + 16 * i, block, 16) != 0)
            return check_fail(
                c, "%u-bit key, %zu messages: block %zu of message %zu (%zu bytes) differs",
                known.key_bits, n, i, m, msg->len_bytes);
    }
    if (memcmp(msg->iv, iv, 16) != 0)
        return check_fail(c,
                          "%u-bit key, %zu messages: the chain of message %zu (%zu bytes) differs",
                          known.key_bits, n, m, msg->len_bytes);
    for (size_t i = 16 * n_blocks; msg->out && i < MOST_MANY_BYTES; i++)
        if (msg->out[i] != (rest ? rest[i] : 0xa5))
            return check_fail(c, "%zu messages: wrote behind message %zu (%zu bytes)", n, m,
                              msg->len_bytes);
    if (msg->out != batch.in[m] && memcmp(batch.in[m], batch.in_before[m], MOST_MANY_BYTES) != 0)
        return check_fail(c, "%zu messages: changed the input of message %zu", n, m);
    return PASS;
}

static enum result many_agree(struct check *c, const union evc_aes_key *key, size_t n,
                              bool same_length)
{
    union evc_aes_key ref;

    fill_batch(c, n, same_length);
    must(evc_aes_set_key(&ref, evc_aes_named("c_ref"), known.user_key, known.key_bits));
    evc_aes_cbc_encrypt_blocks_many(key, batch.messages, n);
    for (size_t m = 0; m < n; m++)
        if (message_agrees(c, &ref, n, m) == FAIL)
            return FAIL;
    return PASS;
}

static enum result many_messages_equal_one_by_one(struct check *c)
{
    struct evc_aes bare = without_slots(kernel_of(c));
    KEY_AT_16(union evc_aes_key, key);

    for (size_t n = 0; n <= MOST_MESSAGES; n++) {
        if (c->quick && n > 6 && (n + 1) % 8 > 2)
            continue;
        know_random(c, &aes_ops[CBC_ENC], key_sizes[random_below(&c->random, 3)], 0);
        make_key(c, key);
        if (many_agree(c, key, n, false) == FAIL || many_agree(c, key, n, true) == FAIL)
            return FAIL;
        key->head.kernel = &bare;
        if (many_agree(c, key, n, false) == FAIL)
            return FAIL;
    }
    return PASS;
}

static const struct property properties[] = {
#define PROPERTY(name) {#name, name, false}
    PROPERTY(descriptor_agrees_with_its_line),
    PROPERTY(known_answers),
    PROPERTY(every_length_equals_reference),
    PROPERTY(up_to_1024_blocks_equal_reference),
    PROPERTY(in_place_equals_disjoint),
    PROPERTY(every_alignment_equals_reference),
    PROPERTY(set_key_takes_any_alignment),
    PROPERTY(accesses_stay_inside_the_buffers),
    PROPERTY(page_ends_change_no_result),
    PROPERTY(split_calls_equal_one_call),
    PROPERTY(own_operations_equal_composed_ones),
    PROPERTY(decryption_inverts_encryption),
    PROPERTY(counter_wraps_modulo_2_32),
    PROPERTY(text_of_ccm_equals_its_definition),
    PROPERTY(many_messages_equal_one_by_one),
    PROPERTY(encrypt_only_keys_encrypt_alike),
    PROPERTY(keys_may_be_copied),
    PROPERTY(keys_change_only_when_set),
    PROPERTY(rebinding_keeps_the_key),
    PROPERTY(wiped_keys_are_zero),
    {"calls_keep_the_abi", aes_calls_keep_the_abi, false},
    {"long_calls_equal_short_ones", aes_long_calls_equal_short_ones, false},
    {"set_key_leaves_nothing_behind", aes_set_key_leaves_nothing_behind, false},
    {"operations_leave_nothing_behind", aes_operations_leave_nothing_behind, false},
    {"modes_leave_nothing_behind", aes_modes_leave_nothing_behind, false},
#undef PROPERTY
};

const struct check_primitive check_aes = {
    .name = "aes", .properties = properties, .n_properties = N(properties)};
