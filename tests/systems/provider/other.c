/* SPDX-License-Identifier: MIT */
/*
 * A provider of pretence, beside which ours has to find its place: it serves a cipher
 * AES-256-OTHER, and with -DHAS_AES also AES-256-GCM. Its functions do nothing, for the tests only
 * ask whose cipher a program gets.
 */
#include <stddef.h>

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

static int state;

static void *new(void *provider)
{
    (void)provider;
    return &state;
}

static void release(void *context)
{
    (void)context;
}

static int init(void *context, const unsigned char *key, size_t key_bytes, const unsigned char *iv,
                size_t iv_bytes, const OSSL_PARAM params[])
{
    (void)context, (void)key, (void)key_bytes, (void)iv, (void)iv_bytes, (void)params;
    return 1;
}

static int update(void *context, unsigned char *out, size_t *written, size_t room,
                  const unsigned char *in, size_t n)
{
    (void)context, (void)out, (void)room, (void)in, (void)n;
    *written = 0;
    return 1;
}

static int final(void *context, unsigned char *out, size_t *written, size_t room)
{
    return update(context, out, written, room, NULL, 0);
}

static int get_params(OSSL_PARAM params[])
{
    (void)params;
    return 1;
}

#define DISPATCH(id, function) {id, (void (*)(void))(function)}

static const OSSL_DISPATCH functions[] = {
    DISPATCH(OSSL_FUNC_CIPHER_NEWCTX, new),
    DISPATCH(OSSL_FUNC_CIPHER_FREECTX, release),
    DISPATCH(OSSL_FUNC_CIPHER_ENCRYPT_INIT, init),
    DISPATCH(OSSL_FUNC_CIPHER_DECRYPT_INIT, init),
    DISPATCH(OSSL_FUNC_CIPHER_UPDATE, update),
    DISPATCH(OSSL_FUNC_CIPHER_FINAL, final),
    DISPATCH(OSSL_FUNC_CIPHER_GET_PARAMS, get_params),
    {0, NULL},
};

static const OSSL_ALGORITHM ciphers[] = {
    {"AES-256-OTHER", "provider=other", functions, ""},
#if defined(HAS_AES)
    {"AES-256-GCM", "provider=other", functions, ""},
#endif
    {NULL, NULL, NULL, NULL},
};

static const OSSL_ALGORITHM *query(void *context, int operation, int *may_not_be_kept)
{
    (void)context;
    *may_not_be_kept = 0;
    return operation == OSSL_OP_CIPHER ? ciphers : NULL;
}

static const OSSL_DISPATCH offered[] = {
    DISPATCH(OSSL_FUNC_PROVIDER_QUERY_OPERATION, query),
    {0, NULL},
};

int OSSL_provider_init(const OSSL_CORE_HANDLE *core, const OSSL_DISPATCH *given,
                       const OSSL_DISPATCH **functions_of_it, void **context)
{
    (void)core, (void)given;
    *functions_of_it = offered;
    *context = &state;
    return 1;
}
