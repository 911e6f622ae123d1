/* SPDX-License-Identifier: MIT */
/*
 * AES key wrap for OpenSSL, without and with padding (RFC 3394, RFC 5649). Each update is a whole
 * text. The library's functions have the IVs of the standards; with an IV that a program gives, the
 * chain of blocks is made here.
 */
#include "common/bytes.h"
#include "provider.h"

enum { IV_BYTES = 8, PAD_IV_BYTES = 4 };

struct wrap {
    const struct provider *provider;
    uint8_t key_bytes, key_is_set, wraps, pads, iv_is_set, iv[IV_BYTES];
};

static const union evc_aes_key *key_of(const struct wrap *wrap)
{
    return context_key(wrap, sizeof *wrap);
}

static void *new(const struct provider *provider, uint8_t key_bytes, uint8_t pads)
{
    struct wrap *wrap = context_new(provider, sizeof *wrap, provider->aes_key_bytes);

    if (!wrap)
        return NULL;
    wrap->key_bytes = key_bytes;
    wrap->pads = pads;
    return wrap;
}

static void *copy(void *context)
{
    const struct wrap *wrap = context;

    return context_copy(wrap, sizeof *wrap, wrap->provider->aes_key_bytes);
}

static void release(void *context)
{
    struct wrap *wrap = context;

    if (wrap)
        context_free(wrap, sizeof *wrap, wrap->provider->aes_key_bytes);
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static size_t iv_bytes_of(const struct wrap *wrap)
{
    return wrap->pads ? PAD_IV_BYTES : IV_BYTES;
}

static int set_params(void *context, const OSSL_PARAM params[])
{
    const struct wrap *wrap = context;
    const OSSL_PARAM *param = param_find(params, OSSL_CIPHER_PARAM_KEYLEN);
    size_t n;

    if (!param)
        return 1;
    if (!param_get_size(param, &n))
        return FAIL(wrap, PROV_R_FAILED_TO_GET_PARAMETER);
    return n == wrap->key_bytes || FAIL(wrap, PROV_R_INVALID_KEY_LENGTH);
}

static int get_param(const struct wrap *wrap, OSSL_PARAM *param)
{
    if (is_key(param, OSSL_CIPHER_PARAM_IVLEN))
        return param_set_size(param, iv_bytes_of(wrap));
    if (is_key(param, OSSL_CIPHER_PARAM_KEYLEN))
        return param_set_size(param, wrap->key_bytes);
    if (is_key(param, OSSL_CIPHER_PARAM_PADDING))
        return param_set_size(param, wrap->pads);
    if (is_key(param, OSSL_CIPHER_PARAM_NUM))
        return param_set_size(param, 0);
    if (is_key(param, OSSL_CIPHER_PARAM_IV) || is_key(param, OSSL_CIPHER_PARAM_UPDATED_IV))
        return param_set_bytes(param, wrap->iv, iv_bytes_of(wrap));
    return 1;
}

static int get_params(void *context, OSSL_PARAM params[])
{
    const struct wrap *wrap = context;

    for (; params && params->key; params++)
        if (!get_param(wrap, params))
            return FAIL(wrap, PROV_R_FAILED_TO_SET_PARAMETER);
    return 1;
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

static int set_key(struct wrap *wrap, const uint8_t *user_key)
{
    const struct provider *provider = wrap->provider;
    void *key = context_key(wrap, sizeof *wrap);
    const size_t key_bytes = provider->aes_key_bytes;
    const unsigned key_bits = 8u * wrap->key_bytes;
    const enum evc_status status =
        wrap->wraps
            ? evc_aes_set_encrypt_key_in(key, key_bytes, provider->serial, user_key, key_bits)
            : evc_aes_set_key_in(key, key_bytes, provider->serial, user_key, key_bits);

    wrap->key_is_set = status == EVC_OK;
    return wrap->key_is_set;
}

static int init(void *context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                size_t iv_bytes, const OSSL_PARAM params[], int wraps)
{
    struct wrap *wrap = context;

    wrap->wraps = (uint8_t)wraps;
    if (iv) {
        if (iv_bytes != iv_bytes_of(wrap))
            return FAIL(wrap, PROV_R_INVALID_IV_LENGTH);
        memcpy(wrap->iv, iv, iv_bytes);
        wrap->iv_is_set = 1;
    }
    if (key) {
        if (key_bytes != wrap->key_bytes)
            return FAIL(wrap, PROV_R_INVALID_KEY_LENGTH);
        if (!set_key(wrap, key))
            return 0;
    }
    return set_params(context, params);
}

static int wrap_init(void *context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                     size_t iv_bytes, const OSSL_PARAM params[])
{
    return init(context, key, key_bytes, iv, iv_bytes, params, 1);
}

static int unwrap_init(void *context, const uint8_t *key, size_t key_bytes, const uint8_t *iv,
                       size_t iv_bytes, const OSSL_PARAM params[])
{
    return init(context, key, key_bytes, iv, iv_bytes, params, 0);
}

/* ---- With a given IV ------------------------------------------------------------------------- */

/* The chain of RFC 3394 section 2.2 in the place of its n bytes: the first semiblock, then text.
 * One semiblock of text is one block (RFC 5649 section 4). */
static int chain(const struct wrap *wrap, uint8_t *first, size_t n)
{
    const uint64_t n_texts = n / 8 - 1, n_steps = 6 * n_texts;
    uint8_t block[16];
    int done = 1;

    if (n == 16)
        return (wrap->wraps ? evc_aes_encrypt(key_of(wrap), first, first, 1)
                            : evc_aes_decrypt(key_of(wrap), first, first, 1)) == EVC_OK;
    memcpy(block, first, 8);
    for (uint64_t i = 0; i < n_steps && done; i++) {
        const uint64_t step = wrap->wraps ? i : n_steps - 1 - i;
        uint8_t *text = first + 8 + 8 * (size_t)(step % n_texts);
        memcpy(block + 8, text, 8);
        if (!wrap->wraps)
            evc_store64_be(block, evc_load64_be(block) ^ (step + 1));
        done = (wrap->wraps ? evc_aes_encrypt(key_of(wrap), block, block, 1)
                            : evc_aes_decrypt(key_of(wrap), block, block, 1)) == EVC_OK;
        if (wrap->wraps)
            evc_store64_be(block, evc_load64_be(block) ^ (step + 1));
        memcpy(text, block + 8, 8);
    }
    memcpy(first, block, 8);
    evc_wipe(block, sizeof block);
    return done;
}

static int wrap_with_iv(const struct wrap *wrap, uint8_t *out, size_t *written, const uint8_t *in,
                        size_t n)
{
    const size_t padded_bytes = (n + 7) & ~(size_t)7;

    memmove(out + 8, in, n);
    memset(out + 8 + n, 0, padded_bytes - n);
    memcpy(out, wrap->iv, iv_bytes_of(wrap));
    if (wrap->pads)
        evc_store32_be(out + 4, (uint32_t)n);
    *written = padded_bytes + 8;
    return chain(wrap, out, *written);
}

/* Bits in which text behind its end differs from zeros. n_zeros is secret, at most 7; another
 * number makes bits of its own. */
static uint32_t padding_differences(const uint8_t *end, uint32_t n_zeros)
{
    uint32_t differs = n_zeros & ~(uint32_t)7;

    for (uint32_t i = 0; i < 7; i++)
        differs |= end[-1 - (int)i] & (0 - ((i - (n_zeros & 7)) >> 31));
    return differs;
}

/* out has room for n bytes less 8, so the chain runs in memory of its own. */
static int unwrap_with_iv(const struct wrap *wrap, uint8_t *out, size_t *written,
                          const uint8_t *in, size_t n)
{
    const struct provider *provider = wrap->provider;
    uint8_t *room = provider->zalloc(n, __FILE__, __LINE__);
    uint32_t differs = 1, n_zeros = 0;

    if (!room)
        return 0;
    memcpy(room, in, n);
    if (chain(wrap, room, n)) {
        differs = evc_load32_be(room) ^ evc_load32_be(wrap->iv);
        if (wrap->pads) {
            n_zeros = (uint32_t)(n - 8) - evc_load32_be(room + 4);
            differs |= padding_differences(room + n, n_zeros);
        } else {
            differs |= evc_load32_be(room + 4) ^ evc_load32_be(wrap->iv + 4);
        }
    }
    if (differs)
        memset(room, 0, n);
    memcpy(out, room + 8, n - 8);
    *written = n - 8 - n_zeros;
    provider->clear_free(room, n, __FILE__, __LINE__);
    return differs == 0;
}

/* ---- Data ------------------------------------------------------------------------------------ */

static int crypt(const struct wrap *wrap, uint8_t *out, size_t *written, const uint8_t *in,
                 size_t n)
{
    const union evc_aes_key *key = key_of(wrap);
    enum evc_status status;

    if (!wrap->key_is_set || (!wrap->pads && n < (wrap->wraps ? 16u : 24u)))
        return 0;
    if (wrap->iv_is_set)
        return wrap->wraps ? wrap_with_iv(wrap, out, written, in, n)
                           : unwrap_with_iv(wrap, out, written, in, n);
    *written = wrap->wraps ? ((n + 7) & ~(size_t)7) + 8 : n - 8;
    if (wrap->pads)
        status = wrap->wraps ? evc_aes_kwp_wrap(key, in, out, n)
                             : evc_aes_kwp_unwrap(key, in, out, n, written);
    else
        status = wrap->wraps ? evc_aes_kw_wrap(key, in, out, n)
                             : evc_aes_kw_unwrap(key, in, out, n);
    return status == EVC_OK;
}

static int update(void *context, uint8_t *out, size_t *written, size_t room, const uint8_t *in,
                  size_t n)
{
    const struct wrap *wrap = context;

    *written = 0;
    if (n == 0)
        return 1;
    if (room < n)
        return FAIL(wrap, PROV_R_OUTPUT_BUFFER_TOO_SMALL);
    if (!in)
        return 0;
    if ((!wrap->wraps && n < 16) || ((!wrap->wraps || !wrap->pads) && n % 8 != 0) || n > INT32_MAX)
        return FAIL(wrap, PROV_R_INVALID_INPUT_LENGTH);
    if (!out) { /* the length is asked, for padded text the most that it can be */
        *written = wrap->wraps ? ((n + 7) & ~(size_t)7) + 8 : n - 8;
        return 1;
    }
    if (crypt(wrap, out, written, in, n))
        return 1;
    *written = 0;
    return FAIL(wrap, PROV_R_CIPHER_OPERATION_FAILED);
}

static int final(void *context, uint8_t *out, size_t *written, size_t room)
{
    (void)context, (void)out, (void)room;
    *written = 0;
    return 1;
}

#define WRAP(name, bits, pads, iv_bytes)                                                      \
    static void *new_##name##bits(void *provider)                                             \
    {                                                                                         \
        return new(provider, bits / 8, pads);                                                 \
    }                                                                                         \
    static int get_facts_##name##bits(OSSL_PARAM params[])                                    \
    {                                                                                         \
        return cipher_get_facts(                                                              \
            params, &(const struct cipher_facts){MODE_WRAP, bits / 8, iv_bytes, 8, 0, 1});    \
    }                                                                                         \
    const OSSL_DISPATCH provider_##name##bits[] = {                                           \
        DISPATCH(OSSL_FUNC_CIPHER_NEWCTX, new_##name##bits),                                  \
        DISPATCH(OSSL_FUNC_CIPHER_FREECTX, release),                                          \
        DISPATCH(OSSL_FUNC_CIPHER_DUPCTX, copy),                                              \
        DISPATCH(OSSL_FUNC_CIPHER_ENCRYPT_INIT, wrap_init),                                   \
        DISPATCH(OSSL_FUNC_CIPHER_DECRYPT_INIT, unwrap_init),                                 \
        DISPATCH(OSSL_FUNC_CIPHER_UPDATE, update),                                            \
        DISPATCH(OSSL_FUNC_CIPHER_FINAL, final),                                              \
        DISPATCH(OSSL_FUNC_CIPHER_GET_PARAMS, get_facts_##name##bits),                        \
        DISPATCH(OSSL_FUNC_CIPHER_GETTABLE_PARAMS, cipher_fact_names),                        \
        DISPATCH(OSSL_FUNC_CIPHER_GET_CTX_PARAMS, get_params),                                \
        DISPATCH(OSSL_FUNC_CIPHER_GETTABLE_CTX_PARAMS, cipher_gettable),                      \
        DISPATCH(OSSL_FUNC_CIPHER_SET_CTX_PARAMS, set_params),                                \
        DISPATCH(OSSL_FUNC_CIPHER_SETTABLE_CTX_PARAMS, cipher_settable),                      \
        DISPATCH_END,                                                                         \
    }

WRAP(wrap, 128, 0, IV_BYTES);
WRAP(wrap, 192, 0, IV_BYTES);
WRAP(wrap, 256, 0, IV_BYTES);
WRAP(wrap_pad, 128, 1, PAD_IV_BYTES);
WRAP(wrap_pad, 192, 1, PAD_IV_BYTES);
WRAP(wrap_pad, 256, 1, PAD_IV_BYTES);
