/* SPDX-License-Identifier: MIT */
/*
 * HMAC for OpenSSL, on SHA-224 and SHA-256. HMAC is one algorithm for all hashes, so contexts of
 * other hashes are left to the default provider, and so are those for which a program asks more of
 * OpenSSL than a MAC: records of TLS in CBC, whose length is secret. Such a context stays there.
 */
#include "provider.h"

enum { BLOCK_BYTES = 64 };

struct hmac {
    const struct provider *provider;
    enum evc_sha2_hash next_hash; /* of the next key; 0: no hash is named */
    uint8_t key_is_set, has_text;
    uint8_t key_block[BLOCK_BYTES]; /* the user's key or its hash, then zeros: as good a key */
    struct evc_hmac state;
    struct foreign foreign;
};

static struct evc_hmac_key *key_of(const struct hmac *hmac)
{
    return context_key(hmac, sizeof *hmac);
}

/* ---- Contexts -------------------------------------------------------------------------------- */

static void *new(void *context)
{
    return context_new(context, sizeof(struct hmac), sizeof(struct evc_hmac_key));
}

static void release(void *context)
{
    struct hmac *hmac = context;

    if (!hmac)
        return;
    foreign_free(&hmac->foreign);
    context_free(hmac, sizeof *hmac, sizeof(struct evc_hmac_key));
}

static void *copy(void *context)
{
    const struct hmac *hmac = context;
    struct hmac *twin = context_copy(hmac, sizeof *hmac, sizeof(struct evc_hmac_key));

    if (!twin || !hmac->foreign.context || foreign_copy(&twin->foreign))
        return twin;
    release(twin);
    return NULL;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static int start(struct hmac *hmac)
{
    hmac->has_text = 0;
    return hmac->key_is_set && evc_hmac_start(key_of(hmac), &hmac->state) == EVC_OK;
}

static int set_key(struct hmac *hmac, const uint8_t *key, size_t key_bytes)
{
    const struct evc_sha2 *kernel = hmac->provider->hmac_sha256;
    const enum evc_sha2_hash hash = hmac->next_hash;

    if (!hash)
        return 0;
    hmac->key_is_set = 0;
    memset(hmac->key_block, 0, BLOCK_BYTES);
    if (key_bytes <= BLOCK_BYTES)
        memcpy(hmac->key_block, key, key_bytes);
    else if (evc_sha2_digest(kernel, hash, key, key_bytes, hmac->key_block) != EVC_OK)
        return 0;
    hmac->key_is_set =
        evc_hmac_set_key(key_of(hmac), kernel, hash, hmac->key_block, BLOCK_BYTES) == EVC_OK;
    return start(hmac);
}

/* ---- Parameters ------------------------------------------------------------------------------ */

/* Give the context to the default provider, with the key that is set. A message that has begun
 * cannot move, so its context stays, and the call fails. */
static int use_foreign(struct hmac *hmac)
{
    const enum evc_sha2_hash hash =
        hmac->key_is_set ? (enum evc_sha2_hash)key_of(hmac)->hash : hmac->next_hash;
    OSSL_PARAM params[] = {PARAM_END, PARAM_END};
    uint8_t ignored[32];
    size_t n;

    if (hmac->has_text || !foreign_new(&hmac->foreign, hmac->provider, "HMAC"))
        return FAIL(hmac, PROV_R_NOT_SUPPORTED);
    if (hash)
        hash_param(params, hash);
    /* a message that has ended has ended there, too */
    if ((hash && !hmac->foreign.set_params(hmac->foreign.context, params)) ||
        (hmac->key_is_set &&
         !hmac->foreign.init(hmac->foreign.context, hmac->key_block, BLOCK_BYTES, NULL)) ||
        (hmac->key_is_set && hmac->state.phase == 0 &&
         !hmac->foreign.final(hmac->foreign.context, ignored, &n, sizeof ignored))) {
        foreign_free(&hmac->foreign);
        return 0;
    }
    if (hmac->key_is_set && hash != hmac->next_hash) {
        hash_param(params, hmac->next_hash);
        if (!hmac->foreign.set_params(hmac->foreign.context, params)) {
            foreign_free(&hmac->foreign);
            return 0;
        }
    }
    evc_wipe(ignored, sizeof ignored);
    evc_wipe(hmac->key_block, sizeof hmac->key_block);
    evc_wipe(key_of(hmac), sizeof(struct evc_hmac_key));
    evc_wipe(&hmac->state, sizeof hmac->state);
    hmac->key_is_set = 0;
    return 1;
}

/* Whether a number is given that is not 0, or something that is no number. */
static int is_asked(const OSSL_PARAM params[], const char *name)
{
    const OSSL_PARAM *param = param_find(params, name);
    size_t n;

    return param && !(param_get_size(param, &n) && n == 0);
}

/* Whether all that is asked is ours to do; hash: the one that is named, or that of before. */
static int is_ours(const struct hmac *hmac, const OSSL_PARAM params[], enum evc_sha2_hash *hash)
{
    const OSSL_PARAM *digest = param_find(params, OSSL_MAC_PARAM_DIGEST);

    *hash = hmac->next_hash;
    if (digest) {
        *hash = hash_given(digest, params);
        if (!*hash || *hash > EVC_SHA256)
            return 0;
    }
    return !is_asked(params, OSSL_MAC_PARAM_DIGEST_NOINIT) &&
           !is_asked(params, OSSL_MAC_PARAM_DIGEST_ONESHOT) &&
           !is_asked(params, OSSL_MAC_PARAM_TLS_DATA_SIZE);
}

static int set_params(void *context, const OSSL_PARAM params[])
{
    struct hmac *hmac = context;
    enum evc_sha2_hash hash;
    const OSSL_PARAM *key;

    if (!params)
        return 1;
    if (!hmac->foreign.context && !is_ours(hmac, params, &hash) && !use_foreign(hmac))
        return 0;
    if (hmac->foreign.context)
        return hmac->foreign.set_params(hmac->foreign.context, params);
    hmac->next_hash = hash;
    key = param_find(params, OSSL_MAC_PARAM_KEY);
    if (!key)
        return 1;
    if (key->data_type != OSSL_PARAM_OCTET_STRING)
        return 0;
    if (key->data)
        return set_key(hmac, key->data, key->data_size);
    /* as OpenSSL's own: no key begins a message with the one of before, if the hash is the same */
    return !hash || (hmac->key_is_set && hash == (enum evc_sha2_hash)key_of(hmac)->hash &&
                     start(hmac));
}

static int get_params(void *context, OSSL_PARAM params[])
{
    const struct hmac *hmac = context;

    if (hmac->foreign.context)
        return hmac->foreign.get_params(hmac->foreign.context, params);
    for (; params && params->key; params++) {
        if (is_key(params, OSSL_MAC_PARAM_SIZE) &&
            !param_set_size(params, hmac->key_is_set ? evc_sha2_digest_bytes(key_of(hmac)->hash)
                                                     : 0))
            return 0;
        if (is_key(params, OSSL_MAC_PARAM_BLOCK_SIZE) &&
            !param_set_size(params, hmac->next_hash ? BLOCK_BYTES : 0))
            return 0;
    }
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
    static const OSSL_PARAM names[] = {
        PARAM_TEXT(OSSL_MAC_PARAM_DIGEST),          PARAM_TEXT(OSSL_MAC_PARAM_PROPERTIES),
        PARAM_BYTES(OSSL_MAC_PARAM_KEY),            PARAM_INT(OSSL_MAC_PARAM_DIGEST_NOINIT),
        PARAM_INT(OSSL_MAC_PARAM_DIGEST_ONESHOT),   PARAM_SIZE(OSSL_MAC_PARAM_TLS_DATA_SIZE),
        PARAM_END,
    };

    (void)context, (void)provider;
    return names;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static int init(void *context, const uint8_t *key, size_t key_bytes, const OSSL_PARAM params[])
{
    struct hmac *hmac = context;

    hmac->has_text = 0; /* a message that has begun ends here */
    if (!set_params(context, params))
        return 0;
    if (hmac->foreign.context)
        return hmac->foreign.init(hmac->foreign.context, key, key_bytes, NULL);
    return key ? set_key(hmac, key, key_bytes) : start(hmac);
}

static int update(void *context, const uint8_t *in, size_t len_bytes)
{
    struct hmac *hmac = context;

    if (hmac->foreign.context)
        return hmac->foreign.update(hmac->foreign.context, in, len_bytes);
    if (!hmac->key_is_set ||
        evc_hmac_update(key_of(hmac), &hmac->state, in, len_bytes) != EVC_OK)
        return 0;
    hmac->has_text |= len_bytes != 0;
    return 1;
}

static int final(void *context, uint8_t *out, size_t *written, size_t room)
{
    struct hmac *hmac = context;
    size_t n;

    if (hmac->foreign.context)
        return hmac->foreign.final(hmac->foreign.context, out, written, room);
    if (!hmac->key_is_set)
        return 0;
    n = evc_sha2_digest_bytes(key_of(hmac)->hash);
    if (room < n || evc_hmac_finish(key_of(hmac), &hmac->state, out, n) != EVC_OK)
        return 0;
    hmac->has_text = 0;
    *written = n;
    return 1;
}

const OSSL_DISPATCH provider_hmac[] = {
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
