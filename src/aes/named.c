/* SPDX-License-Identifier: MIT */
/* Every kernel of this primitive, by name and by number. Linking this file links them all. */
#include "aes/kernel.h"

#define LISTS_aes EVC_YES
#define LISTS_NAMED EVC_YES
#define LISTED(stem) evc_aes_##stem
#include "common/kernel_list.h"

const struct evc_aes *evc_aes_at(unsigned index)
{
    return (const struct evc_aes *)kernel_at(index);
}

const struct evc_aes *evc_aes_named(const char *name)
{
    return (const struct evc_aes *)kernel_named(name);
}
