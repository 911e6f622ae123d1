/* SPDX-License-Identifier: MIT */
/* Keys of XTS for the kernels that selection gives. Whoever links this links what selection may
 * return. */
#include "everycore/modes.h"

enum evc_status evc_aes_xts_set_best(struct evc_aes_xts_key *key, uint64_t features,
                                     unsigned policy, const uint8_t *user_key, unsigned key_bits)
{
    return evc_aes_xts_set_key(key, evc_aes_select(features, policy, EVC_USE_PARALLEL),
                               evc_aes_select(features, policy, EVC_USE_SERIAL), user_key,
                               key_bits);
}
