/* SPDX-License-Identifier: MIT */
/*
 * BoringSSL, and AWS-LC, which began as a copy of it: GCM and GCM-SIV through EVP_AEAD, other
 * ciphers through EVP_CIPHER and CMAC, hashes by their own functions, big numbers through BN, RSA
 * by its raw functions, which blind. BoringSSL has XTS in its library decrepit, and CCM for nonces
 * of 13 bytes alone, which is no mode here.
 * Hardware off: OPENSSL_ia32cap in the environment, as OpenSSL reads it. BoringSSL does not tell
 * its version when it runs: api44 is BORINGSSL_API_VERSION of its headers.
 */
#include "peer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/aead.h>
#include <openssl/bn.h>
#include <openssl/cipher.h>
#include <openssl/cmac.h>
#include <openssl/crypto.h>
#include <openssl/digest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>

#define MOST_BYTES 1024
#define TEXT_OF(number) #number
#define TEXT(macro) TEXT_OF(macro)

/* The library's copy of CPUID.1 (EDX, ECX) and CPUID.7 (EBX, ECX). It is not exported: who links
 * the library as an archive has it. */
#if defined(__x86_64__)
#if defined(OPENSSL_IS_AWSLC)
extern const uint32_t OPENSSL_ia32cap_P[4];
#pragma weak OPENSSL_ia32cap_P
#else
uint32_t cpuid_word(int index) __asm__("_ZN4bssl19OPENSSL_get_ia32capEi") __attribute__((weak));
#endif
#endif

struct context {
    EVP_AEAD_CTX *aead;
    EVP_CIPHER_CTX *cipher;
    CMAC_CTX *mac;
    HMAC_CTX *hmac;
    const EVP_MD *hash; /* of PBKDF2, whose password is in */
    size_t in_bytes;
    /* Big numbers; in products, b and x are in Montgomery's form. */
    BIGNUM *n, *a, *b, *x, *e65537;
    BN_MONT_CTX *form;
    BN_CTX *numbers;
    RSA *rsa;
    uint8_t in[MOST_BYTES], out[MOST_BYTES];
};

/* "5.12.0" of "AWS-LC 5.12.0". */
static const char *version(void)
{
#if defined(OPENSSL_IS_AWSLC)
    const char *text = OpenSSL_version(OPENSSL_VERSION);

    while (*text && !isdigit((unsigned char)*text))
        text++;
    return text;
#else
    return "api" TEXT(BORINGSSL_API_VERSION);
#endif
}

static const char *hardware(void)
{
#if defined(__x86_64__)
    uint32_t ecx1, ebx7, ecx7;

    CRYPTO_library_init();
#if defined(OPENSSL_IS_AWSLC)
    if ((const void *)OPENSSL_ia32cap_P == NULL)
        return NULL;
    ecx1 = OPENSSL_ia32cap_P[1];
    ebx7 = OPENSSL_ia32cap_P[2];
    ecx7 = OPENSSL_ia32cap_P[3];
#else
    if (!cpuid_word)
        return NULL;
    ecx1 = cpuid_word(1);
    ebx7 = cpuid_word(2);
    ecx7 = cpuid_word(3);
#endif
    if (!(ecx1 >> 25 & 1))                      /* AES */
        return ecx1 >> 9 & 1 ? "ssse3" : "c";   /* SSSE3 */
    if (!(ecx7 >> 9 & 1))                       /* VAES */
        return "sse";
    return ebx7 >> 16 & 1 ? "best" : "vaes256"; /* AVX512F */
#else
    return NULL;
#endif
}

/* ---- Messages -------------------------------------------------------------------------------- */

static bool run_seal(void *context, const struct peer_message *m)
{
    size_t n;

    return EVP_AEAD_CTX_seal(((struct context *)context)->aead, m->out, &n, m->len_bytes + 16,
                             m->iv, 12, m->in, m->len_bytes, m->aad, m->aad_bytes) == 1;
}

static bool run_open(void *context, const struct peer_message *m)
{
    size_t n;

    return EVP_AEAD_CTX_open(((struct context *)context)->aead, m->out, &n, m->len_bytes, m->iv, 12,
                             m->in, m->len_bytes + 16, m->aad, m->aad_bytes) == 1;
}

static bool run_cipher(void *context, const struct peer_message *m)
{
    EVP_CIPHER_CTX *c = ((struct context *)context)->cipher;
    int n;

    return EVP_CipherInit_ex(c, NULL, NULL, NULL, m->iv, -1) == 1 &&
           EVP_CipherUpdate(c, m->out, &n, m->in, (int)m->len_bytes) == 1;
}

static bool run_cmac(void *context, const struct peer_message *m)
{
    CMAC_CTX *c = ((struct context *)context)->mac;
    size_t n;

    return CMAC_Reset(c) == 1 && CMAC_Update(c, m->in, m->len_bytes) == 1 &&
           CMAC_Final(c, m->tag, &n) == 1;
}

static bool run_sha256(void *context, const struct peer_message *m)
{
    (void)context;
    return SHA256(m->in, m->len_bytes, m->out) != NULL;
}

static bool run_sha512(void *context, const struct peer_message *m)
{
    (void)context;
    return SHA512(m->in, m->len_bytes, m->out) != NULL;
}

static bool run_hmac(void *context, const struct peer_message *m)
{
    HMAC_CTX *c = ((struct context *)context)->hmac;
    uint8_t tag[EVP_MAX_MD_SIZE];
    unsigned n;

    if (HMAC_Init_ex(c, NULL, 0, NULL, NULL) != 1 || HMAC_Update(c, m->in, m->len_bytes) != 1 ||
        HMAC_Final(c, tag, &n) != 1)
        return false;
    memcpy(m->tag, tag, 16);
    return true;
}

static bool run_pbkdf2(void *context, const struct peer_message *m)
{
    const struct context *c = context;

    return PKCS5_PBKDF2_HMAC((const char *)c->in, c->in_bytes, m->aad, m->aad_bytes,
                             m->n_iterations, c->hash, EVP_MD_size(c->hash), m->out) == 1;
}

/* Whether the mode is one of hashes, and everything is ready for it. */
static bool open_hash(struct context *c, const char *mode, const uint8_t *key, size_t n_bytes,
                      peer_run **run)
{
    static const struct {
        const char *mode;
        const EVP_MD *(*hash)(void);
        peer_run *run;
    } offered[] = {{"sha256", EVP_sha256, run_sha256},
                   {"sha512", EVP_sha512, run_sha512},
                   {"hmac-sha256", EVP_sha256, run_hmac},
                   {"hmac-sha512", EVP_sha512, run_hmac},
                   {"pbkdf2-sha256", EVP_sha256, run_pbkdf2},
                   {"pbkdf2-sha512", EVP_sha512, run_pbkdf2}};

    for (size_t i = 0; i < sizeof offered / sizeof offered[0]; i++)
        if (strcmp(mode, offered[i].mode) == 0) {
            *run = offered[i].run;
            c->hash = offered[i].hash();
            c->in_bytes = n_bytes;
            memcpy(c->in, key, n_bytes);
            c->hmac = HMAC_CTX_new();
            return c->hmac && HMAC_Init_ex(c->hmac, key, n_bytes, c->hash, NULL) == 1;
        }
    return false;
}

#if defined(OPENSSL_IS_AWSLC)
/* The length comes before the associated data; opening, the tag before all. */
static bool ccm_text(EVP_CIPHER_CTX *c, const struct peer_message *m)
{
    int n;

    return EVP_CipherInit_ex(c, NULL, NULL, NULL, m->iv, -1) == 1 &&
           EVP_CipherUpdate(c, NULL, &n, NULL, (int)m->len_bytes) == 1 &&
           EVP_CipherUpdate(c, NULL, &n, m->aad, (int)m->aad_bytes) == 1 &&
           EVP_CipherUpdate(c, m->out, &n, m->in, (int)m->len_bytes) == 1;
}

static bool run_ccm_seal(void *context, const struct peer_message *m)
{
    EVP_CIPHER_CTX *c = ((struct context *)context)->cipher;

    return ccm_text(c, m) && EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, m->tag) == 1;
}

static bool run_ccm_open(void *context, const struct peer_message *m)
{
    EVP_CIPHER_CTX *c = ((struct context *)context)->cipher;

    return EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, 16, m->tag) == 1 && ccm_text(c, m);
}
#endif

/* ---- Big numbers ----------------------------------------------------------------------------- */

static bool store(const BIGNUM *a, const struct peer_message *m)
{
    return !m->out || BN_bn2bin_padded(m->out, m->len_bytes, a) == 1;
}

static bool store_product(struct context *c, const struct peer_message *m)
{
    return !m->out ||
           (BN_from_montgomery(c->a, c->x, c->form, c->numbers) == 1 && store(c->a, m));
}

static bool run_mul(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return BN_mod_mul_montgomery(c->x, c->x, c->b, c->form, c->numbers) == 1 &&
           store_product(c, m);
}

static bool run_sqr(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return BN_mod_mul_montgomery(c->x, c->x, c->x, c->form, c->numbers) == 1 &&
           store_product(c, m);
}

static bool run_exp(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return BN_mod_exp_mont_consttime(c->x, c->a, c->b, c->n, c->numbers, c->form) == 1 &&
           store(c->x, m);
}

static bool run_exp_public(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return BN_mod_exp_mont(c->x, c->a, c->e65537, c->n, c->numbers, c->form) == 1 &&
           store(c->x, m);
}

static bool run_mod(void *context, const struct peer_message *m)
{
    struct context *c = context;
    const BN_ULONG remainder = BN_mod_word(c->a, 65521);

    return !m->out || (BN_set_word(c->x, remainder) == 1 && store(c->x, m));
}

static bool run_rsa_private(void *context, const struct peer_message *m)
{
    struct context *c = context;
    size_t n;

    return RSA_sign_raw(c->rsa, &n, m->out ? m->out : c->out, m->len_bytes, c->in, m->len_bytes,
                        RSA_NO_PADDING) == 1;
}

static bool run_rsa_public(void *context, const struct peer_message *m)
{
    struct context *c = context;
    size_t n;

    return RSA_encrypt(c->rsa, &n, m->out ? m->out : c->out, m->len_bytes, c->in, m->len_bytes,
                       RSA_NO_PADDING) == 1;
}

/* For numbers of others, as many rounds as the library advises. */
static bool run_check(void *context, const struct peer_message *m)
{
    struct context *c = context;
    int is_prime;

    return BN_primality_test(&is_prime, c->n, BN_prime_checks_for_validation, c->numbers, 1,
                             NULL) == 1 &&
           BN_set_word(c->x, is_prime != 0) == 1 && store(c->x, m);
}

static BIGNUM *number(const uint8_t *bytes, size_t n_bytes)
{
    return BN_bin2bn(bytes, n_bytes, NULL);
}

/* n, and what all calculations need. */
static bool set_modulus(struct context *c, const uint8_t *n, size_t n_bytes)
{
    c->n = number(n, n_bytes);
    c->x = BN_new();
    c->numbers = BN_CTX_new();
    return c->n && c->x && c->numbers;
}

static bool set_numbers(struct context *c, const uint8_t *key, size_t n_bytes, bool has_products)
{
    if (!set_modulus(c, key, n_bytes))
        return false;
    c->a = number(key + n_bytes, n_bytes);
    c->b = number(key + 2 * n_bytes, n_bytes);
    c->e65537 = BN_new();
    c->form = BN_MONT_CTX_new_for_modulus(c->n, c->numbers);
    if (!c->a || !c->b || !c->e65537 || !c->form || !BN_set_word(c->e65537, 65537))
        return false;
    return !has_products || (BN_to_montgomery(c->x, c->a, c->form, c->numbers) == 1 &&
                             BN_to_montgomery(c->b, c->b, c->form, c->numbers) == 1);
}

/* n, d and a, then p, q, dp, dq and qinv. */
static bool set_rsa(struct context *c, const uint8_t *key, size_t n_bytes)
{
    enum { N, D, P, Q, DP, DQ, QINV, E, N_NUMBERS };
    BIGNUM *numbers[N_NUMBERS] = {number(key, n_bytes), number(key + n_bytes, n_bytes)};
    const size_t half = n_bytes / 2;

    memcpy(c->in, key + 2 * n_bytes, n_bytes);
    for (size_t i = P; i < E; i++)
        numbers[i] = number(key + 3 * n_bytes + (i - P) * half, half);
    numbers[E] = BN_new();
    if (numbers[E] && BN_set_word(numbers[E], 65537))
        c->rsa = RSA_new_private_key(numbers[N], numbers[E], numbers[D], numbers[P], numbers[Q],
                                     numbers[DP], numbers[DQ], numbers[QINV]);
    for (size_t i = 0; i < N_NUMBERS; i++)
        BN_free(numbers[i]);
    return c->rsa != NULL;
}

/* p in n, and 2 to the number behind it, whose leading zeros would count as digits of a secret. */
static bool set_exchange(struct context *c, const uint8_t *key, size_t n_bytes)
{
    const uint8_t *x = key + n_bytes, *const end = x + n_bytes;

    while (x < end && *x == 0)
        x++;
    if (!set_modulus(c, key, n_bytes))
        return false;
    c->a = BN_new();
    c->b = number(x, (size_t)(end - x));
    c->form = BN_MONT_CTX_new_for_modulus(c->n, c->numbers);
    return c->a && c->b && c->form && BN_set_word(c->a, 2);
}

static bool open_numbers(struct context *c, const char *mode, const uint8_t *key, unsigned key_bits,
                         peer_run **run)
{
    static const struct {
        const char *mode;
        peer_run *run;
    } offered[] = {{"mont-mul", run_mul},         {"mont-sqr", run_sqr},
                   {"exp", run_exp},              {"exp-public", run_exp_public},
                   {"mod-word16", run_mod},       {"mod-word16-once", run_mod},
                   {"rsa-private", run_rsa_private}, {"rsa-public", run_rsa_public},
                   {"dh-public", run_exp},        {"prime-check", run_check}};
    const size_t n_bytes = key_bits / 8;

    *run = NULL;
    for (size_t i = 0; i < sizeof offered / sizeof offered[0]; i++)
        if (strcmp(mode, offered[i].mode) == 0)
            *run = offered[i].run;
    if (!*run)
        return false;
    if (strncmp(mode, "rsa-", 4) == 0)
        return set_rsa(c, key, n_bytes);
    if (strcmp(mode, "dh-public") == 0)
        return set_exchange(c, key, n_bytes);
    if (strcmp(mode, "prime-check") == 0)
        return set_modulus(c, key + 3 * n_bytes, n_bytes / 2);
    return set_numbers(c, key, n_bytes, strncmp(mode, "mont-", 5) == 0);
}

/* ---- Contexts -------------------------------------------------------------------------------- */

static void close_context(void *vcontext)
{
    struct context *c = vcontext;

    EVP_AEAD_CTX_free(c->aead);
    EVP_CIPHER_CTX_free(c->cipher);
    CMAC_CTX_free(c->mac);
    HMAC_CTX_free(c->hmac);
    BN_free(c->n);
    BN_free(c->a);
    BN_free(c->b);
    BN_free(c->x);
    BN_free(c->e65537);
    BN_MONT_CTX_free(c->form);
    BN_CTX_free(c->numbers);
    RSA_free(c->rsa);
    free(c);
}

static EVP_AEAD_CTX *open_gcm(const uint8_t *key, unsigned key_bits)
{
    const EVP_AEAD *aead = key_bits == 128   ? EVP_aead_aes_128_gcm()
                           : key_bits == 192 ? EVP_aead_aes_192_gcm()
                                             : EVP_aead_aes_256_gcm();

    return EVP_AEAD_CTX_new(aead, key, key_bits / 8, 16);
}

static EVP_AEAD_CTX *open_siv(const uint8_t *key, unsigned key_bits)
{
    if (key_bits == 192)
        return NULL;
    return EVP_AEAD_CTX_new(key_bits == 128 ? EVP_aead_aes_128_gcm_siv()
                                            : EVP_aead_aes_256_gcm_siv(),
                            key, key_bits / 8, 16);
}

static CMAC_CTX *open_cmac(const uint8_t *key, unsigned key_bits)
{
    const EVP_CIPHER *cipher = key_bits == 128   ? EVP_aes_128_cbc()
                               : key_bits == 192 ? EVP_aes_192_cbc()
                                                 : EVP_aes_256_cbc();
    CMAC_CTX *c = CMAC_CTX_new();

    if (c && CMAC_Init(c, key, key_bits / 8, cipher, NULL) == 1)
        return c;
    CMAC_CTX_free(c);
    return NULL;
}

typedef const EVP_CIPHER *cipher_getter(void);

static EVP_CIPHER_CTX *open_cipher(cipher_getter *get, const uint8_t *key, bool encrypts,
                                   bool is_ccm)
{
    EVP_CIPHER_CTX *c = get ? EVP_CIPHER_CTX_new() : NULL;

    if (c && EVP_CipherInit_ex(c, get(), NULL, NULL, NULL, encrypts) == 1 &&
        (!is_ccm || (EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_IVLEN, 12, NULL) == 1 &&
                     EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, 16, NULL) == 1)) &&
        EVP_CipherInit_ex(c, NULL, NULL, key, NULL, -1) == 1 &&
        EVP_CIPHER_CTX_set_padding(c, 0) == 1)
        return c;
    EVP_CIPHER_CTX_free(c);
    return NULL;
}

static void *open_context(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    static const struct {
        const char *mode;
        cipher_getter *get[3]; /* with 128, 192 and 256 bits */
        bool encrypts;
        peer_run *run;
    } ciphers[] = {
        {"ecb-enc", {EVP_aes_128_ecb, EVP_aes_192_ecb, EVP_aes_256_ecb}, true, run_cipher},
        {"ecb-dec", {EVP_aes_128_ecb, EVP_aes_192_ecb, EVP_aes_256_ecb}, false, run_cipher},
        {"cbc-enc", {EVP_aes_128_cbc, EVP_aes_192_cbc, EVP_aes_256_cbc}, true, run_cipher},
        {"cbc-dec", {EVP_aes_128_cbc, EVP_aes_192_cbc, EVP_aes_256_cbc}, false, run_cipher},
        {"ctr", {EVP_aes_128_ctr, EVP_aes_192_ctr, EVP_aes_256_ctr}, true, run_cipher},
        {"xts-enc", {NULL, NULL, EVP_aes_256_xts}, true, run_cipher},
        {"xts-dec", {NULL, NULL, EVP_aes_256_xts}, false, run_cipher},
#if defined(OPENSSL_IS_AWSLC)
        {"ccm-seal", {EVP_aes_128_ccm, EVP_aes_192_ccm, EVP_aes_256_ccm}, true, run_ccm_seal},
        {"ccm-open", {EVP_aes_128_ccm, EVP_aes_192_ccm, EVP_aes_256_ccm}, false, run_ccm_open},
#endif
    };
    struct context *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    for (size_t i = 0; i < sizeof ciphers / sizeof ciphers[0]; i++)
        if (strcmp(mode, ciphers[i].mode) == 0) {
            c->cipher = open_cipher(ciphers[i].get[key_bits / 64 - 2], key, ciphers[i].encrypts,
                                    strncmp(mode, "ccm", 3) == 0);
            *run = ciphers[i].run;
        }
    if (strcmp(mode, "gcm-seal") == 0 || strcmp(mode, "gcm-open") == 0) {
        c->aead = open_gcm(key, key_bits);
        *run = strcmp(mode, "gcm-seal") == 0 ? run_seal : run_open;
    }
    if (strcmp(mode, "gcm-siv-seal") == 0 || strcmp(mode, "gcm-siv-open") == 0) {
        c->aead = open_siv(key, key_bits);
        *run = strcmp(mode, "gcm-siv-seal") == 0 ? run_seal : run_open;
    }
    if (strcmp(mode, "cmac") == 0) {
        c->mac = open_cmac(key, key_bits);
        *run = run_cmac;
    }
    if (c->cipher || c->aead || c->mac || open_hash(c, mode, key, key_bits / 8, run) ||
        open_numbers(c, mode, key, key_bits, run))
        return c;
    close_context(c);
    return NULL;
}

const struct peer evc_peer = {
#if defined(OPENSSL_IS_AWSLC)
    .name = "aws-lc",
    .headers = AWSLC_VERSION_NUMBER_STRING,
#else
    .name = "boringssl",
#endif
    .version = version,
    .hardware = hardware,
    .open = open_context,
    .close = close_context};
