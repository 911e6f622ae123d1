/* SPDX-License-Identifier: MIT */
/* Sizes that GCM allows. */
#ifndef EVC_GCM_SIZES_H
#define EVC_GCM_SIZES_H

#include "everycore/gcm.h"

static int iv_fits(uint64_t iv_bytes)
{
    return iv_bytes != 0 && iv_bytes <= EVC_GCM_MAX_AAD;
}

static int tag_fits(const union evc_gcm_key *key, size_t tag_bytes) /* section 5.2.1.2 */
{
    return (tag_bytes >= 12 && tag_bytes <= 16) ||
           (key->head.allows_short_tags && (tag_bytes == 8 || tag_bytes == 4));
}

#endif
