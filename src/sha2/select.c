/* SPDX-License-Identifier: MIT */
/* The kernels of this primitive that selection may return. Linking this file links them all; a
 * program that names one kernel (&evc_sha2_...) links that one alone. */
#include "sha2/kernel.h"

#define LISTS_sha2 EVC_YES
#define LISTS_SELECTED EVC_YES
#define LISTED(stem) evc_sha2_##stem
#include "common/kernel_list.h"

const struct evc_sha2 *evc_sha2_select(uint64_t features, unsigned policy, enum evc_sha2_hash hash)
{
    const size_t block_bytes = evc_sha2_block_bytes(hash);
    const enum evc_use use = block_bytes == 64 ? EVC_USE_SHA256 : EVC_USE_SHA512;

    return block_bytes ? (const struct evc_sha2 *)select_kernel(features, policy, use) : NULL;
}
