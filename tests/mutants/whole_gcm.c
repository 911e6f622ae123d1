/* SPDX-License-Identifier: MIT */
/*
 * GCM with every optional operation, each in the plainest way: what tests/mutants breaks.
 *
 * Method:   c_ref of AES and of GHASH, 4 blocks at once.
 * Source:   SP 800-38D (2007) sections 6 and 7.
 * Needs:    ANY.   Timing: VARTIME (that of AES).
 * Key form: private.
 */
#include "gcm/kernel.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/ct.h"

#define BATCH 4

struct key {
    struct evc_gcm_head head;
    union evc_aes_key aes;
    union evc_ghash_key ghash;
    uint64_t own;
};

static void encrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct key *key = vkey;

    evc_aes_c_ref.encrypt(&key->aes, in, out, n_blocks);
}

static void hash(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;

    evc_ghash_c_ref.blocks(&key->ghash, y, in, n_blocks);
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;
    uint8_t h[16] = {0};

    /* A key has to be written as a whole; of its parts, shorter keys leave some as they were. */
    memset((uint8_t *)vkey + sizeof key->head, 0, sizeof *key - sizeof key->head);
    key->aes.head.kernel = &evc_aes_c_ref;
    key->aes.head.rounds = key->head.rounds;
    key->aes.head.can_decrypt = 0;
    evc_aes_c_ref.set_key(&key->aes, user_key);
    encrypt(key, h, h, 1);
    key->ghash.head.kernel = &evc_ghash_c_ref;
    evc_ghash_c_ref.set_key(&key->ghash, h);
    key->own = 0;
}

static void count(uint8_t counter[16])
{
    evc_store32_be(counter + 12, evc_load32_be(counter + 12) + 1);
}

static void ctr(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                size_t len_bytes)
{
    uint8_t stream[16];

    for (size_t n; len_bytes; len_bytes -= n, in += n, out += n) {
        n = len_bytes < 16 ? len_bytes : 16;
        encrypt(key, counter, stream, 1);
        evc_xor(out, in, stream, n);
        count(counter);
    }
}

static void seal_blocks(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    ctr(key, counter, in, out, 16 * n_blocks);
    hash(key, y, out, n_blocks);
}

static void open_blocks(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    hash(key, y, in, n_blocks);
    ctr(key, counter, in, out, 16 * n_blocks);
}

static void hash_padded(const void *key, uint8_t y[16], const uint8_t *in, size_t len_bytes)
{
    uint8_t last[16] = {0};

    hash(key, y, in, len_bytes / 16);
    memcpy(last, in + len_bytes / 16 * 16, len_bytes % 16);
    if (len_bytes % 16)
        hash(key, y, last, 1);
}

EVC_OUT_OF_LINE void message(const void *key, const uint8_t *iv, const uint8_t *aad,
                             size_t aad_bytes, const uint8_t *in, uint8_t *out, size_t len_bytes,
                             uint8_t y[16], int sealing)
{
    uint8_t counter[16], mask[16], lengths[16];
    const size_t aad_here = aad_bytes & EVC_GCM_HASHED_AAD ? 16 : aad_bytes;

    aad_bytes &= ~EVC_GCM_HASHED_AAD;
    memcpy(counter, iv, 12);
    evc_store32_be(counter + 12, 1);
    encrypt(key, counter, mask, 1);
    count(counter);
    hash_padded(key, y, aad, aad_here);
    if (!sealing)
        hash_padded(key, y, in, len_bytes);
    ctr(key, counter, in, out, len_bytes);
    if (sealing)
        hash_padded(key, y, out, len_bytes);
    evc_store64_be(lengths, 8 * (uint64_t)aad_bytes);
    evc_store64_be(lengths + 8, 8 * (uint64_t)len_bytes);
    hash(key, y, lengths, 1);
    evc_xor16(y, y, mask);
}

/* 960: bytes that `message` and the operations below it use on the stack. */
#define clear() EVC_CLEAR(BASELINE, 960)

static enum evc_status seal(const void *key, const uint8_t *iv, size_t iv_bytes, const uint8_t *aad,
                            size_t aad_bytes, const uint8_t *in, uint8_t *out, size_t len_bytes,
                            uint8_t *tag, size_t tag_bytes)
{
    uint8_t y[16] = {0};

    (void)iv_bytes;
    message(key, iv, aad, aad_bytes, in, out, len_bytes, y, 1);
    memcpy(tag, y, tag_bytes);
    evc_wipe(y, sizeof y);
    clear();
    return EVC_OK;
}

static enum evc_status open(const void *key, const uint8_t *iv, size_t iv_bytes, const uint8_t *aad,
                            size_t aad_bytes, const uint8_t *in, uint8_t *out, size_t len_bytes,
                            const uint8_t *tag, size_t tag_bytes)
{
    uint8_t y[16] = {0};
    enum evc_status status;

    (void)iv_bytes;
    message(key, iv, aad, aad_bytes, in, out, len_bytes, y, 0);
    status = evc_mask_equal(y, tag, tag_bytes) ? EVC_OK : EVC_ERR_TAG;
    evc_wipe(y, sizeof y);
    clear();
    return status;
}

static enum evc_status open_output_tag(const void *key, const uint8_t *iv, size_t iv_bytes,
                                       const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                       uint8_t *out, size_t len_bytes, uint8_t *tag,
                                       size_t tag_bytes)
{
    uint8_t y[16] = {0};

    (void)iv_bytes, (void)tag_bytes;
    message(key, iv, aad, aad_bytes, in, out, len_bytes, y, 0);
    memcpy(tag, y, 16);
    evc_wipe(y, sizeof y);
    clear();
    return EVC_OK;
}

const struct evc_gcm evc_gcm_c_whole = {
    .kernel = EVC_KERNEL_HEAD(c_whole, ANY, VARTIME, ANY, BATCH, struct key, 0, BASELINE, 960),
    .set_key = set_key,
    .encrypt = encrypt,
    .hash = hash,
    .seal_blocks = seal_blocks,
    .open_blocks = open_blocks,
    .seal = seal,
    .open = open,
    .seal_any_iv = evc_gcm_seal_pieces,
    .open_any_iv = evc_gcm_open_pieces,
    .open_output_tag = open_output_tag,
};
