/* SPDX-License-Identifier: MIT */
/*
 * AES in ECB, CBC and CTR for OpenSSL. ECB and CBC work on whole blocks, hold back what is no
 * whole block, and add and remove padding; CBC also does the records of TLS before 1.3, if it is
 * told the version of TLS.
 */
#include <openssl/prov_ssl.h>

#include "provider.h"

enum { BLOCK_BYTES = 16 };

struct blocks {
    const struct provider *provider;
    struct evc_aes_ctr ctr;
    size_t held_bytes, tls_mac_bytes;
    unsigned mode, tls_version;
    uint8_t key_bytes, key_is_set, encrypts, pads, tls_mac_is_set, iv_is_set;
    uint8_t first_iv[BLOCK_BYTES], iv[BLOCK_BYTES], held[BLOCK_BYTES], tls_mac[TLS_MAX_MAC_BYTES];
};

static const union evc_aes_key *key_of(const struct blocks *blocks)
{
    return context_key(blocks, sizeof *blocks);
}

static void *new(const struct provider *provider, unsigned mode, uint8_t key_bytes)
{
    struct blocks *blocks = context_new(provider, sizeof *blocks, provider->aes_key_bytes);

    if (!blocks)
        return NULL;
    blocks->mode = mode;
    blocks->key_bytes = key_bytes;
    blocks->pads = 1;
    /* as by OpenSSL, an IV that was not set is zeros */
    if (evc_aes_ctr_start(&blocks->ctr, blocks->iv) != EVC_OK) {
        context_free(blocks, sizeof *blocks, provider->aes_key_bytes);
        return NULL;
    }
    return blocks;
}

static void *copy(void *context)
{
    const struct blocks *blocks = context;

    return context_copy(blocks, sizeof *blocks, blocks->provider->aes_key_bytes);
}

static void release(void *context)
{
    struct blocks *blocks = context;

    if (blocks)
        context_free(blocks, sizeof *blocks, blocks->provider->aes_key_bytes);
}

static size_t iv_bytes_of(const struct blocks *blocks)
{
    return blocks->mode == MODE_ECB ? 0 : BLOCK_BYTES;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

/* How many bytes of a block of key stream are used, for programs that keep
 * this state themselves. */
static int set_used(struct blocks *blocks, size_t n)
{
    if (blocks->mode != MODE_CTR)
        return n < BLOCK_BYTES;
    if (n >= BLOCK_BYTES)
        return 0;
    blocks->ctr.left = (uint32_t)(BLOCK_BYTES - n) % BLOCK_BYTES;
    return 1;
}

static int set_param(struct blocks *blocks, const OSSL_PARAM *param)
{
    const int is_padding = is_key(param, OSSL_CIPHER_PARAM_PADDING),
              is_num = is_key(param, OSSL_CIPHER_PARAM_NUM);
    const int is_version = is_key(param, OSSL_CIPHER_PARAM_TLS_VERSION);
    const int is_mac_size = is_key(param, OSSL_CIPHER_PARAM_TLS_MAC_SIZE);
    size_t n;

    if (!is_padding && !is_num && !is_version && !is_mac_size)
        return 1;
    if (!param_get_size(param, &n) || (is_num && !set_used(blocks, n))
        || (is_version && n > 0xFFFF) || (is_mac_size && n > TLS_MAX_MAC_BYTES))
        return FAIL(blocks, PROV_R_FAILED_TO_GET_PARAMETER);
    if (is_padding)
        blocks->pads = n != 0;
    if (is_version && blocks->mode == MODE_CBC)
        blocks->tls_version = (unsigned)n;
    if (is_mac_size)
        blocks->tls_mac_bytes = n;
    return 1;
}

static int set_params(void *context, const OSSL_PARAM params[])
{
    for (; params && params->key; params++)
        if (!set_param(context, params))
            return 0;
    return 1;
}

static int get_param(const struct blocks *blocks, OSSL_PARAM *param)
{
    if (is_key(param, OSSL_CIPHER_PARAM_IVLEN))
        return param_set_size(param, iv_bytes_of(blocks));
    if (is_key(param, OSSL_CIPHER_PARAM_KEYLEN))
        return param_set_size(param, blocks->key_bytes);
    if (is_key(param, OSSL_CIPHER_PARAM_PADDING))
        return param_set_size(param, blocks->pads);
    if (is_key(param, OSSL_CIPHER_PARAM_NUM))
        return param_set_size(param, (BLOCK_BYTES - blocks->ctr.left) % BLOCK_BYTES);
    if (is_key(param, OSSL_CIPHER_PARAM_IV))
        return param_set_bytes(param, blocks->first_iv, iv_bytes_of(blocks));
    if (is_key(param, OSSL_CIPHER_PARAM_UPDATED_IV))
        return param_set_bytes(param, blocks->mode == MODE_CTR ? blocks->ctr.counter : blocks->iv,
                               iv_bytes_of(blocks));
    if (is_key(param, OSSL_CIPHER_PARAM_TLS_MAC)) {
        if (param->data_type != OSSL_PARAM_OCTET_PTR)
            return 0;
        return param_set_bytes(param, blocks->tls_mac_is_set ? blocks->tls_mac : NULL,
                               blocks->tls_mac_bytes);
    }
    return 1;
}

static int get_params(void *context, OSSL_PARAM params[])
{
    const struct blocks *blocks = context;

    for (; params && params->key; params++)
        if (!get_param(blocks, params))
            return FAIL(blocks, PROV_R_FAILED_TO_SET_PARAMETER);
    return 1;
}

const OSSL_PARAM *cipher_gettable(void *context, void *provider)
{
    static const OSSL_PARAM names[] = {
        PARAM_SIZE(OSSL_CIPHER_PARAM_KEYLEN),  PARAM_SIZE(OSSL_CIPHER_PARAM_IVLEN),
        PARAM_UINT(OSSL_CIPHER_PARAM_PADDING), PARAM_UINT(OSSL_CIPHER_PARAM_NUM),
        PARAM_BYTES(OSSL_CIPHER_PARAM_IV),     PARAM_BYTES(OSSL_CIPHER_PARAM_UPDATED_IV),
        PARAM_POINTER(OSSL_CIPHER_PARAM_TLS_MAC), PARAM_END,
    };

    (void)context, (void)provider;
    return names;
}

const OSSL_PARAM *cipher_settable(void *context, void *provider)
{
    static const OSSL_PARAM names[] = {
        PARAM_UINT(OSSL_CIPHER_PARAM_PADDING),     PARAM_UINT(OSSL_CIPHER_PARAM_NUM),
        PARAM_UINT(OSSL_CIPHER_PARAM_USE_BITS),    PARAM_UINT(OSSL_CIPHER_PARAM_TLS_VERSION),
        PARAM_SIZE(OSSL_CIPHER_PARAM_TLS_MAC_SIZE), PARAM_END,
    };

    (void)context, (void)provider;
    return names;
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

static int set_iv(struct blocks *blocks, const uint8_t *iv, size_t iv_bytes)
{
    if (iv_bytes != BLOCK_BYTES)
        return FAIL(blocks, PROV_R_INVALID_IV_LENGTH);
    memcpy(blocks->first_iv, iv, BLOCK_BYTES);
    blocks->iv_is_set = 1;
    return evc_aes_ctr_start(&blocks->ctr, iv) == EVC_OK;
}

static int set_key(struct blocks *blocks, const uint8_t *user_key)
{
    const struct provider *provider = blocks->provider;
    void *key = context_key(blocks, sizeof *blocks);
    const size_t key_bytes = provider->aes_key_bytes;
    const unsigned key_bits = 8u * blocks->key_bytes;
    enum evc_status status;

    if (blocks->mode == MODE_CBC && blocks->encrypts)
        status = evc_aes_set_encrypt_key_in(key, key_bytes, provider->serial, user_key, key_bits);
    else if (blocks->mode == MODE_CTR || blocks->encrypts)
        status = evc_aes_set_encrypt_key_in(key, key_bytes, provider->parallel, user_key, key_bits);
    else
        status = evc_aes_set_key_in(key, key_bytes, provider->parallel, user_key, key_bits);
    blocks->key_is_set = status == EVC_OK;
    return blocks->key_is_set;
}

static int init(void *context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                size_t iv_bytes, const OSSL_PARAM params[], int encrypts)
{
    struct blocks *blocks = context;

    blocks->encrypts = (uint8_t)encrypts;
    blocks->held_bytes = 0;
    blocks->ctr.left = 0;
    if (iv && blocks->mode != MODE_ECB && !set_iv(blocks, iv, iv_bytes))
        return 0;
    if (blocks->iv_is_set)
        memcpy(blocks->iv, blocks->first_iv, BLOCK_BYTES);
    if (key) {
        if (key_bytes != blocks->key_bytes)
            return FAIL(blocks, PROV_R_INVALID_KEY_LENGTH);
        if (!set_key(blocks, key))
            return 0;
    }
    return set_params(context, params);
}

static int encrypt_init(void *context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                        size_t iv_bytes, const OSSL_PARAM params[])
{
    return init(context, key, key_bytes, iv, iv_bytes, params, 1);
}

static int decrypt_init(void *context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                        size_t iv_bytes, const OSSL_PARAM params[])
{
    return init(context, key, key_bytes, iv, iv_bytes, params, 0);
}

/* ---- CTR ------------------------------------------------------------------------------------- */

static int ctr_cipher(void *context, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                      size_t len_bytes)
{
    struct blocks *blocks = context;

    if (!blocks->key_is_set)
        return FAIL(blocks, PROV_R_NO_KEY_SET);
    if (room < len_bytes)
        return FAIL(blocks, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
    if (len_bytes &&
        (!in || !out ||
         evc_aes_ctr_update(key_of(blocks), &blocks->ctr, in, out, len_bytes) != EVC_OK))
        return FAIL(blocks, PROV_R_CIPHER_OPERATION_FAILED);
    *written = len_bytes;
    return 1;
}

static int ctr_final(void *context, uint8_t *out, size_t *written, size_t room)
{
    const struct blocks *blocks = context;

    (void)out, (void)room;
    *written = 0;
    return blocks->key_is_set || FAIL(blocks, PROV_R_NO_KEY_SET);
}

/* ---- ECB and CBC ----------------------------------------------------------------------------- */

/* Whole blocks. */
static int crypt(struct blocks *blocks, const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    const union evc_aes_key *key = key_of(blocks);
    enum evc_status status;

    if (!out)
        return FAIL(blocks, PROV_R_CIPHER_OPERATION_FAILED);
    if (blocks->mode == MODE_CBC)
        status = blocks->encrypts ? evc_aes_cbc_encrypt(key, blocks->iv, in, out, len_bytes)
                                  : evc_aes_cbc_decrypt(key, blocks->iv, in, out, len_bytes);
    else
        status = blocks->encrypts ? evc_aes_encrypt(key, in, out, len_bytes / BLOCK_BYTES)
                                  : evc_aes_decrypt(key, in, out, len_bytes / BLOCK_BYTES);
    return status == EVC_OK || FAIL(blocks, PROV_R_CIPHER_OPERATION_FAILED);
}

/* A record of TLS in its place: for TLS 1.1 and newer, and any DTLS, with the block of its IV. */
static int crypt_record(struct blocks *blocks, uint8_t *out, size_t *written, size_t room,
                        const uint8_t *in, size_t len_bytes)
{
    const int has_iv = blocks->tls_version != SSL3_VERSION && blocks->tls_version != TLS1_VERSION;
    const size_t iv_bytes = has_iv ? BLOCK_BYTES : 0;

    if (!in || in != out || room < len_bytes || !blocks->pads)
        return FAIL(blocks, PROV_R_CIPHER_OPERATION_FAILED);
    if (blocks->encrypts) {
        if (room < len_bytes + BLOCK_BYTES - len_bytes % BLOCK_BYTES)
            return FAIL(blocks, PROV_R_CIPHER_OPERATION_FAILED);
        len_bytes += tls_put_padding(out, len_bytes, blocks->tls_version);
    }
    if (len_bytes % BLOCK_BYTES || !crypt(blocks, in, out, len_bytes))
        return FAIL(blocks, PROV_R_CIPHER_OPERATION_FAILED);
    *written = len_bytes;
    if (blocks->encrypts)
        return 1;
    blocks->tls_mac_is_set = 0;
    if (len_bytes < iv_bytes)
        return FAIL(blocks, PROV_R_CIPHER_OPERATION_FAILED);
    *written = len_bytes - iv_bytes;
    if (!tls_take_padding(out + iv_bytes, written, blocks->tls_version, blocks->tls_mac,
                          blocks->tls_mac_bytes))
        return FAIL(blocks, PROV_R_CIPHER_OPERATION_FAILED);
    blocks->tls_mac_is_set = blocks->tls_mac_bytes != 0;
    return 1;
}

/* Take bytes into the block that is held; how many is returned. */
static size_t hold(struct blocks *blocks, const uint8_t *in, size_t len_bytes)
{
    const size_t free_bytes = BLOCK_BYTES - blocks->held_bytes;
    const size_t n = len_bytes < free_bytes ? len_bytes : free_bytes;

    if (n)
        memcpy(blocks->held + blocks->held_bytes, in, n);
    blocks->held_bytes += n;
    return n;
}

static int update(void *context, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                  size_t len_bytes)
{
    struct blocks *blocks = context;
    const int keeps_last = !blocks->encrypts && blocks->pads; /* it may be the padding */
    size_t n, done = 0;

    *written = 0;
    if (!blocks->key_is_set)
        return FAIL(blocks, PROV_R_NO_KEY_SET);
    if (blocks->tls_version)
        return crypt_record(blocks, out, written, room, in, len_bytes);
    if (!in && len_bytes)
        return FAIL(blocks, PROV_R_CIPHER_OPERATION_FAILED);
    if (blocks->held_bytes) {
        n = hold(blocks, in, len_bytes);
        in += n, len_bytes -= n;
    }
    if (blocks->held_bytes == BLOCK_BYTES && (len_bytes || !keeps_last)) {
        if (room < BLOCK_BYTES)
            return FAIL(blocks, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
        if (!crypt(blocks, blocks->held, out, BLOCK_BYTES))
            return 0;
        blocks->held_bytes = 0;
        done = BLOCK_BYTES;
    }
    n = len_bytes - len_bytes % BLOCK_BYTES;
    if (keeps_last && n && n == len_bytes)
        n -= BLOCK_BYTES;
    if (n) {
        if (room < done + n)
            return FAIL(blocks, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
        if (!crypt(blocks, in, out + done, n))
            return 0;
        in += n, len_bytes -= n, done += n;
    }
    (void)hold(blocks, in, len_bytes);
    *written = done;
    return 1;
}

static int encrypt_last(struct blocks *blocks, uint8_t *out, size_t *written, size_t room)
{
    const size_t missing = BLOCK_BYTES - blocks->held_bytes;

    if (!blocks->pads && blocks->held_bytes == 0)
        return 1;
    if (!blocks->pads && missing)
        return FAIL(blocks, PROV_R_WRONG_FINAL_BLOCK_LENGTH);
    memset(blocks->held + blocks->held_bytes, (int)missing, missing);
    blocks->held_bytes = BLOCK_BYTES;
    if (room < BLOCK_BYTES)
        return FAIL(blocks, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
    if (!crypt(blocks, blocks->held, out, BLOCK_BYTES))
        return 0;
    blocks->held_bytes = 0;
    *written = BLOCK_BYTES;
    return 1;
}

/* How many bytes of a decrypted last block are text; 16: its padding is wrong. Who calls this
 * learns it, as from any padding without authentication. */
static size_t text_in_last(const uint8_t block[BLOCK_BYTES])
{
    const size_t n = block[BLOCK_BYTES - 1];

    if (n == 0 || n > BLOCK_BYTES)
        return BLOCK_BYTES;
    for (size_t i = BLOCK_BYTES - n; i < BLOCK_BYTES; i++)
        if (block[i] != n)
            return BLOCK_BYTES;
    return BLOCK_BYTES - n;
}

static int decrypt_last(struct blocks *blocks, uint8_t *out, size_t *written, size_t room)
{
    size_t n = BLOCK_BYTES;

    if (blocks->held_bytes == 0 && !blocks->pads)
        return 1;
    if (blocks->held_bytes != BLOCK_BYTES)
        return FAIL(blocks, PROV_R_WRONG_FINAL_BLOCK_LENGTH);
    if (!crypt(blocks, blocks->held, blocks->held, BLOCK_BYTES))
        return 0;
    if (blocks->pads && (n = text_in_last(blocks->held)) == BLOCK_BYTES)
        return FAIL(blocks, PROV_R_BAD_DECRYPT);
    if (room < n || (n && !out))
        return FAIL(blocks, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
    if (n)
        memcpy(out, blocks->held, n);
    evc_wipe(blocks->held, sizeof blocks->held);
    blocks->held_bytes = 0;
    *written = n;
    return 1;
}

static int final(void *context, uint8_t *out, size_t *written, size_t room)
{
    struct blocks *blocks = context;

    *written = 0;
    if (!blocks->key_is_set)
        return FAIL(blocks, PROV_R_NO_KEY_SET);
    if (blocks->tls_version)
        return FAIL(blocks, PROV_R_CIPHER_OPERATION_FAILED);
    return blocks->encrypts ? encrypt_last(blocks, out, written, room)
                            : decrypt_last(blocks, out, written, room);
}

/* In one call, without padding. ECB leaves out what is no whole block, as OpenSSL's does. */
static int cipher(void *context, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                  size_t len_bytes)
{
    struct blocks *blocks = context;

    if (!blocks->key_is_set)
        return FAIL(blocks, PROV_R_NO_KEY_SET);
    if (room < len_bytes)
        return FAIL(blocks, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
    if (!crypt(blocks, in, out, len_bytes))
        return 0;
    *written = len_bytes;
    return 1;
}

#define BLOCKS(name, bits, mode, iv_bytes, block_bytes, update, final, cipher)                  \
    static void *new_##name##bits(void *provider)                                               \
    {                                                                                           \
        return new(provider, mode, bits / 8);                                                   \
    }                                                                                           \
    static int get_facts_##name##bits(OSSL_PARAM params[])                                      \
    {                                                                                           \
        return cipher_get_facts(                                                                \
            params, &(const struct cipher_facts){mode, bits / 8, iv_bytes, block_bytes, 0, 0}); \
    }                                                                                           \
    const OSSL_DISPATCH provider_##name##bits[] = {                                             \
        DISPATCH(OSSL_FUNC_CIPHER_NEWCTX, new_##name##bits),                                    \
        DISPATCH(OSSL_FUNC_CIPHER_FREECTX, release),                                            \
        DISPATCH(OSSL_FUNC_CIPHER_DUPCTX, copy),                                                \
        DISPATCH(OSSL_FUNC_CIPHER_ENCRYPT_INIT, encrypt_init),                                  \
        DISPATCH(OSSL_FUNC_CIPHER_DECRYPT_INIT, decrypt_init),                                  \
        DISPATCH(OSSL_FUNC_CIPHER_UPDATE, update),                                              \
        DISPATCH(OSSL_FUNC_CIPHER_FINAL, final),                                                \
        DISPATCH(OSSL_FUNC_CIPHER_CIPHER, cipher),                                              \
        DISPATCH(OSSL_FUNC_CIPHER_GET_PARAMS, get_facts_##name##bits),                          \
        DISPATCH(OSSL_FUNC_CIPHER_GETTABLE_PARAMS, cipher_fact_names),                          \
        DISPATCH(OSSL_FUNC_CIPHER_GET_CTX_PARAMS, get_params),                                  \
        DISPATCH(OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS, cipher_gettable),                  \
        DISPATCH(OSSL_FUNC_CIPHER_SET_CTX_PARAMS, set_params),                                  \
        DISPATCH(OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS, cipher_settable),                  \
        DISPATCH_END,                                                                           \
    }

BLOCKS(ecb, 128, MODE_ECB, 0, 16, update, final, cipher);
BLOCKS(ecb, 192, MODE_ECB, 0, 16, update, final, cipher);
BLOCKS(ecb, 256, MODE_ECB, 0, 16, update, final, cipher);
BLOCKS(cbc, 128, MODE_CBC, 16, 16, update, final, cipher);
BLOCKS(cbc, 192, MODE_CBC, 16, 16, update, final, cipher);
BLOCKS(cbc, 256, MODE_CBC, 16, 16, update, final, cipher);
BLOCKS(ctr, 128, MODE_CTR, 16, 1, ctr_cipher, ctr_final, ctr_cipher);
BLOCKS(ctr, 192, MODE_CTR, 16, 1, ctr_cipher, ctr_final, ctr_cipher);
BLOCKS(ctr, 256, MODE_CTR, 16, 1, ctr_cipher, ctr_final, ctr_cipher);
