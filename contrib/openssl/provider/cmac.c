/* SPDX-License-Identifier: MIT */
/*
 * CMAC for OpenSSL. CMAC is one algorithm for all ciphers, so OpenSSL asks the provider that it
 * prefers also for CMAC with DES or Camellia. Those are done by the default provider: its
 * functions, called as OpenSSL would.
 */
#include <stdatomic.h>
#include <strings.h>

#include "provider.h"

/* CMAC of another provider. */
struct foreign {
    void *context; /* NULL: not in use */
    OSSL_FUNC_mac_dupctx_fn *copy;
    OSSL_FUNC_mac_freectx_fn *release;
    OSSL_FUNC_mac_init_fn *init;
    OSSL_FUNC_mac_update_fn *update;
    OSSL_FUNC_mac_final_fn *final;
    OSSL_FUNC_mac_get_ctx_params_fn *get_params;
    OSSL_FUNC_mac_set_ctx_params_fn *set_params;
};

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

static void (*function_of(const OSSL_DISPATCH *table, int id))(void)
{
    while (table->function_id && table->function_id != id)
        table++;
    return table->function;
}

/* Whether a list of names, apart by colons, has one of the name. */
static int has_name(const char *names, const char *name)
{
    const size_t n = strlen(name);

    for (; names; names = strchr(names, ':'), names = names ? names + 1 : NULL)
        if (strncasecmp(names, name, n) == 0 && (names[n] == ':' || names[n] == '\0'))
            return 1;
    return 0;
}

static const OSSL_DISPATCH *cmac_of(const struct provider *provider, const OSSL_CORE_HANDLE *other)
{
    OSSL_FUNC_provider_query_operation_fn *query =
        (OSSL_FUNC_provider_query_operation_fn *)function_of(provider->dispatch_of(other),
                                                             OSSL_FUNC_PROVIDER_QUERY_OPERATION);
    const OSSL_ALGORITHM *algorithm;
    int may_not_be_kept;

    if (!query)
        return NULL;
    algorithm = query(provider->context_of(other), OSSL_OP_MAC, &may_not_be_kept);
    for (; algorithm && algorithm->algorithm_names; algorithm++)
        if (has_name(algorithm->algorithm_names, "CMAC"))
            return algorithm->implementation;
    return NULL;
}

static void leave_foreign(struct cmac *cmac)
{
    if (cmac->foreign.context)
        cmac->foreign.release(cmac->foreign.context);
    memset(&cmac->foreign, 0, sizeof cmac->foreign);
}

static int use_foreign(struct cmac *cmac)
{
    const struct provider *provider = cmac->provider;
    const OSSL_CORE_HANDLE *other = atomic_load(&provider->fallback);
    const OSSL_DISPATCH *table = other ? cmac_of(provider, other) : NULL;
    OSSL_FUNC_mac_newctx_fn *create;
    struct foreign found;

    leave_foreign(cmac);
    cmac->key_bits = 0;
    cmac->key_is_set = 0;
    if (!table)
        return FAIL(cmac, PROV_R_NOT_SUPPORTED);
    create = (OSSL_FUNC_mac_newctx_fn *)function_of(table, OSSL_FUNC_MAC_NEWCTX);
    found.copy = (OSSL_FUNC_mac_dupctx_fn *)function_of(table, OSSL_FUNC_MAC_DUPCTX);
    found.release = (OSSL_FUNC_mac_freectx_fn *)function_of(table, OSSL_FUNC_MAC_FREECTX);
    found.init = (OSSL_FUNC_mac_init_fn *)function_of(table, OSSL_FUNC_MAC_INIT);
    found.update = (OSSL_FUNC_mac_update_fn *)function_of(table, OSSL_FUNC_MAC_UPDATE);
    found.final = (OSSL_FUNC_mac_final_fn *)function_of(table, OSSL_FUNC_MAC_FINAL);
    found.get_params =
        (OSSL_FUNC_mac_get_ctx_params_fn *)function_of(table, OSSL_FUNC_MAC_GET_CTX_PARAMS);
    found.set_params =
        (OSSL_FUNC_mac_set_ctx_params_fn *)function_of(table, OSSL_FUNC_MAC_SET_CTX_PARAMS);
    if (!create || !found.copy || !found.release || !found.init || !found.update || !found.final ||
        !found.get_params || !found.set_params)
        return FAIL(cmac, PROV_R_NOT_SUPPORTED);
    found.context = create(provider->context_of(other));
    if (!found.context)
        return 0;
    cmac->foreign = found;
    return 1;
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
    leave_foreign(cmac);
    context_free(cmac, sizeof *cmac, cmac->provider->cmac_key_bytes);
}

static void *copy(void *context)
{
    const struct cmac *cmac = context;
    struct cmac *twin = context_copy(cmac, sizeof *cmac, cmac->provider->cmac_key_bytes);

    if (!twin || !cmac->foreign.context)
        return twin;
    twin->foreign.context = cmac->foreign.copy(cmac->foreign.context);
    if (twin->foreign.context)
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

static const OSSL_PARAM *find(const OSSL_PARAM params[], const char *name)
{
    for (; params->key; params++)
        if (is_key(params, name))
            return params;
    return NULL;
}

/* The cipher decides whose CMAC it is. A query that names properties or an engine is
 * not for us to answer. */
static int set_cipher(struct cmac *cmac, const OSSL_PARAM params[])
{
    const OSSL_PARAM *cipher = find(params, OSSL_MAC_PARAM_CIPHER);
    const OSSL_PARAM *properties = find(params, OSSL_MAC_PARAM_PROPERTIES),
                     *engine = find(params, "engine");
    const int is_plain = (!properties || !properties->data || !*(const char *)properties->data)
                         && (!engine || !engine->data || !*(const char *)engine->data);
    unsigned bits;

    if (!cipher)
        return 1;
    if (cipher->data_type != OSSL_PARAM_UTF8_STRING || !cipher->data)
        return FAIL(cmac, PROV_R_FAILED_TO_GET_PARAMETER);
    bits = is_plain ? key_bits_of(cipher->data, cipher->data_size) : 0;
    if (!bits)
        return use_foreign(cmac);
    leave_foreign(cmac);
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
    key = find(params, OSSL_MAC_PARAM_KEY);
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
