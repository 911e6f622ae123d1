/* SPDX-License-Identifier: MIT */
/* AES-XTS for OpenSSL: every update is one data unit, with the same tweak, which is the IV. */
#include "provider.h"

struct xts {
    const struct provider *provider;
    uint8_t key_bytes; /* of both keys */
    uint8_t key_is_set, halves_are_equal, tweak_is_set, encrypts, tweak[16];
};

static const struct evc_aes_xts_key *key_of(const struct xts *xts)
{
    return context_key(xts, sizeof *xts);
}

static void *new(const struct provider *provider, uint8_t key_bytes)
{
    struct xts *xts = context_new(provider, sizeof *xts, provider->xts_key_bytes);

    if (xts)
        xts->key_bytes = key_bytes;
    return xts;
}

static void *copy(void *context)
{
    const struct xts *xts = context;

    return context_copy(xts, sizeof *xts, xts->provider->xts_key_bytes);
}

static void release(void *context)
{
    struct xts *xts = context;

    if (xts)
        context_free(xts, sizeof *xts, xts->provider->xts_key_bytes);
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static int set_params(void *context, const OSSL_PARAM params[])
{
    const struct xts *xts = context;
    size_t n;

    for (; params && params->key; params++) {
        if (!is_key(params, OSSL_CIPHER_PARAM_KEYLEN))
            continue;
        if (!param_get_size(params, &n))
            return FAIL(xts, PROV_R_FAILED_TO_GET_PARAMETER);
        if (n != xts->key_bytes)
            return 0;
    }
    return 1;
}

static int get_param(const struct xts *xts, OSSL_PARAM *param)
{
    if (is_key(param, OSSL_CIPHER_PARAM_IVLEN))
        return param_set_size(param, sizeof xts->tweak);
    if (is_key(param, OSSL_CIPHER_PARAM_KEYLEN))
        return param_set_size(param, xts->key_bytes);
    if (is_key(param, OSSL_CIPHER_PARAM_PADDING))
        return param_set_size(param, 1);
    if (is_key(param, OSSL_CIPHER_PARAM_NUM))
        return param_set_size(param, 0);
    if (is_key(param, OSSL_CIPHER_PARAM_IV) || is_key(param, OSSL_CIPHER_PARAM_UPDATED_IV))
        return param_set_bytes(param, xts->tweak, sizeof xts->tweak);
    return 1;
}

static int get_params(void *context, OSSL_PARAM params[])
{
    const struct xts *xts = context;

    for (; params && params->key; params++)
        if (!get_param(xts, params))
            return FAIL(xts, PROV_R_FAILED_TO_SET_PARAMETER);
    return 1;
}

static const OSSL_PARAM *gettable(void *context, void *provider)
{
    static const OSSL_PARAM names[] = {
        PARAM_SIZE(OSSL_CIPHER_PARAM_KEYLEN), PARAM_SIZE(OSSL_CIPHER_PARAM_IVLEN),
        PARAM_UINT(OSSL_CIPHER_PARAM_PADDING), PARAM_UINT(OSSL_CIPHER_PARAM_NUM),
        PARAM_BYTES(OSSL_CIPHER_PARAM_IV), PARAM_BYTES(OSSL_CIPHER_PARAM_UPDATED_IV), PARAM_END,
    };

    (void)context, (void)provider;
    return names;
}

static const OSSL_PARAM *settable(void *context, void *provider)
{
    static const OSSL_PARAM names[] = {PARAM_SIZE(OSSL_CIPHER_PARAM_KEYLEN), PARAM_END};

    (void)context, (void)provider;
    return names;
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

/*
 * Two equal halves, which evc_aes_xts_set_key refuses. OpenSSL decrypts with them, so that data of
 * old can be read. The key is set up with another second half, and then that half alone is set up
 * anew: where it lies is part of the interface.
 */
static enum evc_status set_equal_halves(struct xts *xts, const uint8_t *user_key)
{
    const struct provider *provider = xts->provider;
    struct evc_aes_xts_key *key = context_key(xts, sizeof *xts);
    const size_t half_bytes = xts->key_bytes / 2u;
    uint8_t different[64];
    enum evc_status status;

    memcpy(different, user_key, xts->key_bytes);
    different[half_bytes] ^= 1;
    status = evc_aes_xts_set_key_in(key, provider->xts_key_bytes, provider->parallel,
                                    provider->serial, different, 8u * (unsigned)half_bytes);
    evc_wipe(different, sizeof different);
    if (status != EVC_OK)
        return status;
    return evc_aes_set_encrypt_key_in(key->keys + key->tweak_at,
                                      evc_aes_kernel(provider->serial)->key_bytes, provider->serial,
                                      user_key + half_bytes, 8u * (unsigned)half_bytes);
}

static int set_key(struct xts *xts, const uint8_t *user_key)
{
    const struct provider *provider = xts->provider;
    enum evc_status status =
        evc_aes_xts_set_key_in(context_key(xts, sizeof *xts), provider->xts_key_bytes,
                               provider->parallel, provider->serial, user_key, 4u * xts->key_bytes);

    xts->key_is_set = 0;
    xts->halves_are_equal = status == EVC_ERR_EQUAL_KEYS;
    if (xts->halves_are_equal) {
        if (xts->encrypts)
            return FAIL(xts, PROV_R_XTS_DUPLICATED_KEYS);
        status = set_equal_halves(xts, user_key);
    }
    xts->key_is_set = status == EVC_OK;
    return xts->key_is_set;
}

static int init(void *context, const uint8_t *key, size_t key_bytes, const uint8_t *tweak,
                size_t tweak_bytes, const OSSL_PARAM params[], int encrypts)
{
    struct xts *xts = context;

    xts->encrypts = (uint8_t)encrypts;
    if (tweak) {
        if (tweak_bytes != sizeof xts->tweak)
            return FAIL(xts, PROV_R_INVALID_IV_LENGTH);
        memcpy(xts->tweak, tweak, sizeof xts->tweak);
        xts->tweak_is_set = 1;
    }
    if (key) {
        if (key_bytes != xts->key_bytes)
            return FAIL(xts, PROV_R_INVALID_KEY_LENGTH);
        if (!set_key(xts, key))
            return 0;
    }
    return set_params(context, params);
}

static int encrypt_init(void *context, const uint8_t *key, size_t key_bytes, const uint8_t *tweak,
                        size_t tweak_bytes, const OSSL_PARAM params[])
{
    return init(context, key, key_bytes, tweak, tweak_bytes, params, 1);
}

static int decrypt_init(void *context, const uint8_t *key, size_t key_bytes, const uint8_t *tweak,
                        size_t tweak_bytes, const OSSL_PARAM params[])
{
    return init(context, key, key_bytes, tweak, tweak_bytes, params, 0);
}

/* ---- Data ------------------------------------------------------------------------------------ */

static int cipher(void *context, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                  size_t len_bytes)
{
    struct xts *xts = context;
    enum evc_status status;

    (void)room;
    if (!xts->key_is_set || !xts->tweak_is_set || !in || !out || len_bytes < 16)
        return 0;
    if (xts->encrypts && xts->halves_are_equal) /* set up for decryption */
        return FAIL(xts, PROV_R_XTS_DUPLICATED_KEYS);
    if (len_bytes > EVC_AES_XTS_MAX_BYTES)
        return FAIL(xts, PROV_R_XTS_DATA_UNIT_IS_TOO_LARGE);
    status = xts->encrypts ? evc_aes_xts_encrypt(key_of(xts), xts->tweak, in, out, len_bytes)
                           : evc_aes_xts_decrypt(key_of(xts), xts->tweak, in, out, len_bytes);
    if (status != EVC_OK)
        return 0;
    *written = len_bytes;
    return 1;
}

static int update(void *context, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                  size_t len_bytes)
{
    struct xts *xts = context;

    if (room < len_bytes)
        return FAIL(xts, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
    return cipher(context, out, written, room, in, len_bytes) ||
           FAIL(xts, PROV_R_CIPHER_OPERATION_FAILED);
}

static int final(void *context, uint8_t *out, size_t *written, size_t room)
{
    (void)context, (void)out, (void)room;
    *written = 0;
    return 1;
}

#define XTS(bits)                                                                               \
    static void *new##bits(void *provider)                                                      \
    {                                                                                           \
        return new(provider, bits / 4);                                                         \
    }                                                                                           \
    static int get_facts##bits(OSSL_PARAM params[])                                             \
    {                                                                                           \
        return cipher_get_facts(params,                                                         \
                                &(const struct cipher_facts){MODE_XTS, bits / 4, 16, 1, 0, 1}); \
    }                                                                                           \
    const OSSL_DISPATCH provider_xts##bits[] = {                                                \
        DISPATCH(OSSL_FUNC_CIPHER_NEWCTX, new##bits),                                           \
        DISPATCH(OSSL_FUNC_CIPHER_FREECTX, release),                                            \
        DISPATCH(OSSL_FUNC_CIPHER_DUPCTX, copy),                                                \
        DISPATCH(OSSL_FUNC_CIPHER_ENCRYPT_INIT, encrypt_init),                                  \
        DISPATCH(OSSL_FUNC_CIPHER_DECRYPT_INIT, decrypt_init),                                  \
        DISPATCH(OSSL_FUNC_CIPHER_UPDATE, update),                                              \
        DISPATCH(OSSL_FUNC_CIPHER_FINAL, final),                                                \
        DISPATCH(OSSL_FUNC_CIPHER_CIPHER, cipher),                                              \
        DISPATCH(OSSL_FUNC_CIPHER_GET_PARAMS, get_facts##bits),                                 \
        DISPATCH(OSSL_FUNC_CIPHER_GETTABLE_PARAMS, cipher_fact_names),                          \
        DISPATCH(OSSL_FUNC_CIPHER_GET_CTX_PARAMS, get_params),                                  \
        DISPATCH(OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS, gettable),                               \
        DISPATCH(OSSL_FUNC_CIPHER_SET_CTX_PARAMS, set_params),                                  \
        DISPATCH(OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS, settable),                               \
        DISPATCH_END,                                                                           \
    }

XTS(128);
XTS(256);
