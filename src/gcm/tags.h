/* SPDX-License-Identifier: MIT */
/* The comparison of tags: the result is public, and nothing else. */
#ifndef EVC_GCM_TAGS_H
#define EVC_GCM_TAGS_H

#include "everycore/gcm.h"

#include "common/bytes.h"
#include "common/ct.h"

static enum evc_status compare(const uint8_t computed[16], const uint8_t *tag, size_t tag_bytes)
{
    uint32_t equal = evc_mask_equal(computed, tag, tag_bytes);

    evc_public(&equal, sizeof equal); /* the caller learns it as the status */
    return equal ? EVC_OK : EVC_ERR_TAG;
}

/* The same of whole tags. */
EVC_INLINE enum evc_status compare16(const uint8_t computed[16], const uint8_t tag[16])
{
    const uint64_t differ = evc_scalar64(evc_load64_ne(computed) ^ evc_load64_ne(tag))
                            | evc_scalar64(evc_load64_ne(computed + 8) ^ evc_load64_ne(tag + 8));
    enum evc_status status = evc_tag_status(differ);

    evc_public(&status, sizeof status);
    return status;
}

#endif
