/* SPDX-License-Identifier: MIT */
/*
 * The registry as plain facts, and the one rule of selection: the first line whose architecture, needs,
 * timing class and use fit. Holds no reference to any kernel, so it answers for every CPU.
 */
#include "everycore/kernel.h"

#define TIMING(t) EVC_TIMING_##t
#define USE(u) EVC_USE_##u

static const struct evc_registry_line registry[] = {
#define KERNEL(primitive_, stem_, isa_, timing_, use_)                                             \
    {                                                                                              \
        .primitive = #primitive_,                                                                  \
        .name = #stem_,                                                                            \
        .isa = #isa_,                                                                              \
        .needs = EVC_NEEDS_##isa_,                                                                 \
        .arch = EVC_ARCH_OF(isa_),                                                                 \
        .timing = TIMING(timing_),                                                                 \
        .use = USE(use_),                                                                          \
        .built = EVC_BUILT(isa_),                                                                  \
    },
#include "kernels.def"
#undef KERNEL
};

const struct evc_registry_line *evc_registry_at(unsigned index)
{
    return index < sizeof registry / sizeof registry[0] ? &registry[index] : NULL;
}

static int same_text(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static int policy_allows(unsigned policy, uint8_t timing)
{
    return timing == EVC_TIMING_CT ||
           (timing == EVC_TIMING_HARDENED && (policy & EVC_ALLOW_HARDENED) != 0) ||
           (timing == EVC_TIMING_VARTIME && (policy & EVC_ALLOW_VARTIME) != 0);
}

enum evc_unfit evc_unfit(const struct evc_registry_line *line, enum evc_arch arch,
                         const char *primitive, uint64_t features, unsigned policy,
                         enum evc_use use)
{
    if (!same_text(line->primitive, primitive))
        return EVC_UNFIT_PRIMITIVE;
    if (line->arch != EVC_ARCH_OTHER && line->arch != arch)
        return EVC_UNFIT_ARCH;
    if ((line->needs & ~features) != 0)
        return EVC_UNFIT_FEATURE;
    if (!policy_allows(policy, line->timing))
        return EVC_UNFIT_TIMING;
    if (use != EVC_USE_ANY && line->use != EVC_USE_ANY && line->use != use)
        return EVC_UNFIT_USE;
    return EVC_FITS;
}

const struct evc_registry_line *evc_resolve(enum evc_arch arch, const char *primitive,
                                            uint64_t features, unsigned policy, enum evc_use use)
{
    for (unsigned i = 0; i < sizeof registry / sizeof registry[0]; i++)
        if (evc_unfit(&registry[i], arch, primitive, features, policy, use) == EVC_FITS)
            return &registry[i];
    return NULL;
}
