/* SPDX-License-Identifier: MIT */
/* Groups for the kernel that selection gives. Whoever links this links what selection may
 * return. */
#include "everycore/dh.h"

enum evc_status evc_dh_set_best_in(void *memory, size_t memory_bytes, uint64_t features,
                                   unsigned policy, const struct evc_dh_params *params,
                                   size_t least_bits)
{
    const size_t p_bits = params ? 8 * (size_t)params->p_bytes : 0;

    return evc_dh_set_group_in(memory, memory_bytes,
                               evc_bn_select_for(features, policy, EVC_USE_ANY, p_bits), params,
                               least_bits);
}
