/* SPDX-License-Identifier: MIT */
/*
 * AES-GCM for OpenSSL: messages in pieces, and records of TLS 1.2 in one call.
 *
 * An IV is kept until the first data comes, since the key may be set after it. Tags have
 * the lengths of SP 800-38D.
 */
#include "aead.h"

enum iv_state { NO_IV, IV_KEPT, IV_STARTED, IV_USED };
enum {
    MAX_IV_BYTES = 128,
    TAG_BYTES = 16,
    TLS_AAD_BYTES = 13,
    TLS_IV_BYTES = 8,
    TLS_FIXED_BYTES = 4
};
enum { COUNTER_BYTES = 8 }; /* the end of an IV that counts */

struct gcm {
    const struct provider *provider;
    size_t iv_bytes, tag_bytes; /* tag_bytes 0: none is known */
    size_t tls_extra;           /* what a record of TLS 1.2 grows by */
    uint64_t tls_records;
    struct evc_gcm_state state;
    uint8_t key_bytes, key_is_set, seals, iv_state;
    uint8_t iv_counts, iv_is_random; /* the IV is fixed in part and then
                                      * counted; it was made here */
    uint8_t iv_is_spent;             /* a message was sealed under the IV, which has
                                      * not been counted since */
    uint8_t tls_aad_is_set, tls_aad[TLS_AAD_BYTES], tag[TAG_BYTES];
    uint8_t iv[MAX_IV_BYTES];
};

static const union evc_gcm_key *key_of(const struct gcm *gcm)
{
    return context_key(gcm, sizeof *gcm);
}

static void *new(const struct provider *provider, uint8_t key_bytes)
{
    struct gcm *gcm = context_new(provider, sizeof *gcm, provider->gcm_key_bytes);

    if (!gcm)
        return NULL;
    gcm->key_bytes = key_bytes;
    gcm->iv_bytes = 12;
    return gcm;
}

static void *copy(void *context)
{
    const struct gcm *gcm = context;

    return context_copy(gcm, sizeof *gcm, gcm->provider->gcm_key_bytes);
}

static void release(void *context)
{
    struct gcm *gcm = context;

    if (gcm)
        context_free(gcm, sizeof *gcm, gcm->provider->gcm_key_bytes);
}

/* ---- IVs ------------------------------------------------------------------------------------- */

static int make_iv(struct gcm *gcm)
{
    if (!gcm->seals || gcm->iv_bytes < 12 || !random_bytes(gcm->iv, gcm->iv_bytes))
        return 0;
    gcm->iv_state = IV_KEPT;
    gcm->iv_is_random = 1;
    return 1;
}

static int start(struct gcm *gcm)
{
    if (evc_gcm_start(key_of(gcm), &gcm->state, gcm->iv, gcm->iv_bytes) != EVC_OK)
        return 0;
    gcm->iv_state = IV_STARTED;
    if (gcm->seals)
        gcm->tag_bytes = 0; /* the tag is that of the message before */
    return 1;
}

static void count_up(struct gcm *gcm)
{
    uint8_t *counter = gcm->iv + gcm->iv_bytes - COUNTER_BYTES;

    for (int i = COUNTER_BYTES; i-- && ++counter[i] == 0;)
        ;
    gcm->iv_is_spent = 0;
}

/* Whether there is an IV that counts; the next one is in gcm->iv. */
static int find_next_iv(struct gcm *gcm)
{
    if (!gcm->iv_counts || gcm->iv_bytes < COUNTER_BYTES || !gcm->key_is_set)
        return 0;
    if (gcm->iv_is_spent)
        count_up(gcm);
    return 1;
}

/* Starts the next message, and writes the last n bytes of its IV to `told`. */
static int next_iv(struct gcm *gcm, uint8_t *told, size_t n)
{
    if (!find_next_iv(gcm) || !start(gcm))
        return 0;
    if (n == 0 || n > gcm->iv_bytes)
        n = gcm->iv_bytes;
    memcpy(told, gcm->iv + gcm->iv_bytes - n, n);
    count_up(gcm);
    return 1;
}

static int set_end_of_iv(struct gcm *gcm, const uint8_t *end, size_t n)
{
    if (!gcm->iv_counts || !gcm->key_is_set || gcm->seals || n > gcm->iv_bytes)
        return 0;
    memcpy(gcm->iv + gcm->iv_bytes - n, end, n);
    return start(gcm);
}

static int set_fixed_iv(struct gcm *gcm, const uint8_t *fixed, size_t n)
{
    if (n == (size_t)-1) { /* the whole IV: EVP_CTRL_GCM_SET_IV_FIXED with -1 */
        memcpy(gcm->iv, fixed, gcm->iv_bytes);
    } else {
        if (n < TLS_FIXED_BYTES || gcm->iv_bytes < n + TLS_IV_BYTES)
            return 0;
        memcpy(gcm->iv, fixed, n);
        if (gcm->seals && !random_bytes(gcm->iv + n, gcm->iv_bytes - n))
            return 0;
        gcm->iv_is_random |= gcm->seals;
    }
    gcm->iv_counts = 1;
    gcm->iv_is_spent = 0;
    gcm->iv_state = IV_KEPT;
    return 1;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static int set_tls_aad(struct gcm *gcm, const uint8_t *aad, size_t n)
{
    size_t len_bytes;

    if (n != TLS_AAD_BYTES)
        return 0;
    len_bytes = (size_t)aad[11] << 8 | aad[12];
    if (len_bytes < TLS_IV_BYTES + (gcm->seals ? 0u : TAG_BYTES))
        return 0;
    len_bytes -= TLS_IV_BYTES + (gcm->seals ? 0u : TAG_BYTES);
    memcpy(gcm->tls_aad, aad, TLS_AAD_BYTES);
    gcm->tls_aad[11] = (uint8_t)(len_bytes >> 8);
    gcm->tls_aad[12] = (uint8_t)len_bytes;
    gcm->tls_aad_is_set = 1;
    gcm->tls_extra = TAG_BYTES;
    return 1;
}

static int set_tag(struct gcm *gcm, const uint8_t *tag, size_t n)
{
    if (!tag || gcm->seals || n > TAG_BYTES || (n < 12 && n != 8 && n != 4))
        return 0;
    memcpy(gcm->tag, tag, n);
    gcm->tag_bytes = n;
    return 1;
}

static int set_iv_bytes(struct gcm *gcm, size_t n)
{
    if (n == 0 || n > MAX_IV_BYTES)
        return 0;
    if (n != gcm->iv_bytes && gcm->iv_state != NO_IV)
        gcm->iv_state = IV_USED; /* an IV of the old length is none */
    gcm->iv_bytes = n;
    return 1;
}

static int set_param(struct gcm *gcm, const OSSL_PARAM *param)
{
    const int is_bytes = param->data_type == OSSL_PARAM_OCTET_STRING;
    size_t n;

    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TAG))
        return (is_bytes && set_tag(gcm, param->data, param->data_size)) ||
               FAIL(gcm, PROV_R_INVALID_TAG);
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_IVLEN))
        return (param_get_size(param, &n) && set_iv_bytes(gcm, n)) ||
               FAIL(gcm, PROV_R_INVALID_IV_LENGTH);
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD))
        return (is_bytes && param->data && set_tls_aad(gcm, param->data, param->data_size))
               || FAIL(gcm, PROV_R_INVALID_AAD);
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED))
        return (is_bytes && param->data && set_fixed_iv(gcm, param->data, param->data_size))
               || FAIL(gcm, PROV_R_FAILED_TO_GET_PARAMETER);
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV))
        return is_bytes && param->data && set_end_of_iv(gcm, param->data, param->data_size);
    return 1;
}

static int set_params(void *context, const OSSL_PARAM params[])
{
    for (; params && params->key; params++)
        if (!set_param(context, params))
            return 0;
    return 1;
}

static int get_iv(struct gcm *gcm, OSSL_PARAM *param)
{
    if (gcm->iv_state == NO_IV && (gcm->tls_aad_is_set || !make_iv(gcm)))
        return 0;
    return param_set_bytes(param, gcm->iv, gcm->iv_bytes) || FAIL(gcm, PROV_R_INVALID_IV_LENGTH);
}

static int get_tag(const struct gcm *gcm, OSSL_PARAM *param)
{
    const size_t n = param->data_size;

    if (!gcm->seals || !gcm->tag_bytes || (param->data && (n == 0 || n > TAG_BYTES)))
        return FAIL(gcm, PROV_R_INVALID_TAG);
    return (param->data_type == OSSL_PARAM_OCTET_STRING && param_set_bytes(param, gcm->tag, n))
           || FAIL(gcm, PROV_R_FAILED_TO_SET_PARAMETER);
}

static int get_param(struct gcm *gcm, OSSL_PARAM *param)
{
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TAG))
        return get_tag(gcm, param);
    if (is_key(param, OSSL_CIPHER_PARAM_IVLEN))
        return param_set_size(param, gcm->iv_bytes);
    if (is_key(param, OSSL_CIPHER_PARAM_KEYLEN))
        return param_set_size(param, gcm->key_bytes);
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TAGLEN))
        return param_set_size(param, gcm->tag_bytes ? gcm->tag_bytes : TAG_BYTES);
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD))
        return param_set_size(param, gcm->tls_extra);
    if (is_key(param, OSSL_CIPHER_PARAM_IV) || is_key(param, OSSL_CIPHER_PARAM_UPDATED_IV))
        return get_iv(gcm, param);
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TLS1_GET_IV_GEN)) {
        if (!param->data || param->data_type != OSSL_PARAM_OCTET_STRING)
            return 0;
        return next_iv(gcm, param->data, param->data_size);
    }
    if (is_key(param, "iv-generated")) /* of OpenSSL 3.5 */
        return param_set_size(param, gcm->iv_is_random);
    return 1;
}

static int get_params(void *context, OSSL_PARAM params[])
{
    for (; params && params->key; params++)
        if (!get_param(context, params))
            return FAIL((struct gcm *)context, PROV_R_FAILED_TO_SET_PARAMETER);
    return 1;
}

static const OSSL_PARAM *gettable(void *context, void *provider)
{
    static const OSSL_PARAM names[] = {
        AEAD_GETTABLE,
        PARAM_BYTES(OSSL_CIPHER_PARAM_AEAD_TLS1_GET_IV_GEN),
        PARAM_UINT("iv-generated"),
        PARAM_END,
    };

    (void)context, (void)provider;
    return names;
}

static const OSSL_PARAM *settable(void *context, void *provider)
{
    static const OSSL_PARAM names[] = {
        AEAD_SETTABLE,
        PARAM_BYTES(OSSL_CIPHER_PARAM_AEAD_TLS1_SET_IV_INV),
        PARAM_END,
    };

    (void)context, (void)provider;
    return names;
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

static void end_message(struct gcm *gcm)
{
    if (gcm->iv_state == IV_STARTED) {
        evc_wipe(&gcm->state, sizeof gcm->state);
        gcm->iv_state = IV_USED;
    }
}

static int set_key(struct gcm *gcm, const uint8_t *user_key)
{
    const struct provider *provider = gcm->provider;
    void *key = context_key(gcm, sizeof *gcm);
    const size_t key_bytes = provider->gcm_key_bytes;
    const unsigned key_bits = 8u * gcm->key_bytes;
    const enum evc_status status =
        provider->gcm ? evc_gcm_set_key_in(key, key_bytes, provider->gcm, user_key, key_bits)
                      : evc_gcm_set_pair_in(key, key_bytes, provider->parallel, provider->ghash,
                                            user_key, key_bits);

    gcm->key_is_set = status == EVC_OK && evc_gcm_allow_short_tags(key) == EVC_OK;
    gcm->iv_is_spent = 0;
    gcm->tls_records = 0;
    end_message(gcm); /* a message of the old key cannot go on */
    return gcm->key_is_set;
}

static int init(void *context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                size_t iv_bytes, const OSSL_PARAM params[], int seals)
{
    struct gcm *gcm = context;

    if (gcm->seals != seals) {
        gcm->tag_bytes = 0; /* a tag to compare with is not one that was made */
        end_message(gcm);
        gcm->seals = (uint8_t)seals;
    }
    if (key) {
        if (key_bytes != gcm->key_bytes)
            return FAIL(gcm, PROV_R_INVALID_KEY_LENGTH);
        if (!set_key(gcm, key))
            return 0;
    }
    if (iv) {
        if (iv_bytes == 0 || iv_bytes > MAX_IV_BYTES)
            return FAIL(gcm, PROV_R_INVALID_IV_LENGTH);
        gcm->iv_bytes = iv_bytes;
        memcpy(gcm->iv, iv, iv_bytes);
        gcm->iv_state = IV_KEPT;
        gcm->iv_is_random = gcm->iv_is_spent = 0;
    }
    return set_params(context, params);
}

AEAD_INITS

/* ---- Messages -------------------------------------------------------------------------------- */

/* A record of TLS 1.2 in its place: 8 bytes of the IV, text, tag. Returns whether it
 * succeeded; *written is set. */
static int crypt_record(struct gcm *gcm, uint8_t *record, size_t len_bytes, size_t *written)
{
    uint8_t iv[MAX_IV_BYTES], *text = record + TLS_IV_BYTES;
    const size_t text_bytes = len_bytes - TLS_IV_BYTES - TAG_BYTES;
    enum evc_status status;

    if (gcm->seals) {
        if (++gcm->tls_records == 0)
            return FAIL(gcm, PROV_R_TOO_MANY_RECORDS);
        memcpy(iv, gcm->iv, gcm->iv_bytes);
        memcpy(record, iv + gcm->iv_bytes - TLS_IV_BYTES, TLS_IV_BYTES);
        count_up(gcm);
        status = evc_gcm_seal(key_of(gcm), iv, gcm->iv_bytes, gcm->tls_aad, TLS_AAD_BYTES, text,
                              text, text_bytes, text + text_bytes, TAG_BYTES);
    } else {
        memcpy(gcm->iv + gcm->iv_bytes - TLS_IV_BYTES, record, TLS_IV_BYTES);
        status = evc_gcm_open(key_of(gcm), gcm->iv, gcm->iv_bytes, gcm->tls_aad, TLS_AAD_BYTES,
                              text, text, text_bytes, text + text_bytes, TAG_BYTES);
    }
    *written = gcm->seals ? len_bytes : text_bytes;
    return status == EVC_OK;
}

static int crypt_tls(struct gcm *gcm, uint8_t *out, size_t *written, const uint8_t *in,
                     size_t len_bytes)
{
    const int fits = in && in == out && len_bytes >= TLS_IV_BYTES + TAG_BYTES && find_next_iv(gcm);
    const int done = fits && crypt_record(gcm, out, len_bytes, written);

    gcm->iv_state = IV_USED;
    gcm->tls_aad_is_set = 0;
    if (!done)
        *written = 0;
    return done;
}

static int begin_message(struct gcm *gcm)
{
    if (!gcm->key_is_set || gcm->iv_state == IV_USED)
        return 0;
    if ((gcm->iv_state == NO_IV && !make_iv(gcm)) || !start(gcm))
        return 0;
    gcm->iv_is_spent = gcm->seals;
    return 1;
}

/* Whether data can come now. */
static inline int begin(struct gcm *gcm)
{
    return gcm->iv_state == IV_STARTED || begin_message(gcm);
}

static int finish(struct gcm *gcm)
{
    enum evc_status status;

    if (!gcm->seals && !gcm->tag_bytes)
        return FAIL(gcm, PROV_R_TAG_NOT_SET);
    if (!begin(gcm))
        return 0;
    if (gcm->seals) {
        status = evc_gcm_seal_finish(key_of(gcm), &gcm->state, gcm->tag, TAG_BYTES);
        gcm->tag_bytes = TAG_BYTES;
    } else {
        status = evc_gcm_open_finish(key_of(gcm), &gcm->state, gcm->tag, gcm->tag_bytes);
    }
    gcm->iv_state = IV_USED;
    return status == EVC_OK;
}

/* No in: the end. No out: associated data. Inlined, as each caller needs a part of it. */
__attribute__((always_inline)) static inline int crypt(struct gcm *gcm, uint8_t *out,
                                                       size_t *written, const uint8_t *in,
                                                       size_t len_bytes)
{
    enum evc_status status;

    *written = 0;
    if (gcm->tls_aad_is_set)
        return crypt_tls(gcm, out, written, in, len_bytes);
    if (!in)
        return finish(gcm);
    if (len_bytes == 0) /* an empty text does not end the associated data */
        return 1;
    if (!begin(gcm))
        return 0;
    if (!out)
        status = evc_gcm_aad(key_of(gcm), &gcm->state, in, len_bytes);
    else if (gcm->seals)
        status = evc_gcm_seal_update(key_of(gcm), &gcm->state, in, out, len_bytes);
    else
        status = evc_gcm_open_update(key_of(gcm), &gcm->state, in, out, len_bytes);
    if (status != EVC_OK) {
        end_message(gcm); /* the call for its end may be the only one that a program checks */
        return 0;
    }
    *written = len_bytes;
    return 1;
}

static int update(void *context, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                  size_t len_bytes)
{
    struct gcm *gcm = context;

    *written = 0;
    if (len_bytes == 0)
        return 1;
    if (room < len_bytes)
        return FAIL(gcm, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
    return (in && crypt(gcm, out, written, in, len_bytes)) ||
           FAIL(gcm, PROV_R_CIPHER_OPERATION_FAILED);
}

static int final(void *context, uint8_t *out, size_t *written, size_t room)
{
    (void)room;
    return crypt(context, out, written, NULL, 0);
}

static int cipher(void *context, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                  size_t len_bytes)
{
    struct gcm *gcm = context;
    size_t ignored;

    if (room < len_bytes)
        return FAIL(gcm, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
    if (!crypt(gcm, out, &ignored, in, len_bytes))
        return 0;
    *written = len_bytes;
    return 1;
}

AEAD_TABLE(MODE_GCM, gcm, 128);
AEAD_TABLE(MODE_GCM, gcm, 192);
AEAD_TABLE(MODE_GCM, gcm, 256);
