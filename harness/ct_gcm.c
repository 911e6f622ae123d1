/* SPDX-License-Identifier: MIT */
/*
 * The operations of GCM for ct: its own kernels; pairs of a kernel of AES with the GHASH kernel
 * that this CPU selects, and of a kernel of GHASH with the AES kernel that it selects. The
 * selected half is constant-time.
 */
#include "ct.h"

#include <string.h>

#include "everycore/gcm.h"

#include "names.h"

#define GCM ((union evc_gcm_key *)(void *)c->key)
#define BYTES c->in, c->out, c->len_bytes

/* ---- Keys ---------------------------------------------------------------------------------- */

static bool pair(struct ct_call *c, const struct evc_aes *aes, const struct evc_ghash *ghash)
{
    return evc_gcm_set_pair(GCM, aes, ghash, c->secret.user_key, c->key_bits) == EVC_OK &&
           evc_gcm_allow_short_tags(GCM) == EVC_OK;
}

CT_CALL(key_of_gcm,
        evc_gcm_set_key(GCM, evc_gcm_named(c->kernel), c->secret.user_key, c->key_bits) ==
                EVC_OK &&
            evc_gcm_allow_short_tags(GCM) == EVC_OK)
CT_CALL(key_of_aes, pair(c, evc_aes_named(c->kernel), evc_ghash_select(features_here(), 0)))
CT_CALL(key_of_ghash,
        pair(c, evc_aes_select(features_here(), 0, EVC_USE_PARALLEL), evc_ghash_named(c->kernel)))

/* ---- Messages ------------------------------------------------------------------------------ */

/* No associated data, parts of a block, for which kernels have short ways, and more: each with one
 * at least of the few lengths of text, and none with a single block. */
static size_t aad_bytes(const struct ct_call *c)
{
    static const uint8_t sizes[] = {20, 5, 0, 13};

    return sizes[c->len_bytes / 8 % 4];
}

static const uint8_t *aad(const struct ct_call *c)
{
    return c->aad + CT_AAD_BYTES - aad_bytes(c);
}

/* Tags of 16 bytes and of 12. */
static size_t tag_bytes(const struct ct_call *c)
{
    return c->len_bytes / 16 % 2 ? 12 : 16;
}

#define HEAD(iv_bytes) c->iv + 16 - (iv_bytes), iv_bytes, aad(c), aad_bytes(c)
/* The last bytes of room for 16, where the bit is that a forgery changes. */
#define TAG(of) c->of + 16 - tag_bytes(c), tag_bytes(c)

/* With an IV of 12 bytes, and with one that is hashed into the first counter. */
CT_CALL(gcm_seal, evc_gcm_seal(GCM, HEAD(12), BYTES, TAG(tag)) == EVC_OK &&
                      evc_gcm_seal(GCM, HEAD(16), BYTES, TAG(tag)) == EVC_OK)

/* The ciphertext takes the place of the message. */
static bool sealed(struct ct_call *c)
{
    if (evc_gcm_seal(GCM, HEAD(12), BYTES, TAG(tag)) != EVC_OK)
        return false;
    memcpy(c->in, c->out, c->len_bytes);
    ct_forge(c);
    return true;
}

/* Forgeries with tags of each size, of a part of the message. */
static bool refuses_each_size(struct ct_call *c)
{
    static const uint8_t sizes[] = {4, 8, 12, 13, 14, 15, 16};
    const size_t len_bytes = c->len_bytes < 20 ? c->len_bytes : 20;
    bool good = true;

    for (size_t i = 0; i < sizeof sizes; i++)
        good = evc_gcm_open(GCM, HEAD(12), c->in, c->out, len_bytes, c->forgery + 16 - sizes[i],
                            sizes[i]) == EVC_ERR_TAG &&
               good;
    return good;
}

CT_CALL(gcm_open, evc_gcm_open(GCM, HEAD(12), BYTES, TAG(tag)) == EVC_OK && refuses_each_size(c) &&
                      evc_gcm_open(GCM, HEAD(12), BYTES, TAG(forgery)) == EVC_ERR_TAG &&
                      evc_gcm_open(GCM, HEAD(16), BYTES, TAG(tag)) == EVC_ERR_TAG)

static bool gcm_pieces(struct ct_call *c)
{
    const size_t half = c->len_bytes / 2;
    struct evc_gcm_state state;

    return evc_gcm_start(GCM, &state, c->iv + 4, 12) == EVC_OK &&
           evc_gcm_aad(GCM, &state, aad(c), aad_bytes(c)) == EVC_OK &&
           evc_gcm_open_update(GCM, &state, c->in, c->out, half) == EVC_OK &&
           evc_gcm_open_update(GCM, &state, c->in + half, c->out + half,
                               c->len_bytes - half) == EVC_OK &&
           evc_gcm_open_finish(GCM, &state, TAG(tag)) == EVC_OK &&
           evc_gcm_start(GCM, &state, c->iv + 4, 12) == EVC_OK &&
           evc_gcm_aad(GCM, &state, c->aad, CT_AAD_BYTES) == EVC_OK &&
           evc_gcm_seal_update(GCM, &state, BYTES) == EVC_OK &&
           evc_gcm_seal_finish(GCM, &state, c->ivs[0], 16) == EVC_OK;
}

/* ---- Many messages: CT_MANY parts of the message, the last the longest --------------------- */

static void parts(struct ct_call *c, struct evc_gcm_msg msgs[CT_MANY])
{
    const size_t part = c->len_bytes / CT_MANY;

    for (size_t i = 0; i < CT_MANY; i++) {
        memset(&msgs[i], 0, sizeof msgs[i]);
        msgs[i].iv = c->iv + 4;
        msgs[i].iv_bytes = 12;
        msgs[i].aad = aad(c);
        msgs[i].aad_bytes = aad_bytes(c);
        msgs[i].in = c->in + i * part;
        msgs[i].out = c->out + i * part;
        msgs[i].len_bytes = i + 1 < CT_MANY ? part : c->len_bytes - i * part;
        msgs[i].tag = c->ivs[i];
        msgs[i].tag_bytes = 16;
    }
}

static bool gcm_seal_many(struct ct_call *c)
{
    struct evc_gcm_msg msgs[CT_MANY];

    parts(c, msgs);
    return evc_gcm_seal_many(GCM, msgs, CT_MANY) == EVC_OK;
}

/* The first of the messages is forged. */
static bool sealed_many(struct ct_call *c)
{
    if (!gcm_seal_many(c))
        return false;
    memcpy(c->in, c->out, c->len_bytes);
    memcpy(c->tag, c->ivs[0], 16);
    ct_forge(c);
    memcpy(c->ivs[0], c->forgery, 16);
    return true;
}

static bool gcm_open_many(struct ct_call *c)
{
    struct evc_gcm_msg msgs[CT_MANY];
    bool good;

    parts(c, msgs);
    good = evc_gcm_open_many(GCM, msgs, CT_MANY) == EVC_ERR_TAG;
    for (size_t i = 0; i < CT_MANY; i++)
        good = msgs[i].status == (i == 0 ? EVC_ERR_TAG : EVC_OK) && good;
    return good;
}

/* ---- The lists ----------------------------------------------------------------------------- */

/* The operations of a GCM key, by whatever function sets it. */
#define OPERATIONS(list, set_key)                                          \
    CT_CALL(sealed_##list, set_key(c) && sealed(c))                        \
    CT_CALL(sealed_many_##list, set_key(c) && sealed_many(c))              \
    static const struct ct_operation list[] = {                            \
        {"gcm-setkey", 0, 0, false, NULL, set_key},                        \
        {"gcm-seal", 1, 0, false, set_key, gcm_seal},                      \
        {"gcm-open", 1, 0, false, sealed_##list, gcm_open},                \
        {"gcm-pieces", 1, 0, false, sealed_##list, gcm_pieces},            \
        {"gcm-seal-many", 1, 0, false, set_key, gcm_seal_many},            \
        {"gcm-open-many", 1, 0, false, sealed_many_##list, gcm_open_many}, \
    };

OPERATIONS(of_gcm, key_of_gcm)
OPERATIONS(of_aes, key_of_aes)
OPERATIONS(of_ghash, key_of_ghash)

/* The descriptor of a kernel, and the list of its primitive. */
#define LIST(of, name_)                                                    \
    static const struct evc_kernel *name_##_descriptor(const char *kernel) \
    {                                                                      \
        return evc_##name_##_kernel(evc_##name_##_named(kernel));          \
    }                                                                      \
    const struct ct_operations of = {                                      \
        .primitive = #name_,                                               \
        .descriptor = name_##_descriptor,                                  \
        .key_room_bytes = sizeof(union evc_##name_##_key),                 \
        .at = of_##name_,                                                  \
        .n = sizeof of_##name_ / sizeof of_##name_[0],                     \
    };

LIST(ct_gcm, gcm)
LIST(ct_gcm_of_aes, aes)
LIST(ct_gcm_of_ghash, ghash)
