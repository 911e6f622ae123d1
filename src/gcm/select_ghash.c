/* SPDX-License-Identifier: MIT */
/* The kernels of GHASH in pairs that selection gives. */
#include "ghash/kernel.h"
#include "gcm/kernel.h"

#define LISTS_ghash EVC_YES
#define LISTS_PAIR EVC_YES
#define LISTED(stem) evc_ghash_##stem
#include "common/kernel_list.h"

const struct evc_ghash *evc_gcm_select_ghash(uint64_t features, unsigned policy)
{
    return (const struct evc_ghash *)select_kernel(features, policy, EVC_USE_ANY);
}
