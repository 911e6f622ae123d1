/* SPDX-License-Identifier: MIT */
/* OpenSSL (libcrypto 3 and later) through EVP and BN, whose loops over words it does not export. Hardware off: OPENSSL_ia32cap in the environment,
 * see OPENSSL_ia32cap(3). */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

struct context {
    EVP_CIPHER_CTX *cipher;
    EVP_MAC_CTX *mac;
    /* Big numbers; in products, b and x are in Montgomery's form. */
    BIGNUM *n, *a, *b, *x, *e65537;
    BN_MONT_CTX *form;
    BN_CTX *numbers;
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

static bool run_cmac(void *context, const struct peer_message *m)
{
    EVP_MAC_CTX *c = ((struct context *)context)->mac;
    size_t n;

    return EVP_MAC_init(c, NULL, 0, NULL) && EVP_MAC_update(c, m->in, m->len_bytes) &&
           EVP_MAC_final(c, m->tag, &n, 16);
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
    return c->n && c->a && c->b && c->x && c->e65537 && c->form && c->numbers && BN_set_word(c->e65537, 65537) &&
           BN_MONT_CTX_set(c->form, c->n, c->numbers);
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
static bool open_numbers(struct context *c, const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    static const struct {
        const char *mode;
        peer_run *run;
    } offered[] = {{"mont-mul", run_mul},          {"mont-sqr", run_sqr},   {"exp", run_exp},
                   {"exp-public", run_exp_public}, {"mod-word16", run_mod}, {"mod-word16-once", run_mod}};

    for (size_t i = 0; i < sizeof offered / sizeof offered[0]; i++) {
        if (strcmp(mode, offered[i].mode) != 0)
            continue;
        *run = offered[i].run;
        if (!set_numbers(c, key, key_bits / 8))
            return false;
        if (*run != run_mul && *run != run_sqr)
            return true;
        return BN_to_montgomery(c->x, c->a, c->form, c->numbers) && BN_to_montgomery(c->b, c->b, c->form, c->numbers);
    }
    return false;
}

static void close_context(void *vcontext)
{
    struct context *context = vcontext;

    EVP_CIPHER_CTX_free(context->cipher);
    EVP_MAC_CTX_free(context->mac);
    free_numbers(context);
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
        {"gcm-open", "GCM", 0, run_gcm_open},
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
    if (context->cipher || context->mac || open_numbers(context, mode, key, key_bits, run))
        return context;
    close_context(context);
    return NULL;
}

const struct peer evc_peer = {.name = "openssl",
                              .version = version,
                              .hardware = hardware,
                              .open = open_context,
                              .close = close_context};
