/* SPDX-License-Identifier: MIT */
/*
 * AES with every optional operation, each in the plainest way: what tests/mutants breaks.
 *
 * Method:   c_ref for blocks, 8 at once; the operations as src/aes/aes.c composes them.
 * Source:   SP 800-38A (2001) section 6; IEEE 1619-2018 section 5.
 * Needs:    ANY.   Timing: VARTIME (c_ref's).
 * Key form: fips197, and a word of its own behind it.
 */
#include "aes/kernel.h"

#include "aes/fips197_key.h"
#include "common/bytes.h"
#include "common/clear.h"

#define BATCH 8

struct key {
    struct evc_aes_fips197_key fips197;
    uint64_t own;
};

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;

    evc_aes_c_ref.set_key(vkey, user_key);
    key->own = 0;
}

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    evc_aes_c_ref.encrypt(key, in, out, n_blocks);
}

static void decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    evc_aes_c_ref.decrypt(key, in, out, n_blocks);
}

static void ctr32(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
    uint8_t stream[16 * BATCH];
    uint32_t count = evc_load32_be(counter + 12);

    while (len_bytes) {
        size_t n = len_bytes < sizeof stream ? len_bytes : sizeof stream;
        size_t n_blocks = (n + 15) / 16;
        for (size_t i = 0; i < n_blocks; i++) {
            memcpy(stream + 16 * i, counter, 12);
            evc_store32_be(stream + 16 * i + 12, count + (uint32_t)i);
        }
        encrypt(key, stream, stream, n_blocks);
        evc_xor(out, in, stream, n);
        count += (uint32_t)n_blocks;
        in += n, out += n, len_bytes -= n;
    }
    evc_store32_be(counter + 12, count);
}

static void cbc_encrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    for (size_t i = 0; i < n_blocks; i++) {
        evc_xor16(iv, iv, in + 16 * i);
        encrypt(key, iv, iv, 1);
        memcpy(out + 16 * i, iv, 16);
    }
}

static void cbc_decrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    uint8_t plain[16], next[16];

    for (size_t i = 0; i < n_blocks; i++) {
        decrypt(key, in + 16 * i, plain, 1);
        memcpy(next, in + 16 * i, 16);
        evc_xor16(out + 16 * i, plain, iv);
        memcpy(iv, next, 16);
    }
}

static void cbcmac(const void *key, uint8_t chain[16], const uint8_t *in, size_t n_blocks)
{
    for (size_t i = 0; i < n_blocks; i++) {
        evc_xor16(chain, chain, in + 16 * i);
        encrypt(key, chain, chain, 1);
    }
}

static void next_tweak(uint8_t tweak[16])
{
    uint64_t low = evc_load64_le(tweak), high = evc_load64_le(tweak + 8);

    evc_store64_le(tweak, low << 1 ^ (0x87 & ((uint64_t)0 - (high >> 63))));
    evc_store64_le(tweak + 8, high << 1 | low >> 63);
}

static void xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    uint8_t block[16];

    for (size_t i = 0; i < n_blocks; i++, next_tweak(tweak)) {
        evc_xor16(block, in + 16 * i, tweak);
        encrypt(key, block, block, 1);
        evc_xor16(out + 16 * i, block, tweak);
    }
}

static void xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    uint8_t block[16];

    for (size_t i = 0; i < n_blocks; i++, next_tweak(tweak)) {
        evc_xor16(block, in + 16 * i, tweak);
        decrypt(key, block, block, 1);
        evc_xor16(out + 16 * i, block, tweak);
    }
}

static void cbc_encrypt_many(const void *key, const struct evc_msg *msgs, size_t n)
{
    for (size_t m = 0; m < n; m++) {
        size_t n_blocks = msgs[m].len_bytes / 16;
        if (msgs[m].out)
            cbc_encrypt(key, msgs[m].iv, msgs[m].in, msgs[m].out, n_blocks);
        else
            cbcmac(key, msgs[m].iv, msgs[m].in, n_blocks);
    }
}

/* Block i of the text, by CTR. */
static void ccm_text(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out)
{
    uint8_t stream[16];

    encrypt(key, counter, stream, 1);
    evc_store64_be(counter + 8, evc_load64_be(counter + 8) + 1);
    evc_xor16(out, in, stream);
}

static void ccm_encrypt(const void *key, uint8_t counter[16], uint8_t chain[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    for (size_t i = 0; i < n_blocks; i++) {
        cbcmac(key, chain, in + 16 * i, 1);
        ccm_text(key, counter, in + 16 * i, out + 16 * i);
    }
}

static void ccm_decrypt(const void *key, uint8_t counter[16], uint8_t chain[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    for (size_t i = 0; i < n_blocks; i++) {
        ccm_text(key, counter, in + 16 * i, out + 16 * i);
        cbcmac(key, chain, out + 16 * i, 1);
    }
}

const struct evc_aes evc_aes_c_whole = {
    .kernel =
        EVC_KERNEL_HEAD(c_whole, ANY, VARTIME, PARALLEL, BATCH, struct key, EVC_KEY_FIPS197,
                        BASELINE, 896),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .ctr32 = ctr32,
    .cbc_encrypt = cbc_encrypt,
    .cbc_decrypt = cbc_decrypt,
    .cbcmac = cbcmac,
    .xts_encrypt = xts_encrypt,
    .xts_decrypt = xts_decrypt,
    .cbc_encrypt_many = cbc_encrypt_many,
    .ccm_encrypt = ccm_encrypt,
    .ccm_decrypt = ccm_decrypt,
};
