/* SPDX-License-Identifier: MIT */
/*
 * MACs and KDFs of the default provider, called as OpenSSL would call them. They are one algorithm
 * for all ciphers or hashes, so OpenSSL asks the provider that it prefers also for those which that
 * one has not.
 */
#include <stdatomic.h>

#include "provider.h"

static void (*function_of(const OSSL_DISPATCH *table, int id))(void)
{
    while (table->function_id && table->function_id != id)
        table++;
    return table->function;
}

static const OSSL_DISPATCH *algorithm_of(const struct provider *provider,
                                         const OSSL_CORE_HANDLE *other, int operation,
                                         const char *name)
{
    OSSL_FUNC_provider_query_operation_fn *query =
        (OSSL_FUNC_provider_query_operation_fn *)function_of(provider->dispatch_of(other),
                                                             OSSL_FUNC_PROVIDER_QUERY_OPERATION);
    const OSSL_ALGORITHM *algorithm;
    int may_not_be_kept;

    if (!query)
        return NULL;
    algorithm = query(provider->context_of(other), operation, &may_not_be_kept);
    for (; algorithm && algorithm->algorithm_names; algorithm++)
        if (has_name(algorithm->algorithm_names, name))
            return algorithm->implementation;
    return NULL;
}

int foreign_new(struct foreign *foreign, const struct provider *provider, const char *name)
{
    const OSSL_CORE_HANDLE *other = atomic_load(&provider->fallback);
    const OSSL_DISPATCH *table = other ? algorithm_of(provider, other, OSSL_OP_MAC, name) : NULL;
    OSSL_FUNC_mac_newctx_fn *create;
    struct foreign found;

    if (!table)
        return 0;
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
        return 0;
    found.context = create(provider->context_of(other));
    if (!found.context)
        return 0;
    *foreign = found;
    return 1;
}

void foreign_free(struct foreign *foreign)
{
    if (foreign->context)
        foreign->release(foreign->context);
    memset(foreign, 0, sizeof *foreign);
}

int foreign_copy(struct foreign *copy)
{
    if (copy->context)
        copy->context = copy->copy(copy->context);
    return copy->context != NULL;
}

/* ---- KDFs ------------------------------------------------------------------------------------ */

static const OSSL_DISPATCH *kdf_of(const struct provider *provider, const OSSL_CORE_HANDLE *other,
                                   const char *name)
{
    return other ? algorithm_of(provider, other, OSSL_OP_KDF, name) : NULL;
}

int foreign_kdf_new(struct foreign_kdf *foreign, const struct provider *provider, const char *name)
{
    const OSSL_CORE_HANDLE *other = atomic_load(&provider->fallback);
    const OSSL_DISPATCH *table = kdf_of(provider, other, name);
    OSSL_FUNC_kdf_newctx_fn *create;
    struct foreign_kdf found;

    if (!table)
        return 0;
    create = (OSSL_FUNC_kdf_newctx_fn *)function_of(table, OSSL_FUNC_KDF_NEWCTX);
    found.copy = (OSSL_FUNC_kdf_dupctx_fn *)function_of(table, OSSL_FUNC_KDF_DUPCTX);
    found.release = (OSSL_FUNC_kdf_freectx_fn *)function_of(table, OSSL_FUNC_KDF_FREECTX);
    found.reset = (OSSL_FUNC_kdf_reset_fn *)function_of(table, OSSL_FUNC_KDF_RESET);
    found.derive = (OSSL_FUNC_kdf_derive_fn *)function_of(table, OSSL_FUNC_KDF_DERIVE);
    found.get_params =
        (OSSL_FUNC_kdf_get_ctx_params_fn *)function_of(table, OSSL_FUNC_KDF_GET_CTX_PARAMS);
    found.set_params =
        (OSSL_FUNC_kdf_set_ctx_params_fn *)function_of(table, OSSL_FUNC_KDF_SET_CTX_PARAMS);
    if (!create || !found.release || !found.reset || !found.derive || !found.get_params ||
        !found.set_params)
        return 0;
    found.context = create(provider->context_of(other));
    if (!found.context)
        return 0;
    *foreign = found;
    return 1;
}

int foreign_kdf_copies(const struct provider *provider, const char *name)
{
    const OSSL_DISPATCH *table = kdf_of(provider, atomic_load(&provider->fallback), name);

    return table && function_of(table, OSSL_FUNC_KDF_DUPCTX);
}

const OSSL_PARAM *foreign_kdf_names(const struct provider *provider, const char *name, int id)
{
    const OSSL_CORE_HANDLE *other = atomic_load(&provider->fallback);
    const OSSL_DISPATCH *table = kdf_of(provider, other, name);
    OSSL_FUNC_kdf_gettable_ctx_params_fn *list = /* as the function for those that are set */
        table ? (OSSL_FUNC_kdf_gettable_ctx_params_fn *)function_of(table, id) : NULL;

    return list ? list(NULL, provider->context_of(other)) : NULL;
}
