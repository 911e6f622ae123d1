/* SPDX-License-Identifier: MIT */
/*
 * everycore.so: AES, HMAC, HKDF and PBKDF2 of this library as a provider for OpenSSL 3.0 and newer.
 * OpenSSL calls OSSL_provider_init when its configuration activates the provider (config(5),
 * provider(7)); everything else is found from there.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "provider.h"

#include "everycore/cpu.h"
#include "everycore/gcm_siv.h"

#define EXPORT __attribute__((visibility("default")))
#define PROPERTIES "provider=everycore,everycore.aes=yes"

/* ---- What there is --------------------------------------------------------------------------- */

/* GCM-SIV first: it is left out where OpenSSL has not got it, or is faster.
 * Names are all that OpenSSL's default provider has for the algorithm: a program may ask by any. */
static const OSSL_ALGORITHM ciphers[] = {
    {"AES-256-GCM-SIV", PROPERTIES, provider_gcm_siv256, "AES-256-GCM-SIV"},
    {"AES-128-GCM-SIV", PROPERTIES, provider_gcm_siv128, "AES-128-GCM-SIV"},
    {"AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46", PROPERTIES, provider_gcm256,
     "AES-256-GCM"},
    {"AES-192-GCM:id-aes192-GCM:2.16.840.1.101.3.4.1.26", PROPERTIES, provider_gcm192,
     "AES-192-GCM"},
    {"AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6", PROPERTIES, provider_gcm128,
     "AES-128-GCM"},
    {"AES-256-CCM:id-aes256-CCM:2.16.840.1.101.3.4.1.47", PROPERTIES, provider_ccm256,
     "AES-256-CCM"},
    {"AES-192-CCM:id-aes192-CCM:2.16.840.1.101.3.4.1.27", PROPERTIES, provider_ccm192,
     "AES-192-CCM"},
    {"AES-128-CCM:id-aes128-CCM:2.16.840.1.101.3.4.1.7", PROPERTIES, provider_ccm128,
     "AES-128-CCM"},
    {"AES-256-XTS:1.3.111.2.1619.0.1.2", PROPERTIES, provider_xts256, "AES-256-XTS"},
    {"AES-128-XTS:1.3.111.2.1619.0.1.1", PROPERTIES, provider_xts128, "AES-128-XTS"},
    {"AES-256-ECB:2.16.840.1.101.3.4.1.41", PROPERTIES, provider_ecb256, "AES-256-ECB"},
    {"AES-192-ECB:2.16.840.1.101.3.4.1.21", PROPERTIES, provider_ecb192, "AES-192-ECB"},
    {"AES-128-ECB:2.16.840.1.101.3.4.1.1", PROPERTIES, provider_ecb128, "AES-128-ECB"},
    {"AES-256-CBC:AES256:2.16.840.1.101.3.4.1.42", PROPERTIES, provider_cbc256, "AES-256-CBC"},
    {"AES-192-CBC:AES192:2.16.840.1.101.3.4.1.22", PROPERTIES, provider_cbc192, "AES-192-CBC"},
    {"AES-128-CBC:AES128:2.16.840.1.101.3.4.1.2", PROPERTIES, provider_cbc128, "AES-128-CBC"},
    {"AES-256-CTR", PROPERTIES, provider_ctr256, "AES-256-CTR"},
    {"AES-192-CTR", PROPERTIES, provider_ctr192, "AES-192-CTR"},
    {"AES-128-CTR", PROPERTIES, provider_ctr128, "AES-128-CTR"},
    {"AES-256-WRAP:id-aes256-wrap:AES256-WRAP:2.16.840.1.101.3.4.1.45", PROPERTIES,
     provider_wrap256, "AES-256-WRAP"},
    {"AES-192-WRAP:id-aes192-wrap:AES192-WRAP:2.16.840.1.101.3.4.1.25", PROPERTIES,
     provider_wrap192, "AES-192-WRAP"},
    {"AES-128-WRAP:id-aes128-wrap:AES128-WRAP:2.16.840.1.101.3.4.1.5", PROPERTIES,
     provider_wrap128, "AES-128-WRAP"},
    {"AES-256-WRAP-PAD:id-aes256-wrap-pad:AES256-WRAP-PAD:2.16.840.1.101.3.4.1.48", PROPERTIES,
     provider_wrap_pad256, "AES-256-WRAP-PAD"},
    {"AES-192-WRAP-PAD:id-aes192-wrap-pad:AES192-WRAP-PAD:2.16.840.1.101.3.4.1.28", PROPERTIES,
     provider_wrap_pad192, "AES-192-WRAP-PAD"},
    {"AES-128-WRAP-PAD:id-aes128-wrap-pad:AES128-WRAP-PAD:2.16.840.1.101.3.4.1.8", PROPERTIES,
     provider_wrap_pad128, "AES-128-WRAP-PAD"},
    {NULL, NULL, NULL, NULL},
};

/* HMAC first: it is left out where it is not faster. */
static const OSSL_ALGORITHM macs[] = {
    {"HMAC", PROPERTIES, provider_hmac, "HMAC"},
    {"CMAC", PROPERTIES, provider_cmac, "CMAC"},
    {NULL, NULL, NULL, NULL},
};

static const OSSL_ALGORITHM kdfs[] = {
    {"HKDF", PROPERTIES, provider_hkdf, "HKDF"},
    {"TLS13-KDF", PROPERTIES, provider_tls13_kdf, "TLS13-KDF"},
    {"PBKDF2:1.2.840.113549.1.5.12", PROPERTIES, provider_pbkdf2, "PBKDF2"},
    {NULL, NULL, NULL, NULL},
};

static const OSSL_ALGORITHM *query(void *context, int operation, int *may_not_be_kept)
{
    const struct provider *provider = context;

    *may_not_be_kept = 0;
    if (operation == OSSL_OP_MAC)
        return provider->hmac_sha256 ? macs : macs + 1;
    if (operation == OSSL_OP_KDF)
        return provider->hkdf_sha256 ? kdfs : NULL;
    if (operation == OSSL_OP_CIPHER)
        return provider->offers_gcm_siv ? ciphers : ciphers + 2;
    return NULL;
}

/* ---- The provider itself --------------------------------------------------------------------- */

static const OSSL_PARAM *gettable(void *context)
{
    static const OSSL_PARAM names[] = {
        PARAM_TEXT_POINTER(OSSL_PROV_PARAM_NAME),
        PARAM_TEXT_POINTER(OSSL_PROV_PARAM_VERSION),
        PARAM_TEXT_POINTER(OSSL_PROV_PARAM_BUILDINFO),
        PARAM_INT(OSSL_PROV_PARAM_STATUS),
        PARAM_END,
    };

    (void)context;
    return names;
}

static int get_text(OSSL_PARAM *param, const char *text)
{
    if (param->data_type != OSSL_PARAM_UTF8_PTR)
        return 0;
    param->return_size = strlen(text);
    if (param->data)
        *(const char **)param->data = text;
    return 1;
}

/* The build information names the kernels, so that `openssl list -providers -verbose`
 * shows what this CPU got. */
static int get_param(const struct provider *provider, OSSL_PARAM *param)
{
    if (is_key(param, OSSL_PROV_PARAM_NAME))
        return get_text(param, "everycore AES");
    if (is_key(param, OSSL_PROV_PARAM_VERSION))
        return get_text(param, EVC_VERSION);
    if (is_key(param, OSSL_PROV_PARAM_BUILDINFO))
        return get_text(param, evc_aes_kernel(provider->parallel)->name);
    if (is_key(param, OSSL_PROV_PARAM_STATUS))
        return param_set_size(param, 1);
    return 1;
}

static int get_params(void *context, OSSL_PARAM params[])
{
    for (; params && params->key; params++)
        if (!get_param(context, params))
            return 0;
    return 1;
}

static void teardown(void *context)
{
    struct provider *provider = context;

    provider->unwatch_providers(provider->core);
    provider->clear_free(provider, sizeof *provider, __FILE__, __LINE__);
}

static const OSSL_DISPATCH functions[] = {
    DISPATCH(OSSL_FUNC_PROVIDER_TEARDOWN, teardown),
    DISPATCH(OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, gettable),
    DISPATCH(OSSL_FUNC_PROVIDER_GET_PARAMS, get_params),
    DISPATCH(OSSL_FUNC_PROVIDER_QUERY_OPERATION, query),
    DISPATCH_END,
};

/* ---- Other providers ------------------------------------------------------------------------- */

/* OpenSSL calls these when providers are activated and deactivated, and for those that are active
 * now. It keeps a provider in memory until the library context ends. */
static int provider_came(const OSSL_CORE_HANDLE *other, void *context)
{
    struct provider *provider = context;

    if (strcmp(provider->name_of(other), "default") == 0)
        atomic_store(&provider->fallback, other);
    return 1;
}

static int provider_went(const OSSL_CORE_HANDLE *other, void *context)
{
    struct provider *provider = context;
    const OSSL_CORE_HANDLE *expected = other;

    atomic_compare_exchange_strong(&provider->fallback, &expected, NULL);
    return 1;
}

static int properties_changed(const char *properties, void *context)
{
    (void)properties, (void)context;
    return 1;
}

/* ---- Loading --------------------------------------------------------------------------------- */

static void take_function(struct provider *provider, const OSSL_DISPATCH *given)
{
    switch (given->function_id) {
    case OSSL_FUNC_CRYPTO_ZALLOC:
        provider->zalloc = OSSL_FUNC_CRYPTO_zalloc(given);
        break;
    case OSSL_FUNC_CRYPTO_CLEAR_FREE:
        provider->clear_free = OSSL_FUNC_CRYPTO_clear_free(given);
        break;
    case OSSL_FUNC_CORE_GET_PARAMS:
        provider->core_params = OSSL_FUNC_core_get_params(given);
        break;
    case OSSL_FUNC_CORE_NEW_ERROR:
        provider->new_error = OSSL_FUNC_core_new_error(given);
        break;
    case OSSL_FUNC_CORE_SET_ERROR_DEBUG:
        provider->set_error_debug = OSSL_FUNC_core_set_error_debug(given);
        break;
    case OSSL_FUNC_CORE_VSET_ERROR:
        provider->vset_error = OSSL_FUNC_core_vset_error(given);
        break;
    case OSSL_FUNC_PROVIDER_REGISTER_CHILD_CB:
        provider->watch_providers = OSSL_FUNC_provider_register_child_cb(given);
        break;
    case OSSL_FUNC_PROVIDER_DEREGISTER_CHILD_CB:
        provider->unwatch_providers = OSSL_FUNC_provider_deregister_child_cb(given);
        break;
    case OSSL_FUNC_PROVIDER_NAME:
        provider->name_of = OSSL_FUNC_provider_name(given);
        break;
    case OSSL_FUNC_PROVIDER_GET0_PROVIDER_CTX:
        provider->context_of = OSSL_FUNC_provider_get0_provider_ctx(given);
        break;
    case OSSL_FUNC_PROVIDER_GET0_DISPATCH:
        provider->dispatch_of = OSSL_FUNC_provider_get0_dispatch(given);
        break;
    default:
        break;
    }
}

static int has_functions(const struct provider *provider)
{
    return provider->zalloc && provider->clear_free && provider->core_params &&
           provider->new_error && provider->set_error_debug && provider->vset_error &&
           provider->watch_providers && provider->unwatch_providers && provider->name_of &&
           provider->context_of && provider->dispatch_of;
}

/*
 * The kernel of a hash, if it is one of the first n_ahead of those with which we are measured to be
 * at least as fast as OpenSSL's own at each length; else NULL (docs/evidence/provider.md). With
 * x86_avx2, HMAC of long messages is behind. All kernels of SHA-512 are; HKDF calls for them where
 * there is little to hash.
 */
enum { HMAC_AHEAD = 2, KDF_AHEAD = 3 };
enum { OPENSSL_3_0 = 0x300, OPENSSL_3_2 = 0x302 };

#ifndef OFFERS_ALL_CIPHERS /* 1: for tests, also those that OpenSSL has not got */
#define OFFERS_ALL_CIPHERS 0
#endif

static const struct evc_sha2 *select_ahead(uint64_t features, enum evc_sha2_hash hash,
                                           size_t n_ahead)
{
    static const char *const ahead[] = {"x86_avx512", "x86_shani", "x86_avx2"};
    const struct evc_sha2 *kernel = evc_sha2_select(features, 0, hash);

    for (size_t i = 0; i < n_ahead; i++)
        if (strcmp(evc_sha2_kernel(kernel)->name, ahead[i]) == 0)
            return kernel;
    return NULL;
}

/* So are these kernels of AES with GCM-SIV, and their variants for a maker's CPUs. The portable
 * ones, whose time depends on nothing secret, are behind OpenSSL's tables. */
static int is_ahead_in_gcm_siv(const struct evc_aes *kernel)
{
    static const char *const ahead[] = {"x86_vaes512", "x86_vaes256", "x86_aesni"};
    const char *name = evc_aes_kernel(kernel)->name;

    for (size_t i = 0; i < sizeof ahead / sizeof *ahead; i++)
        if (strncmp(name, ahead[i], strlen(ahead[i])) == 0)
            return 1;
    return 0;
}

/* The version of the OpenSSL that runs, 256 times the first number and the second one. 0: it is not
 * known. */
static unsigned version_of_core(const struct provider *provider)
{
    char *version = NULL, *end;
    OSSL_PARAM params[] = {PARAM_TEXT_POINTER(OSSL_PROV_PARAM_CORE_VERSION), PARAM_END};
    unsigned long major;

    params->data = &version;
    params->data_size = sizeof version;
    if (!provider->core_params(provider->core, params) || !version)
        return 0;
    major = strtoul(version, &end, 10);
    return (unsigned)major << 8 | (*end == '.' ? (unsigned)strtoul(end + 1, NULL, 10) : 0);
}

/* Detection takes microseconds in a virtual machine: it is done here alone. */
static void select_kernels(struct provider *provider)
{
    const uint64_t features = evc_cpu_features();
    const unsigned version = version_of_core(provider);
    size_t serial_bytes, parallel_bytes;

    provider->serial = evc_aes_select(features, 0, EVC_USE_SERIAL);
    provider->parallel = evc_aes_select(features, 0, EVC_USE_PARALLEL);
    provider->gcm = evc_gcm_select(features, 0);
    provider->ghash = evc_ghash_select(features, 0);
    provider->gcm_key_bytes = provider->gcm
                                  ? evc_gcm_kernel(provider->gcm)->key_bytes
                                  : evc_gcm_pair_key_bytes(provider->parallel, provider->ghash);
    serial_bytes = evc_aes_kernel(provider->serial)->key_bytes;
    parallel_bytes = evc_aes_kernel(provider->parallel)->key_bytes;
    provider->aes_key_bytes = serial_bytes > parallel_bytes ? serial_bytes : parallel_bytes;
    provider->xts_key_bytes = evc_aes_xts_key_bytes(provider->parallel, provider->serial);
    provider->ccm_key_bytes = evc_aes_ccm_key_bytes(provider->parallel, provider->serial);
    provider->cmac_key_bytes = evc_aes_cmac_key_bytes(provider->serial);
    provider->gcm_siv_key_bytes = evc_gcm_siv_key_bytes(provider->parallel, provider->ghash);
    provider->gcm_siv_scratch_bytes =
        evc_gcm_siv_scratch_bytes(provider->parallel, provider->ghash);
    provider->offers_gcm_siv =
        OFFERS_ALL_CIPHERS ||
        (version >= OPENSSL_3_2 && is_ahead_in_gcm_siv(provider->parallel));
    if (version == OPENSSL_3_0) /* ahead of its HMAC, not of 3.5's; no other one is measured */
        provider->hmac_sha256 = select_ahead(features, EVC_SHA256, HMAC_AHEAD);
    provider->pbkdf2_sha256 = provider->hkdf_sha256 = select_ahead(features, EVC_SHA256, KDF_AHEAD);
    provider->hkdf_sha512 = select_ahead(features, EVC_SHA512, KDF_AHEAD);
    provider->sha256_is_ahead = select_ahead(features, EVC_SHA256, HMAC_AHEAD) != NULL;
}

EXPORT int OSSL_provider_init(const OSSL_CORE_HANDLE *core, const OSSL_DISPATCH *given,
                              const OSSL_DISPATCH **offered, void **context)
{
    struct provider found = {.core = core}, *provider;

    for (; given->function_id; given++)
        take_function(&found, given);
    if (!has_functions(&found))
        return 0;
    select_kernels(&found);
    provider = found.zalloc(sizeof *provider, __FILE__, __LINE__);
    if (!provider)
        return 0;
    memcpy(provider, &found, sizeof found);
    if (!provider->watch_providers(core, provider_came, provider_went, properties_changed,
                                   provider)) {
        provider->clear_free(provider, sizeof *provider, __FILE__, __LINE__);
        return 0;
    }
    *offered = functions;
    *context = provider;
    return 1;
}
