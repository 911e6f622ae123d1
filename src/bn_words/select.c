/* SPDX-License-Identifier: MIT */
/* The kernels of this primitive that selection may return. Linking this file links them all; a
 * program that names one kernel (&evc_bn_words_...) links that one alone. */
#include "bn_words/kernel.h"

#define LISTS_bn_words EVC_YES
#define LISTS_SELECTED EVC_YES
#define LISTS_PAIR EVC_YES
#define LISTED(stem) evc_bn_words_##stem
#include "common/kernel_list.h"

const struct evc_bn_words *evc_bn_words_select(uint64_t features, unsigned policy)
{
    return (const struct evc_bn_words *)select_kernel(features, policy, EVC_USE_ANY);
}
