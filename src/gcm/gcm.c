/* SPDX-License-Identifier: MIT */
/* GCM (SP 800-38D) in one call, over the slots of struct evc_gcm. */
#include "everycore/gcm.h"

#include "common/bytes.h"
#include "common/calls.h"
#include "common/ct.h"
#include "gcm/key.h"

enum evc_status evc_gcm_allow_short_tags(union evc_gcm_key *key)
{
    EVC_RETURN_IF_REFUSED(gcm_allow_short_tags, .key = key);
    key->head.allows_short_tags = 1;
    return EVC_OK;
}

/* Seal and open have the same limits, and no state that holds a direction. */
EVC_OUT_OF_LINE enum evc_status check_message(const union evc_gcm_key *key, const uint8_t *iv,
                                              size_t iv_bytes, const uint8_t *aad,
                                              size_t aad_bytes, const uint8_t *in,
                                              const uint8_t *out, size_t len_bytes,
                                              const uint8_t *tag, size_t tag_bytes)
{
    return EVC_CHECK(gcm_seal, .key = key, .iv = iv, .iv_bytes = iv_bytes, .aad = aad,
                     .aad_bytes = aad_bytes, EVC_TEXT(in, out, len_bytes), .tag = tag,
                     .tag_bytes = tag_bytes);
}

EVC_OUT_OF_LINE enum evc_status seal_checked(const union evc_gcm_key *key, const uint8_t *iv,
                                             size_t iv_bytes, const uint8_t *aad, size_t aad_bytes,
                                             const uint8_t *in, uint8_t *out, size_t len_bytes,
                                             uint8_t *tag, size_t tag_bytes)
{
    const enum evc_status status =
        check_message(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes);

    if (status != EVC_OK)
        return status;
    in = evc_input(in, out, len_bytes);
    if (key->head.kernel->seal && iv_bytes == 12)
        return key->head.kernel->seal(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag,
                                      tag_bytes);
    return key->head.kernel->seal_any_iv(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag,
                                         tag_bytes);
}

EVC_OUT_OF_LINE enum evc_status open_checked(const union evc_gcm_key *key, const uint8_t *iv,
                                             size_t iv_bytes, const uint8_t *aad, size_t aad_bytes,
                                             const uint8_t *in, uint8_t *out, size_t len_bytes,
                                             const uint8_t *tag, size_t tag_bytes)
{
    const enum evc_status status =
        check_message(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes);

    if (status != EVC_OK)
        return status;
    in = evc_input(in, out, len_bytes);
    if (key->head.kernel->open && iv_bytes == 12)
        return key->head.kernel->open(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag,
                                      tag_bytes);
    return key->head.kernel->open_any_iv(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag,
                                         tag_bytes);
}

/* The usual case by few comparisons: all else is checked out of line. The sizes are compared at
 * once, so that compilers do not store again what they know to be in its place. Inline at every
 * level: for a call GCC makes a frame at -Os, and fills it with a register in which a kernel
 * may have left a secret. */
EVC_INLINE int is_usual(const union evc_gcm_key *key, const uint8_t *iv, size_t iv_bytes,
                        const uint8_t *aad, uint64_t aad_bytes, const uint8_t *in,
                        const uint8_t *out, size_t len_bytes, const uint8_t *tag, size_t tag_bytes)
{
    const uint64_t sizes = (iv_bytes ^ 12) | (tag_bytes ^ 16) |
                           (aad_bytes | len_bytes) >> (sizeof(size_t) > 4 ? 35 : 31);

    return evc_is_set(EVC_KEY_GCM, key) && !sizes && !evc_overlap_in_part(in, out, len_bytes) &&
           !evc_is_missing(iv, iv_bytes) && !evc_is_missing(aad, (size_t)aad_bytes) &&
           !evc_is_missing(in, len_bytes) && !evc_is_missing(out, len_bytes) &&
           !evc_is_missing(tag, tag_bytes);
}

enum evc_status evc_gcm_seal(const union evc_gcm_key *key, const uint8_t *iv, size_t iv_bytes,
                             const uint8_t *aad, size_t aad_bytes, const uint8_t *in, uint8_t *out,
                             size_t len_bytes, uint8_t *tag, size_t tag_bytes)
{
    if (is_usual(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes) &&
        key->head.kernel->seal)
        return key->head.kernel->seal(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag,
                                      tag_bytes);
    return seal_checked(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes);
}

/* Out of line: evc_gcm_open then needs fewer registers. */
EVC_OUT_OF_LINE enum evc_status wipe_forgery(uint8_t *out, size_t len_bytes)
{
    if (len_bytes)
        evc_wipe(out, len_bytes);
    return EVC_ERR_TAG;
}

enum evc_status evc_gcm_open(const union evc_gcm_key *key, const uint8_t *iv, size_t iv_bytes,
                             const uint8_t *aad, size_t aad_bytes, const uint8_t *in, uint8_t *out,
                             size_t len_bytes, const uint8_t *tag, size_t tag_bytes)
{
    enum evc_status status;
    uint8_t frame[16]; /* GCC makes one of 8 bytes by storing a register, at -Os; see is_usual */

    EVC_KEEP_MEMORY(frame);
    if (EVC_UNLIKELY(
            !is_usual(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes) ||
            !key->head.kernel->open))
        status =
            open_checked(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes);
    else
        status = key->head.kernel->open(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag,
                                        tag_bytes);
    evc_public(&status, sizeof status); /* the caller learns it */
    return status == EVC_ERR_TAG ? wipe_forgery(out, len_bytes) : status;
}

/* ---- Many messages --------------------------------------------------------------------------- */

enum evc_status evc_gcm_seal_many(const union evc_gcm_key *key, struct evc_gcm_msg *msgs, size_t n)
{
    enum evc_status first = EVC_OK;

    if (evc_is_missing(msgs, n)) /* each message checks the key */
        return EVC_ERR_PARAMETER;
    for (size_t i = 0; i < n; i++) {
        struct evc_gcm_msg *m = &msgs[i];
        m->status = evc_gcm_seal(key, m->iv, m->iv_bytes, m->aad, m->aad_bytes, m->in, m->out,
                                 m->len_bytes, m->tag, m->tag_bytes);
        first = first == EVC_OK ? m->status : first;
    }
    return first;
}

enum evc_status evc_gcm_open_many(const union evc_gcm_key *key, struct evc_gcm_msg *msgs, size_t n)
{
    enum evc_status first = EVC_OK;

    if (evc_is_missing(msgs, n)) /* each message checks the key */
        return EVC_ERR_PARAMETER;
    for (size_t i = 0; i < n; i++) {
        struct evc_gcm_msg *m = &msgs[i];
        m->status = evc_gcm_open(key, m->iv, m->iv_bytes, m->aad, m->aad_bytes, m->in, m->out,
                                 m->len_bytes, m->tag, m->tag_bytes);
        first = first == EVC_OK ? m->status : first;
    }
    return first;
}
