/* SPDX-License-Identifier: MIT */
/* The kernels of AES in pairs that selection gives. They are the forward cipher alone: a program
 * that links this holds no decryption. */
#include "aes/kernel.h"
#include "gcm/kernel.h"

#define LISTS_aes EVC_YES
#define LISTS_PAIR EVC_YES
#define LISTED(stem) evc_aes_##stem##_forward
#include "common/kernel_list.h"

const struct evc_aes *evc_gcm_select_aes(uint64_t features, unsigned policy)
{
    return (const struct evc_aes *)select_kernel(features, policy, EVC_USE_PARALLEL);
}
