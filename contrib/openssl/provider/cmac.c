/* SPDX-License-Identifier: MIT */
/*
 * CMAC for OpenSSL. CMAC is one algorithm for all ciphers, so OpenSSL asks the provider that it
 * prefers also for CMAC with DES or Camellia. Those are done by the default provider: its
 * functions, called as OpenSSL would.
 */
#include "provider.h"

struct cmac {
    const struct provider *provider;
    unsigned key_bits; /* 0: the cipher is not known */
    int key_is_set;
    struct evc_aes_cmac state;
    struct foreign foreign;
};

static const struct evc_aes_cmac_key *key_of(const struct cmac *cmac)
{
    return context_key(cmac, sizeof *cmac);
}

/* ---- CMAC of the default provider ------------------------------------------------------------ */

static int use_foreign(struct cmac *cmac)
{
    foreign_free(&cmac->foreign);
    cmac->key_bits = 0;
    cmac->key_is_set = 0;
    return foreign_new(&cmac->foreign, cmac->provider, "CMAC") ||
           FAIL(cmac, PROV_R_NOT_SUPPORTED);
}

/* ---- Contexts -------------------------------------------------------------------------------- */

static void *new(void *context)
{
    const struct provider *provider = context;

    return context_new(provider, sizeof(struct cmac), provider->cmac_key_bytes);
}

static void release(void *context)
{
    struct cmac *cmac = context;

    if (!cmac)
        return;
    foreign_free(&cmac->foreign);
    context_free(cmac, sizeof *cmac, cmac->provider->cmac_key_bytes);
}

static void *copy(void *context)
{
    const struct cmac *cmac = context;
    struct cmac *twin = context_copy(cmac, sizeof *cmac, cmac->provider->cmac_key_bytes);

    if (!twin || !cmac->foreign.context || foreign_copy(&twin->foreign))
        return twin;
    release(twin);
    return NULL;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

/* 128, 192 or 256 if the name is that of AES in CBC, else 0. */
static unsigned key_bits_of(const char *name, size_t n)
{
    static const struct {
        unsigned bits;
        const char *names;
    } ciphers[] = {
        {128, "AES-128-CBC:AES128:2.16.840.1.101.3.4.1.2"},
        {192, "AES-192-CBC:AES192:2.16.840.1.101.3.4.1.22"},
        {256, "AES-256-CBC:AES256:2.16.840.1.101.3.4.1.42"},
    };
    char text[32];

    n = strnlen(name, n);
    if (n >= sizeof text)
        return 0;
    memcpy(text, name, n);
    text[n] = '\0';
    for (size_t i = 0; i < sizeof ciphers / sizeof *ciphers; i++)
        if (has_name(ciphers[i].names, text))
            return ciphers[i].bits;
    return 0;
}

/* The cipher decides whose CMAC it is. A query that names properties or an engine is
 * not for us to answer. */
static int set_cipher(struct cmac *cmac, const OSSL_PARAM params[])
{
    const OSSL_PARAM *cipher = param_find(params, OSSL_MAC_PARAM_CIPHER);
    unsigned bits;

    if (!cipher)
        return 1;
    if (cipher->data_type != OSSL_PARAM_UTF8_STRING || !cipher->data)
        return FAIL(cmac, PROV_R_FAILED_TO_GET_PARAMETER);
    bits = params_are_plain(params) ? key_bits_of(cipher->data, cipher->data_size) : 0;
    if (!bits)
        return use_foreign(cmac);
    foreign_free(&cmac->foreign);
    if (bits != cmac->key_bits)
        cmac->key_is_set = 0;
    cmac->key_bits = bits;
    return 1;
}

static int set_key(struct cmac *cmac, const uint8_t *key, size_t key_bytes)
{
    cmac->key_is_set = 0;
    if (!cmac->key_bits)
        return FAIL(cmac, PROV_R_NO_KEY_SET);
    if (key_bytes != cmac->key_bits / 8)
        return FAIL(cmac, PROV_R_INVALID_KEY_LENGTH);
    cmac->key_is_set =
        evc_aes_cmac_set_key_in(context_key(cmac, sizeof *cmac), cmac->provider->cmac_key_bytes,
                                cmac->provider->serial, key, cmac->key_bits) == EVC_OK
        && evc_aes_cmac_start(&cmac->state) == EVC_OK;
    return cmac->key_is_set;
}

static int set_params(void *context, const OSSL_PARAM params[])
{
    struct cmac *cmac = context;
    const OSSL_PARAM *key;

    if (!params)
        return 1;
    if (!set_cipher(cmac, params))
        return 0;
    if (cmac->foreign.context)
        return cmac->foreign.set_params(cmac->foreign.context, params);
    key = param_find(params, OSSL_MAC_PARAM_KEY);
    if (!key)
        return 1;
    return key->data_type == OSSL_PARAM_OCTET_STRING && key->data &&
           set_key(cmac, key->data, key->data_size);
}

static int get_params(void *context, OSSL_PARAM params[])
{
    const struct cmac *cmac = context;

    if (cmac->foreign.context)
        return cmac->foreign.get_params(cmac->foreign.context, params);
    for (; params && params->key; params++)
        if ((is_key(params, OSSL_MAC_PARAM_SIZE) || is_key(params, OSSL_MAC_PARAM_BLOCK_SIZE))
            && !param_set_size(params, cmac->key_is_set ? 16 : 0))
            return 0;
    return 1;
}

static const OSSL_PARAM *gettable(void *context, void *provider)
{
    static const OSSL_PARAM names[] = {PARAM_SIZE(OSSL_MAC_PARAM_SIZE),
                                       PARAM_SIZE(OSSL_MAC_PARAM_BLOCK_SIZE), PARAM_END};

    (void)context, (void)provider;
    return names;
}

static const OSSL_PARAM *settable(void *context, void *provider)
{
    static const OSSL_PARAM names[] = {PARAM_TEXT(OSSL_MAC_PARAM_CIPHER),
                                       PARAM_TEXT(OSSL_MAC_PARAM_PROPERTIES),
                                       PARAM_BYTES(OSSL_MAC_PARAM_KEY), PARAM_END};

    (void)context, (void)provider;
    return names;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static int init(void *context, const uint8_t *key, size_t key_bytes, const OSSL_PARAM params[])
{
    struct cmac *cmac = context;

    if (!set_params(context, params))
        return 0;
    if (cmac->foreign.context)
        return cmac->foreign.init(cmac->foreign.context, key, key_bytes, NULL);
    if (key)
        return set_key(cmac, key, key_bytes);
    return cmac->key_is_set && evc_aes_cmac_start(&cmac->state) == EVC_OK;
}

static int update(void *context, const uint8_t *in, size_t len_bytes)
{
    struct cmac *cmac = context;

    if (cmac->foreign.context)
        return cmac->foreign.update(cmac->foreign.context, in, len_bytes);
    return cmac->key_is_set &&
           evc_aes_cmac_update(key_of(cmac), &cmac->state, in, len_bytes) == EVC_OK;
}

static int final(void *context, uint8_t *out, size_t *written, size_t room)
{
    struct cmac *cmac = context;

    if (cmac->foreign.context)
        return cmac->foreign.final(cmac->foreign.context, out, written, room);
    if (!cmac->key_is_set || (out && room < 16))
        return 0;
    *written = 16;
    return !out || evc_aes_cmac_finish(key_of(cmac), &cmac->state, out, 16) == EVC_OK;
}

const OSSL_DISPATCH provider_cmac[] = {
    DISPATCH(OSSL_FUNC_MAC_NEWCTX, new),
    DISPATCH(OSSL_FUNC_MAC_FREECTX, release),
    DISPATCH(OSSL_FUNC_MAC_DUPCTX, copy),
    DISPATCH(OSSL_FUNC_MAC_INIT, init),
    DISPATCH(OSSL_FUNC_MAC_UPDATE, update),
    DISPATCH(OSSL_FUNC_MAC_FINAL, final),
    DISPATCH(OSSL_FUNC_MAC_GET_CTX_PARAMS, get_params),
    DISPATCH(OSSL_FUNC_MAC_GETTABLE_CTX_PARAMS, gettable),
    DISPATCH(OSSL_FUNC_MAC_SET_CTX_PARAMS, set_params),
    DISPATCH(OSSL_FUNC_MAC_SETTABLE_CTX_PARAMS, settable),
    DISPATCH_END,
};
