/* SPDX-License-Identifier: MIT */
/* Every kernel of this primitive, by name and by number. Linking this file links them all. */
#include "ghash/kernel.h"

#define LISTS_ghash EVC_YES
#define LISTS_NAMED EVC_YES
#define LISTED(stem) evc_ghash_##stem
#include "common/kernel_list.h"

const struct evc_ghash *evc_ghash_at(unsigned index)
{
    return (const struct evc_ghash *)kernel_at(index);
}

const struct evc_ghash *evc_ghash_named(const char *name)
{
    return (const struct evc_ghash *)kernel_named(name);
}
