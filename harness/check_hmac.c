/* SPDX-License-Identifier: MIT */
/*
 * The properties that HMAC, HKDF and PBKDF2 have with every kernel of SHA-2. Models know the
 * answers: they hash whole messages by c_ref, as RFC 2104, RFC 5869 and RFC 8018 write it.
 */
#include "check_hmac.h"

#include <string.h>

#include "everycore/hkdf.h"
#include "everycore/hmac.h"
#include "everycore/pbkdf2.h"

#include "must.h"
#include "port/port.h"

#define MOST_DIGEST EVC_SHA2_MOST_DIGEST_BYTES
#define MOST_BLOCK EVC_SHA2_MOST_BLOCK_BYTES
#define MOST_IN 1024                    /* bytes of a key or message */
#define MOST_OUT (260 * MOST_DIGEST)    /* bytes of an output */

static const struct evc_sha2 *kernel_of(const struct check *c)
{
    return evc_sha2_named(c->line->name);
}

static bool computes(const struct evc_sha2 *k, enum evc_sha2_hash hash)
{
    return evc_sha2_block_bytes(hash) == 64 ? k->blocks256 != NULL : k->blocks512 != NULL;
}

#define EACH_HASH(c, hash)                                                     \
    for (enum evc_sha2_hash hash = EVC_SHA224; hash <= EVC_SHA512_256; hash++) \
        if (computes(kernel_of(c), hash))

/* ---- Models ---------------------------------------------------------------------------------- */

/* A string of bytes that grows. */
struct text {
    uint8_t bytes[MOST_BLOCK + MOST_IN + MOST_DIGEST + 8];
    size_t n;
};

static void append(struct text *t, const uint8_t *bytes, size_t n)
{
    if (n)
        memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
}

static void model_digest(enum evc_sha2_hash hash, const struct text *t, uint8_t *digest)
{
    must(evc_sha2_digest(evc_sha2_named("c_ref"), hash, t->bytes, t->n, digest));
}

/* H(K ^ opad, H(K ^ ipad, text)): RFC 2104 section 2. */
static void model_hmac(enum evc_sha2_hash hash, const uint8_t *key, size_t key_bytes,
                       const struct text *message, uint8_t *tag)
{
    static struct text whole;
    const size_t block_bytes = evc_sha2_block_bytes(hash);
    uint8_t block[MOST_BLOCK] = {0};

    whole.n = 0;
    append(&whole, key, key_bytes);
    if (key_bytes > block_bytes)
        model_digest(hash, &whole, block);
    else
        memcpy(block, whole.bytes, key_bytes);
    for (size_t i = 0; i < block_bytes; i++)
        whole.bytes[i] = block[i] ^ 0x36;
    whole.n = block_bytes;
    append(&whole, message->bytes, message->n);
    model_digest(hash, &whole, tag);
    for (size_t i = 0; i < block_bytes; i++)
        whole.bytes[i] = block[i] ^ 0x5c;
    whole.n = block_bytes;
    append(&whole, tag, evc_sha2_digest_bytes(hash));
    model_digest(hash, &whole, tag);
}

/* OKM = T(1), T(2), ...; T(i) = HMAC(PRK, T(i - 1), info, i): RFC 5869 section 2.3. */
static void model_expand(enum evc_sha2_hash hash, const uint8_t *prk, size_t prk_bytes,
                         const uint8_t *info, size_t info_bytes, uint8_t *out, size_t n_digests)
{
    static struct text message;
    const size_t digest_bytes = evc_sha2_digest_bytes(hash);

    for (size_t i = 1; i <= n_digests; i++, out += digest_bytes) {
        const uint8_t number = (uint8_t)i;
        message.n = 0;
        append(&message, out - digest_bytes, i == 1 ? 0 : digest_bytes);
        append(&message, info, info_bytes);
        append(&message, &number, 1);
        model_hmac(hash, prk, prk_bytes, &message, out);
    }
}

/* T_i = U_1 ^ U_2 ^ ...; U_1 = HMAC(P, S, i), U_j = HMAC(P, U_(j - 1)): RFC 8018 section 5.2. */
static void model_pbkdf2(enum evc_sha2_hash hash, const uint8_t *password, size_t password_bytes,
                         const uint8_t *salt, size_t salt_bytes, uint32_t n_iterations,
                         uint8_t *out, size_t n_digests)
{
    static struct text message;
    const size_t digest_bytes = evc_sha2_digest_bytes(hash);
    uint8_t u[MOST_DIGEST];

    memset(out, 0, n_digests * digest_bytes);
    for (size_t i = 1; i <= n_digests; i++, out += digest_bytes) {
        const uint8_t number[4] = {0, 0, (uint8_t)(i >> 8), (uint8_t)i};
        message.n = 0;
        append(&message, salt, salt_bytes);
        append(&message, number, 4);
        for (uint32_t j = 0; j < n_iterations; j++) {
            model_hmac(hash, password, password_bytes, &message, u);
            for (size_t b = 0; b < digest_bytes; b++)
                out[b] ^= u[b];
            message.n = 0;
            append(&message, u, digest_bytes);
        }
    }
}

/* ---- Data ------------------------------------------------------------------------------------ */

static struct evc_hmac_key key;
static uint8_t user_key[MOST_IN], out[MOST_OUT], expected[MOST_OUT];
static struct text message;

static void draw(struct check *c, enum evc_sha2_hash hash, size_t key_bytes, size_t len_bytes)
{
    random_bytes(&c->random, user_key, key_bytes);
    random_bytes(&c->random, message.bytes, len_bytes);
    message.n = len_bytes;
    must(evc_hmac_set_key(&key, kernel_of(c), hash, user_key, key_bytes));
}

static enum result agree(struct check *c, const char *what, enum evc_sha2_hash hash, size_t n)
{
    c->cases++;
    for (size_t i = 0; i < n; i++)
        if (out[i] != expected[i])
            return check_fail(c, "%s, hash %d: byte %zu of %zu is %02x, not %02x", what,
                              (int)hash, i, n, out[i], expected[i]);
    return PASS;
}

/* ---- HMAC ------------------------------------------------------------------------------------ */

/* Keys around the length of a block, and messages that end anywhere in one. */
enum result hmac_of_every_length_equals_its_steps(struct check *c)
{
    EACH_HASH(c, hash) {
        const size_t digest_bytes = evc_sha2_digest_bytes(hash);
        for (size_t n = 0; n <= 2 * MOST_BLOCK + 2; n += c->quick ? 1 + n / 64 : 1) {
            draw(c, hash, n, random_below(&c->random, 300));
            model_hmac(hash, user_key, n, &message, expected);
            must(evc_hmac(&key, message.bytes, message.n, out, digest_bytes));
            if (agree(c, "a key of any length", hash, digest_bytes) == FAIL)
                return FAIL;
            draw(c, hash, 20, n);
            model_hmac(hash, user_key, 20, &message, expected);
            must(evc_hmac(&key, n ? message.bytes : NULL, n, out, digest_bytes));
            if (agree(c, "a message of any length", hash, digest_bytes) == FAIL)
                return FAIL;
        }
    }
    return PASS;
}

static enum result pieces(struct check *c, enum evc_sha2_hash hash)
{
    const size_t digest_bytes = evc_sha2_digest_bytes(hash);
    const size_t copied_at = random_below(&c->random, message.n + 1);
    struct evc_hmac state, copy;

    must(evc_hmac_start(&key, &state));
    copy = state;
    for (size_t at = 0, part; at < message.n; at += part) {
        part = random_below(&c->random, message.n - at + 1);
        must(evc_hmac_update(&key, &state, message.bytes + at, part));
    }
    must(evc_hmac_finish(&key, &state, out, digest_bytes));
    if (agree(c, "in several calls", hash, digest_bytes) == FAIL)
        return FAIL;
    must(evc_hmac_update(&key, &copy, message.bytes, copied_at));
    state = copy;
    must(evc_hmac_update(&key, &state, message.bytes + copied_at, message.n - copied_at));
    must(evc_hmac_finish_verify(&key, &state, expected, digest_bytes));
    must(evc_hmac_update(&key, &copy, message.bytes + copied_at, message.n - copied_at));
    must(evc_hmac_finish(&key, &copy, out, digest_bytes));
    return agree(c, "by a copy of the state", hash, digest_bytes);
}

enum result hmac_in_pieces_equals_one_call(struct check *c)
{
    EACH_HASH(c, hash)
        for (int turn = 0; turn < (c->quick ? 20 : 200); turn++) {
            draw(c, hash, 40, random_below(&c->random, 600));
            must(evc_hmac(&key, message.bytes, message.n, expected, evc_sha2_digest_bytes(hash)));
            if (pieces(c, hash) == FAIL)
                return FAIL;
        }
    return PASS;
}

/* A tag that differs in one bit, in one call and in pieces. */
static bool is_refused(size_t tag_bytes, size_t bit)
{
    struct evc_hmac state;
    bool refused;

    out[bit / 8] ^= (uint8_t)(1u << bit % 8);
    must(evc_hmac_start(&key, &state));
    must(evc_hmac_update(&key, &state, message.bytes, message.n));
    refused =
        evc_hmac_verify(&key, message.bytes, message.n, out, tag_bytes) == EVC_ERR_TAG &&
        evc_hmac_finish_verify(&key, &state, out, tag_bytes) == EVC_ERR_TAG;
    out[bit / 8] ^= (uint8_t)(1u << bit % 8);
    return refused;
}

enum result hmac_refuses_each_wrong_tag(struct check *c)
{
    EACH_HASH(c, hash) {
        const size_t most = evc_sha2_digest_bytes(hash);
        draw(c, hash, 32, 77);
        must(evc_hmac(&key, message.bytes, message.n, expected, most));
        must(evc_hmac_allow_short_tags(&key));
        for (size_t n = EVC_HMAC_MIN_SHORT_TAG; n <= most; n++) {
            must(evc_hmac(&key, message.bytes, message.n, out, n));
            if (agree(c, "a tag that is cut", hash, n) == FAIL)
                return FAIL;
            must(evc_hmac_verify(&key, message.bytes, message.n, out, n));
            for (size_t bit = c->quick ? n % 8 : 0; bit < 8 * n; bit += c->quick ? 8 : 1)
                if (c->cases++, !is_refused(n, bit))
                    return check_fail(c, "hash %d: a tag of %zu bytes with bit %zu wrong is taken",
                                      (int)hash, n, bit);
        }
    }
    return PASS;
}

/* ---- HKDF and PBKDF2 ------------------------------------------------------------------------- */

/* salt, secret and info are parts of the message; out overlaps the secret. */
static enum result hkdf(struct check *c, enum evc_sha2_hash hash, size_t n_digests)
{
    static uint8_t in_place[MOST_OUT];
    const size_t digest_bytes = evc_sha2_digest_bytes(hash);
    const size_t salt_bytes = random_below(&c->random, 200),
                 info_bytes = random_below(&c->random, 200),
                 n = n_digests * digest_bytes -
                     (n_digests ? random_below(&c->random, digest_bytes) : 0);
    uint8_t prk[MOST_DIGEST], got[MOST_DIGEST];
    const uint8_t *const info = user_key + salt_bytes;

    draw(c, hash, salt_bytes + info_bytes, random_below(&c->random, 300));
    model_hmac(hash, user_key, salt_bytes, &message, prk);
    model_expand(hash, prk, digest_bytes, info, info_bytes, expected, n_digests);
    must(evc_hkdf(kernel_of(c), hash, salt_bytes ? user_key : NULL, salt_bytes, message.bytes,
                  message.n, info, info_bytes, out, n));
    if (agree(c, "HKDF", hash, n) == FAIL)
        return FAIL;
    must(evc_hkdf_extract(kernel_of(c), hash, user_key, salt_bytes, message.bytes, message.n, got));
    must(evc_hmac_set_key(&key, kernel_of(c), hash, got, digest_bytes));
    memset(out, 0, sizeof out);
    must(evc_hkdf_expand(&key, info, info_bytes, out, n));
    if (agree(c, "HKDF in its steps", hash, n) == FAIL)
        return FAIL;
    memcpy(in_place, message.bytes, message.n);
    must(evc_hkdf(kernel_of(c), hash, user_key, salt_bytes, in_place, message.n, info, info_bytes,
                  in_place, n));
    memcpy(out, in_place, n);
    return agree(c, "HKDF over its secret", hash, n);
}

enum result hkdf_equals_its_steps(struct check *c)
{
    EACH_HASH(c, hash) {
        for (size_t n = 0; n <= 255; n = n < 5 ? n + 1 : n + (c->quick ? 125 : 50))
            if (hkdf(c, hash, n) == FAIL)
                return FAIL;
    }
    return PASS;
}

static enum result pbkdf2(struct check *c, enum evc_sha2_hash hash, uint32_t n_iterations,
                          size_t n_digests)
{
    const size_t digest_bytes = evc_sha2_digest_bytes(hash), key_bytes = 200,
                 n = n_digests * digest_bytes - random_below(&c->random, digest_bytes);

    draw(c, hash, key_bytes, random_below(&c->random, 150));
    model_pbkdf2(hash, user_key, key_bytes, message.bytes, message.n, n_iterations, expected,
                 n_digests);
    must(evc_pbkdf2(&key, message.n ? message.bytes : NULL, message.n, n_iterations, out, n));
    if (agree(c, "PBKDF2", hash, n) == FAIL)
        return FAIL;
    memcpy(out, message.bytes, message.n);
    must(evc_pbkdf2(&key, out, message.n, n_iterations, out, n));
    return agree(c, "PBKDF2 over its salt", hash, n);
}

/* 258 digests have numbers of two bytes. */
enum result pbkdf2_equals_its_steps(struct check *c)
{
    EACH_HASH(c, hash) {
        for (uint32_t n = 1; n <= 20; n += c->quick ? 3 : 1)
            if (pbkdf2(c, hash, n, 1 + n % 4) == FAIL)
                return FAIL;
        if (pbkdf2(c, hash, 2, 258) == FAIL)
            return FAIL;
    }
    return PASS;
}

/* ---- Many ------------------------------------------------------------------------------------ */

#define MOST_MANY 36
#define MANY_OUT (3 * MOST_DIGEST)
#define SCRATCH_BYTES 8192

static struct evc_hmac_key keys[MOST_MANY];
static uint8_t many_out[MOST_MANY][MANY_OUT], scratch[SCRATCH_BYTES];

/* Keys of one hash; those from number n_first on of another one that the kernel has, if any. */
static void draw_keys(struct check *c, enum evc_sha2_hash hash, size_t n_first)
{
    const enum evc_sha2_hash other = computes(kernel_of(c), EVC_SHA384) ? EVC_SHA384 : EVC_SHA224;

    random_bytes(&c->random, user_key, MOST_IN);
    random_bytes(&c->random, message.bytes, MOST_IN);
    for (size_t i = 0; i < MOST_MANY; i++)
        must(evc_hmac_set_key(&keys[i], kernel_of(c), i < n_first ? hash : other, user_key + i,
                              random_below(&c->random, 200)));
}

static enum result many_tags(struct check *c, enum evc_sha2_hash hash, size_t n)
{
    static struct evc_hmac_message many[MOST_MANY];
    const size_t wrong = random_below(&c->random, 2 * MOST_MANY);

    draw_keys(c, hash, random_below(&c->random, 2 * MOST_MANY));
    for (size_t i = 0; i < n; i++) {
        const size_t most = evc_sha2_digest_bytes((enum evc_sha2_hash)keys[i].hash);
        many[i] = (struct evc_hmac_message){
            .key = &keys[i],
            .in = message.bytes + random_below(&c->random, 200),
            .len_bytes = random_below(&c->random, 400),
            .tag = many_out[i],
            .tag_bytes = i == wrong ? 1 : most / 2 + random_below(&c->random, most / 2 + 1)};
    }
    memset(many_out, 0, sizeof many_out);
    if (evc_hmac_many(many, n, scratch, evc_sha2_many_scratch_bytes(kernel_of(c))) !=
        (wrong < n ? EVC_ERR_TAG_SIZE : EVC_OK))
        return check_fail(c, "the status of %zu tags is wrong", n);
    for (size_t i = 0; i < n; i++) {
        if (many[i].status != (i == wrong ? EVC_ERR_TAG_SIZE : EVC_OK))
            return check_fail(c, "tag %zu has status %d", i, (int)many[i].status);
        if (i == wrong && many_out[i][0])
            return check_fail(c, "tag %zu is refused, and computed", i);
        if (i == wrong)
            continue;
        must(evc_hmac(&keys[i], many[i].in, many[i].len_bytes, expected, many[i].tag_bytes));
        memcpy(out, many_out[i], many[i].tag_bytes);
        if (agree(c, "a tag of many", (enum evc_sha2_hash)keys[i].hash, many[i].tag_bytes) == FAIL)
            return FAIL;
    }
    return PASS;
}

enum result hmac_of_many_equals_one_by_one(struct check *c)
{
    EACH_HASH(c, hash)
    for (size_t n = 0; n <= MOST_MANY; n++)
        for (int turn = 0; turn < (c->quick ? 1 : 10); turn++)
            if (many_tags(c, hash, n) == FAIL)
                return FAIL;
    return PASS;
}

static enum result many_outputs(struct check *c, enum evc_sha2_hash hash, size_t n)
{
    static struct evc_pbkdf2_job jobs[MOST_MANY];
    const size_t wrong = random_below(&c->random, 2 * MOST_MANY),
                 bytes = evc_pbkdf2_many_scratch_bytes(kernel_of(c));
    const uint32_t n_iterations = 1 + (uint32_t)random_below(&c->random, 5);

    if (bytes > sizeof scratch)
        return check_fail(c, "it wants %zu bytes of scratch memory", bytes);
    draw_keys(c, hash, random_below(&c->random, 2 * MOST_MANY));
    for (size_t i = 0; i < n; i++)
        jobs[i] = (struct evc_pbkdf2_job){
            .password = &keys[i],
            .salt = message.bytes + random_below(&c->random, 200),
            .salt_bytes = random_below(&c->random, 150),
            .out = many_out[i],
            .out_bytes = i == wrong ? 0 : 1 + random_below(&c->random, MANY_OUT)};
    memset(scratch, 0x55, sizeof scratch);
    if (evc_pbkdf2_many(jobs, n, n_iterations, scratch, bytes) !=
        (wrong < n ? EVC_ERR_LENGTH : EVC_OK))
        return check_fail(c, "the status of %zu outputs is wrong", n);
    for (size_t i = 0; i < bytes; i++)
        if (scratch[i])
            return check_fail(c, "%zu outputs: scratch memory is not wiped", n);
    for (size_t i = 0; i < n; i++) {
        if (jobs[i].status != (i == wrong ? EVC_ERR_LENGTH : EVC_OK))
            return check_fail(c, "output %zu has status %d", i, (int)jobs[i].status);
        if (i == wrong)
            continue;
        must(evc_pbkdf2(&keys[i], jobs[i].salt, jobs[i].salt_bytes, n_iterations, expected,
                        jobs[i].out_bytes));
        memcpy(out, many_out[i], jobs[i].out_bytes);
        if (agree(c, "PBKDF2 of many", (enum evc_sha2_hash)keys[i].hash, jobs[i].out_bytes) == FAIL)
            return FAIL;
    }
    return PASS;
}

enum result pbkdf2_of_many_equals_one_by_one(struct check *c)
{
    EACH_HASH(c, hash)
    for (size_t n = 0; n <= MOST_MANY; n++)
        for (int turn = 0; turn < (c->quick ? 1 : 10); turn++)
            if (many_outputs(c, hash, n) == FAIL)
                return FAIL;
    return PASS;
}

/* ---- Guard pages ----------------------------------------------------------------------------- */

static struct guarded fence_in, fence_out, fence_key, fence_state;

struct call {
    const struct evc_sha2 *kernel;
    enum evc_sha2_hash hash;
    size_t in_bytes, out_bytes;
    bool at_end;
};

static void do_call(void *vcall)
{
    const struct call *const x = vcall;
    const size_t n = x->in_bytes, digest_bytes = evc_sha2_digest_bytes(x->hash);
    const uint8_t *const in = port_flush(&fence_in, x->at_end, n);
    uint8_t *const to = port_flush(&fence_out, x->at_end, x->out_bytes);
    uint8_t *const tag = port_flush(&fence_out, x->at_end, digest_bytes);
    struct evc_hmac_key *const k = (void *)port_flush(&fence_key, x->at_end, sizeof *k);
    struct evc_hmac *const state = (void *)port_flush(&fence_state, x->at_end, sizeof *state);

    must(evc_hmac_set_key(k, x->kernel, x->hash, in, n));
    must(evc_hmac(k, in, n, tag, digest_bytes));
    must(evc_hmac_verify(k, in, n, tag, digest_bytes));
    must(evc_hmac_start(k, state));
    must(evc_hmac_update(k, state, in, n));
    must(evc_hmac_finish(k, state, tag, digest_bytes));
    must(evc_hkdf(x->kernel, x->hash, in, n, in, n, in, n, to, x->out_bytes));
    must(evc_pbkdf2(k, in, n, 2, to, x->out_bytes));
}

enum result hmac_accesses_stay_inside_the_buffers(struct check *c)
{
    struct call call = {.kernel = kernel_of(c)};

    if (!fence_in.start) {
        fence_in = port_guarded(MOST_IN);
        fence_out = port_guarded(MOST_OUT);
        fence_key = port_guarded(sizeof(struct evc_hmac_key));
        fence_state = port_guarded(sizeof(struct evc_hmac));
    }
    if (!fence_in.start || !fence_out.start || !fence_key.start || !fence_state.start)
        return check_skip(c, "no guard pages on this system");
    EACH_HASH(c, hash)
        for (size_t n = 0; n <= 2 * MOST_BLOCK + 2; n += c->quick ? 23 : 1)
            for (int end = 0; end < 2; end++) {
                call.hash = hash, call.in_bytes = n, call.out_bytes = 1 + n, call.at_end = end;
                c->cases++;
                if (!port_survives(do_call, &call))
                    return check_fail(c, "hash %d, %zu bytes at the %s of pages: memory fault",
                                      (int)hash, n, end ? "end" : "start");
            }
    return PASS;
}
