/* SPDX-License-Identifier: MIT */
/* GCM with the tag right behind the ciphertext, as RFC 5116 (2008, section 2.1) has the result of
 * an AEAD. */
#include "everycore/gcm.h"

#include "common/bytes.h"
#include "gcm/key.h"

enum { TAG_BYTES = 16 };

/* The tag is written last: all of the text has been read, wherever it stands. */
enum evc_status evc_gcm_seal_joined(const union evc_gcm_key *key, const uint8_t *iv,
                                    size_t iv_bytes, const uint8_t *aad, size_t aad_bytes,
                                    const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    return evc_gcm_seal(key, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes,
                        out ? out + len_bytes : NULL, TAG_BYTES);
}

/* A copy of the received tag is compared, since text may be written to its place before. */
enum evc_status evc_gcm_open_joined(const union evc_gcm_key *key, const uint8_t *iv,
                                    size_t iv_bytes, const uint8_t *aad, size_t aad_bytes,
                                    const uint8_t *in, uint8_t *out, size_t in_bytes)
{
    uint8_t tag[TAG_BYTES];

    if (!evc_is_set(EVC_KEY_GCM, key))
        return evc_key_error(key);
    if (in_bytes < TAG_BYTES)
        return EVC_ERR_LENGTH;
    if (in)
        memcpy(tag, in + (in_bytes - TAG_BYTES), TAG_BYTES);
    return evc_gcm_open(key, iv, iv_bytes, aad, aad_bytes, in, out, in_bytes - TAG_BYTES,
                        in ? tag : NULL, TAG_BYTES);
}
