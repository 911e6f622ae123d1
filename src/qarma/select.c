/* SPDX-License-Identifier: MIT */
/* The kernels of this primitive that selection may return. Linking this file links them all; a
 * program that names one kernel (&evc_qarma_...) links that one alone. */
#include "qarma/kernel.h"

#define LISTS_qarma EVC_YES
#define LISTS_SELECTED EVC_YES
#define LISTS_PAIR EVC_YES
#define LISTED(stem) evc_qarma_##stem
#include "common/kernel_list.h"

const struct evc_qarma *evc_qarma_select(uint64_t features, unsigned policy, enum evc_use use)
{
    return (const struct evc_qarma *)select_kernel(features, policy, use);
}
