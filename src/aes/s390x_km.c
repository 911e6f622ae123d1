/* SPDX-License-Identifier: MIT */
/*
 * AES with the instructions of IBM Z that encrypt text in memory.
 *
 * Method:   one instruction for a message: KM for blocks and XTS, KMC for CBC, KMAC for CBC-MAC,
 *           KMCTR for counters, which are made in memory, 32 at a time. There are no round keys.
 *           XTS of 192 bits, which no instruction has, is 16 blocks between their tweaks at a time.
 * Source:   FIPS 197 (2023); z/Architecture Principles of Operation, SA22-7832-12, chapter 7.
 * Needs:    S390X_MSA4.   Timing: CT (the instructions; no tables, no secret branches).
 * Key form: private.
 */
#include "aes/kernel.h"

#include "common/bytes.h"

#if EVC_BUILT(S390X_MSA4)

#include "aes/tweak.h"
#include "common/s390x.h"

#define COUNTERS 32 /* of a step of CTR */
#define TWEAKS 16   /* of a step of XTS with 192 bits: as many bytes as XC takes */

struct key {
    struct evc_aes_head head;
    EVC_ALIGN(8) uint8_t bytes[32];
};

/* Parameters of instructions with a chain. These take as much of the key as there is. */
struct chained {
    uint8_t chain[16], key[32];
};

EVC_INLINE size_t key_bytes(const struct key *key)
{
    return 4 * (size_t)key->head.rounds - 24;
}

EVC_INLINE unsigned code_of(const struct key *key, int decrypting)
{
    return EVC_S390X_AES_128 + (key->head.rounds - 10) / 2 +
           (decrypting ? EVC_S390X_DECRYPT : 0u);
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;

    memcpy(key->bytes, user_key, 16);
    if (key->head.rounds > 10)
        memcpy(key->bytes + 16, user_key + 16, 8);
    if (key->head.rounds > 12)
        memcpy(key->bytes + 24, user_key + 24, 8);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

EVC_INLINE void blocks(const struct key *key, const uint8_t *in, uint8_t *out, size_t n_blocks,
                       int decrypting)
{
    /* KM does not change a key. */
    evc_s390x_km(code_of(key, decrypting), (void *)(uintptr_t)key->bytes, in, out, 16 * n_blocks);
}

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    blocks(key, in, out, n_blocks, 0);
}

static void decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    blocks(key, in, out, n_blocks, 1);
}

/* ---- CTR ------------------------------------------------------------------------------------- */

EVC_INLINE void with_counters(const struct key *key, const uint8_t *counters, const uint8_t *in,
                              uint8_t *out, size_t n_blocks)
{
    evc_s390x_kmctr(code_of(key, 0), key->bytes, counters, in, out, 16 * n_blocks);
}

/* le: a constant, 1 where the first word of a counter counts, little-endian; else the last does,
 * big-endian. */
EVC_INLINE uint32_t number_of(const uint8_t counter[16], int le)
{
    return le ? evc_load32_le(counter) : evc_load32_be(counter + 12);
}

EVC_INLINE void set_number(uint8_t counter[16], uint32_t number, int le)
{
    if (le)
        evc_store32_le(counter, number);
    else
        evc_store32_be(counter + 12, number);
}

EVC_INLINE void ctr_blocks(const struct key *key, uint8_t counter[16], const uint8_t *in,
                           uint8_t *out, size_t n_blocks, int le)
{
    EVC_ALIGN(8) uint8_t counters[COUNTERS][16];
    size_t step = n_blocks < COUNTERS ? n_blocks : COUNTERS;
    uint32_t number = number_of(counter, le);

    for (size_t i = 0; i < step; i++)
        memcpy(counters[i] + (le ? 4 : 0), counter + (le ? 4 : 0), 12);
    for (; n_blocks; n_blocks -= step, in += 16 * step, out += 16 * step) {
        step = n_blocks < COUNTERS ? n_blocks : COUNTERS;
        for (size_t i = 0; i < step; i++)
            set_number(counters[i], number++, le);
        with_counters(key, counters[0], in, out, step);
    }
    set_number(counter, number, le);
}

EVC_INLINE void count_one(uint8_t counter[16], int le)
{
    set_number(counter, number_of(counter, le) + 1, le);
}

EVC_OUT_OF_LINE void ctr_blocks_be(const struct key *key, uint8_t counter[16], const uint8_t *in,
                                   uint8_t *out, size_t n_blocks)
{
    ctr_blocks(key, counter, in, out, n_blocks, 0);
}

EVC_OUT_OF_LINE void ctr_blocks_le(const struct key *key, uint8_t counter[16], const uint8_t *in,
                                   uint8_t *out, size_t n_blocks)
{
    ctr_blocks(key, counter, in, out, n_blocks, 1);
}

EVC_INLINE void ctr(const struct key *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                    size_t len_bytes, int le)
{
    const size_t rest = len_bytes % 16, whole = len_bytes - rest;
    uint8_t stream[16];

    if (whole == 16) {
        with_counters(key, counter, in, out, 1);
        count_one(counter, le);
    } else if (whole && le) {
        ctr_blocks_le(key, counter, in, out, whole / 16);
    } else if (whole) {
        ctr_blocks_be(key, counter, in, out, whole / 16);
    }
    if (rest) {
        blocks(key, counter, stream, 1, 0);
        evc_s390x_xor(out + whole, in + whole, stream, rest);
        count_one(counter, le);
    }
}

static void ctr32(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
    ctr(key, counter, in, out, len_bytes, 0);
}

static void ctr32_le(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                     size_t len_bytes)
{
    ctr(key, counter, in, out, len_bytes, 1);
}

/* ---- Chains ---------------------------------------------------------------------------------- */

EVC_INLINE void cbc(const struct key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                    size_t n_blocks, int decrypting)
{
    struct chained p;

    memcpy(p.chain, iv, 16);
    memcpy(p.key, key->bytes, sizeof p.key);
    evc_s390x_kmc(code_of(key, decrypting), &p, in, out, 16 * n_blocks);
    memcpy(iv, p.chain, 16);
}

static void cbc_encrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    cbc(key, iv, in, out, n_blocks, 0);
}

static void cbc_decrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    cbc(key, iv, in, out, n_blocks, 1);
}

static void cbcmac(const void *vkey, uint8_t chain[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;
    struct chained p;

    memcpy(p.chain, chain, 16);
    memcpy(p.key, key->bytes, sizeof p.key);
    evc_s390x_kmac(code_of(key, 0), &p, in, 16 * n_blocks);
    memcpy(chain, p.chain, 16);
}

/* ---- XTS ------------------------------------------------------------------------------------- */

EVC_INLINE void between_tweaks(const struct key *key, const uint8_t *tweaks, const uint8_t *in,
                               uint8_t *out, size_t n_blocks, int decrypting)
{
    evc_s390x_xor(out, in, tweaks, 16 * n_blocks);
    blocks(key, out, out, n_blocks, decrypting);
    evc_s390x_xor(out, out, tweaks, 16 * n_blocks);
}

EVC_OUT_OF_LINE void xts_192(const struct key *key, uint8_t tweak[16], const uint8_t *in,
                             uint8_t *out, size_t n_blocks, int decrypting)
{
    uint8_t tweaks[TWEAKS][16];

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = n_blocks < TWEAKS ? n_blocks : TWEAKS;
        for (size_t i = 0; i < n; i++) {
            memcpy(tweaks[i], tweak, 16);
            evc_aes_next_tweak(tweak);
        }
        between_tweaks(key, tweaks[0], in, out, n, decrypting);
    }
}

EVC_INLINE void xts_by_km(const struct key *key, uint8_t tweak[16], const uint8_t *in,
                          uint8_t *out, size_t n_blocks, int decrypting)
{
    const size_t n_key = key_bytes(key);
    uint8_t p[48]; /* the key, then the tweak */

    memcpy(p, key->bytes, sizeof key->bytes);
    memcpy(p + n_key, tweak, 16);
    evc_s390x_km((n_key == 16 ? EVC_S390X_XTS_128 : EVC_S390X_XTS_256) +
                     (decrypting ? EVC_S390X_DECRYPT : 0u),
                 p, in, out, 16 * n_blocks);
    memcpy(tweak, p + n_key, 16);
}

EVC_INLINE void xts(const struct key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                    size_t n_blocks, int decrypting)
{
    if (key->head.rounds != 12) {
        xts_by_km(key, tweak, in, out, n_blocks, decrypting);
    } else if (n_blocks == 1) {
        between_tweaks(key, tweak, in, out, 1, decrypting);
        evc_aes_next_tweak(tweak);
    } else {
        xts_192(key, tweak, in, out, n_blocks, decrypting);
    }
}

static void xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    xts(key, tweak, in, out, n_blocks, 0);
}

static void xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    xts(key, tweak, in, out, n_blocks, 1);
}

#define HEAD EVC_KERNEL_HEAD(s390x_km, S390X_MSA4, CT, ANY, COUNTERS, struct key, 0, BASELINE, 896)

const struct evc_aes evc_aes_s390x_km = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .ctr32 = ctr32,
    .ctr32_le = ctr32_le,
    .cbc_encrypt = cbc_encrypt,
    .cbc_decrypt = cbc_decrypt,
    .cbcmac = cbcmac,
    .xts_encrypt = xts_encrypt,
    .xts_decrypt = xts_decrypt,
};

const struct evc_aes evc_aes_s390x_km_forward = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .ctr32 = ctr32,
};
#else
EVC_EMPTY_UNIT
#endif
