/* SPDX-License-Identifier: MIT */
/* The kernels of this primitive that selection may return. Linking this file links them all; a
 * program that names one kernel (&evc_aes_...) links that one alone. */
#include "aes/kernel.h"

#define LISTS_aes EVC_YES
#define LISTS_SELECTED EVC_YES
#define LISTS_PAIR EVC_YES
#define LISTED(stem) evc_aes_##stem
#include "common/kernel_list.h"

const struct evc_aes *evc_aes_select(uint64_t features, unsigned policy, enum evc_use use)
{
    return (const struct evc_aes *)select_kernel(features, policy, use);
}
