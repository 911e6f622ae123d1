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

static const uint32_t start_sha224[8] = {
    UINT32_C(0xc1059ed8), UINT32_C(0x367cd507), UINT32_C(0x3070dd17), UINT32_C(0xf70e5939),
    UINT32_C(0xffc00b31), UINT32_C(0x68581511), UINT32_C(0x64f98fa7), UINT32_C(0xbefa4fa4),
};
static const uint32_t start_sha256[8] = {
    UINT32_C(0x6a09e667), UINT32_C(0xbb67ae85), UINT32_C(0x3c6ef372), UINT32_C(0xa54ff53a),
    UINT32_C(0x510e527f), UINT32_C(0x9b05688c), UINT32_C(0x1f83d9ab), UINT32_C(0x5be0cd19),
};
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

const struct evc_sha2_facts evc_sha2_op_hashes[EVC_SHA512_256 + 1] = {
    [EVC_SHA224] = {start_sha224, 28, 64},
    [EVC_SHA256] = {start_sha256, 32, 64},
    [EVC_SHA384] = {start_sha384, 48, 128},
    [EVC_SHA512] = {start_sha512, 64, 128},
    [EVC_SHA512_256] = {start_sha512_256, 32, 128},
};

/* Any number: that of no hash has no bytes. */
static const struct evc_sha2_facts *hash_of(unsigned hash)
{
    return evc_sha2_op_hashes + (hash <= EVC_SHA512_256 ? hash : 0);
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

static void hash_blocks(struct evc_sha2_state *s, size_t block_bytes, const uint8_t *in,
                        size_t n_blocks)
{
    if (block_bytes == 64)
        s->kernel->blocks256(s->h.words32, in, n_blocks);
    else
        s->kernel->blocks512(s->h.words64, in, n_blocks);
}

/* ---- A message, without clearing what the kernel leaves behind: ops.h ------------------------ */

enum evc_status evc_sha2_op_begin(struct evc_sha2_state *s, const struct evc_sha2 *kernel,
                                  unsigned hash)
{
    const struct evc_sha2_facts *h = hash_of(hash);

    if (!h->digest_bytes)
        return EVC_ERR_PARAMETER;
    if (!kernel || !(h->block_bytes == 64 ? kernel->blocks256 != NULL : kernel->blocks512 != NULL))
        return EVC_ERR_KERNEL;
    s->kernel = kernel;
    s->phase = HAS_MESSAGE;
    s->hash = (uint8_t)hash;
    s->bytes_high = s->bytes_low = 0;
    if (h->block_bytes == 64)
        memcpy(s->h.words32, h->start, sizeof s->h.words32);
    else
        memcpy(s->h.words64, h->start, sizeof s->h.words64);
    return EVC_OK;
}

/* The standard's limit is 2^64 - 1 or 2^128 - 1 bits. */
int evc_sha2_op_fits(const struct evc_sha2_state *s, size_t len_bytes)
{
    const int is_long = evc_sha2_op_hash(s->hash)->block_bytes == 128;
    const uint64_t low = s->bytes_low + len_bytes, high = s->bytes_high + (low < len_bytes);

    return is_long ? high < UINT64_C(1) << 61 : !high && low < UINT64_C(1) << 61;
}

static void count_bytes(struct evc_sha2_state *s, size_t len_bytes)
{
    s->bytes_low += len_bytes;
    s->bytes_high += s->bytes_low < len_bytes;
}

void evc_sha2_op_take(struct evc_sha2_state *s, const uint8_t *in, size_t len_bytes)
{
    const size_t block_bytes = evc_sha2_op_hash(s->hash)->block_bytes;
    const size_t n_waiting = (size_t)s->bytes_low & (block_bytes - 1);

    if (!len_bytes) /* in may be NULL */
        return;
    count_bytes(s, len_bytes);
    if (n_waiting) {
        const size_t room = block_bytes - n_waiting, n = len_bytes < room ? len_bytes : room;
        evc_copy_secret(s->waiting + n_waiting, in, n);
        in += n, len_bytes -= n;
        if (n < room)
            return;
        hash_blocks(s, block_bytes, s->waiting, 1);
    }
    if (len_bytes >= block_bytes) {
        hash_blocks(s, block_bytes, in, len_bytes / block_bytes);
        in += len_bytes & ~(block_bytes - 1), len_bytes &= block_bytes - 1;
    }
    if (len_bytes)
        evc_copy_secret(s->waiting, in, len_bytes);
}

/* The last n % 8 bytes before `end`, and behind them the first bit of the padding, as a word whose
 * first byte is the lowest. n_readable: so many bytes before `end` can be read. */
EVC_INLINE uint64_t last_word(const uint8_t *end, size_t n, size_t n_readable)
{
    const unsigned n_bytes = n & 7;
    uint64_t word = 0x80;

#if EVC_WORD64 /* else shifts by variables are calls */
    if (n_readable >= 8)
        return evc_load64_le(end - 8) >> 1 >> (63 - 8 * n_bytes) | word << 8 * n_bytes;
#else
    (void)n_readable;
#endif
    for (unsigned i = 1; i <= n_bytes; i++)
        word = word << 8 | *(end - i);
    return word;
}

/*
 * The last blocks: the bytes before `end` that fill no block, a one bit, zeros, and the length of
 * the message in bits, which takes an eighth of a block (section 5.1).
 *
 * Each 16 bytes are one store. Kernels load vectors, and a load that needs two stores waits until
 * they have left the core: no message would begin before the one before it has ended.
 */
static void hash_end(struct evc_sha2_state *s, const uint8_t *end, size_t n_readable)
{
    const size_t block_bytes = evc_sha2_op_hash(s->hash)->block_bytes;
    const size_t n = (size_t)s->bytes_low & (block_bytes - 1), length_at = block_bytes - 16;
    const int has_room = n < block_bytes - block_bytes / 8;
    const uint64_t high = block_bytes == 64 ? 0 : s->bytes_high << 3 | s->bytes_low >> 61;
    const uint64_t low = evc_bswap64(s->bytes_low << 3), last = last_word(end, n, n_readable);
    const uint8_t *const tail = end - n;
    size_t i = tail == s->waiting ? n & ~(size_t)15 : 0; /* what waits is there already */

    for (; i + 16 <= n; i += 16)
        evc_store64x2_le(s->waiting + i, evc_load64_le(tail + i), evc_load64_le(tail + i + 8));
    if (n & 8)
        evc_store64x2_le(s->waiting + i, evc_load64_le(tail + i), last);
    else /* beside the length of SHA-256 there is room for 8 bytes */
        evc_store64x2_le(s->waiting + i, last, has_room && i == length_at ? low : 0);
    i += 16;
    if (!has_room) {
        hash_blocks(s, block_bytes, s->waiting, 1);
        i = 0;
    }
    for (; i < length_at; i += 16) {
        evc_store64x2_le(s->waiting + i, 0, 0);
        EVC_KEEP_MEMORY(s->waiting); /* else compilers call memset */
    }
    if (i == length_at)
        evc_store64x2_le(s->waiting + i, evc_bswap64(high), low);
    hash_blocks(s, block_bytes, s->waiting, 1);
}

/* By such stores, too: it may be the next thing that is hashed. */
void evc_sha2_op_store(const struct evc_sha2_state *s, uint8_t *digest)
{
    const struct evc_sha2_facts *const h = evc_sha2_op_hash(s->hash);
    const uint32_t *const words32 = s->h.words32;
    const uint64_t *const words64 = s->h.words64;
    size_t i = 0;

    if (h->block_bytes == 128) {
        for (; i < h->digest_bytes; i += 16)
            evc_store64x2_be(digest + i, words64[i / 8], words64[i / 8 + 1]);
        return;
    }
    for (; i + 16 <= h->digest_bytes; i += 16)
        evc_store64x2_be(digest + i, (uint64_t)words32[i / 4] << 32 | words32[i / 4 + 1],
                         (uint64_t)words32[i / 4 + 2] << 32 | words32[i / 4 + 3]);
    for (; i < h->digest_bytes; i += 4)
        evc_store32_be(digest + i, words32[i / 4]);
}

void evc_sha2_op_end(struct evc_sha2_state *s, uint8_t *digest)
{
    const size_t n = (size_t)s->bytes_low & (evc_sha2_op_hash(s->hash)->block_bytes - 1);

    hash_end(s, s->waiting + n, n);
    evc_sha2_op_store(s, digest);
}

void evc_sha2_op_all(struct evc_sha2_state *s, const uint8_t *in, size_t len_bytes, uint8_t *digest)
{
    const size_t block_bytes = evc_sha2_op_hash(s->hash)->block_bytes;

    if (len_bytes >= block_bytes)
        hash_blocks(s, block_bytes, in, len_bytes / block_bytes);
    count_bytes(s, len_bytes);
    hash_end(s, in ? in + len_bytes : s->waiting, len_bytes);
    evc_sha2_op_store(s, digest);
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
    evc_sha2_op_all(&state, in, len_bytes, digest);
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
