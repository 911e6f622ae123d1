/* SPDX-License-Identifier: MIT */
/*
 * The registry as plain facts, and the one rule of selection: the first line whose architecture,
 * needs, timing class and use fit. Holds no reference to any kernel, so it answers for every CPU.
 */
#include "common/registry.h"

#define TIMING(t) EVC_TIMING_##t
#define BY_NAME_NAMED EVC_YES
#define IN_PAIRS_PAIR EVC_YES

static const struct evc_registry_line registry[] = {
#define KERNEL(primitive_, stem_, isa_, timing_, ...)                                              \
    {                                                                                              \
        .primitive = #primitive_,                                                                  \
        .name = #stem_,                                                                            \
        .isa = #isa_,                                                                              \
        .needs = EVC_NEEDS_##isa_,                                                                 \
        .arch = EVC_ARCH_OF(isa_),                                                                 \
        .timing = TIMING(timing_),                                                                 \
        .use = EVC_LINE_USE(__VA_ARGS__),                                                          \
        .built = EVC_BUILT(isa_),                                                                  \
        .by_name = EVC_IS(EVC_CAT(BY_NAME_, EVC_LINE_MARK(__VA_ARGS__))),                          \
        .in_pairs = EVC_IS(EVC_CAT(IN_PAIRS_, EVC_LINE_MARK(__VA_ARGS__))),                        \
    },
#include "kernels.def"
#undef KERNEL
};

const struct evc_registry_line *evc_registry_at(unsigned index)
{
    return index < sizeof registry / sizeof registry[0] ? &registry[index] : NULL;
}

enum evc_unfit evc_unfit(const struct evc_registry_line *line, enum evc_arch arch,
                         const char *primitive, uint64_t features, unsigned policy,
                         enum evc_use use)
{
    if (!evc_same_text(line->primitive, primitive))
        return EVC_UNFIT_PRIMITIVE;
    if (line->arch != EVC_ARCH_OTHER && line->arch != arch)
        return EVC_UNFIT_ARCH;
    return evc_unfit_here(line->needs, line->timing, line->use, features, policy, use);
}

const struct evc_registry_line *evc_resolve(enum evc_arch arch, const char *primitive,
                                            uint64_t features, unsigned policy, enum evc_use use)
{
    for (unsigned i = 0; i < sizeof registry / sizeof registry[0]; i++)
        if (evc_unfit(&registry[i], arch, primitive, features, policy, use) == EVC_FITS)
            return &registry[i];
    return NULL;
}
