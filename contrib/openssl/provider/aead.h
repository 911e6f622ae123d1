/* SPDX-License-Identifier: MIT */
/*
 * Tables that GCM and CCM have in common. The including file defines the functions that AEAD_TABLE
 * names, and init(), which also takes whether it is for sealing.
 */
#ifndef EVERYCORE_PROVIDER_AEAD_H
#define EVERYCORE_PROVIDER_AEAD_H

#include "provider.h"

/* Rows of the tables of parameters; a mode adds its own behind them. */
#define AEAD_GETTABLE                                                                       \
    PARAM_SIZE(OSSL_CIPHER_PARAM_KEYLEN), PARAM_SIZE(OSSL_CIPHER_PARAM_IVLEN),              \
        PARAM_SIZE(OSSL_CIPHER_PARAM_AEAD_TAGLEN), PARAM_BYTES(OSSL_CIPHER_PARAM_IV),       \
        PARAM_BYTES(OSSL_CIPHER_PARAM_UPDATED_IV), PARAM_BYTES(OSSL_CIPHER_PARAM_AEAD_TAG), \
        PARAM_SIZE(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD)
#define AEAD_SETTABLE                                                                  \
    PARAM_SIZE(OSSL_CIPHER_PARAM_AEAD_IVLEN), PARAM_BYTES(OSSL_CIPHER_PARAM_AEAD_TAG), \
        PARAM_BYTES(OSSL_CIPHER_PARAM_AEAD_TLS1_AAD),                                  \
        PARAM_BYTES(OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED)

/* seal_init and open_init, by init(). */
#define AEAD_INITS                                                                               \
    static int seal_init(void *context, const uint8_t *key, size_t key_bytes, const uint8_t *iv, \
                         size_t iv_bytes, const OSSL_PARAM params[])                             \
    {                                                                                            \
        return init(context, key, key_bytes, iv, iv_bytes, params, 1);                           \
    }                                                                                            \
    static int open_init(void *context, const uint8_t *key, size_t key_bytes, const uint8_t *iv, \
                         size_t iv_bytes, const OSSL_PARAM params[])                             \
    {                                                                                            \
        return init(context, key, key_bytes, iv, iv_bytes, params, 0);                           \
    }

/* The table of functions for keys of `bits` bits: provider_gcm128 for
 * AEAD_TABLE(MODE_GCM, gcm, 128). */
#define AEAD_TABLE(mode, name, bits)                                                        \
    static void *new##bits(void *provider)                                                  \
    {                                                                                       \
        return new (provider, bits / 8);                                                    \
    }                                                                                       \
    static int get_facts##bits(OSSL_PARAM params[])                                         \
    {                                                                                       \
        return cipher_get_facts(params,                                                     \
                                &(const struct cipher_facts){mode, bits / 8, 12, 1, 1, 1}); \
    }                                                                                       \
    const OSSL_DISPATCH provider_##name##bits[] = {                                         \
        DISPATCH(OSSL_FUNC_CIPHER_NEWCTX, new##bits),                                       \
        DISPATCH(OSSL_FUNC_CIPHER_FREECTX, release),                                        \
        DISPATCH(OSSL_FUNC_CIPHER_DUPCTX, copy),                                            \
        DISPATCH(OSSL_FUNC_CIPHER_ENCRYPT_INIT, seal_init),                                 \
        DISPATCH(OSSL_FUNC_CIPHER_DECRYPT_INIT, open_init),                                 \
        DISPATCH(OSSL_FUNC_CIPHER_UPDATE, update),                                          \
        DISPATCH(OSSL_FUNC_CIPHER_FINAL, final),                                            \
        DISPATCH(OSSL_FUNC_CIPHER_CIPHER, cipher),                                          \
        DISPATCH(OSSL_FUNC_CIPHER_GET_PARAMS, get_facts##bits),                             \
        DISPATCH(OSSL_FUNC_CIPHER_GETTABLE_PARAMS, cipher_fact_names),                      \
        DISPATCH(OSSL_FUNC_CIPHER_GET_CTX_PARAMS, get_params),                              \
        DISPATCH(OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS, gettable),                           \
        DISPATCH(OSSL_FUNC_CIPHER_SET_CTX_PARAMS, set_params),                              \
        DISPATCH(OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS, settable),                           \
        DISPATCH_END,                                                                       \
    }

#endif
