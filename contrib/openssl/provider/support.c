/* SPDX-License-Identifier: MIT */
/* Errors, contexts, randomness and parameters: what the algorithms of the provider share. */
#include <errno.h>
#include <stdarg.h>
#include <strings.h>
#include <sys/random.h>

#include "provider.h"

/* ---- Errors ---------------------------------------------------------------------------------- */

static void set_error(const struct provider *provider, int reason, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    /* With the number of a library of OpenSSL it is an error of that library:
     * here, of its providers. */
    provider->vset_error(provider->core, (uint32_t)ERR_PACK(ERR_LIB_PROV, 0, reason), format,
                         arguments);
    va_end(arguments);
}

int provider_error(const struct provider *provider, const char *file, int line,
                   const char *function, int reason)
{
    provider->new_error(provider->core);
    provider->set_error_debug(provider->core, file, line, function);
    set_error(provider, reason, NULL);
    return 0;
}

/* ---- Contexts -------------------------------------------------------------------------------- */

static size_t allocated(size_t structure_bytes, size_t key_bytes)
{
    return structure_bytes + 15 + key_bytes;
}

void *context_new(const struct provider *provider, size_t structure_bytes, size_t key_bytes)
{
    const struct provider **context =
        provider->zalloc(allocated(structure_bytes, key_bytes), __FILE__, __LINE__);

    if (context)
        *context = provider;
    return context;
}

void *context_copy(const void *context, size_t structure_bytes, size_t key_bytes)
{
    const struct provider *provider = *(const struct provider *const *)context;
    void *copy = context_new(provider, structure_bytes, key_bytes);

    if (!copy)
        return NULL;
    memcpy(copy, context, structure_bytes);
    memcpy(context_key(copy, structure_bytes), context_key(context, structure_bytes), key_bytes);
    return copy;
}

void context_free(void *context, size_t structure_bytes, size_t key_bytes)
{
    if (context)
        (*(const struct provider **)context)
            ->clear_free(context, allocated(structure_bytes, key_bytes), __FILE__, __LINE__);
}

/* ---- Bytes that a program gives -------------------------------------------------------------- */

void bytes_free(const struct provider *provider, struct bytes *bytes)
{
    if (bytes->at)
        provider->clear_free(bytes->at, bytes->n + 1, __FILE__, __LINE__);
    *bytes = (struct bytes){NULL, 0};
}

uint8_t *bytes_new(const struct provider *provider, struct bytes *bytes, size_t n)
{
    bytes_free(provider, bytes);
    bytes->at = n == SIZE_MAX ? NULL : provider->zalloc(n + 1, __FILE__, __LINE__);
    bytes->n = bytes->at ? n : 0;
    return bytes->at;
}

int bytes_set(const struct provider *provider, struct bytes *bytes, const void *from, size_t n)
{
    bytes_free(provider, bytes);
    if (n && !from)
        return 1;
    if (!bytes_new(provider, bytes, n))
        return 0;
    if (n)
        memcpy(bytes->at, from, n);
    return 1;
}

int bytes_copy(const struct provider *provider, struct bytes *copy)
{
    const struct bytes from = *copy;

    *copy = (struct bytes){NULL, 0};
    return !from.at || bytes_set(provider, copy, from.at, from.n);
}

/* ---- Randomness ------------------------------------------------------------------------------ */

int random_bytes(uint8_t *to, size_t n)
{
    while (n) {
        const ssize_t got = getrandom(to, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        to += got, n -= (size_t)got;
    }
    return 1;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

int param_get_size(const OSSL_PARAM *param, size_t *value)
{
    uint64_t wide;
    uint32_t narrow;

    if (!param->data ||
        (param->data_type != OSSL_PARAM_UNSIGNED_INTEGER && param->data_type != OSSL_PARAM_INTEGER))
        return 0;
    if (param->data_size == sizeof wide) {
        memcpy(&wide, param->data, sizeof wide);
    } else if (param->data_size == sizeof narrow) {
        memcpy(&narrow, param->data, sizeof narrow);
        wide = narrow;
        if (param->data_type == OSSL_PARAM_INTEGER && narrow >> 31)
            return 0;
    } else {
        return 0;
    }
    if ((param->data_type == OSSL_PARAM_INTEGER && wide >> 63) || wide > SIZE_MAX)
        return 0;
    *value = (size_t)wide;
    return 1;
}

int param_set_size(OSSL_PARAM *param, size_t value)
{
    const uint64_t wide = value;
    const uint32_t narrow = (uint32_t)value;

    if (param->data_type != OSSL_PARAM_UNSIGNED_INTEGER && param->data_type != OSSL_PARAM_INTEGER)
        return 0;
    param->return_size = sizeof value;
    if (!param->data)
        return 1;
    param->return_size = param->data_size;
    if (param->data_size == sizeof wide)
        memcpy(param->data, &wide, sizeof wide);
    else if (param->data_size == sizeof narrow && value <= INT32_MAX)
        memcpy(param->data, &narrow, sizeof narrow);
    else
        return 0;
    return 1;
}

int param_set_bytes(OSSL_PARAM *param, const void *bytes, size_t n)
{
    if (param->data_type != OSSL_PARAM_OCTET_PTR && param->data_type != OSSL_PARAM_OCTET_STRING)
        return 0;
    param->return_size = n;
    if (!param->data)
        return 1;
    if (param->data_type == OSSL_PARAM_OCTET_PTR) {
        *(const void **)param->data = bytes;
        return 1;
    }
    if (param->data_size < n)
        return 0;
    if (n)
        memcpy(param->data, bytes, n);
    return 1;
}

const OSSL_PARAM *param_find(const OSSL_PARAM params[], const char *name)
{
    for (; params && params->key; params++)
        if (is_key(params, name))
            return params;
    return NULL;
}

int params_are_plain(const OSSL_PARAM params[])
{
    const OSSL_PARAM *properties = param_find(params, OSSL_MAC_PARAM_PROPERTIES),
                     *engine = param_find(params, "engine");

    return (!properties || !properties->data || !*(const char *)properties->data) &&
           (!engine || !engine->data || !*(const char *)engine->data);
}

int has_name(const char *names, const char *name)
{
    const size_t n = strlen(name);

    for (; names; names = strchr(names, ':'), names = names ? names + 1 : NULL)
        if (strncasecmp(names, name, n) == 0 && (names[n] == ':' || names[n] == '\0'))
            return 1;
    return 0;
}

/* The names that OpenSSL has. */
static const struct {
    const char *name, *aliases;
} hashes[] = {
    [EVC_SHA224] = {"SHA2-224", "SHA-224:SHA224:2.16.840.1.101.3.4.2.4"},
    [EVC_SHA256] = {"SHA2-256", "SHA-256:SHA256:2.16.840.1.101.3.4.2.1"},
    [EVC_SHA384] = {"SHA2-384", "SHA-384:SHA384:2.16.840.1.101.3.4.2.2"},
    [EVC_SHA512] = {"SHA2-512", "SHA-512:SHA512:2.16.840.1.101.3.4.2.3"},
};

enum evc_sha2_hash hash_given(const OSSL_PARAM *digest, const OSSL_PARAM params[])
{
    char text[32];
    size_t n;

    if (digest->data_type != OSSL_PARAM_UTF8_STRING || !digest->data || !params_are_plain(params))
        return 0;
    n = strnlen(digest->data, digest->data_size);
    if (n >= sizeof text)
        return 0;
    memcpy(text, digest->data, n);
    text[n] = '\0';
    for (enum evc_sha2_hash hash = EVC_SHA224; hash <= EVC_SHA512; hash++)
        if (has_name(hashes[hash].name, text) || has_name(hashes[hash].aliases, text))
            return hash;
    return 0;
}

void hash_param(OSSL_PARAM *param, enum evc_sha2_hash hash)
{
    *param = (OSSL_PARAM)PARAM_TEXT(OSSL_KDF_PARAM_DIGEST);
    param->data = (void *)(uintptr_t)hashes[hash].name;
    param->data_size = strlen(hashes[hash].name);
}

/* ---- The facts of a cipher ------------------------------------------------------------------- */

const OSSL_PARAM *cipher_fact_names(void *provider)
{
    static const OSSL_PARAM names[] = {
        PARAM_UINT(OSSL_CIPHER_PARAM_MODE),       PARAM_SIZE(OSSL_CIPHER_PARAM_KEYLEN),
        PARAM_SIZE(OSSL_CIPHER_PARAM_IVLEN),      PARAM_SIZE(OSSL_CIPHER_PARAM_BLOCK_SIZE),
        PARAM_INT(OSSL_CIPHER_PARAM_AEAD),        PARAM_INT(OSSL_CIPHER_PARAM_CUSTOM_IV),
        PARAM_INT(OSSL_CIPHER_PARAM_CTS),         PARAM_INT(OSSL_CIPHER_PARAM_TLS1_MULTIBLOCK),
        PARAM_INT(OSSL_CIPHER_PARAM_HAS_RAND_KEY), PARAM_END,
    };

    (void)provider;
    return names;
}

static int get_fact(OSSL_PARAM *param, const struct cipher_facts *facts)
{
    if (is_key(param, OSSL_CIPHER_PARAM_MODE))
        return param_set_size(param, facts->mode);
    if (is_key(param, OSSL_CIPHER_PARAM_KEYLEN))
        return param_set_size(param, facts->key_bytes);
    if (is_key(param, OSSL_CIPHER_PARAM_IVLEN))
        return param_set_size(param, facts->iv_bytes);
    if (is_key(param, OSSL_CIPHER_PARAM_BLOCK_SIZE))
        return param_set_size(param, facts->block_bytes);
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD))
        return param_set_size(param, (size_t)facts->is_aead);
    if (is_key(param, OSSL_CIPHER_PARAM_CUSTOM_IV))
        return param_set_size(param, (size_t)facts->has_own_iv);
    if (is_key(param, OSSL_CIPHER_PARAM_CTS) || is_key(param, OSSL_CIPHER_PARAM_TLS1_MULTIBLOCK)
        || is_key(param, OSSL_CIPHER_PARAM_HAS_RAND_KEY))
        return param_set_size(param, 0);
    return 1;
}

int cipher_get_facts(OSSL_PARAM params[], const struct cipher_facts *facts)
{
    for (; params->key; params++)
        if (!get_fact(params, facts))
            return 0;
    return 1;
}
