/* SPDX-License-Identifier: MIT */
/* Keys of HMAC for the kernel that selection gives. Whoever links this links what selection may
 * return. */
#include "everycore/hmac.h"

enum evc_status evc_hmac_set_best(struct evc_hmac_key *key, uint64_t features, unsigned policy,
                                  enum evc_sha2_hash hash, const uint8_t *user_key,
                                  size_t user_key_bytes)
{
    return evc_hmac_set_key(key, evc_sha2_select(features, policy, hash), hash, user_key,
                            user_key_bytes);
}
