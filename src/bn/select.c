/* SPDX-License-Identifier: MIT */
/* The kernels of this primitive that selection may return. Linking this file links them all; a
 * program that names one kernel (&evc_bn_...) links that one alone. */
#include "bn/kernel.h"

#define LISTS_bn EVC_YES
#define LISTS_SELECTED EVC_YES
#define LISTS_PAIR EVC_YES
#define LISTED(stem) evc_bn_##stem
#include "common/kernel_list.h"

const struct evc_bn *evc_bn_select(uint64_t features, unsigned policy, enum evc_use use)
{
    return (const struct evc_bn *)select_kernel(features, policy, use);
}

/* The first kernel that fits, or one behind it whose time is for such short moduli. */
const struct evc_bn *evc_bn_select_for(uint64_t features, unsigned policy, enum evc_use use,
                                       size_t n_bits)
{
    const struct evc_bn *const best = evc_bn_select(features, policy, use);

    if (use == EVC_USE_PARALLEL || n_bits >= best->fewest_bits)
        return best;
    for (const struct listed *k = kernels; k->kernel; k++)
        if (!evc_unfit_here(k->needs, k->timing, k->use, features, policy, use) &&
            n_bits >= ((const struct evc_bn *)(const void *)k->kernel)->fewest_bits)
            return (const struct evc_bn *)(const void *)k->kernel;
    return best;
}
