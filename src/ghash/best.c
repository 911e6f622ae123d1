/* SPDX-License-Identifier: MIT */
/* Keys of GHASH for the kernel that selection gives. Whoever links this links what selection may
 * return. */
#include "everycore/ghash.h"

enum evc_status evc_ghash_set_best(union evc_ghash_key *key, uint64_t features, unsigned policy,
                                   const uint8_t *h)
{
    return evc_ghash_set_key(key, evc_ghash_select(features, policy), h);
}
