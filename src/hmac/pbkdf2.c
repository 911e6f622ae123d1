/* SPDX-License-Identifier: MIT */
/*
 * PBKDF2 on HMAC.
 *
 * Method: from the second iteration on, both messages of HMAC are the block of the key and a
 *         digest. Their padding is the same, and stands in one block behind the digest for all
 *         iterations: each is two calls of the block function, and eight words that are stored and
 *         added.
 * Source: RFC 8018 (2017) section 5.2.
 */
#include "everycore/pbkdf2.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/in_place.h"
#include "hmac/ops.h"

EVC_INLINE void store256(uint8_t *out, const uint32_t *h, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        evc_store32_be(out + 4 * i, h[i]);
}

EVC_INLINE void store512(uint8_t *out, const uint64_t *h, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        evc_store64_be(out + 8 * i, h[i]);
}

/*
 * U_2 to U_n, added to U_1.
 * state: as evc_hmac_op_end leaves it: h has the words of U_1, and waiting has U_1 and its padding,
 *        which is that of all others. The sum replaces U_1 there.
 * n_words: those of a digest.
 */
static void iterate256(const struct evc_hmac_key *key, struct evc_sha2_state *state,
                       size_t n_words, uint32_t n)
{
    uint32_t *const h = state->h.words32, sum[8];
    uint8_t *const block = state->waiting;

    evc_copy_secret((uint8_t *)sum, (const uint8_t *)h, sizeof sum);
    while (--n) {
        evc_copy_secret((uint8_t *)h, (const uint8_t *)key->inner.words32, sizeof sum);
        key->kernel->blocks256(h, block, 1);
        store256(block, h, n_words);
        evc_copy_secret((uint8_t *)h, (const uint8_t *)key->outer.words32, sizeof sum);
        key->kernel->blocks256(h, block, 1);
        store256(block, h, n_words);
        for (size_t i = 0; i < 8; i++)
            sum[i] ^= h[i];
        EVC_KEEP_MEMORY(sum); /* clang kept it in registers, and spilled them */
    }
    store256(block, sum, n_words);
    evc_wipe(sum, sizeof sum);
}

/* The same with words of 64 bits. */
static void iterate512(const struct evc_hmac_key *key, struct evc_sha2_state *state,
                       size_t n_words, uint32_t n)
{
    uint64_t *const h = state->h.words64, sum[8];
    uint8_t *const block = state->waiting;

    evc_copy_secret((uint8_t *)sum, (const uint8_t *)h, sizeof sum);
    while (--n) {
        evc_copy_secret((uint8_t *)h, (const uint8_t *)key->inner.words64, sizeof sum);
        key->kernel->blocks512(h, block, 1);
        store512(block, h, n_words);
        evc_copy_secret((uint8_t *)h, (const uint8_t *)key->outer.words64, sizeof sum);
        key->kernel->blocks512(h, block, 1);
        store512(block, h, n_words);
        for (size_t i = 0; i < 8; i++)
            sum[i] ^= h[i];
        EVC_KEEP_MEMORY(sum); /* clang kept it in registers, and spilled them */
    }
    store512(block, sum, n_words);
    evc_wipe(sum, sizeof sum);
}

/* The digests of out, each the sum of the tags of its own chain. */
static void write_output(const struct evc_hmac_key *key, const uint8_t *salt, size_t salt_bytes,
                         uint32_t n_iterations, uint8_t *out, size_t out_bytes)
{
    const enum evc_sha2_hash hash = (enum evc_sha2_hash)key->hash;
    const size_t digest_bytes = evc_sha2_digest_bytes(hash);
    struct evc_sha2_state salted, state;
    uint8_t number[4];

    evc_hmac_op_begin(&salted, key);
    evc_sha2_op_take(&salted, salt, salt_bytes);
    for (uint32_t i = 1; out_bytes; i++) {
        const size_t n = out_bytes < digest_bytes ? out_bytes : digest_bytes;
        evc_store32_be(number, i);
        evc_copy_secret((uint8_t *)&state, (const uint8_t *)&salted, sizeof state);
        evc_sha2_op_take(&state, number, sizeof number);
        evc_hmac_op_end(&state, key);
        if (evc_sha2_block_bytes(hash) == 64)
            iterate256(key, &state, digest_bytes / 4, n_iterations);
        else
            iterate512(key, &state, digest_bytes / 8, n_iterations);
        evc_copy_secret(out, state.waiting, n);
        out += n, out_bytes -= n;
    }
    evc_wipe(&salted, sizeof salted);
    evc_wipe(&state, sizeof state);
    evc_clear(&key->kernel->kernel);
}

/* Digests are numbered by 32 bits. */
static int is_too_long(size_t digest_bytes, uint64_t out_bytes)
{
    return out_bytes > UINT32_MAX * (uint64_t)digest_bytes;
}

enum evc_status evc_pbkdf2(const struct evc_hmac_key *password, const uint8_t *salt,
                           size_t salt_bytes, uint32_t n_iterations, uint8_t *out,
                           size_t out_bytes)
{
    const enum evc_status status = evc_hmac_key_status(password);

    if (status != EVC_OK)
        return status;
    if (!n_iterations)
        return EVC_ERR_PARAMETER;
    if (!out_bytes || evc_hmac_is_too_long(salt_bytes) ||
        is_too_long(evc_sha2_digest_bytes((enum evc_sha2_hash)password->hash), out_bytes))
        return EVC_ERR_LENGTH;
    if (evc_is_missing(salt, salt_bytes) || evc_is_missing(out, out_bytes))
        return EVC_ERR_PARAMETER;
    write_output(password, salt, salt_bytes, n_iterations, out, out_bytes);
    return EVC_OK;
}
