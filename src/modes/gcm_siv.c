/* SPDX-License-Identifier: MIT */
/*
 * AES-GCM-SIV (RFC 8452): POLYVAL of the plaintext gives the tag, and the tag is the first counter
 * of CTR.
 *
 * POLYVAL is GHASH with the bytes of all blocks reversed, under the subkey times x (appendix A), so
 * kernels of GHASH compute it, those on x86-64 without reversing bytes. Sealing reads the text
 * twice, for the tag must be known before the first block is encrypted.
 *
 * Where the kernel of GHASH has slots for GCM-SIV that fit the kernel of AES, a message is made of
 * these ("fused"): opening reads the text once. Elsewhere it is composed of the operations of both
 * kernels, and opening goes on by pieces that stay in the first-level cache.
 */
#include "everycore/gcm_siv.h"

#include "aes/fips197_key.h"
#include "aes/ops.h"
#include "common/bytes.h"
#include "common/calls.h"
#include "common/clear.h"
#include "common/ct.h"
#include "ghash/ops.h"

#define PIECE_BYTES 8192
#define SHORT_BLOCKS 16 /* short messages are hashed in one call */

/* ---- Keys ------------------------------------------------------------------------------------ */

size_t evc_gcm_siv_key_bytes(const struct evc_aes *aes, const struct evc_ghash *ghash)
{
    if (!aes || !ghash)
        return 0;
    return offsetof(struct evc_gcm_siv_key, aes) + evc_key_room(&aes->kernel);
}

size_t evc_gcm_siv_scratch_bytes(const struct evc_aes *aes, const struct evc_ghash *ghash)
{
    if (!aes || !ghash)
        return 0;
    return 15 + evc_key_room(&aes->kernel) + evc_key_room(&ghash->kernel);
}

enum evc_status evc_gcm_siv_set_key_in(void *memory, size_t memory_bytes, const struct evc_aes *aes,
                                       const struct evc_ghash *ghash, const uint8_t *user_key,
                                       unsigned key_bits)
{
    struct evc_gcm_siv_key *key = memory;
    enum evc_status status =
        !evc_fits(EVC_LIMIT_SIV_BITS, key_bits) ? EVC_ERR_KEY_SIZE
        : ghash && ghash->kernel.key_align > 16
            ? EVC_ERR_KERNEL
            : evc_check_key_memory(memory, memory_bytes, evc_gcm_siv_key_bytes(aes, ghash),
                                   user_key, key_bits / 8);

    evc_wipe(memory, memory_bytes);
    if (status != EVC_OK)
        return status;
    status = evc_aes_set_encrypt_key_in(&key->aes, evc_key_room(&aes->kernel), aes, user_key,
                                        key_bits);
    if (status == EVC_OK)
        key->ghash = ghash;
    return status;
}

enum evc_status evc_gcm_siv_set_key(struct evc_gcm_siv_key *key, const struct evc_aes *aes,
                                    const struct evc_ghash *ghash, const uint8_t *user_key,
                                    unsigned key_bits)
{
    return evc_gcm_siv_set_key_in(key, sizeof *key, aes, ghash, user_key, key_bits);
}

/* ---- Keys of a message ----------------------------------------------------------------------- */

/* In scratch memory. */
struct keys {
    union evc_aes_key *aes;
    struct evc_ghash_head *ghash;
    size_t n_bytes; /* of both */
};

static struct keys keys_in(const struct evc_gcm_siv_key *key, void *scratch)
{
    uint8_t *const at = (uint8_t *)scratch + (16 - ((uintptr_t)scratch & 15)) % 16;
    const size_t aes_bytes = evc_key_room(&key->aes.head.kernel->kernel);
    struct keys keys;

    keys.aes = (union evc_aes_key *)(void *)at;
    keys.ghash = (struct evc_ghash_head *)(void *)(at + aes_bytes);
    keys.n_bytes = aes_bytes + evc_key_room(&key->ghash->kernel);
    return keys;
}

/* h = the subkey of GHASH for that of POLYVAL: mulX_GHASH(ByteReverse(subkey)), appendix A. */
static void subkey_of(uint8_t h[16], const uint8_t subkey[16])
{
    const uint64_t hi = evc_load64_le(subkey + 8), lo = evc_load64_le(subkey);
    const uint64_t out = evc_mask_highest64(lo << 63); /* the coefficient of x^127 */

    evc_store64x2_be(h, hi >> 1 ^ (out & UINT64_C(0xe100000000000000)), hi << 63 | lo >> 1);
}

/* Whether the slots for GCM-SIV of this kernel of GHASH take keys of this kernel of AES. */
static int is_fused(const struct evc_aes *aes, const struct evc_ghash *ghash)
{
    return ghash->siv_keys && (aes->kernel.traits & EVC_KEY_FIPS197) &&
           !(ghash->siv_needs & ~(aes->kernel.needs | ghash->kernel.needs));
}

static void set_head(const struct evc_gcm_siv_key *key, union evc_aes_key *aes)
{
    memset(aes, 0, 16);
    aes->head.kernel = key->aes.head.kernel;
    aes->head.rounds = key->aes.head.rounds;
}

/* The first halves of the encryptions of a number and the nonce are the subkey of POLYVAL, 16
 * bytes, and the key of AES (section 4): this is a key stream of CTR. */
static void derive(const struct evc_gcm_siv_key *key, const struct keys *keys,
                   const uint8_t nonce[12])
{
    const size_t n_halves = key->aes.head.rounds == 14 ? 6 : 4;
    uint8_t block[16 * 6] = {0}, counter[16];

    evc_store64x2_le(counter, (uint64_t)evc_load32_le(nonce) << 32, evc_load64_le(nonce + 4));
    evc_aes_op_ctr32_le(&key->aes, counter, block, block, 16 * n_halves);
    for (size_t i = 0; i < n_halves; i += 2) {
        uint64_t first = evc_load64_le(block + 16 * i), second = evc_load64_le(block + 16 * i + 16);
        EVC_KEEP(first); /* GCC would join them by two stores and a load of both, which waits */
        EVC_KEEP(second);
        evc_store64x2_le(block + 8 * i, first, second);
    }
    subkey_of(block, block);
    memset(keys->ghash, 0, 16);
    keys->ghash->kernel = key->ghash;
    key->ghash->set_key(keys->ghash, block);
    set_head(key, keys->aes);
    key->aes.head.kernel->set_key(keys->aes, block + 16);
    evc_wipe(block, sizeof block);
}

/* ---- POLYVAL --------------------------------------------------------------------------------- */

/* The block of lengths, in bits (section 4). */
static void store_lengths(uint8_t block[16], uint64_t aad_bytes, uint64_t text_bytes)
{
    evc_store64x2_le(block, 8 * aad_bytes, 8 * text_bytes);
}

/* Copies len_bytes bytes, filled up with zeros to whole blocks, whose end is returned. */
static uint8_t *gather(uint8_t *to, const uint8_t *from, size_t len_bytes)
{
    const size_t rest = len_bytes & 15;

    if (!len_bytes)
        return to;
    evc_copy_secret(to, from, len_bytes);
    to += len_bytes;
    if (rest) {
        memset(to, 0, 16 - rest);
        to += 16 - rest;
    }
    return to;
}

/* Bytes filled up with zeros to whole blocks. */
static void hash_padded(const struct keys *keys, uint8_t y[16], const uint8_t *in, size_t len_bytes)
{
    const size_t whole = len_bytes & ~(size_t)15;
    uint8_t last[16];

    if (whole)
        evc_ghash_op_reversed_blocks(keys->ghash, y, in, whole / 16);
    if (len_bytes == whole)
        return;
    gather(last, in + whole, len_bytes - whole);
    evc_ghash_op_reversed_blocks(keys->ghash, y, last, 1);
    evc_clear_block(last);
}

/* Gathers the last text of a message, associated data that has not been hashed, and the lengths for
 * one call: a kernel that adds up several products then reduces once. Returns the number of blocks;
 * 0 if they are too many. */
static size_t gather_end(uint8_t block[16 * SHORT_BLOCKS], const uint8_t *aad, size_t aad_bytes,
                         const uint8_t *in, size_t len_bytes, const uint8_t lengths[16])
{
    const size_t room = 16 * SHORT_BLOCKS - 48; /* two blocks at most have zeros */
    uint8_t *end;

    if (len_bytes > room || aad_bytes > room - len_bytes)
        return 0;
    end = gather(gather(block, aad, aad_bytes), in, len_bytes);
    memcpy(end, lengths, 16);
    return (size_t)(end - block) / 16 + 1;
}

/* The n_blocks that have been gathered; if that is 0, all of the message, from its place. */
static void hash_end(const struct keys *keys, uint8_t y[16], uint8_t *block, size_t n_blocks,
                     const uint8_t *aad, size_t aad_bytes, const uint8_t *in, size_t len_bytes,
                     const uint8_t lengths[16])
{
    if (n_blocks) {
        evc_ghash_op_reversed_blocks(keys->ghash, y, block, n_blocks);
        evc_wipe(block, 16 * (n_blocks - 1));
        return;
    }
    hash_padded(keys, y, aad, aad_bytes);
    hash_padded(keys, y, in, len_bytes);
    evc_ghash_op_reversed_blocks(keys->ghash, y, lengths, 1);
}

/* The tag of a message whose hash is y: that with the nonce added, encrypted (section 4). Out of
 * line, as counter_of is: compilers put words of tags on the stack, in the frame of a public
 * function beyond what is cleared. */
EVC_OUT_OF_LINE void tag_of(const struct keys *keys, uint8_t tag[16], const uint8_t y[16],
                   const uint8_t nonce[12])
{
    const uint64_t lo = evc_load64_be(y + 8), hi = evc_load64_be(y); /* the bytes are reversed */

    evc_store64x2_le(tag, lo ^ evc_load64_le(nonce),
                     (hi ^ evc_load32_le(nonce + 8)) & UINT64_MAX >> 1);
    evc_aes_op_encrypt(keys->aes, tag, tag, 1);
}

/* The first counter. */
EVC_OUT_OF_LINE void counter_of(uint8_t counter[16], const uint8_t tag[16])
{
    evc_store64x2_le(counter, evc_load64_le(tag), evc_load64_le(tag + 8) | UINT64_C(1) << 63);
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* Seal and open have the same limits. */
static enum evc_status check_message(const struct evc_gcm_siv_key *key, const uint8_t *nonce,
                                     size_t nonce_bytes, const uint8_t *aad, size_t aad_bytes,
                                     const uint8_t *in, const uint8_t *out, size_t len_bytes,
                                     const uint8_t *tag, size_t tag_bytes, const void *scratch,
                                     size_t scratch_bytes)
{
    EVC_RETURN_IF_REFUSED(gcm_siv_seal, .key = key, .iv = nonce, .iv_bytes = nonce_bytes,
                          .aad = aad, .aad_bytes = aad_bytes, EVC_TEXT(in, out, len_bytes),
                          .tag = tag, .tag_bytes = tag_bytes);
    return scratch && scratch_bytes >= evc_gcm_siv_scratch_bytes(key->aes.head.kernel, key->ghash)
               ? EVC_OK
               : EVC_ERR_SCRATCH;
}

/* Ends a call with the key: what operations and the keys of the message have left. Inline, as a
 * frame of its own would lie where operations were. */
EVC_INLINE void clear(const struct evc_gcm_siv_key *key, const struct keys *keys)
{
    if (is_fused(key->aes.head.kernel, key->ghash)) {
        evc_wipe(keys->aes, offsetof(struct evc_aes_fips197_key, dec)); /* siv_tag wipes the rest */
    } else {
        evc_wipe(keys->aes, keys->n_bytes);
        EVC_CLEAR_STACK(BASELINE, 512); /* frames of the functions above, if kernels have none */
    }
    evc_clear_both(&key->aes.head.kernel->kernel, &key->ghash->kernel);
}

/* A message under way. */
struct message {
    const struct evc_gcm_siv_key *key;
    struct keys keys;
    const uint8_t *nonce, *aad;
    size_t aad_bytes, len_bytes;
    uint8_t lengths[16];
};

/* The blocks that are hashed. */
static size_t n_hashed(const struct message *m)
{
    return m->aad_bytes / 16 + (m->aad_bytes % 16 != 0) + m->len_bytes / 16 +
           (m->len_bytes % 16 != 0) + 1;
}

/* Makes the keys, y the tag of the text, and counter the first one. */
static void seal_fused(const struct message *m, const uint8_t *in, uint8_t y[16],
                       uint8_t counter[16])
{
    const struct evc_ghash *const ghash = m->key->ghash;

    set_head(m->key, m->keys.aes);
    ghash->siv_keys(&m->key->aes, m->nonce, m->keys.aes, m->keys.ghash, n_hashed(m), m->aad,
                    m->aad_bytes, y);
    ghash->siv_tag(m->keys.aes, m->keys.ghash, n_hashed(m), m->nonce, in, m->len_bytes, m->lengths,
                   y, counter);
}

/* Clears what operations of a function have left that has a large frame: `clear` does not reach so
 * far below its caller. */
EVC_INLINE void clear_below(const struct message *m)
{
    EVC_CLEAR_STACK(BASELINE, 512);
    evc_clear_both(&m->key->aes.head.kernel->kernel, &m->key->ghash->kernel);
}

static void seal_composed(const struct message *m, const uint8_t *in, uint8_t y[16],
                          uint8_t counter[16])
{
    uint8_t block[16 * SHORT_BLOCKS];
    /* before the keys are made: loads of vectors wait for these stores of words */
    const size_t n_blocks =
        gather_end(block, m->aad, m->aad_bytes, in, m->len_bytes, m->lengths);

    derive(m->key, &m->keys, m->nonce);
    hash_end(&m->keys, y, block, n_blocks, m->aad, m->aad_bytes, in, m->len_bytes, m->lengths);
    tag_of(&m->keys, y, y, m->nonce);
    counter_of(counter, y);
    clear_below(m);
}

EVC_INLINE void set_message(struct message *m, const struct evc_gcm_siv_key *key, void *scratch,
                            const uint8_t *nonce, const uint8_t *aad, size_t aad_bytes,
                            size_t len_bytes)
{
    m->key = key;
    m->keys = keys_in(key, scratch);
    m->nonce = nonce;
    m->aad = aad;
    m->aad_bytes = aad_bytes;
    m->len_bytes = len_bytes;
    store_lengths(m->lengths, aad_bytes, len_bytes);
}

enum evc_status evc_gcm_siv_seal(const struct evc_gcm_siv_key *key, const uint8_t *nonce,
                                 size_t nonce_bytes, const uint8_t *aad, size_t aad_bytes,
                                 const uint8_t *in, uint8_t *out, size_t len_bytes, uint8_t *tag,
                                 size_t tag_bytes, void *scratch, size_t scratch_bytes)
{
    const enum evc_status status =
        check_message(key, nonce, nonce_bytes, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes,
                      scratch, scratch_bytes);
    uint8_t y[16] = {0}, counter[16];
    struct message m;

    if (status != EVC_OK)
        return status;
    in = evc_input(in, out, len_bytes);
    set_message(&m, key, scratch, nonce, aad, aad_bytes, len_bytes);
    if (is_fused(key->aes.head.kernel, key->ghash))
        seal_fused(&m, in, y, counter);
    else
        seal_composed(&m, in, y, counter);
    if (len_bytes)
        evc_aes_op_ctr32_le(m.keys.aes, counter, in, out, len_bytes);
    memcpy(tag, y, 16); /* last: all of the text has been read, wherever it stands */
    evc_clear_block(y);
    evc_clear_block(counter);
    clear(key, &m.keys);
    return EVC_OK;
}

/* Makes the keys, decrypts the text, and makes y its tag. */
static void open_fused(const struct message *m, const uint8_t *in, uint8_t *out, uint8_t y[16],
                       uint8_t counter[16])
{
    const struct evc_ghash *const ghash = m->key->ghash;
    const size_t batch_bytes = 16 * (size_t)ghash->kernel.batch;
    const size_t rest = m->len_bytes % batch_bytes, whole = m->len_bytes - rest;
    size_t n_done = 0, hashed = 0;

    set_head(m->key, m->keys.aes);
    ghash->siv_keys(&m->key->aes, m->nonce, m->keys.aes, m->keys.ghash, n_hashed(m), m->aad,
                    m->aad_bytes, y);
    if (whole > batch_bytes) {
        ghash->siv_open(m->keys.aes, m->keys.ghash, counter, y, in, out, whole / 16);
        n_done = whole;
        hashed = whole - batch_bytes;
    }
    if (m->len_bytes > n_done)
        evc_aes_op_ctr32_le(m->keys.aes, counter, in + n_done, out + n_done,
                            m->len_bytes - n_done);
    ghash->siv_tag(m->keys.aes, m->keys.ghash, n_hashed(m), m->nonce, evc_in_at(out, hashed),
                   m->len_bytes - hashed, m->lengths, y, counter);
}

/* The same; whole pieces first. */
static void open_composed(const struct message *m, const uint8_t *in, uint8_t *out, uint8_t y[16],
                          uint8_t counter[16])
{
    const struct keys *const keys = &m->keys;
    size_t aad_bytes = m->aad_bytes, len_bytes = m->len_bytes, n_blocks;
    uint8_t block[16 * SHORT_BLOCKS];

    derive(m->key, keys, m->nonce);
    if (len_bytes > PIECE_BYTES) {
        hash_padded(keys, y, m->aad, aad_bytes);
        aad_bytes = 0;
    }
    for (; len_bytes > PIECE_BYTES;
         in += PIECE_BYTES, out += PIECE_BYTES, len_bytes -= PIECE_BYTES) {
        evc_aes_op_ctr32_le(keys->aes, counter, in, out, PIECE_BYTES);
        evc_ghash_op_reversed_blocks(keys->ghash, y, out, PIECE_BYTES / 16);
    }
    if (len_bytes)
        evc_aes_op_ctr32_le(keys->aes, counter, in, out, len_bytes);
    n_blocks = gather_end(block, m->aad, aad_bytes, out, len_bytes, m->lengths);
    hash_end(keys, y, block, n_blocks, m->aad, aad_bytes, out, len_bytes, m->lengths);
    tag_of(keys, y, y, m->nonce);
    clear_below(m);
}

static enum evc_status compare(const uint8_t computed[16], const uint8_t tag[16])
{
    uint32_t equal = evc_mask_equal(computed, tag, 16);

    evc_public(&equal, sizeof equal); /* the caller learns it as the status */
    return equal ? EVC_OK : EVC_ERR_TAG;
}

enum evc_status evc_gcm_siv_open(const struct evc_gcm_siv_key *key, const uint8_t *nonce,
                                 size_t nonce_bytes, const uint8_t *aad, size_t aad_bytes,
                                 const uint8_t *in, uint8_t *out, size_t len_bytes,
                                 const uint8_t *tag, size_t tag_bytes, void *scratch,
                                 size_t scratch_bytes)
{
    enum evc_status status = check_message(key, nonce, nonce_bytes, aad, aad_bytes, in, out,
                                           len_bytes, tag, tag_bytes, scratch, scratch_bytes);
    uint8_t y[16] = {0}, counter[16], received[16];
    struct message m;

    if (status != EVC_OK)
        return status;
    memcpy(received, tag, 16); /* where both are in one buffer, text is written to its place */
    counter_of(counter, received);
    EVC_KEEP_MEMORY(received); /* clang spilled its words, for the comparison */
    in = evc_input(in, out, len_bytes);
    set_message(&m, key, scratch, nonce, aad, aad_bytes, len_bytes);
    if (is_fused(key->aes.head.kernel, key->ghash))
        open_fused(&m, in, out, y, counter);
    else
        open_composed(&m, in, out, y, counter);
    status = compare(y, received);
    evc_clear_block(y); /* of a forgery, the tag that would have been right */
    evc_clear_block(counter);
    evc_clear_block(received);
    if (status != EVC_OK && len_bytes)
        evc_wipe(out, len_bytes);
    clear(key, &m.keys);
    return status;
}

/* ---- The tag right behind the ciphertext ----------------------------------------------------- */

enum evc_status evc_gcm_siv_seal_joined(const struct evc_gcm_siv_key *key, const uint8_t *nonce,
                                        size_t nonce_bytes, const uint8_t *aad, size_t aad_bytes,
                                        const uint8_t *in, uint8_t *out, size_t len_bytes,
                                        void *scratch, size_t scratch_bytes)
{
    return evc_gcm_siv_seal(key, nonce, nonce_bytes, aad, aad_bytes, in, out, len_bytes,
                            out ? out + len_bytes : NULL, 16, scratch, scratch_bytes);
}

enum evc_status evc_gcm_siv_open_joined(const struct evc_gcm_siv_key *key, const uint8_t *nonce,
                                        size_t nonce_bytes, const uint8_t *aad, size_t aad_bytes,
                                        const uint8_t *in, uint8_t *out, size_t in_bytes,
                                        void *scratch, size_t scratch_bytes)
{
    if (!evc_is_set(EVC_KEY_SIV, key))
        return evc_key_error(key);
    if (in_bytes < 16)
        return EVC_ERR_LENGTH;
    return evc_gcm_siv_open(key, nonce, nonce_bytes, aad, aad_bytes, in, out, in_bytes - 16,
                            in ? in + (in_bytes - 16) : NULL, 16, scratch, scratch_bytes);
}
