/* SPDX-License-Identifier: MIT */
/*
 * AES-GCM-SIV for OpenSSL 3.2 and newer: associated data in pieces, and the text in one call, with
 * which the tag is made, or compared. If no text came, the end of the message does it, for an empty
 * text. As in OpenSSL's own, the end tells whether a tag was right, and not the call with the text.
 *
 * The parameter "speed" allows more texts behind the first, each a message of its own with the same
 * nonce and associated data.
 */
#include "aead.h"
#include "everycore/gcm_siv.h"

enum { NONCE_BYTES = 12, TAG_BYTES = 16 };

/* A message goes from the left to the right. FAILED: a call was refused, so its end will be. */
enum message_state { NO_TEXT, HAS_TEXT, FAILED };

struct gcm_siv {
    const struct provider *provider;
    struct bytes aad; /* room for aad_bytes or more */
    size_t aad_bytes;
    uint8_t key_bytes, key_is_set, nonce_is_set, seals, message, is_fast;
    uint8_t tag_is_made, tag_is_set;
    uint8_t is_forged; /* a text that was opened since the last end */
    uint8_t nonce[NONCE_BYTES];
    uint8_t made[TAG_BYTES], expected[TAG_BYTES];
};

/* The key, and behind it scratch memory. */
static size_t memory_bytes(const struct provider *provider)
{
    return provider->gcm_siv_key_bytes + provider->gcm_siv_scratch_bytes;
}

static const struct evc_gcm_siv_key *key_of(const struct gcm_siv *siv)
{
    return context_key(siv, sizeof *siv);
}

static void *new(const struct provider *provider, uint8_t key_bytes)
{
    struct gcm_siv *siv = context_new(provider, sizeof *siv, memory_bytes(provider));

    if (siv)
        siv->key_bytes = key_bytes;
    return siv;
}

static void release(void *context)
{
    struct gcm_siv *siv = context;

    if (!siv)
        return;
    bytes_free(siv->provider, &siv->aad);
    context_free(siv, sizeof *siv, memory_bytes(siv->provider));
}

static void *copy(void *context)
{
    const struct gcm_siv *siv = context;
    struct gcm_siv *twin = context_copy(siv, sizeof *siv, memory_bytes(siv->provider));

    if (!twin || bytes_copy(twin->provider, &twin->aad))
        return twin;
    release(twin);
    return NULL;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static int set_param(struct gcm_siv *siv, const OSSL_PARAM *param)
{
    size_t n;

    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TAG)) {
        if (param->data_type != OSSL_PARAM_OCTET_STRING || param->data_size != TAG_BYTES ||
            (!param->data && !siv->seals)) /* when sealing, a program gives the length alone */
            return FAIL(siv, PROV_R_FAILED_TO_GET_PARAMETER);
        if (!siv->seals) {
            memcpy(siv->expected, param->data, TAG_BYTES);
            siv->tag_is_set = 1;
        }
    } else if (is_key(param, OSSL_CIPHER_PARAM_SPEED)) {
        if (!param_get_size(param, &n))
            return FAIL(siv, PROV_R_FAILED_TO_GET_PARAMETER);
        siv->is_fast = n != 0;
    } else if (is_key(param, OSSL_CIPHER_PARAM_KEYLEN)) {
        if (!param_get_size(param, &n))
            return FAIL(siv, PROV_R_FAILED_TO_GET_PARAMETER);
        if (n != siv->key_bytes)
            return FAIL(siv, PROV_R_INVALID_KEY_LENGTH);
    } else if (is_key(param, OSSL_CIPHER_PARAM_AEAD_IVLEN)) {
        return (param_get_size(param, &n) && n == NONCE_BYTES) ||
               FAIL(siv, PROV_R_INVALID_IV_LENGTH);
    }
    return 1;
}

static int set_params(void *context, const OSSL_PARAM params[])
{
    for (; params && params->key; params++)
        if (!set_param(context, params))
            return 0;
    return 1;
}

static int get_param(const struct gcm_siv *siv, OSSL_PARAM *param)
{
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TAG))
        return param->data_type != OSSL_PARAM_OCTET_STRING ||
               (siv->seals && siv->tag_is_made && param->data_size == TAG_BYTES &&
                param_set_bytes(param, siv->made, TAG_BYTES));
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TAGLEN))
        return param_set_size(param, TAG_BYTES);
    return !is_key(param, OSSL_CIPHER_PARAM_KEYLEN) || param_set_size(param, siv->key_bytes);
}

static int get_params(void *context, OSSL_PARAM params[])
{
    struct gcm_siv *siv = context;

    for (; params && params->key; params++)
        if (!get_param(siv, params))
            return FAIL(siv, PROV_R_FAILED_TO_SET_PARAMETER);
    return 1;
}

static const OSSL_PARAM *gettable(void *context, void *provider)
{
    static const OSSL_PARAM names[] = {
        PARAM_SIZE(OSSL_CIPHER_PARAM_KEYLEN), PARAM_SIZE(OSSL_CIPHER_PARAM_AEAD_TAGLEN),
        PARAM_BYTES(OSSL_CIPHER_PARAM_AEAD_TAG), PARAM_END};

    (void)context, (void)provider;
    return names;
}

static const OSSL_PARAM *settable(void *context, void *provider)
{
    static const OSSL_PARAM names[] = {
        PARAM_SIZE(OSSL_CIPHER_PARAM_KEYLEN), PARAM_UINT(OSSL_CIPHER_PARAM_SPEED),
        PARAM_BYTES(OSSL_CIPHER_PARAM_AEAD_TAG), PARAM_END};

    (void)context, (void)provider;
    return names;
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

/* Each call begins a message, also without a new key or nonce. */
static int init(void *context, const uint8_t *key, size_t key_bytes, const uint8_t *nonce,
                size_t nonce_bytes, const OSSL_PARAM params[], int seals)
{
    struct gcm_siv *siv = context;
    const struct provider *provider = siv->provider;

    siv->seals = (uint8_t)seals;
    siv->message = NO_TEXT;
    siv->aad_bytes = 0;
    siv->tag_is_made = siv->is_forged = 0;
    if (key) {
        if (key_bytes != siv->key_bytes)
            return FAIL(siv, PROV_R_INVALID_KEY_LENGTH);
        siv->key_is_set =
            evc_gcm_siv_set_key_in(context_key(siv, sizeof *siv), provider->gcm_siv_key_bytes,
                                   provider->parallel, provider->ghash, key,
                                   8u * siv->key_bytes) == EVC_OK;
        if (!siv->key_is_set)
            return 0;
    }
    if (nonce) {
        if (nonce_bytes != NONCE_BYTES)
            return FAIL(siv, PROV_R_INVALID_IV_LENGTH);
        memcpy(siv->nonce, nonce, NONCE_BYTES);
        siv->nonce_is_set = 1;
    }
    return set_params(context, params);
}

AEAD_INITS

/* ---- Messages -------------------------------------------------------------------------------- */

/* Memory for n bytes more. */
static int grow_aad(struct gcm_siv *siv, size_t n)
{
    struct bytes more = {NULL, 0};

    if (n > EVC_GCM_SIV_MAX_BYTES - siv->aad_bytes)
        return 0;
    if (siv->aad.n - siv->aad_bytes >= n)
        return 1;
    if (!bytes_new(siv->provider, &more, 2 * siv->aad_bytes + n))
        return 0;
    if (siv->aad_bytes)
        memcpy(more.at, siv->aad.at, siv->aad_bytes);
    bytes_free(siv->provider, &siv->aad);
    siv->aad = more;
    return 1;
}

/* No bytes take back those of before, as in OpenSSL's own. */
static int take_aad(struct gcm_siv *siv, const uint8_t *aad, size_t n)
{
    if (n == 0) {
        if (siv->message == NO_TEXT || siv->is_fast)
            siv->aad_bytes = 0;
        return 1;
    }
    if (siv->message != NO_TEXT || !grow_aad(siv, n))
        return 0;
    memcpy(siv->aad.at + siv->aad_bytes, aad, n);
    siv->aad_bytes += n;
    return 1;
}

static int take_text(struct gcm_siv *siv, const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    const struct provider *provider = siv->provider;
    uint8_t *scratch = (uint8_t *)context_key(siv, sizeof *siv) + provider->gcm_siv_key_bytes;
    const size_t scratch_bytes = provider->gcm_siv_scratch_bytes;
    enum evc_status status;

    if (siv->message == FAILED || (siv->message == HAS_TEXT && !siv->is_fast))
        return 0;
    if (!siv->seals && !siv->tag_is_set)
        return FAIL(siv, PROV_R_TAG_NOT_SET);
    siv->message = HAS_TEXT;
    if (siv->seals) {
        status = evc_gcm_siv_seal(key_of(siv), siv->nonce, NONCE_BYTES, siv->aad.at, siv->aad_bytes,
                                  in, out, len_bytes, siv->made, TAG_BYTES, scratch, scratch_bytes);
        siv->tag_is_made = status == EVC_OK;
        return siv->tag_is_made;
    }
    status = evc_gcm_siv_open(key_of(siv), siv->nonce, NONCE_BYTES, siv->aad.at, siv->aad_bytes, in,
                              out, len_bytes, siv->expected, TAG_BYTES, scratch, scratch_bytes);
    siv->is_forged |= status != EVC_OK;
    return status == EVC_OK || status == EVC_ERR_TAG; /* then `out` is zeros */
}

static int finish(struct gcm_siv *siv)
{
    const int has_text = siv->message == HAS_TEXT || take_text(siv, NULL, NULL, 0),
              is_forged = siv->is_forged;

    siv->is_forged = 0;
    return has_text && (siv->seals ? siv->tag_is_made : !is_forged);
}

/* No `in`: the end of the message. No `out`: associated data. */
static int cipher(void *context, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                  size_t len_bytes)
{
    struct gcm_siv *siv = context;
    int done;

    *written = 0;
    if (room < len_bytes)
        return FAIL(siv, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
    if (!siv->key_is_set || !siv->nonce_is_set || (!in && len_bytes))
        done = 0;
    else if (!in)
        done = finish(siv);
    else
        done = out ? take_text(siv, in, out, len_bytes) : take_aad(siv, in, len_bytes);
    if (!done) {
        siv->tag_is_made = 0;
        siv->message = FAILED;
        return 0;
    }
    *written = len_bytes;
    return 1;
}

static int update(void *context, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                  size_t len_bytes)
{
    return cipher(context, out, written, room, in, len_bytes) ||
           FAIL((struct gcm_siv *)context, PROV_R_CIPHER_OPERATION_FAILED);
}

static int final(void *context, uint8_t *out, size_t *written, size_t room)
{
    return cipher(context, out, written, room, NULL, 0);
}

AEAD_TABLE(MODE_GCM_SIV, gcm_siv, 128);
AEAD_TABLE(MODE_GCM_SIV, gcm_siv, 256);
