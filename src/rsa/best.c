/* SPDX-License-Identifier: MIT */
/* Keys of RSA for the kernel that selection gives. Whoever links this links what selection may
 * return. */
#include "everycore/rsa.h"

enum evc_status evc_rsa_set_best_public_in(void *memory, size_t memory_bytes, uint64_t features,
                                           unsigned policy, const uint8_t *n, size_t n_bytes,
                                           const uint8_t *e, size_t e_bytes, size_t least_bits)
{
    return evc_rsa_set_public_in(memory, memory_bytes,
                                 evc_bn_select_for(features, policy, EVC_USE_ANY, 8 * n_bytes), n,
                                 n_bytes, e, e_bytes, least_bits);
}

/* The time goes into powers modulo p and q, which have half of the bits. */
enum evc_status evc_rsa_set_best_private_in(void *memory, size_t memory_bytes, uint64_t features,
                                            unsigned policy, const struct evc_rsa_numbers *numbers,
                                            size_t least_bits, void *scratch, size_t scratch_bytes)
{
    const size_t p_bits = numbers ? 8 * (size_t)numbers->p_bytes : 0;

    return evc_rsa_set_private_in(memory, memory_bytes,
                                  evc_bn_select_for(features, policy, EVC_USE_ANY, p_bits), numbers,
                                  least_bits, scratch, scratch_bytes);
}
