/* SPDX-License-Identifier: MIT */
/* Every kernel of this primitive, by name and by number. Linking this file links them all. */
#include "bn_words/kernel.h"

#define LISTS_bn_words EVC_YES
#define LISTS_NAMED EVC_YES
#define LISTED(stem) evc_bn_words_##stem
#include "common/kernel_list.h"

const struct evc_bn_words *evc_bn_words_at(unsigned index)
{
    return (const struct evc_bn_words *)kernel_at(index);
}

const struct evc_bn_words *evc_bn_words_named(const char *name)
{
    return (const struct evc_bn_words *)kernel_named(name);
}
