/* SPDX-License-Identifier: MIT */
/* OpenSSL (libcrypto 3 and later) through EVP, PKCS5_PBKDF2_HMAC and BN, whose loops over words it
 * does not export. Hardware off: OPENSSL_ia32cap in the environment, see OPENSSL_ia32cap(3). */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/rsa.h>

#define MOST_BYTES 1024

struct context {
    EVP_CIPHER_CTX *cipher;
    EVP_MAC_CTX *mac;
    EVP_MD *hash;
    EVP_MD_CTX *digest;
    /* Big numbers; in products, b and x are in Montgomery's form. */
    BIGNUM *n, *a, *b, *x, *e65537;
    BN_MONT_CTX *form;
    BN_CTX *numbers;
    /* RSA */
    EVP_PKEY *rsa;
    EVP_PKEY_CTX *operation;
    uint8_t in[MOST_BYTES], out[MOST_BYTES]; /* in: also a password */
    size_t in_bytes;
};

static const char *version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}

/* From "CPUINFO: OPENSSL_ia32cap=0xMASK:0xMASK...": CPUID.1 ECX:EDX, and CPUID.7 ECX:EBX. */
static const char *hardware(void)
{
    const char *text = OPENSSL_info(OPENSSL_INFO_CPU_SETTINGS);
    const char *mask = text ? strstr(text, "OPENSSL_ia32cap=") : NULL;
    unsigned long long bits, wide;

    if (!mask || sscanf(mask, "OPENSSL_ia32cap=%llx:%llx", &bits, &wide) != 2)
        return NULL;
    if (!(bits >> 57 & 1))                       /* AES */
        return bits >> 41 & 1 ? "ssse3" : "c";   /* SSSE3 */
    if (!(wide >> 41 & 1))                       /* VAES */
        return "sse";
    return wide >> 16 & 1 ? "best" : "vaes256"; /* AVX512F */
}

static bool run_encrypt(void *context, const struct peer_message *m)
{
    EVP_CIPHER_CTX *c = ((struct context *)context)->cipher;
    int n;

    return EVP_EncryptInit_ex(c, NULL, NULL, NULL, m->iv) &&
           EVP_EncryptUpdate(c, m->out, &n, m->in, (int)m->len_bytes);
}

static bool run_decrypt(void *context, const struct peer_message *m)
{
    EVP_CIPHER_CTX *c = ((struct context *)context)->cipher;
    int n;

    return EVP_DecryptInit_ex(c, NULL, NULL, NULL, m->iv) &&
           EVP_DecryptUpdate(c, m->out, &n, m->in, (int)m->len_bytes);
}

static bool run_seal(void *context, const struct peer_message *m)
{
    EVP_CIPHER_CTX *c = ((struct context *)context)->cipher;
    int n, last;

    return EVP_EncryptInit_ex(c, NULL, NULL, NULL, m->iv) &&
           EVP_EncryptUpdate(c, NULL, &n, m->aad, (int)m->aad_bytes) &&
           EVP_EncryptUpdate(c, m->out, &n, m->in, (int)m->len_bytes) &&
           EVP_EncryptFinal_ex(c, m->out + n, &last) &&
           EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, m->tag) > 0;
}

static bool run_gcm_open(void *context, const struct peer_message *m)
{
    EVP_CIPHER_CTX *c = ((struct context *)context)->cipher;
    int n, last;

    return EVP_DecryptInit_ex(c, NULL, NULL, NULL, m->iv) &&
           EVP_DecryptUpdate(c, NULL, &n, m->aad, (int)m->aad_bytes) &&
           EVP_DecryptUpdate(c, m->out, &n, m->in, (int)m->len_bytes) &&
           EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, 16, m->tag) > 0 &&
           EVP_DecryptFinal_ex(c, m->out + n, &last) > 0;
}

/* CCM has its length before its associated data. */
static bool run_ccm_seal(void *context, const struct peer_message *m)
{
    EVP_CIPHER_CTX *c = ((struct context *)context)->cipher;
    int n, last;

    return EVP_EncryptInit_ex(c, NULL, NULL, NULL, m->iv) &&
           EVP_EncryptUpdate(c, NULL, &n, NULL, (int)m->len_bytes) &&
           EVP_EncryptUpdate(c, NULL, &n, m->aad, (int)m->aad_bytes) &&
           EVP_EncryptUpdate(c, m->out, &n, m->in, (int)m->len_bytes) &&
           EVP_EncryptFinal_ex(c, m->out + n, &last) &&
           EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, m->tag) > 0;
}

/* It has its tag, too, before all else, and answers for it where the text ends. */
static bool run_ccm_open(void *context, const struct peer_message *m)
{
    EVP_CIPHER_CTX *c = ((struct context *)context)->cipher;
    int n;

    return EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, 16, m->tag) > 0 &&
           EVP_DecryptInit_ex(c, NULL, NULL, NULL, m->iv) &&
           EVP_DecryptUpdate(c, NULL, &n, NULL, (int)m->len_bytes) &&
           EVP_DecryptUpdate(c, NULL, &n, m->aad, (int)m->aad_bytes) &&
           EVP_DecryptUpdate(c, m->out, &n, m->in, (int)m->len_bytes) > 0;
}

/* GCM-SIV (since 3.2) has its tag before the text. */
static bool run_siv_open(void *context, const struct peer_message *m)
{
    EVP_CIPHER_CTX *c = ((struct context *)context)->cipher;
    int n, last;

    return EVP_DecryptInit_ex(c, NULL, NULL, NULL, m->iv) &&
           EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, 16, m->tag) > 0 &&
           EVP_DecryptUpdate(c, NULL, &n, m->aad, (int)m->aad_bytes) &&
           EVP_DecryptUpdate(c, m->out, &n, m->in, (int)m->len_bytes) > 0 &&
           EVP_DecryptFinal_ex(c, m->out + n, &last) > 0;
}

static bool run_cmac(void *context, const struct peer_message *m)
{
    EVP_MAC_CTX *c = ((struct context *)context)->mac;
    size_t n;

    return EVP_MAC_init(c, NULL, 0, NULL) && EVP_MAC_update(c, m->in, m->len_bytes) &&
           EVP_MAC_final(c, m->tag, &n, 16);
}

static bool run_hmac(void *context, const struct peer_message *m)
{
    EVP_MAC_CTX *c = ((struct context *)context)->mac;
    uint8_t tag[EVP_MAX_MD_SIZE];
    size_t n;

    if (!EVP_MAC_init(c, NULL, 0, NULL) || !EVP_MAC_update(c, m->in, m->len_bytes) ||
        !EVP_MAC_final(c, tag, &n, sizeof tag))
        return false;
    memcpy(m->tag, tag, 16);
    return true;
}

static bool run_digest(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return EVP_DigestInit_ex(c->digest, c->hash, NULL) &&
           EVP_DigestUpdate(c->digest, m->in, m->len_bytes) &&
           EVP_DigestFinal_ex(c->digest, m->out, NULL);
}

static bool run_pbkdf2(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return PKCS5_PBKDF2_HMAC((const char *)c->in, (int)c->in_bytes, m->aad, (int)m->aad_bytes,
                             (int)m->n_iterations, c->hash, EVP_MD_get_size(c->hash), m->out);
}

static bool open_hash(struct context *c, const char *mode, const uint8_t *key, unsigned key_bits,
                      peer_run **run)
{
    static const struct {
        const char *mode, *hash;
        peer_run *run;
    } offered[] = {{"sha256", "SHA256", run_digest},
                   {"sha512", "SHA512", run_digest},
                   {"pbkdf2-sha256", "SHA256", run_pbkdf2},
                   {"pbkdf2-sha512", "SHA512", run_pbkdf2}};

    for (size_t i = 0; i < sizeof offered / sizeof offered[0]; i++)
        if (strcmp(mode, offered[i].mode) == 0) {
            *run = offered[i].run;
            c->hash = EVP_MD_fetch(NULL, offered[i].hash, NULL);
            c->digest = EVP_MD_CTX_new();
            c->in_bytes = key_bits / 8;
            memcpy(c->in, key, c->in_bytes);
            return c->hash && c->digest;
        }
    return false;
}

/* ---- Big numbers ----------------------------------------------------------------------------- */

static bool store(const BIGNUM *a, const struct peer_message *m)
{
    return !m->out || BN_bn2binpad(a, m->out, (int)m->len_bytes) > 0;
}

static bool run_mul(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return BN_mod_mul_montgomery(c->x, c->x, c->b, c->form, c->numbers) &&
           (!m->out || (BN_from_montgomery(c->a, c->x, c->form, c->numbers) && store(c->a, m)));
}

static bool run_sqr(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return BN_mod_mul_montgomery(c->x, c->x, c->x, c->form, c->numbers) &&
           (!m->out || (BN_from_montgomery(c->a, c->x, c->form, c->numbers) && store(c->a, m)));
}

static bool run_exp(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return BN_mod_exp_mont_consttime(c->x, c->a, c->b, c->n, c->numbers, c->form) && store(c->x, m);
}

static bool run_exp_public(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return BN_mod_exp_mont(c->x, c->a, c->e65537, c->n, c->numbers, c->form) && store(c->x, m);
}

static bool run_mod(void *context, const struct peer_message *m)
{
    struct context *c = context;
    const BN_ULONG remainder = BN_mod_word(c->a, 65521);

    return !m->out || (BN_set_word(c->x, remainder) && store(c->x, m));
}

static bool set_numbers(struct context *c, const uint8_t *key, size_t n_bytes)
{
    c->n = BN_bin2bn(key, (int)n_bytes, NULL);
    c->a = BN_bin2bn(key + n_bytes, (int)n_bytes, NULL);
    c->b = BN_bin2bn(key + 2 * n_bytes, (int)n_bytes, NULL);
    c->x = BN_new();
    c->e65537 = BN_new();
    c->form = BN_MONT_CTX_new();
    c->numbers = BN_CTX_new();
    return c->n && c->a && c->b && c->x && c->e65537 && c->form && c->numbers &&
           BN_set_word(c->e65537, 65537) && BN_MONT_CTX_set(c->form, c->n, c->numbers);
}

static void free_numbers(struct context *c)
{
    BN_free(c->n);
    BN_free(c->a);
    BN_free(c->b);
    BN_free(c->x);
    BN_free(c->e65537);
    BN_MONT_CTX_free(c->form);
    BN_CTX_free(c->numbers);
}

/* Whether the mode is one of big numbers, and everything is ready for it. */
static bool open_numbers(struct context *c, const char *mode, const uint8_t *key, unsigned key_bits,
                         peer_run **run)
{
    static const struct {
        const char *mode;
        peer_run *run;
    } offered[] = {{"mont-mul", run_mul},   {"mont-sqr", run_sqr},
                   {"exp", run_exp},        {"exp-public", run_exp_public},
                   {"mod-word16", run_mod}, {"mod-word16-once", run_mod}};

    for (size_t i = 0; i < sizeof offered / sizeof offered[0]; i++) {
        if (strcmp(mode, offered[i].mode) != 0)
            continue;
        *run = offered[i].run;
        if (!set_numbers(c, key, key_bits / 8))
            return false;
        if (*run != run_mul && *run != run_sqr)
            return true;
        return BN_to_montgomery(c->x, c->a, c->form, c->numbers) &&
               BN_to_montgomery(c->b, c->b, c->form, c->numbers);
    }
    return false;
}

/* ---- RSA, Diffie-Hellman, primes ------------------------------------------------------------- */

#define NO_PADDING 3 /* RSA_NO_PADDING */

static bool run_rsa(void *context, const struct peer_message *m, bool is_private)
{
    struct context *c = context;
    size_t n = m->len_bytes;

    if ((is_private ? EVP_PKEY_sign : EVP_PKEY_encrypt)(c->operation, c->out, &n, c->in,
                                                        m->len_bytes) != 1)
        return false;
    if (m->out)
        memcpy(m->out, c->out, m->len_bytes);
    return true;
}

static bool run_rsa_private(void *context, const struct peer_message *m)
{
    return run_rsa(context, m, true);
}

static bool run_rsa_public(void *context, const struct peer_message *m)
{
    return run_rsa(context, m, false);
}

static bool run_dh(void *context, const struct peer_message *m)
{
    struct context *c = context;

    return BN_mod_exp_mont_consttime(c->x, c->a, c->b, c->n, c->numbers, c->form) && store(c->x, m);
}

static bool run_check(void *context, const struct peer_message *m)
{
    struct context *c = context;
    const int found = BN_check_prime(c->n, c->numbers, NULL);

    return found >= 0 && (!m->out || (BN_set_word(c->x, (BN_ULONG)found) && store(c->x, m)));
}

/* A key out of its numbers, each of which a BIGNUM has to hold until the key is made. */
static EVP_PKEY *rsa_key(const uint8_t *key, size_t n_bytes)
{
    static const char *const names[] = {
        OSSL_PKEY_PARAM_RSA_N,           OSSL_PKEY_PARAM_RSA_D,
        OSSL_PKEY_PARAM_RSA_FACTOR1,     OSSL_PKEY_PARAM_RSA_FACTOR2,
        OSSL_PKEY_PARAM_RSA_EXPONENT1,   OSSL_PKEY_PARAM_RSA_EXPONENT2,
        OSSL_PKEY_PARAM_RSA_COEFFICIENT1};
    enum { N_NUMBERS = sizeof names / sizeof names[0] };
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    EVP_PKEY_CTX *making = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    OSSL_PARAM *params = NULL;
    BIGNUM *numbers[N_NUMBERS] = {NULL};
    EVP_PKEY *made = NULL;
    bool good =
        build && making && OSSL_PARAM_BLD_push_uint(build, OSSL_PKEY_PARAM_RSA_E, 65537) == 1;

    for (size_t i = 0; good && i < N_NUMBERS; i++) {
        const size_t length = i < 2 ? n_bytes : n_bytes / 2;

        numbers[i] = BN_bin2bn(key, (int)length, NULL);
        good = numbers[i] && OSSL_PARAM_BLD_push_BN(build, names[i], numbers[i]) == 1;
        key += i == 1 ? 2 * length : length; /* a is behind d */
    }
    if (good && (params = OSSL_PARAM_BLD_to_param(build)) && EVP_PKEY_fromdata_init(making) == 1)
        EVP_PKEY_fromdata(making, &made, EVP_PKEY_KEYPAIR, params);
    for (size_t i = 0; i < N_NUMBERS; i++)
        BN_free(numbers[i]);
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(build);
    EVP_PKEY_CTX_free(making);
    return made;
}

static bool set_rsa(struct context *c, const uint8_t *key, size_t n_bytes, bool is_private)
{
    memcpy(c->in, key + 2 * n_bytes, n_bytes);
    c->rsa = rsa_key(key, n_bytes);
    c->operation = c->rsa ? EVP_PKEY_CTX_new(c->rsa, NULL) : NULL;
    return c->operation &&
           (is_private ? EVP_PKEY_sign_init : EVP_PKEY_encrypt_init)(c->operation) == 1 &&
           EVP_PKEY_CTX_set_rsa_padding(c->operation, NO_PADDING) == 1;
}

/* p in n, and 2 to the x. */
static bool set_exchange(struct context *c, const uint8_t *key, size_t n_bytes)
{
    c->n = BN_bin2bn(key, (int)n_bytes, NULL);
    c->a = BN_new();
    c->b = BN_bin2bn(key + n_bytes, (int)n_bytes, NULL);
    c->x = BN_new();
    c->form = BN_MONT_CTX_new();
    c->numbers = BN_CTX_new();
    return c->n && c->a && c->b && c->x && c->form && c->numbers && BN_set_word(c->a, 2) &&
           BN_MONT_CTX_set(c->form, c->n, c->numbers);
}

static bool set_prime(struct context *c, const uint8_t *key, size_t n_bytes)
{
    c->n = BN_bin2bn(key + 3 * n_bytes, (int)n_bytes / 2, NULL);
    c->x = BN_new();
    c->numbers = BN_CTX_new();
    return c->n && c->x && c->numbers;
}

static bool open_layer(struct context *c, const char *mode, const uint8_t *key, unsigned key_bits,
                       peer_run **run)
{
    if (strcmp(mode, "rsa-private") == 0) {
        *run = run_rsa_private;
        return set_rsa(c, key, key_bits / 8, true);
    }
    if (strcmp(mode, "rsa-public") == 0) {
        *run = run_rsa_public;
        return set_rsa(c, key, key_bits / 8, false);
    }
    if (strcmp(mode, "dh-public") == 0) {
        *run = run_dh;
        return set_exchange(c, key, key_bits / 8);
    }
    *run = run_check;
    return strcmp(mode, "prime-check") == 0 && set_prime(c, key, key_bits / 8);
}

static void close_context(void *vcontext)
{
    struct context *context = vcontext;

    EVP_CIPHER_CTX_free(context->cipher);
    EVP_MAC_CTX_free(context->mac);
    EVP_MD_free(context->hash);
    EVP_MD_CTX_free(context->digest);
    free_numbers(context);
    EVP_PKEY_CTX_free(context->operation);
    EVP_PKEY_free(context->rsa);
    free(context);
}

/* "AES-256-CBC" in name. */
static const char *full_name(char name[32], unsigned key_bits, const char *algorithm)
{
    snprintf(name, 32, "AES-%u-%s", key_bits, algorithm);
    return name;
}

static EVP_MAC_CTX *open_cmac(const uint8_t *key, unsigned key_bits)
{
    char cipher[32];
    OSSL_PARAM params[2] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, cipher, 0),
                            OSSL_PARAM_construct_end()};
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "CMAC", NULL);
    EVP_MAC_CTX *c = mac ? EVP_MAC_CTX_new(mac) : NULL;

    full_name(cipher, key_bits, "CBC");
    EVP_MAC_free(mac);
    if (c && !EVP_MAC_init(c, key, key_bits / 8, params)) {
        EVP_MAC_CTX_free(c);
        return NULL;
    }
    return c;
}

static EVP_MAC_CTX *open_hmac(const char *mode, const uint8_t *key, unsigned key_bits)
{
    char digest[] = "SHA512";
    OSSL_PARAM params[2] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                            OSSL_PARAM_construct_end()};
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *c = mac ? EVP_MAC_CTX_new(mac) : NULL;

    if (strcmp(mode, "hmac-sha256") == 0)
        memcpy(digest, "SHA256", sizeof digest);
    EVP_MAC_free(mac);
    if (c && !EVP_MAC_init(c, key, key_bits / 8, params)) {
        EVP_MAC_CTX_free(c);
        return NULL;
    }
    return c;
}

static EVP_CIPHER_CTX *open_cipher(const char *algorithm, const uint8_t *key, unsigned key_bits,
                                   int encrypt)
{
    char name[32];
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, full_name(name, key_bits, algorithm), NULL);
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    bool good = cipher && c && EVP_CipherInit_ex(c, cipher, NULL, NULL, NULL, encrypt);

    if (good && strcmp(algorithm, "CCM") == 0)
        good = EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_IVLEN, 12, NULL) > 0 &&
               EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, 16, NULL) > 0;
    good = good && EVP_CipherInit_ex(c, NULL, NULL, key, NULL, encrypt) &&
           EVP_CIPHER_CTX_set_padding(c, 0);
    EVP_CIPHER_free(cipher);
    if (good)
        return c;
    EVP_CIPHER_CTX_free(c);
    return NULL;
}

static void *open_context(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    static const struct {
        const char *mode, *algorithm;
        int encrypt;
        peer_run *run;
    } ciphers[] = {
        {"ecb-enc", "ECB", 1, run_encrypt},   {"ecb-dec", "ECB", 0, run_decrypt},
        {"cbc-enc", "CBC", 1, run_encrypt},   {"cbc-dec", "CBC", 0, run_decrypt},
        {"ctr", "CTR", 1, run_encrypt},       {"xts-enc", "XTS", 1, run_encrypt},
        {"xts-dec", "XTS", 0, run_decrypt},   {"ccm-seal", "CCM", 1, run_ccm_seal},
        {"ccm-open", "CCM", 0, run_ccm_open}, {"gcm-seal", "GCM", 1, run_seal},
        {"gcm-open", "GCM", 0, run_gcm_open}, {"gcm-siv-seal", "GCM-SIV", 1, run_seal},
        {"gcm-siv-open", "GCM-SIV", 0, run_siv_open},
    };
    struct context *context = calloc(1, sizeof *context);

    if (!context)
        return NULL;
    for (size_t i = 0; i < sizeof ciphers / sizeof ciphers[0]; i++)
        if (strcmp(mode, ciphers[i].mode) == 0) {
            context->cipher = open_cipher(ciphers[i].algorithm, key, key_bits, ciphers[i].encrypt);
            *run = ciphers[i].run;
        }
    if (strcmp(mode, "cmac") == 0) {
        context->mac = open_cmac(key, key_bits);
        *run = run_cmac;
    }
    if (strcmp(mode, "hmac-sha256") == 0 || strcmp(mode, "hmac-sha512") == 0) {
        context->mac = open_hmac(mode, key, key_bits);
        *run = run_hmac;
    }
    if (context->cipher || context->mac || open_numbers(context, mode, key, key_bits, run) ||
        open_layer(context, mode, key, key_bits, run) ||
        open_hash(context, mode, key, key_bits, run))
        return context;
    close_context(context);
    return NULL;
}

const struct peer evc_peer = {.name = "openssl",
                              .version = version,
                              .headers = OPENSSL_VERSION_STR,
                              .hardware = hardware,
                              .open = open_context,
                              .close = close_context};
