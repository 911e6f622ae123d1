/* SPDX-License-Identifier: MIT */
/*
 * Limits of the interface, by the numbers of their standards: each macro of a limit
 * (tools/check-tree wants it here), and the first value that calls refuse; those of AES, its modes
 * and GCM are tried by test_calls.c, those of HMAC and HKDF by test_hmac.c. Other tests may use the
 * macros then.
 */
#include "tap.h"

#include "everycore/bn.h"
#include "everycore/dh.h"
#include "everycore/gcm.h"
#include "everycore/gcm_siv.h"
#include "everycore/hkdf.h"
#include "everycore/modes.h"
#include "everycore/pac.h"
#include "everycore/qarma.h"
#include "everycore/rsa_padding.h"
#include "everycore/sha2.h"

#define LIMIT(macro, value, source) {#macro, (uint64_t)(macro), UINT64_C(value)}

static const struct limit {
    const char *name;
    uint64_t defined, wanted;
} limits[] = {
    LIMIT(EVC_AES_MAX_ROUNDS, 14, "FIPS 197 section 5, table 3"),
    LIMIT(EVC_GCM_MAX_TEXT, 68719476704, "SP 800-38D section 5.2.1.1: 2^39 - 256 bits"),
    LIMIT(EVC_GCM_MAX_AAD, 2305843009213693951, "SP 800-38D section 5.2.1.1: 2^64 - 1 bits"),
    LIMIT(EVC_AES_XTS_MAX_BYTES, 16777216, "SP 800-38E section 4: 2^20 blocks"),
    LIMIT(EVC_AES_CMAC_MIN_TAG, 8, "SP 800-38B appendix A.2: 64 bits, unless guesses are limited"),
    LIMIT(EVC_AES_CMAC_MIN_SHORT_TAG, 4, "SP 800-38B appendix A: 32 bits"),
    LIMIT(EVC_SHA2_MOST_DIGEST_BYTES, 64, "FIPS 180-4 figure 1: 512 bits"),
    LIMIT(EVC_SHA2_MOST_BLOCK_BYTES, 128, "FIPS 180-4 figure 1: 1024 bits"),
    LIMIT(EVC_HMAC_MIN_SHORT_TAG, 4, "FIPS 198 (2002) section 4: 32 bits"),
    LIMIT(EVC_HKDF_MOST_DIGESTS, 255, "RFC 5869 section 2.3: a number of 8 bits"),
    LIMIT(EVC_AES_KW_MAX_BYTES, 144115188075855864, "SP 800-38F table 1: 2^54 - 1 semiblocks"),
    LIMIT(EVC_AES_KWP_MAX_BYTES, 4294967295, "SP 800-38F table 1: 2^32 - 1 bytes"),
    LIMIT(EVC_GCM_SIV_MAX_BYTES, 68719476736, "RFC 8452 section 6: 2^36 bytes"),
    LIMIT(EVC_GCM_SIV_MOST_SCRATCH_BYTES, 2000, "our own"),
    LIMIT(EVC_RSA_MOST_E_BYTES, 32, "FIPS 186-5 appendix A.1.1: e < 2^256"),
    LIMIT(EVC_RSA_MOST_DIGEST_BYTES, 64, "FIPS 180-4, FIPS 202: 512 bits"),
    LIMIT(EVC_RSA_MOST_BLOCK_BYTES, 144, "FIPS 202 table 3: 1152 bits"),
    LIMIT(EVC_SHA2_MOST_DIGEST_BYTES, 64, "FIPS 180-4 figure 1: 512 bits"),
    LIMIT(EVC_SHA2_MOST_BLOCK_BYTES, 128, "FIPS 180-4 figure 1: 1024 bits"),
    LIMIT(EVC_PAC_MIN_VA_BITS, 16, "Arm ARM D8.2: TxSZ of at most 48"),
    LIMIT(EVC_PAC_MAX_VA_BITS, 55, "Arm ARM D8.2: bit 55 chooses the range"),
    LIMIT(EVC_QARMA_MIN_ROUNDS, 1, "Avanzi 2017"),
    LIMIT(EVC_QARMA_MAX_ROUNDS, 8, "Avanzi 2017 section 2.1: c_0 to c_7"),
    LIMIT(EVC_BN_MIN_BITS, 128, "our own"),
    LIMIT(EVC_BN_MAX_BITS, 8192, "RFC 7919: ffdhe8192"),
    LIMIT(EVC_BN_MAX_BYTES, 1024, "EVC_BN_MAX_BITS"),
    LIMIT(EVC_DH_MOST_BLOCKS, 16, "our own"),
};

static void macros_have_the_values_of_the_standards(void)
{
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (limits[i].defined != limits[i].wanted)
            printf("# %s\n", limits[i].name);
        EXPECT(limits[i].defined == limits[i].wanted);
    }
}

static EVC_ALIGN(16) uint8_t memory[1u << 16], scratch[1u << 17];
static uint8_t in[1040], out[1040];

static void numbers_beyond_are_refused(void)
{
    const struct evc_bn *bn = evc_bn_named("c_ref");
    static const uint8_t e[33] = {[0] = 1, [1] = 1, [32] = 1};

    memset(in, 0xff, sizeof in);
    EXPECT(!evc_bn_modulus_bytes(bn, 120) && evc_bn_modulus_bytes(bn, 128));
    EXPECT(!evc_bn_modulus_bytes(bn, 8200) && evc_bn_modulus_bytes(bn, 8192));
    EXPECT(evc_bn_set_modulus_in(memory, sizeof memory, bn, in, 15) == EVC_ERR_KEY_SIZE);
    must(evc_bn_set_modulus_in(memory, sizeof memory, bn, in, 16));
    must(evc_bn_set_modulus_in(memory, sizeof memory, bn, in, 1024));
    EXPECT(evc_bn_set_modulus_in(memory, sizeof memory, bn, in, 1025) == EVC_ERR_KEY_SIZE);
    EXPECT(evc_dh_table_bytes(bn, 2048, 16) && !evc_dh_table_bytes(bn, 2048, 17));
    must(evc_rsa_set_public_in(memory, sizeof memory, bn, in, 128, e + 1, 32, 1024));
    EXPECT(evc_rsa_set_public_in(memory, sizeof memory, bn, in, 128, e, 33, 1024) == EVC_ERR_KEY);
}

/* A digest of as many bytes as context says. */
static int digest(void *context, const struct evc_rsa_piece *pieces, size_t n_pieces, uint8_t *to)
{
    (void)pieces, (void)n_pieces;
    memset(to, 0x5a, *(const size_t *)context);
    return 0;
}

static int fill(void *context, uint8_t *to, size_t n_bytes)
{
    (void)context;
    memset(to, 0x5a, n_bytes);
    return 0;
}

/* OAEP hashes an empty label. */
static void hashes_beyond_are_refused(void)
{
    static const uint8_t e[] = {3};
    const struct evc_rsa_public *key = (const void *)memory;
    const struct evc_random random = {fill, NULL};

    memset(in, 0xff, sizeof in);
    must(evc_rsa_set_public_in(memory, sizeof memory, evc_bn_named("c_ref"), in, 256, e, 1, 2048));
    for (size_t n = 64; n <= 65; n++) {
        const struct evc_rsa_hash hash = {digest, &n, (uint32_t)n, 128, NULL, 0};
        const struct evc_rsa_oaep oaep = {.hash = &hash, .mgf_hash = &hash};
        EXPECT(evc_rsa_encrypt_oaep(key, &oaep, in, 8, &random, out, scratch, sizeof scratch) ==
               (n == 64 ? EVC_OK : EVC_ERR_HASH));
    }
}

static void rounds_and_addresses_beyond_are_refused(void)
{
    union evc_qarma_key key;
    struct evc_pac_rules rules;

    for (unsigned n = 0; n < 12; n++)
        EXPECT((evc_qarma_set_key(&key, evc_qarma_named("c_ref"), 1, 2, 1, n) == EVC_OK) ==
               (n >= 1 && n <= 8));
    for (unsigned n = 0; n < 70; n++)
        EXPECT(evc_pac_set_rules(&rules, EVC_PAC_PAUTH, n, 0, 0) ==
               (n >= 16 && n <= 55 ? EVC_OK : EVC_ERR_PARAMETER));
}

int main(void)
{
    RUN(macros_have_the_values_of_the_standards);
    RUN(numbers_beyond_are_refused);
    RUN(hashes_beyond_are_refused);
    RUN(rounds_and_addresses_beyond_are_refused);
    return tap_done();
}
