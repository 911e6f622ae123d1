/* SPDX-License-Identifier: MIT */
/* The kernels of this primitive that selection may return. Linking this file links them all; a
 * program that names one kernel (&evc_gcm_...) links that one alone. */
#include "gcm/kernel.h"

#define LISTS_gcm EVC_YES
#define LISTS_SELECTED EVC_YES
#define LISTS_PAIR EVC_YES
#define LISTED(stem) evc_gcm_##stem
#include "common/kernel_list.h"

const struct evc_gcm *evc_gcm_select(uint64_t features, unsigned policy)
{
    return (const struct evc_gcm *)select_kernel(features, policy, EVC_USE_ANY);
}
