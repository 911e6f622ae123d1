/* SPDX-License-Identifier: MIT */
/* The operations of AES for ct: keys, the operations of a key, the modes. XTS and CCM have
 * two keys of the kernel. */
#include "check_siv.h"
#include "ct.h"
#include "must.h"

#include <string.h>

#include "everycore/cpu.h"
#include "everycore/gcm_siv.h"
#include "everycore/modes.h"

#define KEY(type) ((type *)(void *)c->key)
#define AES KEY(union evc_aes_key)
#define XTS KEY(struct evc_aes_xts_key)
#define CMAC KEY(struct evc_aes_cmac_key)
#define CCM KEY(struct evc_aes_ccm_key)

#define KERNEL evc_aes_named(c->kernel)
#define USER_KEY c->secret.user_key, c->key_bits
#define BLOCKS c->in, c->out, c->len_bytes / 16
#define BYTES c->in, c->out, c->len_bytes

/* ---- Keys ---------------------------------------------------------------------------------- */

CT_CALL(set_key, evc_aes_set_key(AES, KERNEL, USER_KEY) == EVC_OK)
CT_CALL(set_encrypt_key, evc_aes_set_encrypt_key(AES, KERNEL, USER_KEY) == EVC_OK)
CT_CALL(set_xts_key, evc_aes_xts_set_key(XTS, KERNEL, KERNEL, USER_KEY) == EVC_OK)
CT_CALL(set_cmac_key, evc_aes_cmac_set_key(CMAC, KERNEL, USER_KEY) == EVC_OK &&
                          evc_aes_cmac_allow_short_tags(CMAC) == EVC_OK)
CT_CALL(set_ccm_key, evc_aes_ccm_set_key(CCM, KERNEL, KERNEL, USER_KEY) == EVC_OK &&
                         evc_aes_ccm_allow_short_tags(CCM) == EVC_OK)

/* ---- Blocks and chains --------------------------------------------------------------------- */

CT_CALL(ecb_enc, (must(evc_aes_encrypt(AES, BLOCKS)), true))
CT_CALL(ecb_dec, evc_aes_decrypt(AES, BLOCKS) == EVC_OK)
CT_CALL(cbc_enc, evc_aes_cbc_encrypt(AES, c->iv, BYTES) == EVC_OK)
CT_CALL(cbc_dec, evc_aes_cbc_decrypt(AES, c->iv, BYTES) == EVC_OK)
CT_CALL(cbcmac, evc_aes_cbcmac(AES, c->iv, c->in, c->len_bytes) == EVC_OK)

/* The message in CT_MANY parts, the last the longest: chains end one after the other. */
static void parts(struct ct_call *c, struct evc_msg msgs[CT_MANY])
{
    const size_t part = c->len_bytes / 16 / CT_MANY * 16;

    for (size_t i = 0; i < CT_MANY; i++) {
        memcpy(c->ivs[i], c->iv, 16);
        msgs[i].in = c->in + i * part;
        msgs[i].out = c->out + i * part;
        msgs[i].len_bytes = i + 1 < CT_MANY ? part : c->len_bytes - i * part;
        msgs[i].iv = c->ivs[i];
    }
}

static bool cbc_enc_many(struct ct_call *c)
{
    struct evc_msg msgs[CT_MANY];

    parts(c, msgs);
    return evc_aes_cbc_encrypt_many(AES, msgs, CT_MANY) == EVC_OK;
}

/* ---- CTR ----------------------------------------------------------------------------------- */

CT_CALL(ctr32, (evc_aes_ctr32(AES, c->iv, BYTES), true))
CT_CALL(ctr32_le, (evc_aes_ctr32_le(AES, c->iv, BYTES), true))

/* A counter of 128 bits is public: it decides where a message is cut, here after a block. */
static const uint8_t public_counter[16] = {[12] = 0xff, 0xff, 0xff, 0xff};

static bool ctr(struct ct_call *c)
{
    uint8_t counter[16];

    memcpy(counter, public_counter, 16);
    must(evc_aes_ctr(AES, counter, BYTES));
    return true;
}

static bool ctr_pieces(struct ct_call *c)
{
    const size_t half = c->len_bytes / 2;
    struct evc_aes_ctr state;

    must(evc_aes_ctr_start(&state, public_counter));
    must(evc_aes_ctr_update(AES, &state, c->in, c->out, half));
    must(evc_aes_ctr_update(AES, &state, c->in + half, c->out + half, c->len_bytes - half));
    return true;
}

/* ---- XTS ----------------------------------------------------------------------------------- */

CT_CALL(xts_enc, evc_aes_xts_encrypt(XTS, c->iv, BYTES) == EVC_OK)
CT_CALL(xts_dec, evc_aes_xts_decrypt(XTS, c->iv, BYTES) == EVC_OK)

static bool xts_pieces(struct ct_call *c)
{
    const size_t first = (c->len_bytes - 16) / 32 * 16;
    struct evc_aes_xts state;

    must(evc_aes_xts_start(XTS, &state, c->iv));
    return evc_aes_xts_decrypt_update(XTS, &state, c->in, c->out, first) == EVC_OK &&
           evc_aes_xts_decrypt_finish(XTS, &state, c->in + first, c->out + first,
                                      c->len_bytes - first) == EVC_OK;
}

/* ---- CMAC ---------------------------------------------------------------------------------- */

CT_CALL(cmac, evc_aes_cmac(CMAC, c->in, c->len_bytes, c->tag, 16) == EVC_OK)
CT_CALL(tag_by_cmac, set_cmac_key(c) && cmac(c) && (ct_forge(c), true))
/* Tags of each size, of a part of the message. */
static bool cmac_refuses_each_size(struct ct_call *c)
{
    const size_t len_bytes = c->len_bytes < 20 ? c->len_bytes : 20;
    bool good = true;

    for (size_t n = EVC_AES_CMAC_MIN_TAG; n <= 16; n++)
        good = evc_aes_cmac_verify(CMAC, c->in, len_bytes, c->forgery + 16 - n, n) == EVC_ERR_TAG &&
               good;
    return good;
}

CT_CALL(cmac_verify,
        evc_aes_cmac_verify(CMAC, c->in, c->len_bytes, c->tag, 16) == EVC_OK &&
            evc_aes_cmac_verify(CMAC, c->in, c->len_bytes, c->forgery, 16) == EVC_ERR_TAG &&
            cmac_refuses_each_size(c))

static bool cmac_pieces(struct ct_call *c)
{
    const size_t half = c->len_bytes / 2;
    struct evc_aes_cmac state;

    must(evc_aes_cmac_start(&state));
    must(evc_aes_cmac_update(CMAC, &state, c->in, half));
    must(evc_aes_cmac_update(CMAC, &state, c->in + half, c->len_bytes - half));
    return evc_aes_cmac_finish(CMAC, &state, c->tag, 16) == EVC_OK;
}

static bool cmac_many(struct ct_call *c)
{
    struct evc_msg msgs[CT_MANY];

    parts(c, msgs);
    must(evc_aes_cmac_many(CMAC, msgs, CT_MANY));
    return true;
}

/* ---- CCM ----------------------------------------------------------------------------------- */

/* A nonce is public; the last of its bytes stands where CTR looks for the carry. */
static const uint8_t public_nonce[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

#define HEAD public_nonce, 12, c->aad, CT_AAD_BYTES

CT_CALL(ccm_seal, evc_aes_ccm_seal(CCM, HEAD, BYTES, c->tag, 16) == EVC_OK)

/* The ciphertext takes the place of the message. */
static bool sealed_by_ccm(struct ct_call *c)
{
    if (!set_ccm_key(c) || !ccm_seal(c))
        return false;
    memcpy(c->in, c->out, c->len_bytes);
    ct_forge(c);
    return true;
}

/* Tags of each size, of a part of the message. */
static bool ccm_refuses_each_size(struct ct_call *c)
{
    const size_t len_bytes = c->len_bytes < 20 ? c->len_bytes : 20;
    bool good = true;

    for (size_t n = 4; n <= 16; n += 2)
        good = evc_aes_ccm_open(CCM, HEAD, c->in, c->out, len_bytes, c->forgery + 16 - n, n) ==
                   EVC_ERR_TAG &&
               good;
    return good;
}

CT_CALL(ccm_open, evc_aes_ccm_open(CCM, HEAD, BYTES, c->tag, 16) == EVC_OK &&
                      evc_aes_ccm_open(CCM, HEAD, BYTES, c->forgery, 16) == EVC_ERR_TAG &&
                      ccm_refuses_each_size(c))

static bool ccm_pieces(struct ct_call *c)
{
    const size_t half = c->len_bytes / 2;
    struct evc_aes_ccm state;

    return evc_aes_ccm_start(CCM, &state, public_nonce, 12, CT_AAD_BYTES, c->len_bytes, 16) ==
               EVC_OK &&
           evc_aes_ccm_aad(CCM, &state, c->aad, CT_AAD_BYTES) == EVC_OK &&
           evc_aes_ccm_open_update(CCM, &state, c->in, c->out, half) == EVC_OK &&
           evc_aes_ccm_open_update(CCM, &state, c->in + half, c->out + half,
                                   c->len_bytes - half) == EVC_OK &&
           evc_aes_ccm_open_finish(CCM, &state, c->tag) == EVC_OK;
}

/* ---- Key wrap ------------------------------------------------------------------------------ */

/* Text of whole semiblocks, at least two: the lengths of messages are multiples of 16. */
CT_CALL(kw_wrap, evc_aes_kw_wrap(AES, c->in, c->out, c->len_bytes - 16) == EVC_OK)
CT_CALL(kwp_wrap, evc_aes_kwp_wrap(AES, c->in, c->out, c->len_bytes - 19) == EVC_OK)

static bool wrapped(struct ct_call *c)
{
    if (!set_key(c) || !kw_wrap(c))
        return false;
    memcpy(c->in, c->out, c->len_bytes - 8);
    return true;
}

static bool wrapped_with_padding(struct ct_call *c)
{
    if (!set_key(c) || !kwp_wrap(c))
        return false;
    memcpy(c->in, c->out, c->len_bytes - 8);
    return true;
}

/* The right text, and one that is refused. */
static bool kw_unwrap(struct ct_call *c)
{
    bool good = evc_aes_kw_unwrap(AES, c->in, c->out, c->len_bytes - 8) == EVC_OK;

    c->in[7] ^= 1;
    good = evc_aes_kw_unwrap(AES, c->in, c->out, c->len_bytes - 8) == EVC_ERR_TAG && good;
    c->in[7] ^= 1;
    return good;
}

static bool kwp_unwrap(struct ct_call *c)
{
    size_t n;
    bool good = evc_aes_kwp_unwrap(AES, c->in, c->out, c->len_bytes - 8, &n) == EVC_OK;

    c->in[7] ^= 1;
    good = evc_aes_kwp_unwrap(AES, c->in, c->out, c->len_bytes - 8, &n) == EVC_ERR_TAG && good;
    c->in[7] ^= 1;
    return good;
}

/* ---- GCM-SIV ------------------------------------------------------------------------------- */

#define SIV KEY(struct evc_gcm_siv_key)

static EVC_ALIGN(64) uint8_t scratch[EVC_GCM_SIV_MOST_SCRATCH_BYTES];
#define SCRATCH scratch, sizeof scratch

/* With a constant-time kernel of GHASH. */
CT_CALL(set_siv_key,
        evc_gcm_siv_set_key(SIV, KERNEL, ghash_for_siv(KERNEL, 0), USER_KEY) == EVC_OK)
CT_CALL(siv_seal, evc_gcm_siv_seal(SIV, HEAD, BYTES, c->tag, 16, SCRATCH) == EVC_OK)

static bool sealed_by_siv(struct ct_call *c)
{
    if (!set_siv_key(c) || !siv_seal(c))
        return false;
    memcpy(c->in, c->out, c->len_bytes);
    ct_forge(c);
    return true;
}

CT_CALL(siv_open, evc_gcm_siv_open(SIV, HEAD, BYTES, c->tag, 16, SCRATCH) == EVC_OK &&
                      evc_gcm_siv_open(SIV, HEAD, BYTES, c->forgery, 16, SCRATCH) == EVC_ERR_TAG)

/* ---- The list ------------------------------------------------------------------------------ */

static const struct ct_operation operations[] = {
    {"setkey", 0, 0, false, NULL, set_key},
    {"setkey-enc", 0, 0, false, NULL, set_encrypt_key},
    {"ecb-enc", 16, 0, false, set_encrypt_key, ecb_enc},
    {"ecb-dec", 16, 0, false, set_key, ecb_dec},
    {"ctr32", 1, 0, false, set_encrypt_key, ctr32},
    {"ctr32-le", 1, 0, false, set_encrypt_key, ctr32_le},
    {"ctr", 1, 0, false, set_encrypt_key, ctr},
    {"ctr-pieces", 1, 0, false, set_encrypt_key, ctr_pieces},
    {"cbc-enc", 16, 0, false, set_encrypt_key, cbc_enc},
    {"cbc-enc-many", 16, 0, false, set_encrypt_key, cbc_enc_many},
    {"cbc-dec", 16, 0, false, set_key, cbc_dec},
    {"cbcmac", 16, 0, false, set_encrypt_key, cbcmac},
    {"xts-setkey", 0, 0, true, NULL, set_xts_key},
    {"xts-enc", 1, 16, true, set_xts_key, xts_enc},
    {"xts-dec", 1, 16, true, set_xts_key, xts_dec},
    {"xts-pieces", 1, 16, true, set_xts_key, xts_pieces},
    {"cmac-setkey", 0, 0, false, NULL, set_cmac_key},
    {"cmac", 1, 0, false, set_cmac_key, cmac},
    {"cmac-verify", 1, 0, false, tag_by_cmac, cmac_verify},
    {"cmac-pieces", 1, 0, false, set_cmac_key, cmac_pieces},
    {"cmac-many", 1, 0, false, set_cmac_key, cmac_many},
    {"ccm-setkey", 0, 0, false, NULL, set_ccm_key},
    {"ccm-seal", 1, 0, false, set_ccm_key, ccm_seal},
    {"ccm-open", 1, 0, false, sealed_by_ccm, ccm_open},
    {"ccm-pieces", 1, 0, false, sealed_by_ccm, ccm_pieces},
    {"kw-wrap", 16, 32, false, set_encrypt_key, kw_wrap},
    {"kw-unwrap", 16, 32, false, wrapped, kw_unwrap},
    {"kwp-wrap", 16, 32, false, set_encrypt_key, kwp_wrap},
    {"kwp-unwrap", 16, 32, false, wrapped_with_padding, kwp_unwrap},
    {"gcm-siv-setkey", 0, 0, true, NULL, set_siv_key},
    {"gcm-siv-seal", 1, 0, true, set_siv_key, siv_seal},
    {"gcm-siv-open", 1, 0, true, sealed_by_siv, siv_open},
};

static const struct evc_kernel *descriptor(const char *kernel)
{
    return evc_aes_kernel(evc_aes_named(kernel));
}

const struct ct_operations ct_aes = {
    .primitive = "aes",
    .descriptor = descriptor,
    .key_room_bytes = sizeof(union evc_aes_key),
    .at = operations,
    .n = sizeof operations / sizeof operations[0],
};
