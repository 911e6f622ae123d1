/* SPDX-License-Identifier: MIT */
/* Keys of GCM-SIV for the kernels that selection gives: not those of pairs of GCM, which lack the
 * kernels that are best where a fused kernel of GCM fits. Whoever links this links what selection
 * may return. */
#include "everycore/gcm_siv.h"

enum evc_status evc_gcm_siv_set_best(struct evc_gcm_siv_key *key, uint64_t features,
                                     unsigned policy, const uint8_t *user_key, unsigned key_bits)
{
    return evc_gcm_siv_set_key(key, evc_aes_select(features, policy, EVC_USE_PARALLEL),
                               evc_ghash_select(features, policy), user_key, key_bits);
}
