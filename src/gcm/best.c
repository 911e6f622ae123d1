/* SPDX-License-Identifier: MIT */
/* Keys of GCM for the kernel or the pair that selection gives. Whoever links this links what
 * selection may return. */
#include "everycore/gcm.h"

enum evc_status evc_gcm_set_best(union evc_gcm_key *key, uint64_t features, unsigned policy,
                                 const uint8_t *user_key, unsigned key_bits)
{
    const struct evc_gcm *const kernel = evc_gcm_select(features, policy);

    if (kernel)
        return evc_gcm_set_key(key, kernel, user_key, key_bits);
    return evc_gcm_set_pair(key, evc_gcm_select_aes(features, policy),
                            evc_gcm_select_ghash(features, policy), user_key, key_bits);
}
