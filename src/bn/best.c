/* SPDX-License-Identifier: MIT */
/* Moduli for the kernel that selection gives. Whoever links this links what selection may
 * return. */
#include "everycore/bn.h"

enum evc_status evc_bn_set_best_in(void *memory, size_t memory_bytes, uint64_t features,
                                   unsigned policy, const uint8_t *n, size_t n_bytes)
{
    return evc_bn_set_modulus_in(memory, memory_bytes,
                                 evc_bn_select_for(features, policy, EVC_USE_ANY, 8 * n_bytes), n,
                                 n_bytes);
}
