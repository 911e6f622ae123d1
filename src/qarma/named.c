/* SPDX-License-Identifier: MIT */
/* Every kernel of this primitive, by name and by number. Linking this file links them all. */
#include "qarma/kernel.h"

#define LISTS_qarma EVC_YES
#define LISTS_NAMED EVC_YES
#define LISTED(stem) evc_qarma_##stem
#include "common/kernel_list.h"

const struct evc_qarma *evc_qarma_at(unsigned index)
{
    return (const struct evc_qarma *)kernel_at(index);
}

const struct evc_qarma *evc_qarma_named(const char *name)
{
    return (const struct evc_qarma *)kernel_named(name);
}
