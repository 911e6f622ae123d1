/* SPDX-License-Identifier: MIT */
/*
 * The properties that every SHA-2 kernel has, for each hash that it computes. All of them
 * give the answers of the standard's examples; c_ref, which does the standard's steps one by one,
 * answers for all else.
 */
#include "check.h"

#include <string.h>

#include "everycore/cpu.h"
#include "everycore/sha2.h"

#include "check_abi.h"
#include "check_hmac.h"
#include "check_long.h"
#include "must.h"
#include "names.h"
#include "port/port.h"
#include "residue.h"

#define N(array) (sizeof(array) / sizeof(array)[0])

#define MAX_BYTES 4096 /* of a message under test */

static const struct evc_sha2 *kernel_of(const struct check *c)
{
    return evc_sha2_named(c->line->name);
}

static const char *const names[] = {
    [EVC_SHA224] = "SHA-224", [EVC_SHA256] = "SHA-256",         [EVC_SHA384] = "SHA-384",
    [EVC_SHA512] = "SHA-512", [EVC_SHA512_256] = "SHA-512/256",
};

static bool computes(const struct evc_sha2 *k, enum evc_sha2_hash hash)
{
    return evc_sha2_block_bytes(hash) == 64 ? k->blocks256 != NULL : k->blocks512 != NULL;
}

#define EACH_HASH(c, hash)                                                              \
    for (enum evc_sha2_hash hash = EVC_SHA224; hash <= EVC_SHA512_256; hash++)          \
        if (computes(kernel_of(c), hash))

static enum result agree(struct check *c, enum evc_sha2_hash hash, const uint8_t *digest,
                         const uint8_t *expected, size_t len_bytes, const char *where)
{
    c->cases++;
    for (size_t i = 0; i < evc_sha2_digest_bytes(hash); i++)
        if (digest[i] != expected[i])
            return check_fail(c, "%s of %zu bytes, %s: byte %zu of the digest is %02x, not %02x",
                              names[hash], len_bytes, where, i, digest[i], expected[i]);
    return PASS;
}

/* A message and its digest by c_ref. */
static struct {
    uint8_t in[MAX_BYTES], digest[EVC_SHA2_MOST_DIGEST_BYTES];
} known;

static void know(enum evc_sha2_hash hash, size_t len_bytes)
{
    must(evc_sha2_digest(evc_sha2_named("c_ref"), hash, known.in, len_bytes, known.digest));
}

static bool is_zero(const void *p, size_t n)
{
    const uint8_t *b = p;

    while (n && !*b)
        b++, n--;
    return !n;
}

/* Some whole blocks, and all ways in which the last ones end. */
static size_t most_bytes(const struct check *c)
{
    return c->quick ? 300 : 5 * 128 + 1;
}

/* ---- The descriptor -------------------------------------------------------------------------- */

static enum result descriptor_agrees_with_its_line(struct check *c)
{
    const struct evc_sha2 *sha2 = kernel_of(c);
    const struct evc_kernel *k = sha2 ? &sha2->kernel : NULL;

    c->cases = 5;
    if (!k)
        return check_fail(c, "evc_sha2_named() does not find it");
    if (strcmp(k->name, c->line->name) != 0)
        return check_fail(c, "its name is %s", k->name);
    if (k->needs != c->line->needs || k->timing != c->line->timing || k->use != c->line->use)
        return check_fail(c, "needs, timing class or use differ from the line of kernels.def");
    if ((k->use != EVC_USE_SHA512) != (sha2->blocks256 != NULL) ||
        (k->use != EVC_USE_SHA256) != (sha2->blocks512 != NULL))
        return check_fail(c, "its operations are not those of its use, %s", use_name(k->use));
    if (k->batch == 0)
        return check_fail(c, "a batch of 0 blocks");
    return PASS;
}

static enum result something_is_always_selected(struct check *c)
{
    const uint64_t all = evc_cpu_features();

    for (unsigned policy = 0; policy < 4; policy++)
        for (int i = 0; i < 500; i++) {
            const uint64_t some = random_next(&c->random) | random_next(&c->random);
            for (enum evc_sha2_hash hash = EVC_SHA224; hash <= EVC_SHA512_256; hash++) {
                const struct evc_sha2 *found = evc_sha2_select(i ? all & some : 0, policy, hash);
                c->cases++;
                if (!found || !computes(found, hash))
                    return check_fail(c, "policy %u: for %s %s", policy, names[hash],
                                      found ? "a kernel that lacks it" : "nothing fits");
            }
        }
    return PASS;
}

/* ---- Known answers --------------------------------------------------------------------------- */

#define TWO_BLOCKS_256 "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
#define TWO_BLOCKS_512                                         \
    "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn" \
    "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"

/* NIST: Cryptographic Standards and Guidelines, example values of the secure hashing algorithms. */
static const struct answer {
    enum evc_sha2_hash hash;
    const char *message, *digest;
} answers[] = {
    {EVC_SHA224, "abc",
     "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"},
    {EVC_SHA224, TWO_BLOCKS_256,
     "75388b16512776cc5dba5da1fd890150b0c6455cb4f58b1952522525"},
    {EVC_SHA256, "abc",
     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {EVC_SHA256, TWO_BLOCKS_256,
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {EVC_SHA384, "abc",
     "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
     "8086072ba1e7cc2358baeca134c825a7"},
    {EVC_SHA384, TWO_BLOCKS_512,
     "09330c33f71147e83d192fc782cd1b4753111b173b3b05d22fa08086e3b0f712"
     "fcc7c71a557e2db966c3e9fa91746039"},
    {EVC_SHA512, "abc",
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
     "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"},
    {EVC_SHA512, TWO_BLOCKS_512,
     "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
     "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"},
    {EVC_SHA512_256, "abc",
     "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"},
    {EVC_SHA512_256, TWO_BLOCKS_512,
     "3928e184fb8690f840da3988121d31be65cb9d3ef83ee6146feac861e19b563a"},
};

static enum result known_answers(struct check *c)
{
    for (const struct answer *a = answers; a < answers + N(answers); a++) {
        uint8_t digest[EVC_SHA2_MOST_DIGEST_BYTES], expected[EVC_SHA2_MOST_DIGEST_BYTES];
        if (!computes(kernel_of(c), a->hash))
            continue;
        check_unhex(expected, a->digest);
        must(evc_sha2_digest(kernel_of(c), a->hash, (const uint8_t *)a->message,
                             strlen(a->message), digest));
        if (agree(c, a->hash, digest, expected, strlen(a->message), "an example") == FAIL)
            return FAIL;
    }
    return PASS;
}

/* ---- Lengths and places ---------------------------------------------------------------------- */

static enum result every_length_equals_reference(struct check *c)
{
    uint8_t digest[EVC_SHA2_MOST_DIGEST_BYTES];

    EACH_HASH(c, hash)
        for (size_t n = 0; n <= most_bytes(c); n++) {
            random_bytes(&c->random, known.in, n);
            know(hash, n);
            must(evc_sha2_digest(kernel_of(c), hash, n ? known.in : NULL, n, digest));
            if (agree(c, hash, digest, known.digest, n, "in one call") == FAIL)
                return FAIL;
        }
    return PASS;
}

/* The end of a message by the standard's text (section 5.1): len_bytes bytes of known.in, before
 * which `before` bytes of whole blocks stood, a one bit, zeros, and the length in bits. The result
 * is the length of that end in bytes. */
static size_t padded(uint8_t *blocks, size_t block_bytes, size_t len_bytes,
                     const uint64_t before[2])
{
    size_t n = len_bytes + 1 + block_bytes / 8;
    uint64_t high = before[0], low = before[1] + len_bytes;

    n = (n + block_bytes - 1) / block_bytes * block_bytes;
    high += low < len_bytes;
    memset(blocks, 0, n);
    memcpy(blocks, known.in, len_bytes);
    blocks[len_bytes] = 0x80;
    for (size_t i = 1; i <= block_bytes / 8; i++) {
        const uint64_t word = i <= 8 ? low << 3 : high << 3 | low >> 61;
        blocks[n - i] = (uint8_t)(word >> (8 * ((i - 1) % 8)));
    }
    return n;
}

static enum result padding_is_that_of_the_standard(struct check *c)
{
    /* Bytes before the message, high and low: lengths go beyond 2^32, 2^61 and 2^64. */
    static const uint64_t before[][2] = {
        {0, 0},
        {0, (UINT64_C(1) << 32) - 128},
        {0, UINT64_C(5) << 32},
        {0, (UINT64_C(1) << 61) - 512},
        {0, (UINT64_C(1) << 61)}, /* from here on not of SHA-256 */
        {0, UINT64_MAX - 127},
        {(UINT64_C(1) << 61) - 1, UINT64_MAX - 511},
    };
    static uint8_t blocks[4 * EVC_SHA2_MOST_BLOCK_BYTES];

    random_bytes(&c->random, known.in, 2 * EVC_SHA2_MOST_BLOCK_BYTES);
    EACH_HASH(c, hash) {
        const size_t block_bytes = evc_sha2_block_bytes(hash);
        for (size_t i = 0; i < (block_bytes == 64 ? 4 : N(before)); i++)
            for (size_t n = 0; n <= 2 * block_bytes; n++) {
                const size_t word_bytes = block_bytes / 16;
                uint8_t digest[EVC_SHA2_MOST_DIGEST_BYTES], expected[EVC_SHA2_MOST_DIGEST_BYTES];
                struct evc_sha2_state state, model;
                must(evc_sha2_start(&state, kernel_of(c), hash));
                model = state;
                state.bytes_high = before[i][0], state.bytes_low = before[i][1];
                must(evc_sha2_update(&state, known.in, n));
                must(evc_sha2_finish(&state, digest));
                const size_t n_blocks = padded(blocks, block_bytes, n, before[i]) / block_bytes;
                if (block_bytes == 64)
                    kernel_of(c)->blocks256(model.h.words32, blocks, n_blocks);
                else
                    kernel_of(c)->blocks512(model.h.words64, blocks, n_blocks);
                for (size_t b = 0; b < evc_sha2_digest_bytes(hash); b++)
                    expected[b] = (uint8_t)((word_bytes == 4 ? model.h.words32[b / 4]
                                                             : model.h.words64[b / 8]) >>
                                            (8 * (word_bytes - 1 - b % word_bytes)));
                if (agree(c, hash, digest, expected, n, "behind many others") == FAIL)
                    return FAIL;
            }
    }
    return PASS;
}

static enum result every_alignment_equals_reference(struct check *c)
{
    static uint8_t place[MAX_BYTES + 64], out[EVC_SHA2_MOST_DIGEST_BYTES + 16];

    EACH_HASH(c, hash)
        for (size_t at = 0; at < 16; at++)
            for (size_t n = 200; n < 600; n += 130) {
                random_bytes(&c->random, known.in, n);
                know(hash, n);
                memcpy(place + at, known.in, n);
                must(evc_sha2_digest(kernel_of(c), hash, place + at, n, out + at));
                if (agree(c, hash, out + at, known.digest, n, "off alignment") == FAIL)
                    return FAIL;
                if (memcmp(place + at, known.in, n) != 0)
                    return check_fail(c, "%zu bytes: changed its input", n);
            }
    return PASS;
}

static enum result split_calls_equal_one_call(struct check *c)
{
    EACH_HASH(c, hash)
        for (int turn = 0; turn < (c->quick ? 20 : 300); turn++) {
            const size_t n = random_below(&c->random, most_bytes(c) + 1);
            uint8_t digest[EVC_SHA2_MOST_DIGEST_BYTES];
            struct evc_sha2_state state;
            random_bytes(&c->random, known.in, n);
            know(hash, n);
            must(evc_sha2_start(&state, kernel_of(c), hash));
            for (size_t at = 0, part; at < n; at += part) {
                part = random_below(&c->random, n - at + 1);
                must(evc_sha2_update(&state, known.in + at, part));
            }
            must(evc_sha2_finish(&state, digest));
            if (agree(c, hash, digest, known.digest, n, "in several calls") == FAIL)
                return FAIL;
        }
    return PASS;
}

static enum result digests_may_lie_in_the_message(struct check *c)
{
    EACH_HASH(c, hash)
        for (size_t n = 64; n < 300; n += 37) {
            const size_t at = random_below(&c->random, n - 63);
            random_bytes(&c->random, known.in, n);
            know(hash, n);
            must(evc_sha2_digest(kernel_of(c), hash, known.in, n, known.in + at));
            if (agree(c, hash, known.in + at, known.digest, n, "in place") == FAIL)
                return FAIL;
        }
    return PASS;
}

/* ---- Guard pages ----------------------------------------------------------------------------- */

#define SCRATCH_BYTES 8192 /* for many messages: at least what each kernel wants */

static struct guarded fence_in, fence_out, fence_state, fence_scratch;

struct call {
    const struct evc_sha2 *kernel;
    enum evc_sha2_hash hash;
    size_t len_bytes;
    bool at_end;
};

static void do_call(void *vcall)
{
    const struct call *call = vcall;
    const uint8_t *in = port_flush(&fence_in, call->at_end, call->len_bytes);
    uint8_t *out = port_flush(&fence_out, call->at_end, evc_sha2_digest_bytes(call->hash));
    struct evc_sha2_state *state = (void *)port_flush(&fence_state, call->at_end, sizeof *state);

    must(evc_sha2_start(state, call->kernel, call->hash));
    must(evc_sha2_update(state, in, call->len_bytes / 2));
    must(evc_sha2_update(state, in + call->len_bytes / 2, call->len_bytes - call->len_bytes / 2));
    must(evc_sha2_finish(state, out));
    must(evc_sha2_digest(call->kernel, call->hash, in, call->len_bytes, out));
}

/* False where the system has no guard pages. */
static bool set_fences(void)
{
    if (!fence_in.start) {
        fence_in = port_guarded(MAX_BYTES);
        fence_out = port_guarded(EVC_SHA2_MOST_DIGEST_BYTES);
        fence_state = port_guarded(sizeof(struct evc_sha2_state));
        fence_scratch = port_guarded(SCRATCH_BYTES);
    }
    return fence_in.start && fence_out.start && fence_state.start && fence_scratch.start;
}

static enum result accesses_stay_inside_the_buffers(struct check *c)
{
    struct call call = {.kernel = kernel_of(c)};

    if (!set_fences())
        return check_skip(c, "no guard pages on this system");
    EACH_HASH(c, hash)
        for (size_t n = 0; n <= 4 * evc_sha2_block_bytes(hash); n += c->quick ? 7 : 1)
            for (int end = 0; end < 2; end++) {
                call.hash = hash, call.len_bytes = n, call.at_end = end;
                random_bytes(&c->random, known.in, n);
                know(hash, n);
                memcpy(port_flush(&fence_in, call.at_end, n), known.in, n);
                if (!port_survives(do_call, &call))
                    return check_fail(c, "%s of %zu bytes at the %s of pages: memory fault",
                                      names[hash], n, end ? "end" : "start");
                if (agree(c, hash,
                          port_flush(&fence_out, call.at_end, evc_sha2_digest_bytes(hash)),
                          known.digest, n, "between guard pages") == FAIL)
                    return FAIL;
            }
    return PASS;
}

/* ---- Many messages --------------------------------------------------------------------------- */

#define MOST_MESSAGES 40

static uint8_t many_scratch[SCRATCH_BYTES];
static struct evc_sha2_message messages[MOST_MESSAGES + 1];
static uint8_t digests[MOST_MESSAGES + 1][EVC_SHA2_MOST_DIGEST_BYTES];

/* Around the ends of blocks and their paddings, and other lengths of every size. */
static size_t many_length(struct check *c)
{
    static const uint8_t ends[] = {0, 1, 55, 56, 63, 64, 65, 111, 112, 119, 120, 127, 128, 129};

    switch (random_below(&c->random, 3)) {
    case 0: return ends[random_below(&c->random, N(ends))];
    case 1: return random_below(&c->random, 300);
    default: return random_below(&c->random, MAX_BYTES / 2);
    }
}

/* Few messages are hashed one after the other, which takes no scratch memory. */
static enum result hash_many(struct check *c, enum evc_sha2_hash hash, size_t n)
{
    const size_t bytes = evc_sha2_many_scratch_bytes(kernel_of(c));
    const struct evc_sha2_lanes *lanes =
        evc_sha2_block_bytes(hash) == 64 ? &kernel_of(c)->lanes256 : &kernel_of(c)->lanes512;
    const int is_few = !lanes->n || n < lanes->fewest;

    if (bytes > sizeof many_scratch - 64)
        return check_fail(c, "it wants %zu bytes of scratch memory", bytes);
    for (size_t i = 0; i < n; i++) {
        messages[i].len_bytes = many_length(c);
        messages[i].in =
            messages[i].len_bytes ? known.in + random_below(&c->random, MAX_BYTES / 2) : NULL;
        messages[i].digest = digests[i];
    }
    memset(many_scratch, 0x55, sizeof many_scratch);
    if (evc_sha2_many(kernel_of(c), hash, messages, n, many_scratch + n % 64, bytes) != EVC_OK)
        return check_fail(c, "%zu messages are refused", n);
    for (size_t i = 0; i < bytes; i++) {
        const uint8_t byte = many_scratch[n % 64 + i];
        if (byte != 0x55 && (byte || is_few))
            return check_fail(c, "%zu messages: scratch memory is %s", n,
                              is_few ? "written to" : "not wiped");
    }
    for (size_t i = 0; i < n; i++) {
        must(evc_sha2_digest(evc_sha2_named("c_ref"), hash, messages[i].in,
                             messages[i].len_bytes, known.digest));
        if (messages[i].status != EVC_OK ||
            agree(c, hash, digests[i], known.digest, messages[i].len_bytes, "of many") == FAIL)
            return FAIL;
    }
    return PASS;
}

static enum result many_messages_equal_one_by_one(struct check *c)
{
    random_bytes(&c->random, known.in, MAX_BYTES);
    EACH_HASH(c, hash)
    for (size_t n = 0; n <= MOST_MESSAGES; n++)
        for (int turn = 0; turn < (c->quick ? 2 : 20); turn++)
            if (hash_many(c, hash, n) == FAIL)
                return FAIL;
    return PASS;
}

/* Each digest takes the place of some bytes of its own message. */
static enum result many_digests_may_lie_in_their_messages(struct check *c)
{
    static uint8_t own[MOST_MESSAGES][300];
    const size_t bytes = evc_sha2_many_scratch_bytes(kernel_of(c));

    EACH_HASH(c, hash)
        for (size_t n = 1; n <= MOST_MESSAGES; n += 3) {
            for (size_t i = 0; i < n; i++) {
                const size_t len_bytes = 64 + random_below(&c->random, 236);
                random_bytes(&c->random, own[i], len_bytes);
                messages[i] = (struct evc_sha2_message){
                    own[i], len_bytes, own[i] + random_below(&c->random, len_bytes - 63), EVC_OK};
                must(evc_sha2_digest(evc_sha2_named("c_ref"), hash, own[i], len_bytes, digests[i]));
            }
            must(evc_sha2_many(kernel_of(c), hash, messages, n, many_scratch, bytes));
            for (size_t i = 0; i < n; i++)
                if (agree(c, hash, messages[i].digest, digests[i], messages[i].len_bytes,
                          "of many, in place") == FAIL)
                    return FAIL;
        }
    return PASS;
}

/* A wrong message among others changes nothing but its own status; without scratch memory nothing
 * is computed. */
static enum result many_messages_have_their_own_status(struct check *c)
{
    const size_t bytes = evc_sha2_many_scratch_bytes(kernel_of(c));

    EACH_HASH(c, hash) {
        for (size_t wrong = 0; wrong < 20; wrong++) {
            for (size_t i = 0; i < 20; i++)
                messages[i] = (struct evc_sha2_message){known.in, 100 + i, digests[i], EVC_OK};
            memset(digests, 0, sizeof digests);
            messages[wrong].in = NULL;
            c->cases++;
            if (evc_sha2_many(kernel_of(c), hash, messages, 20, many_scratch, bytes) !=
                EVC_ERR_PARAMETER)
                return check_fail(c, "a missing message is taken");
            for (size_t i = 0; i < 20; i++) {
                know(hash, 100 + i);
                if (messages[i].status != (i == wrong ? EVC_ERR_PARAMETER : EVC_OK))
                    return check_fail(c, "message %zu has status %d", i, (int)messages[i].status);
                if (i == wrong ? !is_zero(digests[i], sizeof digests[i])
                               : agree(c, hash, digests[i], known.digest, 100 + i,
                                       "beside a wrong one") == FAIL)
                    return FAIL;
            }
        }
        c->cases += 3;
        messages[0] = (struct evc_sha2_message){known.in, 3, NULL, EVC_OK};
        if (evc_sha2_many(kernel_of(c), hash, messages, 1, many_scratch, bytes) !=
            EVC_ERR_PARAMETER)
            return check_fail(c, "a missing digest is taken");
        if (evc_sha2_many(NULL, hash, messages, 1, many_scratch, bytes) != EVC_ERR_KERNEL ||
            messages[0].status != EVC_ERR_KERNEL)
            return check_fail(c, "no kernel is taken");
        if (evc_sha2_many(kernel_of(c), hash, NULL, 1, many_scratch, bytes) !=
                EVC_ERR_PARAMETER ||
            evc_sha2_many(kernel_of(c), hash, NULL, 0, many_scratch, bytes) != EVC_OK)
            return check_fail(c, "missing messages are not told from none");
        if (bytes &&
            (evc_sha2_many(kernel_of(c), hash, messages, 1, many_scratch, bytes - 1) !=
                 EVC_ERR_SCRATCH ||
             evc_sha2_many(kernel_of(c), hash, messages, 1, NULL, bytes) != EVC_ERR_SCRATCH))
            return check_fail(c, "too little scratch memory is taken");
    }
    return PASS;
}

struct many_call {
    const struct evc_sha2 *kernel;
    enum evc_sha2_hash hash;
    size_t n, len_bytes;
    bool at_end;
};

/* Messages of one length at one place. */
static void do_many(void *vcall)
{
    const struct many_call *call = vcall;
    const size_t bytes = evc_sha2_many_scratch_bytes(call->kernel);

    for (size_t i = 0; i < call->n; i++)
        messages[i] =
            (struct evc_sha2_message){port_flush(&fence_in, call->at_end, call->len_bytes),
                                      call->len_bytes, digests[i], EVC_OK};
    messages[0].digest = port_flush(&fence_out, call->at_end, evc_sha2_digest_bytes(call->hash));
    must(evc_sha2_many(call->kernel, call->hash, messages, call->n,
                       port_flush(&fence_scratch, call->at_end, bytes), bytes));
}

static enum result many_messages_stay_inside_the_buffers(struct check *c)
{
    struct many_call call = {.kernel = kernel_of(c)};

    if (!set_fences())
        return check_skip(c, "no guard pages on this system");
    EACH_HASH(c, hash)
    for (size_t n = 0; n <= 4 * evc_sha2_block_bytes(hash); n += c->quick ? 23 : 1)
        for (int end = 0; end < 2; end++) {
            call.hash = hash, call.n = 1 + n % 20, call.len_bytes = n, call.at_end = end;
            random_bytes(&c->random, known.in, n);
            know(hash, n);
            memcpy(port_flush(&fence_in, call.at_end, n), known.in, n);
            if (!port_survives(do_many, &call))
                return check_fail(c, "%s of %zu bytes at the %s of pages: memory fault",
                                  names[hash], n, end ? "end" : "start");
            if (agree(c, hash, port_flush(&fence_out, call.at_end, evc_sha2_digest_bytes(hash)),
                      known.digest, n, "between guard pages") == FAIL)
                return FAIL;
        }
    return PASS;
}

/* ---- States ---------------------------------------------------------------------------------- */

static enum result copies_of_states_go_on(struct check *c)
{
    EACH_HASH(c, hash)
        for (size_t at = 0; at <= 260; at += 13) {
            struct evc_sha2_state state, copy;
            uint8_t digest[EVC_SHA2_MOST_DIGEST_BYTES];
            random_bytes(&c->random, known.in, 300);
            must(evc_sha2_start(&state, kernel_of(c), hash));
            must(evc_sha2_update(&state, known.in, at));
            copy = state;
            must(evc_sha2_finish(&state, digest));
            know(hash, at);
            if (agree(c, hash, digest, known.digest, at, "beside a copy") == FAIL)
                return FAIL;
            must(evc_sha2_update(&copy, known.in + at, 300 - at));
            must(evc_sha2_finish(&copy, digest));
            know(hash, 300);
            if (agree(c, hash, digest, known.digest, 300, "by a copy of the state") == FAIL)
                return FAIL;
        }
    return PASS;
}

static enum result finished_states_hold_no_message(struct check *c)
{
    EACH_HASH(c, hash) {
        struct evc_sha2_state state;
        uint8_t digest[EVC_SHA2_MOST_DIGEST_BYTES] = {1};
        must(evc_sha2_start(&state, kernel_of(c), hash));
        must(evc_sha2_update(&state, known.in, 100));
        must(evc_sha2_finish(&state, digest));
        c->cases += 4;
        if (!is_zero(&state, sizeof state))
            return check_fail(c, "%s: the state is not wiped", names[hash]);
        digest[0] = 1;
        if (evc_sha2_update(&state, known.in, 1) != EVC_ERR_STATE ||
            evc_sha2_finish(&state, digest) != EVC_ERR_STATE || digest[0] != 1)
            return check_fail(c, "%s: a call after finish is not refused", names[hash]);
        memset(&state, 0x55, sizeof state);
        if (evc_sha2_start(&state, NULL, hash) != EVC_ERR_KERNEL || !is_zero(&state, sizeof state))
            return check_fail(c, "%s: a start without a kernel leaves a state", names[hash]);
        must(evc_sha2_start(&state, kernel_of(c), hash));
        must(evc_sha2_update(&state, known.in, 3));
        if (evc_sha2_update(&state, NULL, 1) != EVC_ERR_PARAMETER ||
            evc_sha2_update(&state, NULL, 0) != EVC_OK)
            return check_fail(c, "%s: NULL is not told from an empty piece", names[hash]);
    }
    for (enum evc_sha2_hash hash = EVC_SHA224; hash <= EVC_SHA512_256; hash++) {
        uint8_t digest[EVC_SHA2_MOST_DIGEST_BYTES];
        struct evc_sha2 without = *kernel_of(c);
        if (evc_sha2_block_bytes(hash) == 64)
            without.blocks256 = NULL;
        else
            without.blocks512 = NULL;
        c->cases++;
        if (evc_sha2_digest(&without, hash, known.in, 3, digest) != EVC_ERR_KERNEL)
            return check_fail(c, "%s: a kernel without it is not refused", names[hash]);
    }
    return PASS;
}

/* The counters of a state are set to what no test can hash. */
static enum result lengths_end_at_the_limit(struct check *c)
{
    EACH_HASH(c, hash) {
        const bool is_long = evc_sha2_block_bytes(hash) == 128;
        const uint64_t last_high = is_long ? (UINT64_C(1) << 61) - 1 : 0,
                       last_low = is_long ? UINT64_MAX : (UINT64_C(1) << 61) - 1;
        struct evc_sha2_state state;
        must(evc_sha2_start(&state, kernel_of(c), hash));
        state.bytes_high = last_high, state.bytes_low = last_low - 127;
        c->cases += 3;
        if (evc_sha2_update(&state, known.in, 128) != EVC_ERR_LENGTH)
            return check_fail(c, "%s: a message beyond the limit is taken", names[hash]);
        if (state.bytes_low != last_low - 127)
            return check_fail(c, "%s: a refused piece changes the state", names[hash]);
        if (evc_sha2_update(&state, known.in, 127) != EVC_OK ||
            evc_sha2_update(&state, known.in, 1) != EVC_ERR_LENGTH)
            return check_fail(c, "%s: a message of the limit is refused", names[hash]);
    }
    return PASS;
}

static const struct property properties[] = {
#define PROPERTY(name) {#name, name, false}
    PROPERTY(descriptor_agrees_with_its_line),
    PROPERTY(something_is_always_selected),
    PROPERTY(known_answers),
    PROPERTY(every_length_equals_reference),
    PROPERTY(padding_is_that_of_the_standard),
    PROPERTY(every_alignment_equals_reference),
    PROPERTY(split_calls_equal_one_call),
    PROPERTY(digests_may_lie_in_the_message),
    PROPERTY(accesses_stay_inside_the_buffers),
    PROPERTY(many_messages_equal_one_by_one),
    PROPERTY(many_digests_may_lie_in_their_messages),
    PROPERTY(many_messages_have_their_own_status),
    PROPERTY(many_messages_stay_inside_the_buffers),
    PROPERTY(copies_of_states_go_on),
    PROPERTY(finished_states_hold_no_message),
    PROPERTY(lengths_end_at_the_limit),
    {"calls_keep_the_abi", sha2_calls_keep_the_abi, false},
    {"long_calls_equal_short_ones", sha2_long_calls_equal_short_ones, false},
    {"leaves_nothing_behind", sha2_leaves_nothing_behind, false},
    PROPERTY(hmac_of_every_length_equals_its_steps),
    PROPERTY(hmac_in_pieces_equals_one_call),
    PROPERTY(hmac_refuses_each_wrong_tag),
    PROPERTY(hkdf_equals_its_steps),
    PROPERTY(pbkdf2_equals_its_steps),
    PROPERTY(hmac_of_many_equals_one_by_one),
    PROPERTY(pbkdf2_of_many_equals_one_by_one),
    PROPERTY(hmac_accesses_stay_inside_the_buffers),
    PROPERTY(hmac_leaves_nothing_behind),
#undef PROPERTY
};

const struct check_primitive check_sha2 = {
    .name = "sha2", .properties = properties, .n_properties = N(properties)};
