/* SPDX-License-Identifier: MIT */
/*
 * AES-CCM for OpenSSL: the length of the text (if there are associated data), associated data in
 * one call, the text in one call; and records of TLS 1.2. CCM authenticates both lengths first, so
 * the message starts when the last of them is known.
 *
 * The call with the text checks the tag, or makes it. If no text came, the end of the message does
 * it, for an empty text. A call that fails ends the message. So the call for its end fails, too,
 * which may be the only one that a program checks.
 */
#include "aead.h"

/* A message goes from the left to the right. COMPLETE: all but the call for its end came. */
enum message_state { NO_MESSAGE, NONCE_KEPT, STARTED, COMPLETE };
enum { MAX_TAG_BYTES = 16, TLS_AAD_BYTES = 13, TLS_IV_BYTES = 8, TLS_FIXED_BYTES = 4 };

struct ccm {
    const struct provider *provider;
    size_t nonce_bytes, tag_bytes, tls_extra, text_bytes;
    struct evc_aes_ccm state;
    uint8_t key_bytes, key_is_set, seals, message, length_is_set;
    uint8_t tag_is_set; /* when opening by the program, when sealing by a complete message */
    uint8_t tls_aad_is_set, tls_aad_is_spent, tls_aad[TLS_AAD_BYTES], tag[MAX_TAG_BYTES], nonce[16];
};

static const struct evc_aes_ccm_key *key_of(const struct ccm *ccm)
{
    return context_key(ccm, sizeof *ccm);
}

static void *new(const struct provider *provider, uint8_t key_bytes)
{
    struct ccm *ccm = context_new(provider, sizeof *ccm, provider->ccm_key_bytes);

    if (!ccm)
        return NULL;
    ccm->key_bytes = key_bytes;
    ccm->nonce_bytes = 7;
    ccm->tag_bytes = 12;
    return ccm;
}

static void *copy(void *context)
{
    const struct ccm *ccm = context;

    return context_copy(ccm, sizeof *ccm, ccm->provider->ccm_key_bytes);
}

static void release(void *context)
{
    struct ccm *ccm = context;

    if (ccm)
        context_free(ccm, sizeof *ccm, ccm->provider->ccm_key_bytes);
}

static void set_message(struct ccm *ccm, enum message_state state)
{
    evc_wipe(&ccm->state, sizeof ccm->state);
    ccm->length_is_set = 0;
    ccm->message = (uint8_t)state;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static int set_tls_aad(struct ccm *ccm, const uint8_t *aad, size_t n)
{
    const size_t extra = TLS_IV_BYTES + (ccm->seals ? 0 : ccm->tag_bytes);
    size_t len_bytes;

    if (n != TLS_AAD_BYTES)
        return 0;
    len_bytes = (size_t)aad[11] << 8 | aad[12];
    if (len_bytes < extra)
        return 0;
    len_bytes -= extra;
    memcpy(ccm->tls_aad, aad, TLS_AAD_BYTES);
    ccm->tls_aad[11] = (uint8_t)(len_bytes >> 8);
    ccm->tls_aad[12] = (uint8_t)len_bytes;
    ccm->tls_aad_is_set = 1;
    ccm->tls_aad_is_spent = 0;
    ccm->tls_extra = ccm->tag_bytes;
    return 1;
}

/* The tag that is expected, or when sealing its length alone. */
static int set_tag(struct ccm *ccm, const OSSL_PARAM *param)
{
    const size_t n = param->data_size;

    if (param->data_type != OSSL_PARAM_OCTET_STRING)
        return FAIL(ccm, PROV_R_FAILED_TO_GET_PARAMETER);
    if (n % 2 || n < 4 || n > MAX_TAG_BYTES || (ccm->message == STARTED && n != ccm->tag_bytes))
        return FAIL(ccm, PROV_R_INVALID_TAG_LENGTH);
    if (param->data) {
        if (ccm->seals)
            return FAIL(ccm, PROV_R_TAG_NOT_NEEDED);
        memcpy(ccm->tag, param->data, n);
        ccm->tag_is_set = 1;
        if (ccm->message == COMPLETE) /* its tag was another one */
            set_message(ccm, NO_MESSAGE);
    } else if (n != ccm->tag_bytes) {
        ccm->tag_is_set = 0;
    }
    ccm->tag_bytes = n;
    return 1;
}

static int set_nonce_bytes(struct ccm *ccm, size_t n)
{
    if (n < 7 || n > 13)
        return 0;
    if (n != ccm->nonce_bytes)
        set_message(ccm, NO_MESSAGE);
    ccm->nonce_bytes = n;
    return 1;
}

static int set_param(struct ccm *ccm, const OSSL_PARAM *param)
{
    const int is_bytes = param->data_type == OSSL_PARAM_OCTET_STRING && param->data;
    size_t n;

    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TAG))
        return set_tag(ccm, param);
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_IVLEN))
        return (param_get_size(param, &n) && set_nonce_bytes(ccm, n)) ||
               FAIL(ccm, PROV_R_INVALID_IV_LENGTH);
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD))
        return (is_bytes && set_tls_aad(ccm, param->data, param->data_size)) ||
               FAIL(ccm, PROV_R_INVALID_DATA);
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED)) {
        if (!is_bytes || param->data_size != TLS_FIXED_BYTES)
            return FAIL(ccm, PROV_R_INVALID_IV_LENGTH);
        memcpy(ccm->nonce, param->data, TLS_FIXED_BYTES);
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

static int get_tag(struct ccm *ccm, OSSL_PARAM *param)
{
    if (!ccm->seals || !ccm->tag_is_set)
        return FAIL(ccm, PROV_R_TAG_NOT_SET);
    if (param->data_type != OSSL_PARAM_OCTET_STRING || !param->data ||
        param->data_size != ccm->tag_bytes)
        return FAIL(ccm, PROV_R_FAILED_TO_SET_PARAMETER);
    memcpy(param->data, ccm->tag, ccm->tag_bytes);
    param->return_size = ccm->tag_bytes;
    return 1;
}

/* All of the buffer may be asked for, which is longer than the nonce. */
static int get_nonce(const struct ccm *ccm, OSSL_PARAM *param)
{
    size_t n = param->data_size;

    if (n < ccm->nonce_bytes)
        return FAIL(ccm, PROV_R_INVALID_IV_LENGTH);
    n = n < sizeof ccm->nonce ? n : sizeof ccm->nonce;
    return param_set_bytes(param, ccm->nonce, n) || FAIL(ccm, PROV_R_FAILED_TO_SET_PARAMETER);
}

static int get_param(struct ccm *ccm, OSSL_PARAM *param)
{
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TAG))
        return get_tag(ccm, param);
    if (is_key(param, OSSL_CIPHER_PARAM_IV) || is_key(param, OSSL_CIPHER_PARAM_UPDATED_IV))
        return get_nonce(ccm, param);
    if (is_key(param, OSSL_CIPHER_PARAM_IVLEN))
        return param_set_size(param, ccm->nonce_bytes);
    if (is_key(param, OSSL_CIPHER_PARAM_KEYLEN))
        return param_set_size(param, ccm->key_bytes);
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TAGLEN))
        return param_set_size(param, ccm->tag_bytes);
    if (is_key(param, OSSL_CIPHER_PARAM_AEAD_TLS1_AAD_PAD))
        return param_set_size(param, ccm->tls_extra);
    return 1;
}

static int get_params(void *context, OSSL_PARAM params[])
{
    for (; params && params->key; params++)
        if (!get_param(context, params))
            return 0;
    return 1;
}

static const OSSL_PARAM *gettable(void *context, void *provider)
{
    static const OSSL_PARAM names[] = {
        AEAD_GETTABLE,
        PARAM_END,
    };

    (void)context, (void)provider;
    return names;
}

static const OSSL_PARAM *settable(void *context, void *provider)
{
    static const OSSL_PARAM names[] = {
        AEAD_SETTABLE,
        PARAM_END,
    };

    (void)context, (void)provider;
    return names;
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

static int init(void *context, const uint8_t *key, size_t key_bytes, const uint8_t *nonce,
                size_t nonce_bytes, const OSSL_PARAM params[], int seals)
{
    struct ccm *ccm = context;
    const struct provider *provider = ccm->provider;

    if (ccm->seals != seals)
        ccm->tag_is_set = 0; /* a tag to compare with is not one that was made */
    if (ccm->message == COMPLETE || (ccm->message == STARTED && (key || ccm->seals != seals)))
        set_message(ccm, NO_MESSAGE);
    ccm->seals = (uint8_t)seals;
    if (nonce) {
        if (nonce_bytes != ccm->nonce_bytes)
            return FAIL(ccm, PROV_R_INVALID_IV_LENGTH);
        memcpy(ccm->nonce, nonce, nonce_bytes);
        set_message(ccm, NONCE_KEPT);
    }
    if (key) {
        if (key_bytes != ccm->key_bytes)
            return FAIL(ccm, PROV_R_INVALID_KEY_LENGTH);
        ccm->length_is_set = 0;
        ccm->key_is_set =
            evc_aes_ccm_set_key_in(context_key(ccm, sizeof *ccm), provider->ccm_key_bytes,
                                   provider->parallel, provider->serial, key,
                                   8u * ccm->key_bytes) == EVC_OK &&
            evc_aes_ccm_allow_short_tags(context_key(ccm, sizeof *ccm)) == EVC_OK;
        if (!ccm->key_is_set)
            return 0;
    }
    return set_params(context, params);
}

AEAD_INITS

/* ---- Messages -------------------------------------------------------------------------------- */

/* A record of TLS 1.2 in its place: 8 bytes of the nonce, text, tag. */
static int crypt_record(struct ccm *ccm, uint8_t *record, size_t len_bytes, size_t *written)
{
    uint8_t *text = record + TLS_IV_BYTES;
    const size_t text_bytes = len_bytes - TLS_IV_BYTES - ccm->tag_bytes;
    enum evc_status status;

    if (ccm->seals)
        memcpy(record, ccm->tls_aad, TLS_IV_BYTES); /* the number of the record */
    memcpy(ccm->nonce + TLS_FIXED_BYTES, record, TLS_IV_BYTES);
    set_message(ccm, NO_MESSAGE); /* a nonce serves once, and so does the number */
    ccm->tls_aad_is_spent = ccm->seals;
    if (ccm->seals)
        status =
            evc_aes_ccm_seal(key_of(ccm), ccm->nonce, ccm->nonce_bytes, ccm->tls_aad, TLS_AAD_BYTES,
                             text, text, text_bytes, text + text_bytes, ccm->tag_bytes);
    else
        status =
            evc_aes_ccm_open(key_of(ccm), ccm->nonce, ccm->nonce_bytes, ccm->tls_aad, TLS_AAD_BYTES,
                             text, text, text_bytes, text + text_bytes, ccm->tag_bytes);
    if (status == EVC_OK)
        *written = ccm->seals ? len_bytes : text_bytes;
    return status == EVC_OK;
}

static int start(struct ccm *ccm, size_t aad_bytes)
{
    if (evc_aes_ccm_start(key_of(ccm), &ccm->state, ccm->nonce, ccm->nonce_bytes, aad_bytes,
                          ccm->text_bytes, ccm->tag_bytes) != EVC_OK)
        return 0;
    if (ccm->seals)
        ccm->tag_is_set = 0; /* that of the message before */
    ccm->message = STARTED;
    return 1;
}

/* Behind associated data a length may come again, if it is the same one. They are kept. */
static int take_length(struct ccm *ccm, size_t text_bytes)
{
    if (ccm->message == STARTED)
        return text_bytes == ccm->text_bytes;
    if (ccm->message != NONCE_KEPT)
        return 0;
    ccm->text_bytes = text_bytes;
    ccm->length_is_set = 1;
    return 1;
}

static int take_aad(struct ccm *ccm, const uint8_t *aad, size_t n)
{
    if (n == 0)
        return ccm->message == NONCE_KEPT || ccm->message == STARTED;
    return ccm->message == NONCE_KEPT && ccm->length_is_set && start(ccm, n)
           && evc_aes_ccm_aad(key_of(ccm), &ccm->state, aad, n) == EVC_OK;
}

static int seal_text(struct ccm *ccm, const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    if (evc_aes_ccm_seal_update(key_of(ccm), &ccm->state, in, out, len_bytes) != EVC_OK
        || evc_aes_ccm_seal_finish(key_of(ccm), &ccm->state, ccm->tag) != EVC_OK)
        return 0;
    ccm->tag_is_set = 1;
    return 1;
}

static int open_text(struct ccm *ccm, const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    if (evc_aes_ccm_open_update(key_of(ccm), &ccm->state, in, out, len_bytes) != EVC_OK)
        return 0;
    if (evc_aes_ccm_open_finish(key_of(ccm), &ccm->state, ccm->tag) != EVC_OK) {
        evc_wipe(out, len_bytes);
        return 0;
    }
    ccm->tag_is_set = 0;
    return 1;
}

static int take_text(struct ccm *ccm, const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    if (!ccm->length_is_set && !take_length(ccm, len_bytes))
        return 0;
    if (len_bytes != ccm->text_bytes)
        return 0;
    if (!ccm->seals && !ccm->tag_is_set)
        return FAIL(ccm, PROV_R_TAG_NOT_SET);
    if (ccm->message != STARTED && !start(ccm, 0))
        return 0;
    if (!(ccm->seals ? seal_text(ccm, in, out, len_bytes) : open_text(ccm, in, out, len_bytes)))
        return 0;
    set_message(ccm, COMPLETE); /* a nonce serves once */
    return 1;
}

/* The end of a message. If no text came, it has an empty one. */
static int finish(struct ccm *ccm)
{
    uint8_t nothing[1] = {0};

    return ccm->message == COMPLETE || take_text(ccm, nothing, nothing, 0);
}

/* Take a text, with `in` and `out`; associated data, with `in` alone; or the length of
 * the text, with neither. */
static int take(struct ccm *ccm, uint8_t *out, const uint8_t *in, size_t len_bytes)
{
    if (out && in)
        return take_text(ccm, in, out, len_bytes);
    if (in)
        return take_aad(ccm, in, len_bytes);
    if (!out)
        return take_length(ccm, len_bytes);
    if (len_bytes)
        return 0;
    /* An empty text at no address, or an empty piece before a text that was announced. */
    return (ccm->message != NO_MESSAGE && ccm->length_is_set && ccm->text_bytes) || finish(ccm);
}

static int crypt_tls(struct ccm *ccm, uint8_t *out, size_t *written, const uint8_t *in,
                     size_t len_bytes)
{
    return in && in == out && ccm->nonce_bytes >= TLS_FIXED_BYTES + TLS_IV_BYTES
           && len_bytes >= TLS_IV_BYTES + ccm->tag_bytes && !(ccm->seals && ccm->tls_aad_is_spent)
           && crypt_record(ccm, out, len_bytes, written);
}

/* End the message if a call for it failed. Returns `done`. */
static int kept(struct ccm *ccm, int done)
{
    if (!done)
        set_message(ccm, NO_MESSAGE);
    return done;
}

static int crypt(struct ccm *ccm, uint8_t *out, size_t *written, const uint8_t *in,
                 size_t len_bytes)
{
    *written = 0;
    if (ccm->key_is_set && ccm->tls_aad_is_set)
        return crypt_tls(ccm, out, written, in, len_bytes);
    if (!kept(ccm, ccm->key_is_set && take(ccm, out, in, len_bytes)))
        return 0;
    *written = len_bytes;
    return 1;
}

static int update(void *context, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                  size_t len_bytes)
{
    struct ccm *ccm = context;

    if (room < len_bytes)
        return FAIL(ccm, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
    return crypt(ccm, out, written, in, len_bytes) || FAIL(ccm, PROV_R_CIPHER_OPERATION_FAILED);
}

static int final(void *context, uint8_t *out, size_t *written, size_t room)
{
    struct ccm *ccm = context;

    (void)out, (void)room;
    *written = 0;
    return kept(ccm, ccm->key_is_set && !ccm->tls_aad_is_set && finish(ccm));
}

/* As OpenSSL calls it for EVP_Cipher. Without `in` it is the end of the message; a
 * length is then not zero. */
static int cipher(void *context, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                  size_t len_bytes)
{
    struct ccm *ccm = context;
    size_t ignored;

    if (room < len_bytes)
        return FAIL(ccm, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
    *written = len_bytes;
    return !in && !len_bytes ? final(context, out, &ignored, room)
                             : crypt(ccm, out, &ignored, in, len_bytes);
}

AEAD_TABLE(MODE_CCM, ccm, 128);
AEAD_TABLE(MODE_CCM, ccm, 192);
AEAD_TABLE(MODE_CCM, ccm, 256);
