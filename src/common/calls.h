/* SPDX-License-Identifier: MIT */
/*
 * The check of public calls by the rules of call_table.h. It is inline and its row a constant, so
 * that compilers leave the comparisons that the row wants, and nothing else.
 */
#ifndef EVC_COMMON_CALLS_H
#define EVC_COMMON_CALLS_H

#include "everycore/gcm.h"
#include "everycore/gcm_siv.h"
#include "everycore/modes.h"

#include "common/bytes.h"
#include "common/in_place.h"
#include "common/key_memory.h"

/* The phase of a message in pieces, and its direction if it can go two ways: the first call that
 * has one decides. A state that is all zeros holds no message. */
enum { EVC_PHASE_NONE, EVC_PHASE_AAD, EVC_PHASE_TEXT };
enum { EVC_DIRECTION_NONE, EVC_DIRECTION_SEAL, EVC_DIRECTION_OPEN };

/* The words of the rows, and their names. */
enum {
    EVC_KEY_NO, EVC_KEY_AES, EVC_KEY_XTS, EVC_KEY_CMAC, EVC_KEY_CCM, EVC_KEY_GHASH, EVC_KEY_GCM,
    EVC_KEY_SIV
};
enum { EVC_FROM_NO, EVC_FROM_ANY, EVC_FROM_AAD, EVC_FROM_TEXT, EVC_FROM_BEGUN };
enum { EVC_WAY_SEAL = EVC_DIRECTION_SEAL, EVC_WAY_OPEN = EVC_DIRECTION_OPEN, EVC_WAY_BOTH = 3 };
enum { EVC_TEXT_NO, EVC_TEXT_READ, EVC_TEXT_MOVED, EVC_TEXT_MSGS };
enum {
#define LIMIT(name, least, most, multiple) EVC_LIMIT_##name,
#include "common/call_table.h"
};
enum {
#define CALL(name, key, from, to, way, iv, tag, aad, text, buffers) EVC_CALL_##name,
#include "common/call_table.h"
};
enum {
#define ZEROS(name, key, way, text, buffers) EVC_ZEROS_##name = 4 * EVC_KEY_##key + EVC_WAY_##way,
#include "common/call_table.h"
};

static const struct evc_limit {
    uint64_t least, most;
    uint32_t multiple; /* a power of 2 */
} evc_limits[] = {
#define LIMIT(name, least, most, multiple) {least, most, multiple},
#include "common/call_table.h"
};

static const struct evc_rules {
    uint8_t key, from, way, iv, tag, aad, text, buffers;
} evc_rules[] = {
#define CALL(name, key, from, to, way, iv, tag, aad, text, buffers)                     \
    {EVC_KEY_##key,   EVC_FROM_##from, EVC_WAY_##way,    EVC_LIMIT_##iv,                \
     EVC_LIMIT_##tag, EVC_LIMIT_##aad, EVC_LIMIT_##text, EVC_TEXT_##buffers},
#include "common/call_table.h"
};

/* Arguments of a call, and what it reads of a state. A call leaves out what it does not have. */
struct evc_given {
    const void *key, *iv, *aad, *in, *out, *tag, *msgs;
    size_t tag_bytes, n_msgs;
    uint64_t iv_bytes, aad_bytes, text_bytes;
    uint64_t aad_before, text_before; /* what has come before, and counts for the limit */
    uint32_t phase, direction;
    uint32_t way; /* not 0: instead of the row's, for two calls with one check */
    int is_bad;   /* nonzero: another reason to refuse the state */
};
#define EVC_TEXT(in_, out_, len_bytes_) .in = (in_), .out = (out_), .text_bytes = (len_bytes_)

EVC_INLINE int evc_fits(unsigned limit, uint64_t n)
{
    return n >= evc_limits[limit].least && n <= evc_limits[limit].most &&
           (n & (evc_limits[limit].multiple - 1)) == 0;
}

/* Nonzero if a key of this kind is set up and not wiped, and stands where its kernel can use it;
 * else evc_key_error has the status. */
EVC_INLINE int evc_is_set(unsigned kind, const void *key)
{
    return !evc_is_aligned(key) ? 0
           : kind == EVC_KEY_AES   ? ((const union evc_aes_key *)key)->head.kernel != NULL
           : kind == EVC_KEY_GHASH ? ((const union evc_ghash_key *)key)->head.kernel != NULL
           : kind == EVC_KEY_XTS   ? ((const struct evc_aes_xts_key *)key)->tweak_at != 0
           : kind == EVC_KEY_CMAC  ? ((const struct evc_aes_cmac_key *)key)->aes.head.kernel != NULL
           : kind == EVC_KEY_CCM   ? evc_aes_ccm_ctr_key(key)->head.kernel != NULL
           : kind == EVC_KEY_SIV   ? ((const struct evc_gcm_siv_key *)key)->ghash != NULL
                                   : ((const union evc_gcm_key *)key)->head.kernel != NULL;
}

EVC_INLINE int evc_goes_way(unsigned kind, unsigned way, const void *key)
{
    return kind != EVC_KEY_AES || way != EVC_WAY_OPEN ||
           ((const union evc_aes_key *)key)->head.can_decrypt;
}

EVC_INLINE int evc_tag_fits(const struct evc_rules *r, const struct evc_given *g)
{
    const void *const key = g->key;

    if (EVC_UNLIKELY(!evc_fits(r->tag, g->tag_bytes)))
        return evc_fits(r->tag + 1u, g->tag_bytes) &&
               (r->key == EVC_KEY_CMAC  ? ((const struct evc_aes_cmac_key *)key)->allows_short_tags
                : r->key == EVC_KEY_CCM ? ((const struct evc_aes_ccm_key *)key)->allows_short_tags
               : r->key == EVC_KEY_SIV ? 0
                                        : ((const struct evc_gcm_head *)key)->allows_short_tags);
    return 1;
}

EVC_INLINE int evc_text_fits(const struct evc_rules *r, const struct evc_given *g)
{
    const struct evc_limit *limit = &evc_limits[r->text];

    return (g->text_bytes >= limit->least || (!g->text_bytes && g->text_before)) &&
           (g->text_bytes & (limit->multiple - 1)) == 0 &&
           (g->text_bytes <= limit->most - g->text_before ||
            (r->key == EVC_KEY_XTS &&
             (((const struct evc_aes_xts_key *)g->key)->allowed & EVC_AES_XTS_ALLOW_LONG)));
}

EVC_INLINE enum evc_status evc_check(const struct evc_rules *r, const struct evc_given *g)
{
    const unsigned first = r->from == EVC_FROM_TEXT ? EVC_PHASE_TEXT : EVC_PHASE_AAD;
    const unsigned last = r->from == EVC_FROM_AAD ? EVC_PHASE_AAD : EVC_PHASE_TEXT;

    if (r->key && !evc_is_set(r->key, g->key))
        return evc_key_error(g->key);
    if (r->from > EVC_FROM_ANY && (g->phase < first || g->phase > last || g->is_bad ||
                                   (g->direction & ~(g->way ? g->way : r->way))))
        return EVC_ERR_STATE;
    if (!evc_goes_way(r->key, r->way, g->key))
        return EVC_ERR_DIRECTION;
    if (r->iv && !evc_fits(r->iv, g->iv_bytes))
        return EVC_ERR_NONCE_SIZE;
    if (r->tag && !evc_tag_fits(r, g))
        return EVC_ERR_TAG_SIZE;
    if (g->aad_bytes > evc_limits[r->aad].most - g->aad_before || !evc_text_fits(r, g))
        return EVC_ERR_LENGTH;
    if (evc_is_missing(g->iv, (size_t)g->iv_bytes) || evc_is_missing(g->msgs, g->n_msgs) ||
        evc_is_missing(g->aad, (size_t)g->aad_bytes) ||
        (r->from != EVC_FROM_ANY && evc_is_missing(g->tag, g->tag_bytes)) || /* a size alone */
        (r->buffers >= EVC_TEXT_READ && evc_is_missing(g->in, (size_t)g->text_bytes)) ||
        (r->buffers == EVC_TEXT_MOVED && evc_is_missing(g->out, (size_t)g->text_bytes)))
        return EVC_ERR_PARAMETER;
    return EVC_OK;
}

/* The status of a call that was given these members of struct evc_given. */
#define EVC_CHECK(row, ...) evc_check(evc_rules + EVC_CALL_##row, &(struct evc_given){__VA_ARGS__})

/* Ends a call that its row refuses. */
#define EVC_RETURN_IF_REFUSED(name, ...)                                  \
    do {                                                                  \
        const enum evc_status evc_status_ = EVC_CHECK(name, __VA_ARGS__); \
        if (evc_status_ != EVC_OK)                                        \
            return evc_status_;                                           \
    } while (0)

/* Nonzero if the row of a call without a status takes the key. */
#define EVC_TAKES_KEY(name, key)              \
    (evc_is_set(EVC_ZEROS_##name / 4, key) && \
     evc_goes_way(EVC_ZEROS_##name / 4, EVC_ZEROS_##name % 4, key))

#endif
