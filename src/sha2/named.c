/* SPDX-License-Identifier: MIT */
/* Every kernel of this primitive, by name and by number. Linking this file links them all. */
#include "sha2/kernel.h"

#define LISTS_sha2 EVC_YES
#define LISTS_NAMED EVC_YES
#define LISTED(stem) evc_sha2_##stem
#include "common/kernel_list.h"

const struct evc_sha2 *evc_sha2_at(unsigned index)
{
    return (const struct evc_sha2 *)kernel_at(index);
}

const struct evc_sha2 *evc_sha2_named(const char *name)
{
    return (const struct evc_sha2 *)kernel_named(name);
}
