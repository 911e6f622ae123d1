/* SPDX-License-Identifier: MIT */
/* Every kernel of this primitive, by name and by number. Linking this file links them all. */
#include "bn/kernel.h"

#define LISTS_bn EVC_YES
#define LISTS_NAMED EVC_YES
#define LISTED(stem) evc_bn_##stem
#include "common/kernel_list.h"

const struct evc_bn *evc_bn_at(unsigned index)
{
    return (const struct evc_bn *)kernel_at(index);
}

const struct evc_bn *evc_bn_named(const char *name)
{
    return (const struct evc_bn *)kernel_named(name);
}
