/* SPDX-License-Identifier: MIT */
/*
 * The pair: any kernel of AES with any of GHASH, in the form of slots of struct evc_gcm, so that
 * the code above them knows one kind of key.
 */
#include "everycore/gcm.h"

#include "aes/ops.h"
#include "common/bytes.h"
#include "common/clear.h"
#include "common/key_memory.h"
#include "gcm/blocks.h"
#include "gcm/key.h"
#include "gcm/tags.h"
#include "ghash/ops.h"

/* Encrypted, then hashed while it is in the first-level cache. */
#define PIECE_BLOCKS 512

static void pair_encrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct pair_key *key = vkey;

    evc_aes_op_encrypt(aes_of(key), in, out, n_blocks);
}

static void pair_hash(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct pair_key *key = vkey;

    evc_ghash_op_blocks(ghash_of(key), y, in, n_blocks);
}

static void pair_seal_blocks(const void *vkey, uint8_t counter[16], uint8_t y[16],
                             const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct pair_key *key = vkey;

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = n_blocks < PIECE_BLOCKS ? n_blocks : PIECE_BLOCKS;
        evc_aes_op_ctr32(aes_of(key), counter, in, out, 16 * n);
        evc_ghash_op_blocks(ghash_of(key), y, out, n);
    }
}

static void pair_open_blocks(const void *vkey, uint8_t counter[16], uint8_t y[16],
                             const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct pair_key *key = vkey;

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = n_blocks < PIECE_BLOCKS ? n_blocks : PIECE_BLOCKS;
        evc_ghash_op_blocks(ghash_of(key), y, in, n);
        evc_aes_op_ctr32(aes_of(key), counter, in, out, 16 * n);
    }
}

/* ---- Whole messages -------------------------------------------------------------------------- */

/* len_bytes bytes, filled up with zeros to whole blocks, whose end is returned. */
static uint8_t *gather(uint8_t *to, const uint8_t *from, size_t len_bytes)
{
    const size_t whole = len_bytes & ~(size_t)15;

    if (whole)
        memcpy(to, from, whole);
    if (len_bytes == whole)
        return to + whole;
    memset(to + whole, 0, 16);
    memcpy(to + whole, from + whole, len_bytes - whole);
    return to + whole + 16;
}

/* Associated data, then a piece of text: whole blocks, or the last, which has the lengths of the
 * message. What is short is gathered for one call, so that a kernel that adds up several products
 * reduces once. With the last piece, what operations of GHASH leave is cleared: below this frame,
 * the kernel's `clear` does not reach from the caller. */
static void hash_piece(const struct pair_key *key, uint8_t y[16], const uint8_t *aad,
                       size_t aad_bytes, const uint8_t *text, size_t len_bytes,
                       const uint8_t *lengths)
{
    EVC_ALIGN(16) uint8_t blocks[16 * FIRST_BLOCKS];
    uint8_t *end = blocks;

    if (!lengths || aad_bytes + (uint64_t)len_bytes > sizeof blocks - 48) {
        evc_ghash_op_padded(ghash_of(key), y, aad, aad_bytes);
        evc_ghash_op_blocks(ghash_of(key), y, text, len_bytes / 16);
        if (len_bytes) { /* else text may be NULL */
            text += len_bytes & ~(size_t)15;
            len_bytes %= 16;
        }
        aad_bytes = 0;
    }
    if (!lengths)
        return;
    end = gather(gather(end, aad, aad_bytes), text, len_bytes); /* two blocks at most have zeros */
    memcpy(end, lengths, 16);
    evc_ghash_op_blocks(ghash_of(key), y, blocks, (size_t)(end - blocks) / 16 + 1);
    evc_clear(&ghash_of(key)->head.kernel->kernel);
}

static const uint8_t zeros[16];

/* Out of line: GCC spills a hash that it copies in the frame of pair_message. */
EVC_OUT_OF_LINE void copy_hash(uint8_t to[16], const uint8_t hash[16])
{
    memcpy(to, hash, 16);
}

/* Counters that begin with the J_0 of a longer IV tell H. For kernels they are public. In a frame
 * that has called kernels: */
#define clear_counters() EVC_CLEAR(BASELINE, EVC_DEEP(0))

/* J_0 (section 7.1, step 2) from an IV that is not of 12 bytes. */
EVC_OUT_OF_LINE void hash_iv(const struct pair_key *key, uint8_t j0[16], const uint8_t *iv,
                             size_t iv_bytes)
{
    uint8_t lengths[16];

    memset(j0, 0, 16);
    evc_ghash_op_padded(ghash_of(key), j0, iv, iv_bytes);
    store_lengths(lengths, 0, iv_bytes);
    evc_ghash_op_blocks(ghash_of(key), j0, lengths, 1);
}

/* tag: all 16 bytes of it. */
EVC_INLINE void pair_message(const struct pair_key *key, const uint8_t *iv, size_t iv_bytes,
                             const uint8_t *aad, size_t aad_bytes, const uint8_t *in, uint8_t *out,
                             size_t len_bytes, uint8_t tag[16], int sealing)
{
    EVC_ALIGN(16) uint8_t stream[16 * FIRST_BLOCKS] = {0}, counter[16], lengths[16];
    const size_t room = sizeof stream - 16;
    size_t ready = len_bytes < room ? len_bytes : room; /* bytes of key stream behind E(J_0) */

    if (iv_bytes == 12)
        evc_store64x2_be(counter, evc_load64_be(iv), (uint64_t)evc_load32_be(iv + 8) << 32 | 1);
    else
        hash_iv(key, counter, iv, iv_bytes);
    evc_aes_op_ctr32(aes_of(key), counter, stream, stream, (16 + ready + 15) & ~(size_t)15);
    store_lengths(lengths, aad_bytes & ~EVC_GCM_HASHED_AAD, len_bytes);
    if (aad_bytes & EVC_GCM_HASHED_AAD) {
        copy_hash(tag, aad); /* it tells H, which associated data does not */
        aad = zeros;
        aad_bytes = 16;
    } else {
        memset(tag, 0, 16);
    }
    for (;;) {
        const int last = len_bytes <= 16 * PIECE_BLOCKS;
        const size_t n = last ? len_bytes : 16 * PIECE_BLOCKS;
        if (!sealing)
            hash_piece(key, tag, aad, aad_bytes, in, n, last ? lengths : NULL);
        evc_xor(out, in, stream + 16, ready);
        if (n > ready)
            evc_aes_op_ctr32(aes_of(key), counter, in + ready, out + ready, n - ready);
        if (sealing)
            hash_piece(key, tag, aad, aad_bytes, out, n, last ? lengths : NULL);
        if (last)
            break;
        in += n, out += n, len_bytes -= n;
        ready = aad_bytes = 0;
    }
    evc_xor16(tag, tag, stream);
    evc_wipe(stream, sizeof stream);
    if (iv_bytes == 12)
        return;
    evc_wipe(counter, sizeof counter);
    clear_counters();
}

static enum evc_status pair_seal(const void *key, const uint8_t *iv, size_t iv_bytes,
                                 const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                 uint8_t *out, size_t len_bytes, uint8_t *tag, size_t tag_bytes)
{
    uint8_t computed[16];

    pair_message(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, computed, 1);
    memcpy(tag, computed, tag_bytes);
    evc_wipe(computed, sizeof computed); /* of a short tag, the bytes that are not told */
    evc_clear(&aes_of((const struct pair_key *)key)->head.kernel->kernel);
    return EVC_OK;
}

static enum evc_status pair_open(const void *key, const uint8_t *iv, size_t iv_bytes,
                                 const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                 uint8_t *out, size_t len_bytes, const uint8_t *tag,
                                 size_t tag_bytes)
{
    uint8_t computed[16];
    enum evc_status status;

    pair_message(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, computed, 0);
    status = compare(computed, tag, tag_bytes);
    evc_wipe(computed, sizeof computed); /* of a forgery, the tag that would have been right */
    evc_clear(&aes_of((const struct pair_key *)key)->head.kernel->kernel);
    return status;
}

static enum evc_status pair_open_output_tag(const void *key, const uint8_t *iv, size_t iv_bytes,
                                             const uint8_t *aad, size_t aad_bytes,
                                             const uint8_t *in, uint8_t *out, size_t len_bytes,
                                             uint8_t *tag, size_t tag_bytes)
{
    uint8_t computed[16]; /* GCC leaves a copy of a hash that is masked in memory of the caller */

    (void)tag_bytes;
    pair_message(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, computed, 0);
    memcpy(tag, computed, 16);
    evc_wipe(computed, sizeof computed);
    evc_clear(&aes_of((const struct pair_key *)key)->head.kernel->kernel);
    return EVC_OK;
}

/* The descriptor of all pairs, so its timing class is the worst of any; the kernels of the
 * two keys tell their own. */
static const struct evc_gcm pair = {
    .kernel = {.name = "pair", .key_bytes = sizeof(struct pair_key), .key_align = 16,
               .timing = EVC_TIMING_VARTIME, .batch = 1},
    .encrypt = pair_encrypt,
    .hash = pair_hash,
    .seal_blocks = pair_seal_blocks,
    .open_blocks = pair_open_blocks,
    .seal = pair_seal,
    .open = pair_open,
    .seal_any_iv = pair_seal,
    .open_any_iv = pair_open,
    .open_output_tag = pair_open_output_tag,
};

/* ---- Keys ------------------------------------------------------------------------------------ */

size_t evc_gcm_pair_key_bytes(const struct evc_aes *aes, const struct evc_ghash *ghash)
{
    if (!aes || !ghash)
        return 0;
    return offsetof(struct pair_key, keys) + evc_key_room(&aes->kernel) +
           evc_key_room(&ghash->kernel);
}

static enum evc_status set_pair(struct pair_key *key, const struct evc_aes *aes,
                                const struct evc_ghash *ghash, const uint8_t *user_key,
                                unsigned key_bits)
{
    const size_t aes_bytes = evc_key_room(&aes->kernel);
    enum evc_status status =
        evc_aes_set_encrypt_key_in(key->keys, aes_bytes, aes, user_key, key_bits);
    uint8_t h[16] = {0};

    if (aes_bytes > UINT16_MAX)
        return EVC_ERR_KERNEL;
    if (status != EVC_OK)
        return status;
    evc_aes_op_encrypt(aes_of(key), h, h, 1);
    status = evc_ghash_set_key_in(key->keys + aes_bytes, evc_key_room(&ghash->kernel), ghash, h);
    evc_wipe(h, sizeof h);
    evc_clear(&aes->kernel);
    key->head.kernel = &pair;
    key->head.rounds = aes_of(key)->head.rounds;
    key->head.ghash_at = (uint16_t)aes_bytes;
    return status;
}

enum evc_status evc_gcm_set_pair_in(void *memory, size_t memory_bytes, const struct evc_aes *aes,
                                    const struct evc_ghash *ghash, const uint8_t *user_key,
                                    unsigned key_bits)
{
    enum evc_status status = evc_check_key_memory(
        memory, memory_bytes, evc_gcm_pair_key_bytes(aes, ghash), user_key, key_bits / 8);

    evc_wipe(memory, memory_bytes);
    if (status == EVC_OK)
        status = set_pair(memory, aes, ghash, user_key, key_bits);
    if (status != EVC_OK)
        evc_wipe(memory, memory_bytes);
    return status;
}

enum evc_status evc_gcm_set_pair(union evc_gcm_key *key, const struct evc_aes *aes,
                                 const struct evc_ghash *ghash, const uint8_t *user_key,
                                 unsigned key_bits)
{
    return evc_gcm_set_pair_in(key, sizeof *key, aes, ghash, user_key, key_bits);
}
