/* SPDX-License-Identifier: MIT */
/* OpenSSL (libcrypto 3 and later) through EVP. Hardware off: OPENSSL_ia32cap in the environment. */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

struct context {
    EVP_CIPHER_CTX *cipher;
    EVP_MAC_CTX *mac;
};

static const char *version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}

static void run_encrypt(void *context, const struct peer_message *m)
{
    EVP_CIPHER_CTX *c = ((struct context *)context)->cipher;
    int n;

    EVP_EncryptInit_ex(c, NULL, NULL, NULL, m->iv);
    EVP_EncryptUpdate(c, m->out, &n, m->in, (int)m->len_bytes);
}

static void run_decrypt(void *context, const struct peer_message *m)
{
    EVP_CIPHER_CTX *c = ((struct context *)context)->cipher;
    int n;

    EVP_DecryptInit_ex(c, NULL, NULL, NULL, m->iv);
    EVP_DecryptUpdate(c, m->out, &n, m->in, (int)m->len_bytes);
}

static void run_ccm_seal(void *context, const struct peer_message *m)
{
    EVP_CIPHER_CTX *c = ((struct context *)context)->cipher;
    int n;

    EVP_EncryptInit_ex(c, NULL, NULL, NULL, m->iv);
    EVP_EncryptUpdate(c, NULL, &n, NULL, (int)m->len_bytes);
    EVP_EncryptUpdate(c, NULL, &n, peer_aad, PEER_AAD_BYTES);
    EVP_EncryptUpdate(c, m->out, &n, m->in, (int)m->len_bytes);
    EVP_EncryptFinal_ex(c, m->out + n, &n);
    EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, m->tag);
}

static void run_cmac(void *context, const struct peer_message *m)
{
    EVP_MAC_CTX *c = ((struct context *)context)->mac;
    size_t n;

    EVP_MAC_init(c, NULL, 0, NULL);
    EVP_MAC_update(c, m->in, m->len_bytes);
    EVP_MAC_final(c, m->tag, &n, 16);
}

static void close_context(void *vcontext)
{
    struct context *context = vcontext;

    EVP_CIPHER_CTX_free(context->cipher);
    EVP_MAC_CTX_free(context->mac);
    free(context);
}

static EVP_MAC_CTX *open_cmac(const uint8_t *key, unsigned key_bits)
{
    char cipher[16] = "AES-128-CBC";
    OSSL_PARAM params[2] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, cipher, 0),
                            OSSL_PARAM_construct_end()};
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "CMAC", NULL);
    EVP_MAC_CTX *c = mac ? EVP_MAC_CTX_new(mac) : NULL;

    memcpy(cipher + 4, key_bits == 128 ? "128" : key_bits == 192 ? "192" : "256", 3);
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
    char name[32] = "AES-128-";
    EVP_CIPHER *cipher;
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();

    memcpy(name + 4, key_bits == 128 ? "128" : key_bits == 192 ? "192" : "256", 3);
    memcpy(name + 8, algorithm, strlen(algorithm) + 1);
    cipher = EVP_CIPHER_fetch(NULL, name, NULL);
    if (!cipher || !c || !EVP_CipherInit_ex(c, cipher, NULL, NULL, NULL, encrypt)) {
        EVP_CIPHER_CTX_free(c);
        c = NULL;
    } else {
        if (strcmp(algorithm, "CCM") == 0) {
            EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_IVLEN, 12, NULL);
            EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, 16, NULL);
        }
        EVP_CipherInit_ex(c, NULL, NULL, key, NULL, encrypt);
        EVP_CIPHER_CTX_set_padding(c, 0);
    }
    EVP_CIPHER_free(cipher);
    return c;
}

static void *open_context(const char *mode, const uint8_t *key, unsigned key_bits, peer_run **run)
{
    static const struct {
        const char *mode, *algorithm;
        int encrypt;
        peer_run *run;
    } ciphers[] = {
        {"ecb-enc", "ECB", 1, run_encrypt}, {"ecb-dec", "ECB", 0, run_decrypt},
        {"cbc-enc", "CBC", 1, run_encrypt}, {"cbc-dec", "CBC", 0, run_decrypt},
        {"ctr", "CTR", 1, run_encrypt},     {"xts-enc", "XTS", 1, run_encrypt},
        {"xts-dec", "XTS", 0, run_decrypt}, {"ccm-seal", "CCM", 1, run_ccm_seal},
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
    if (context->cipher || context->mac)
        return context;
    free(context);
    return NULL;
}

const struct peer peer_openssl = {
    .name = "openssl", .version = version, .open = open_context, .close = close_context};
