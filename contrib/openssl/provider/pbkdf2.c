/* SPDX-License-Identifier: MIT */
/*
 * PBKDF2 for OpenSSL, with SHA-224 and SHA-256. Each context has a context of the default provider,
 * and hands all parameters on to it: that one alone judges them. It derives, too, where the hash is
 * another one, or where it may refuse. Ours keeps what it needs to derive all else.
 */
#include <limits.h>

#include "everycore/pbkdf2.h"
#include "provider.h"

/* Limits of SP 800-132 (2010), which a program can ask for by the parameter "pkcs5". OpenSSL 4.0
 * has one for passwords, too, of a byte or of eight. */
enum { LEAST_SALT_BYTES = 16, LEAST_OUT_BYTES = 14, LEAST_ITERATIONS = 1000 };
enum { LEAST_PASSWORD_BYTES = 8 };

struct pbkdf2 {
    const struct provider *provider;
    struct foreign_kdf foreign;
    struct bytes password, salt;
    size_t n_iterations;
    enum evc_sha2_hash hash; /* 0: another one */
    int has_limits, is_unknown; /* is_unknown: not all parameters of a call may have been taken */
};

/* ---- Contexts -------------------------------------------------------------------------------- */

/* Forget what was set. The default provider knows how many iterations there are if none is set. */
static void clear(struct pbkdf2 *pbkdf2)
{
    bytes_free(pbkdf2->provider, &pbkdf2->password);
    bytes_free(pbkdf2->provider, &pbkdf2->salt);
    pbkdf2->n_iterations = 0;
    pbkdf2->hash = 0;
    pbkdf2->has_limits = pbkdf2->is_unknown = 0;
}

static void release(void *context)
{
    struct pbkdf2 *pbkdf2 = context;

    if (!pbkdf2)
        return;
    clear(pbkdf2);
    if (pbkdf2->foreign.context)
        pbkdf2->foreign.release(pbkdf2->foreign.context);
    context_free(pbkdf2, sizeof *pbkdf2, 0);
}

static void *new(void *context)
{
    const struct provider *provider = context;
    struct pbkdf2 *pbkdf2 = context_new(provider, sizeof *pbkdf2, 0);

    if (!pbkdf2)
        return NULL;
    clear(pbkdf2);
    if (foreign_kdf_new(&pbkdf2->foreign, provider, "PBKDF2"))
        return pbkdf2;
    (void)FAIL(pbkdf2, PROV_R_NOT_SUPPORTED);
    release(pbkdf2);
    return NULL;
}

static void *copy(void *context)
{
    const struct pbkdf2 *pbkdf2 = context;
    struct pbkdf2 *twin;
    int done;

    if (!pbkdf2->foreign.copy)
        return NULL;
    twin = context_copy(pbkdf2, sizeof *pbkdf2, 0);
    if (!twin)
        return NULL;
    twin->foreign.context = pbkdf2->foreign.copy(pbkdf2->foreign.context);
    done = twin->foreign.context != NULL;
    done &= bytes_copy(twin->provider, &twin->password);
    done &= bytes_copy(twin->provider, &twin->salt);
    if (done)
        return twin;
    release(twin);
    return NULL;
}

static void reset(void *context)
{
    struct pbkdf2 *pbkdf2 = context;

    pbkdf2->foreign.reset(pbkdf2->foreign.context);
    clear(pbkdf2);
}

/* ---- Parameters ------------------------------------------------------------------------------ */

/* Keep what the default provider has taken. 0: something of it is not understood. */
static int keep(struct pbkdf2 *pbkdf2, const OSSL_PARAM params[])
{
    const OSSL_PARAM *digest = param_find(params, OSSL_KDF_PARAM_DIGEST),
                     *limits = param_find(params, OSSL_KDF_PARAM_PKCS5),
                     *password = param_find(params, OSSL_KDF_PARAM_PASSWORD),
                     *salt = param_find(params, OSSL_KDF_PARAM_SALT),
                     *n_iterations = param_find(params, OSSL_KDF_PARAM_ITER);
    size_t n;

    if (digest)
        pbkdf2->hash = hash_given(digest, params);
    if (limits) /* a negative number is not 0 either */
        pbkdf2->has_limits = param_get_size(limits, &n) && n == 0;
    return (!password || bytes_set(pbkdf2->provider, &pbkdf2->password, password->data,
                                   password->data_size)) &&
           (!salt ||
            bytes_set(pbkdf2->provider, &pbkdf2->salt, salt->data, salt->data_size)) &&
           (!n_iterations || param_get_size(n_iterations, &pbkdf2->n_iterations));
}

static int set_params(void *context, const OSSL_PARAM params[])
{
    struct pbkdf2 *pbkdf2 = context;
    const int done = pbkdf2->foreign.set_params(pbkdf2->foreign.context, params);

    if (params && (done <= 0 || !keep(pbkdf2, params)))
        pbkdf2->is_unknown = 1;
    return done;
}

static int get_params(void *context, OSSL_PARAM params[])
{
    const struct pbkdf2 *pbkdf2 = context;

    return pbkdf2->foreign.get_params(pbkdf2->foreign.context, params);
}

static const OSSL_PARAM *gettable(void *context, void *provider)
{
    (void)context;
    return foreign_kdf_names(provider, "PBKDF2", OSSL_FUNC_KDF_GETTABLE_CTX_PARAMS);
}

static const OSSL_PARAM *settable(void *context, void *provider)
{
    (void)context;
    return foreign_kdf_names(provider, "PBKDF2", OSSL_FUNC_KDF_SETTABLE_CTX_PARAMS);
}

/* ---- Derivation ------------------------------------------------------------------------------ */

/* Whether the default provider would certainly derive. */
static int is_ours(const struct pbkdf2 *pbkdf2, size_t out_bytes)
{
    const size_t n = pbkdf2->n_iterations;

    if (!pbkdf2->hash || pbkdf2->hash > EVC_SHA256 || pbkdf2->is_unknown ||
        !pbkdf2->password.at || !pbkdf2->salt.at)
        return 0;
    if (pbkdf2->has_limits && (out_bytes < LEAST_OUT_BYTES || pbkdf2->salt.n < LEAST_SALT_BYTES ||
                               pbkdf2->password.n < LEAST_PASSWORD_BYTES || n < LEAST_ITERATIONS))
        return 0;
    return n && n <= UINT32_MAX && out_bytes && out_bytes <= INT_MAX &&
           pbkdf2->password.n <= INT_MAX && pbkdf2->salt.n <= INT_MAX;
}

static int derive(void *context, uint8_t *out, size_t out_bytes, const OSSL_PARAM params[])
{
    struct pbkdf2 *pbkdf2 = context;
    struct evc_hmac_key key;
    int done;

    if (set_params(context, params) <= 0)
        return 0;
    if (!is_ours(pbkdf2, out_bytes))
        return pbkdf2->foreign.derive(pbkdf2->foreign.context, out, out_bytes, NULL);
    done = evc_hmac_set_key(&key, pbkdf2->provider->pbkdf2_sha256, pbkdf2->hash,
                            pbkdf2->password.at, pbkdf2->password.n) == EVC_OK &&
           evc_pbkdf2(&key, pbkdf2->salt.at, pbkdf2->salt.n, (uint32_t)pbkdf2->n_iterations, out,
                      out_bytes) == EVC_OK;
    evc_wipe(&key, sizeof key);
    return done;
}

const OSSL_DISPATCH provider_pbkdf2[] = {
    DISPATCH(OSSL_FUNC_KDF_NEWCTX, new),
    DISPATCH(OSSL_FUNC_KDF_DUPCTX, copy),
    DISPATCH(OSSL_FUNC_KDF_FREECTX, release),
    DISPATCH(OSSL_FUNC_KDF_RESET, reset),
    DISPATCH(OSSL_FUNC_KDF_DERIVE, derive),
    DISPATCH(OSSL_FUNC_KDF_GETTABLE_CTX_PARAMS, gettable),
    DISPATCH(OSSL_FUNC_KDF_GET_CTX_PARAMS, get_params),
    DISPATCH(OSSL_FUNC_KDF_SETTABLE_CTX_PARAMS, settable),
    DISPATCH(OSSL_FUNC_KDF_SET_CTX_PARAMS, set_params),
    DISPATCH_END,
};
