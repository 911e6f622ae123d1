/* SPDX-License-Identifier: MIT */
/* Every kernel of this primitive, by name and by number. Linking this file links them all. */
#include "x25519/kernel.h"

#define LISTS_x25519 EVC_YES
#define LISTS_NAMED EVC_YES
#define LISTED(stem) evc_x25519_##stem
#include "common/kernel_list.h"

const struct evc_x25519 *evc_x25519_at(unsigned index)
{
    return (const struct evc_x25519 *)kernel_at(index);
}

const struct evc_x25519 *evc_x25519_named(const char *name)
{
    return (const struct evc_x25519 *)kernel_named(name);
}
