/* SPDX-License-Identifier: MIT */
/* QARMA as pointer authentication computes it: the pointer is the block, the modifier the tweak,
 * the upper half of the key w0 (Arm ARM, DDI 0487, 2024, ComputePACQARMA5 and ComputePACQARMA3). */
#include "everycore/pac.h"

static enum evc_status evc_pac_qarma_set_key(struct evc_pac_key *key,
                                             const struct evc_pac_kernels *kernels, unsigned sigma,
                                             unsigned rounds)
{
    const enum evc_status status =
        evc_qarma_set_key(&key->cipher.qarma, kernels->qarma, key->hi, key->lo, sigma, rounds);

    if (status == EVC_OK)
        key->mac = kernels->qarma->encrypt;
    return status;
}

static enum evc_status evc_pac_qarma5_set_key(struct evc_pac_key *key,
                                              const struct evc_pac_kernels *kernels)
{
    return evc_pac_qarma_set_key(key, kernels, EVC_QARMA_SIGMA2, 5);
}

static enum evc_status evc_pac_qarma3_set_key(struct evc_pac_key *key,
                                              const struct evc_pac_kernels *kernels)
{
    return evc_pac_qarma_set_key(key, kernels, EVC_QARMA_SIGMA1, 3);
}

const struct evc_pac_algorithm evc_pac_qarma5 = {"qarma5", evc_pac_qarma5_set_key};
const struct evc_pac_algorithm evc_pac_qarma3 = {"qarma3", evc_pac_qarma3_set_key};
