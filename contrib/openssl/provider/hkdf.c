/* SPDX-License-Identifier: MIT */
/*
 * HKDF and the KDF of TLS 1.3 for OpenSSL, on SHA-2. They are one algorithm for all hashes, so a
 * context of another hash is given to the default provider. So is one with parameters that versions
 * of OpenSSL judge differently, or that lack something: errors are the default provider's. Such a
 * context stays there until it is reset.
 */
#include <limits.h>
#include <strings.h>

#include "everycore/hkdf.h"
#include "provider.h"

/* OpenSSL's numbers of modes. The KDF of TLS 1.3 has not the first. */
enum { EXTRACT_AND_EXPAND, EXTRACT_ONLY, EXPAND_ONLY, N_MODES };

/* More infos in one call, or longer ones, are refused by some versions. */
enum { MOST_INFOS = 4, MOST_INFO_BYTES = 1024 };
/* With more bytes to hash, OpenSSL's own is faster where its hash is. */
enum { MOST_SHORT_BYTES = 2048 };
enum { MOST_LABEL_BYTES = 2 + 1 + 255 + 1 + 255 }; /* RFC 8446 (2018) section 7.1 */

/* Values that a program sets: KEY and SALT; INFO for HKDF; the others for TLS. */
enum { KEY, SALT, INFO, PREFIX, LABEL, DATA, N_VALUES };
static const char *const value_names[N_VALUES] = {
    [KEY] = OSSL_KDF_PARAM_KEY,     [SALT] = OSSL_KDF_PARAM_SALT,
    [INFO] = OSSL_KDF_PARAM_INFO,   [PREFIX] = OSSL_KDF_PARAM_PREFIX,
    [LABEL] = OSSL_KDF_PARAM_LABEL, [DATA] = OSSL_KDF_PARAM_DATA,
};

struct hkdf {
    const struct provider *provider;
    const char *name;
    struct foreign_kdf foreign; /* in use if its context is not NULL */
    struct bytes values[N_VALUES];
    size_t mode;
    enum evc_sha2_hash hash; /* 0: none is set */
    int is_tls;
};

/* ---- Contexts -------------------------------------------------------------------------------- */

/* Forget all that was set. */
static void reset(void *context)
{
    struct hkdf *hkdf = context;

    for (int i = 0; i < N_VALUES; i++)
        bytes_free(hkdf->provider, &hkdf->values[i]);
    if (hkdf->foreign.context)
        hkdf->foreign.release(hkdf->foreign.context);
    hkdf->foreign.context = NULL;
    hkdf->mode = EXTRACT_AND_EXPAND;
    hkdf->hash = 0;
}

static void release(void *context)
{
    if (!context)
        return;
    reset(context);
    context_free(context, sizeof(struct hkdf), 0);
}

static void *new(const struct provider *provider, const char *name, int is_tls)
{
    struct hkdf *hkdf = context_new(provider, sizeof *hkdf, 0);

    if (!hkdf)
        return NULL;
    hkdf->name = name;
    hkdf->is_tls = is_tls;
    return hkdf;
}

static void *copy(void *context)
{
    const struct hkdf *hkdf = context;
    struct hkdf *twin;
    int done = 1;

    if (!foreign_kdf_copies(hkdf->provider, hkdf->name)) /* OpenSSL 3.0 copies none */
        return NULL;
    twin = context_copy(hkdf, sizeof *hkdf, 0);
    if (!twin)
        return NULL;
    for (int i = 0; i < N_VALUES; i++)
        done &= bytes_copy(hkdf->provider, &twin->values[i]);
    if (hkdf->foreign.context) {
        twin->foreign.context = hkdf->foreign.copy(hkdf->foreign.context);
        done &= twin->foreign.context != NULL;
    }
    if (done)
        return twin;
    release(twin);
    return NULL;
}

/* Give the context to the default provider, with all that is set. */
static int use_foreign(struct hkdf *hkdf)
{
    struct foreign_kdf foreign;
    OSSL_PARAM params[N_VALUES + 3], *param = params;
    int mode = (int)hkdf->mode;

    if (!foreign_kdf_new(&foreign, hkdf->provider, hkdf->name))
        return FAIL(hkdf, PROV_R_NOT_SUPPORTED);
    if (hkdf->hash)
        hash_param(param++, hkdf->hash);
    if (mode != EXTRACT_AND_EXPAND) {
        *param = (OSSL_PARAM)PARAM_INT(OSSL_KDF_PARAM_MODE);
        param++->data = &mode;
    }
    for (int i = 0; i < N_VALUES; i++)
        if (hkdf->values[i].at) {
            *param = (OSSL_PARAM)PARAM_BYTES(value_names[i]);
            param->data = hkdf->values[i].at;
            param++->data_size = hkdf->values[i].n;
        }
    *param = (OSSL_PARAM)PARAM_END;
    if (param != params && foreign.set_params(foreign.context, params) <= 0) {
        foreign.release(foreign.context);
        return 0;
    }
    reset(hkdf);
    hkdf->foreign = foreign;
    return 1;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

/* The parameters of a call that are ours. */
struct given {
    const OSSL_PARAM *values[N_VALUES]; /* of infos, the first */
    size_t mode, n_infos, info_bytes;
    enum evc_sha2_hash hash;
    int has_digest;
};

static int find_mode(const OSSL_PARAM *param, size_t *mode)
{
    static const char *const names[N_MODES] = {"EXTRACT_AND_EXPAND", "EXTRACT_ONLY", "EXPAND_ONLY"};

    if (param->data_type != OSSL_PARAM_UTF8_STRING)
        return param_get_size(param, mode) && *mode < N_MODES;
    for (*mode = 0; param->data && *mode < N_MODES; ++*mode)
        if (strcasecmp(param->data, names[*mode]) == 0)
            return 1;
    return 0;
}

static int find_value(const struct hkdf *hkdf, const OSSL_PARAM *param, struct given *given)
{
    int i = 0;

    while (i < N_VALUES && !is_key(param, value_names[i]))
        i++;
    if (i == N_VALUES || (i == INFO && hkdf->is_tls) || (i > INFO && !hkdf->is_tls))
        return 1; /* not of this KDF */
    if (param->data_type != OSSL_PARAM_OCTET_STRING || !param->data ||
        (given->values[i] && i != INFO) || param->data_size > INT_MAX)
        return 0;
    if (i == SALT && hkdf->values[SALT].n && param->data_size == 0)
        return 0; /* before 3.0.17, the former salt stays */
    if (!given->values[i])
        given->values[i] = param;
    if (i == INFO) {
        given->n_infos++;
        given->info_bytes += param->data_size;
    }
    return given->n_infos <= MOST_INFOS && given->info_bytes <= MOST_INFO_BYTES;
}

/* Whether all versions of OpenSSL would take all parameters. Nothing is changed but *given. */
static int are_ours(const struct hkdf *hkdf, const OSSL_PARAM params[], struct given *given)
{
    int has_mode = 0;

    memset(given, 0, sizeof *given);
    given->mode = hkdf->mode;
    if (!params->key) /* what that does to the data of TLS depends on the version */
        return !hkdf->is_tls;
    for (const OSSL_PARAM *param = params; param->key; param++) {
        if (is_key(param, OSSL_KDF_PARAM_DIGEST)) {
            given->hash = hash_given(param, params);
            if (!given->hash || given->has_digest++)
                return 0;
        } else if (is_key(param, OSSL_KDF_PARAM_MODE)) {
            if (!find_mode(param, &given->mode) || has_mode++)
                return 0;
        } else if (!find_value(hkdf, param, given)) {
            return 0;
        }
    }
    if (hkdf->values[DATA].at && !given->values[DATA]) /* from OpenSSL 3.6 on, they stay */
        return 0;
    return !hkdf->is_tls || given->mode != EXTRACT_AND_EXPAND;
}

/* The infos of one call are joined. */
static int keep_infos(struct hkdf *hkdf, const struct given *given)
{
    uint8_t *to = bytes_new(hkdf->provider, &hkdf->values[INFO], given->info_bytes);

    for (const OSSL_PARAM *info = given->values[INFO]; to && info;
         info = param_find(info + 1, OSSL_KDF_PARAM_INFO))
        if (info->data_size) {
            memcpy(to, info->data, info->data_size);
            to += info->data_size;
        }
    return to != NULL;
}

/* 0: no memory. */
static int keep(struct hkdf *hkdf, const struct given *given)
{
    int done = !given->values[INFO] || keep_infos(hkdf, given);

    if (given->has_digest)
        hkdf->hash = given->hash;
    hkdf->mode = given->mode;
    for (int i = 0; i < N_VALUES; i++)
        if (given->values[i] && i != INFO)
            done &= bytes_set(hkdf->provider, &hkdf->values[i], given->values[i]->data,
                              given->values[i]->data_size);
    return done;
}

static int set_params(void *context, const OSSL_PARAM params[])
{
    struct hkdf *hkdf = context;
    struct given given;

    if (!params)
        return 1;
    if (!hkdf->foreign.context && are_ours(hkdf, params, &given))
        return keep(hkdf, &given);
    if (!hkdf->foreign.context && !use_foreign(hkdf))
        return 0;
    return hkdf->foreign.set_params(hkdf->foreign.context, params);
}

/* A program can only ask for the size of the output. */
static int get_params(void *context, OSSL_PARAM params[])
{
    struct hkdf *hkdf = context;
    const int is_extract = hkdf->mode == EXTRACT_ONLY;

    if (!hkdf->foreign.context && params && params->key && !params[1].key &&
        is_key(params, OSSL_KDF_PARAM_SIZE) && (!is_extract || hkdf->hash))
        return param_set_size(params, is_extract ? evc_sha2_digest_bytes(hkdf->hash) : SIZE_MAX);
    if (!hkdf->foreign.context && !use_foreign(hkdf))
        return 0;
    return hkdf->foreign.get_params(hkdf->foreign.context, params);
}

/* ---- Derivation ------------------------------------------------------------------------------ */

static const struct evc_sha2 *kernel_of(const struct hkdf *hkdf)
{
    return hkdf->hash <= EVC_SHA256 ? hkdf->provider->hkdf_sha256 : hkdf->provider->hkdf_sha512;
}

static enum evc_status expand(const struct hkdf *hkdf, const struct bytes *secret,
                              const uint8_t *info, size_t info_bytes, uint8_t *out,
                              size_t out_bytes)
{
    struct evc_hmac_key key;
    enum evc_status status =
        evc_hmac_set_key(&key, kernel_of(hkdf), hkdf->hash, secret->at, secret->n);

    if (status == EVC_OK)
        status = evc_hkdf_expand(&key, info, info_bytes, out, out_bytes);
    evc_wipe(&key, sizeof key);
    return status;
}

static enum evc_status extract(const struct hkdf *hkdf, const struct bytes *salt, uint8_t *out)
{
    const struct bytes *key = &hkdf->values[KEY];

    return evc_hkdf_extract(kernel_of(hkdf), hkdf->hash, salt->at, salt->n, key->at,
                            key->n, out);
}

static enum evc_status derive_hkdf(const struct hkdf *hkdf, uint8_t *out, size_t out_bytes)
{
    const struct bytes *key = &hkdf->values[KEY], *salt = &hkdf->values[SALT],
                       *info = &hkdf->values[INFO];

    if (hkdf->mode == EXTRACT_ONLY)
        return extract(hkdf, salt, out);
    if (hkdf->mode == EXPAND_ONLY)
        return expand(hkdf, key, info->at, info->n, out, out_bytes);
    return evc_hkdf(kernel_of(hkdf), hkdf->hash, salt->at, salt->n, key->at, key->n,
                    info->at, info->n, out, out_bytes);
}

/* HKDF-Expand-Label of RFC 8446 section 7.1; prefix and label are one text there. */
static enum evc_status expand_label(const struct hkdf *hkdf, const struct bytes *secret,
                                    const struct bytes *data, uint8_t *out, size_t out_bytes)
{
    const struct bytes *const parts[] = {&hkdf->values[PREFIX], &hkdf->values[LABEL], data};
    uint8_t info[MOST_LABEL_BYTES];
    enum evc_status status;
    size_t n = 0;

    info[n++] = (uint8_t)(out_bytes >> 8);
    info[n++] = (uint8_t)out_bytes;
    info[n++] = (uint8_t)(parts[0]->n + parts[1]->n);
    for (int i = 0; i < 3; i++) {
        if (i == 2)
            info[n++] = (uint8_t)data->n;
        if (parts[i]->n)
            memcpy(info + n, parts[i]->at, parts[i]->n);
        n += parts[i]->n;
    }
    status = expand(hkdf, secret, info, n, out, out_bytes);
    evc_wipe(info, sizeof info);
    return status;
}

/* The next secret of the key schedule: of the one before, which is the salt, and a new key. */
static enum evc_status next_secret(const struct hkdf *hkdf, uint8_t *out, size_t out_bytes)
{
    uint8_t derived[EVC_SHA2_MOST_DIGEST_BYTES], empty[EVC_SHA2_MOST_DIGEST_BYTES];
    const struct bytes salt = {derived, out_bytes}, data = {empty, out_bytes};
    enum evc_status status = evc_sha2_digest(kernel_of(hkdf), hkdf->hash, NULL, 0, empty);

    if (status == EVC_OK)
        status = expand_label(hkdf, &hkdf->values[SALT], &data, derived, out_bytes);
    if (status == EVC_OK)
        status = extract(hkdf, &salt, out);
    evc_wipe(derived, sizeof derived);
    return status;
}

/* Bytes that are hashed, about: each digest of the output takes two blocks more than its info. */
static size_t work_bytes(const struct hkdf *hkdf, size_t out_bytes)
{
    const struct bytes *values = hkdf->values;
    const size_t digest_bytes = evc_sha2_digest_bytes(hkdf->hash),
                 n_digests = (out_bytes + digest_bytes - 1) / digest_bytes;

    return values[KEY].n + values[SALT].n +
           n_digests * (values[INFO].n + values[DATA].n + 2 * EVC_SHA2_MOST_BLOCK_BYTES);
}

static int is_ahead(const struct hkdf *hkdf, size_t out_bytes)
{
    return kernel_of(hkdf) && ((hkdf->hash <= EVC_SHA256 && hkdf->provider->sha256_is_ahead) ||
                               work_bytes(hkdf, out_bytes) <= MOST_SHORT_BYTES);
}

/* Whether the default provider would certainly derive, and not be faster. */
static int is_ours(const struct hkdf *hkdf, const uint8_t *out, size_t out_bytes)
{
    const struct bytes *values = hkdf->values;
    const size_t digest_bytes = evc_sha2_digest_bytes(hkdf->hash);

    if (!hkdf->hash || !values[KEY].at || !out || !out_bytes ||
        out_bytes > EVC_HKDF_MOST_DIGESTS * digest_bytes || !is_ahead(hkdf, out_bytes))
        return 0;
    if (hkdf->mode == EXTRACT_ONLY && out_bytes != digest_bytes)
        return 0;
    /* a salt of another length makes other results in versions before 3.0.16 */
    return !hkdf->is_tls || (values[PREFIX].n + values[LABEL].n <= 255 && values[DATA].n <= 255 &&
                             hkdf->mode != EXTRACT_AND_EXPAND &&
                             (hkdf->mode != EXTRACT_ONLY || values[SALT].n == digest_bytes));
}

static int derive(void *context, uint8_t *out, size_t out_bytes, const OSSL_PARAM params[])
{
    struct hkdf *hkdf = context;

    if (set_params(context, params) <= 0)
        return 0;
    if (!hkdf->foreign.context && !is_ours(hkdf, out, out_bytes) && !use_foreign(hkdf))
        return 0;
    if (hkdf->foreign.context)
        return hkdf->foreign.derive(hkdf->foreign.context, out, out_bytes, NULL);
    if (!hkdf->is_tls)
        return derive_hkdf(hkdf, out, out_bytes) == EVC_OK;
    if (hkdf->mode == EXTRACT_ONLY)
        return next_secret(hkdf, out, out_bytes) == EVC_OK;
    return expand_label(hkdf, &hkdf->values[KEY], &hkdf->values[DATA], out, out_bytes) == EVC_OK;
}

#define HKDF(id, name, is_tls)                                                       \
    static void *new_##id(void *provider)                                            \
    {                                                                                \
        return new(provider, name, is_tls);                                          \
    }                                                                                \
    static const OSSL_PARAM *gettable_##id(void *context, void *provider)            \
    {                                                                                \
        (void)context;                                                               \
        return foreign_kdf_names(provider, name, OSSL_FUNC_KDF_GETTABLE_CTX_PARAMS); \
    }                                                                                \
    static const OSSL_PARAM *settable_##id(void *context, void *provider)            \
    {                                                                                \
        (void)context;                                                               \
        return foreign_kdf_names(provider, name, OSSL_FUNC_KDF_SETTABLE_CTX_PARAMS); \
    }                                                                                \
    const OSSL_DISPATCH provider_##id[] = {                                          \
        DISPATCH(OSSL_FUNC_KDF_NEWCTX, new_##id),                                    \
        DISPATCH(OSSL_FUNC_KDF_DUPCTX, copy),                                        \
        DISPATCH(OSSL_FUNC_KDF_FREECTX, release),                                    \
        DISPATCH(OSSL_FUNC_KDF_RESET, reset),                                        \
        DISPATCH(OSSL_FUNC_KDF_DERIVE, derive),                                      \
        DISPATCH(OSSL_FUNC_KDF_GETTABLE_CTX_PARAMS, gettable_##id),                  \
        DISPATCH(OSSL_FUNC_KDF_GET_CTX_PARAMS, get_params),                          \
        DISPATCH(OSSL_FUNC_KDF_SETTABLE_CTX_PARAMS, settable_##id),                  \
        DISPATCH(OSSL_FUNC_KDF_SET_CTX_PARAMS, set_params),                          \
        DISPATCH_END,                                                                \
    }

HKDF(hkdf, "HKDF", 0);
HKDF(tls13_kdf, "TLS13-KDF", 1);
