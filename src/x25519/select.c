/* SPDX-License-Identifier: MIT */
/* The kernels of this primitive that selection may return. Linking this file links them all; a
 * program that names one kernel (&evc_x25519_...) links that one alone. */
#include "x25519/kernel.h"

#define LISTS_x25519 EVC_YES
#define LISTS_SELECTED EVC_YES
#define LISTED(stem) evc_x25519_##stem
#include "common/kernel_list.h"

const struct evc_x25519 *evc_x25519_select(uint64_t features, unsigned policy)
{
    return (const struct evc_x25519 *)select_kernel(features, policy, EVC_USE_ANY);
}
