/* SPDX-License-Identifier: MIT */
/* Every kernel of this primitive, by name and by number. Linking this file links them all. */
#include "gcm/kernel.h"

#define LISTS_gcm EVC_YES
#define LISTS_NAMED EVC_YES
#define LISTED(stem) evc_gcm_##stem
#include "common/kernel_list.h"

const struct evc_gcm *evc_gcm_at(unsigned index)
{
    return (const struct evc_gcm *)kernel_at(index);
}

const struct evc_gcm *evc_gcm_named(const char *name)
{
    return (const struct evc_gcm *)kernel_named(name);
}
