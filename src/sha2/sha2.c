/* SPDX-License-Identifier: MIT */
/*
 * Messages of SHA-2 on the blocks of a kernel: initial values, padding, digests.
 *
 * Source: FIPS 180-4 (2015) sections 5.1, 5.3 and 6.
 */
#include "everycore/sha2.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/in_place.h"
#include "sha2/ops.h"

/* The words of h are those of the greater size; SHA-256 takes the upper halves, and SHA-224 the
 * lower halves of SHA-384's (section 5.3.2). */
static const uint64_t start_sha384[8] = {
    UINT64_C(0xcbbb9d5dc1059ed8), UINT64_C(0x629a292a367cd507),
    UINT64_C(0x9159015a3070dd17), UINT64_C(0x152fecd8f70e5939),
    UINT64_C(0x67332667ffc00b31), UINT64_C(0x8eb44a8768581511),
    UINT64_C(0xdb0c2e0d64f98fa7), UINT64_C(0x47b5481dbefa4fa4),
};
static const uint64_t start_sha512[8] = {
    UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b),
    UINT64_C(0x3c6ef372fe94f82b), UINT64_C(0xa54ff53a5f1d36f1),
    UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
    UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179),
};
static const uint64_t start_sha512_256[8] = {
    UINT64_C(0x22312194fc2bf72c), UINT64_C(0x9f555fa3c84c64c2),
    UINT64_C(0x2393b86b6f53b151), UINT64_C(0x963877195940eabd),
    UINT64_C(0x96283ee2a88effe3), UINT64_C(0xbe5e1e2553863992),
    UINT64_C(0x2b0199fc2c85b8aa), UINT64_C(0x0eb72ddc81c52ca2),
};

static const struct hash {
    const uint64_t *start;
    uint8_t shift;        /* from a word of start to one of h, where h has 32 bits */
    uint8_t digest_bytes; /* 0: no such hash */
    uint8_t block_bytes;
} hashes[] = {
    [EVC_SHA224] = {start_sha384, 0, 28, 64},
    [EVC_SHA256] = {start_sha512, 32, 32, 64},
    [EVC_SHA384] = {start_sha384, 0, 48, 128},
    [EVC_SHA512] = {start_sha512, 0, 64, 128},
    [EVC_SHA512_256] = {start_sha512_256, 0, 32, 128},
};

static const struct hash *hash_of(unsigned hash)
{
    return hashes + (hash < sizeof hashes / sizeof hashes[0] ? hash : 0);
}

size_t evc_sha2_digest_bytes(enum evc_sha2_hash hash)
{
    return hash_of((unsigned)hash)->digest_bytes;
}

size_t evc_sha2_block_bytes(enum evc_sha2_hash hash)
{
    return hash_of((unsigned)hash)->block_bytes;
}

/* The phase of a state that holds a message: not 1, which other states have. */
enum { HAS_MESSAGE = 0x52 };

static int has_message(const struct evc_sha2_state *s)
{
    return s->phase == HAS_MESSAGE && s->kernel && hash_of(s->hash)->digest_bytes;
}

static void hash_blocks(struct evc_sha2_state *s, const uint8_t *in, size_t n_blocks)
{
    if (hash_of(s->hash)->block_bytes == 64)
        s->kernel->blocks256(s->h.words32, in, n_blocks);
    else
        s->kernel->blocks512(s->h.words64, in, n_blocks);
}

/* ---- A message, without clearing what the kernel leaves behind: ops.h ------------------------ */

enum evc_status evc_sha2_op_begin(struct evc_sha2_state *s, const struct evc_sha2 *kernel,
                                  unsigned hash)
{
    const struct hash *h = hash_of(hash);

    if (!h->digest_bytes)
        return EVC_ERR_PARAMETER;
    if (!kernel || !(h->block_bytes == 64 ? kernel->blocks256 != NULL : kernel->blocks512 != NULL))
        return EVC_ERR_KERNEL;
    s->kernel = kernel;
    s->phase = HAS_MESSAGE;
    s->hash = (uint8_t)hash;
    s->bytes_high = s->bytes_low = 0;
    for (int i = 0; i < 8; i++)
        if (h->block_bytes == 64)
            s->h.words32[i] = (uint32_t)(h->start[i] >> h->shift);
        else
            s->h.words64[i] = h->start[i];
    return EVC_OK;
}

/* The standard's limit is 2^64 - 1 or 2^128 - 1 bits. */
int evc_sha2_op_fits(const struct evc_sha2_state *s, size_t len_bytes)
{
    const int is_long = hash_of(s->hash)->block_bytes == 128;
    const uint64_t low = s->bytes_low + len_bytes, high = s->bytes_high + (low < len_bytes);

    return is_long ? high < UINT64_C(1) << 61 : !high && low < UINT64_C(1) << 61;
}

void evc_sha2_op_take(struct evc_sha2_state *s, const uint8_t *in, size_t len_bytes)
{
    const size_t block_bytes = hash_of(s->hash)->block_bytes;
    const size_t n_waiting = (size_t)s->bytes_low & (block_bytes - 1);

    if (!len_bytes) /* in may be NULL */
        return;
    s->bytes_low += len_bytes;
    s->bytes_high += s->bytes_low < len_bytes;
    if (n_waiting) {
        const size_t room = block_bytes - n_waiting, n = len_bytes < room ? len_bytes : room;
        evc_copy_secret(s->waiting + n_waiting, in, n);
        in += n, len_bytes -= n;
        if (n < room)
            return;
        hash_blocks(s, s->waiting, 1);
    }
    if (len_bytes >= block_bytes) {
        hash_blocks(s, in, len_bytes / block_bytes);
        in += len_bytes & ~(block_bytes - 1), len_bytes &= block_bytes - 1;
    }
    if (len_bytes)
        evc_copy_secret(s->waiting, in, len_bytes);
}

/* The padding is a one bit, zeros, and the length in bits, which takes an eighth of a block
 * (section 5.1). */
void evc_sha2_op_end(struct evc_sha2_state *s, uint8_t *digest)
{
    const struct hash *h = hash_of(s->hash);
    const size_t block_bytes = h->block_bytes;
    size_t n = (size_t)s->bytes_low & (block_bytes - 1);

    s->waiting[n++] = 0x80;
    if (n > block_bytes - block_bytes / 8) {
        memset(s->waiting + n, 0, block_bytes - n);
        hash_blocks(s, s->waiting, 1);
        n = 0;
    }
    memset(s->waiting + n, 0, block_bytes - 8 - n);
    if (block_bytes == 128)
        evc_store64_be(s->waiting + 112, s->bytes_high << 3 | s->bytes_low >> 61);
    evc_store64_be(s->waiting + block_bytes - 8, s->bytes_low << 3);
    hash_blocks(s, s->waiting, 1);
    if (block_bytes == 64)
        for (size_t i = 0; i < h->digest_bytes; i += 4)
            evc_store32_be(digest + i, s->h.words32[i / 4]);
    else
        for (size_t i = 0; i < h->digest_bytes; i += 8)
            evc_store64_be(digest + i, s->h.words64[i / 8]);
}

/* ---- Public calls ---------------------------------------------------------------------------- */

enum evc_status evc_sha2_digest(const struct evc_sha2 *kernel, enum evc_sha2_hash hash,
                                const uint8_t *in, size_t len_bytes, uint8_t *digest)
{
    struct evc_sha2_state state;
    enum evc_status status = evc_sha2_op_begin(&state, kernel, (unsigned)hash);

    if (status != EVC_OK)
        return status;
    if (evc_is_missing(in, len_bytes) || !digest)
        return EVC_ERR_PARAMETER;
    if (!evc_sha2_op_fits(&state, len_bytes))
        return EVC_ERR_LENGTH;
    evc_sha2_op_take(&state, in, len_bytes);
    evc_sha2_op_end(&state, digest);
    evc_wipe(&state, sizeof state);
    evc_clear(&kernel->kernel);
    return EVC_OK;
}

enum evc_status evc_sha2_start(struct evc_sha2_state *state, const struct evc_sha2 *kernel,
                               enum evc_sha2_hash hash)
{
    evc_wipe(state, sizeof *state);
    return evc_sha2_op_begin(state, kernel, (unsigned)hash);
}

enum evc_status evc_sha2_update(struct evc_sha2_state *state, const uint8_t *in, size_t len_bytes)
{
    if (!has_message(state))
        return EVC_ERR_STATE;
    if (evc_is_missing(in, len_bytes))
        return EVC_ERR_PARAMETER;
    if (!evc_sha2_op_fits(state, len_bytes))
        return EVC_ERR_LENGTH;
    evc_sha2_op_take(state, in, len_bytes);
    evc_clear(&state->kernel->kernel);
    return EVC_OK;
}

enum evc_status evc_sha2_finish(struct evc_sha2_state *state, uint8_t *digest)
{
    const struct evc_sha2 *kernel = state->kernel;

    if (!has_message(state))
        return EVC_ERR_STATE;
    if (!digest)
        return EVC_ERR_PARAMETER;
    evc_sha2_op_end(state, digest);
    evc_wipe(state, sizeof *state);
    evc_clear(&kernel->kernel);
    return EVC_OK;
}
