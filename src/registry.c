/* SPDX-License-Identifier: MIT */
/*
 * The kernels that this library contains, by the lines of kernels.def. Linking this file links them all;
 * a program that names one kernel (&evc_aes_c_ref) links that one alone.
 */
#include "aes/kernel.h"
#include "gcm/kernel.h"
#include "ghash/kernel.h"
#include "qarma/kernel.h"

/* For evc_registry_at(i), the descriptor at i; NULL if it is not built here. */
static const struct evc_kernel *const kernels[] = {
#define DESCRIPTOR_0(primitive, stem) NULL
#define DESCRIPTOR_1(primitive, stem) &evc_##primitive##_##stem.kernel
#define KERNEL(primitive, stem, isa, timing, use)                                                  \
    EVC_CAT(DESCRIPTOR_, EVC_BUILT(isa))(primitive, stem),
#include "kernels.def"
#undef KERNEL
};

static int same_text(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* The kernels of a primitive that are built here: number index of them, or the one of that name. */
static const struct evc_kernel *find(const char *primitive, unsigned index, const char *name)
{
    const struct evc_registry_line *line;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++)
        if (kernels[i] && same_text(line->primitive, primitive) &&
            (name ? same_text(line->name, name) : index-- == 0))
            return kernels[i];
    return NULL;
}

/* As evc_resolve(), among what is here: an i386 library may be told of a 64-bit CPU's features. */
static const struct evc_kernel *select_built(const char *primitive, uint64_t features,
                                             unsigned policy, enum evc_use use)
{
    const struct evc_registry_line *line;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++)
        if (kernels[i] &&
            evc_unfit(line, EVC_ARCH_HERE, primitive, features, policy, use) == EVC_FITS)
            return kernels[i];
    return NULL;
}

/* A descriptor begins with its struct evc_kernel, so a pointer to the one is a pointer to the other. */
#define AT_AND_NAMED(primitive)                                                                    \
    const struct evc_##primitive *evc_##primitive##_at(unsigned index)                             \
    {                                                                                              \
        return (const struct evc_##primitive *)find(#primitive, index, NULL);                      \
    }                                                                                              \
    const struct evc_##primitive *evc_##primitive##_named(const char *name)                        \
    {                                                                                              \
        return (const struct evc_##primitive *)find(#primitive, 0, name);                          \
    }
AT_AND_NAMED(aes)
AT_AND_NAMED(ghash)
AT_AND_NAMED(gcm)
AT_AND_NAMED(qarma)

const struct evc_aes *evc_aes_select(uint64_t features, unsigned policy, enum evc_use use)
{
    return (const struct evc_aes *)select_built("aes", features, policy, use);
}

const struct evc_ghash *evc_ghash_select(uint64_t features, unsigned policy)
{
    return (const struct evc_ghash *)select_built("ghash", features, policy, EVC_USE_ANY);
}

const struct evc_gcm *evc_gcm_select(uint64_t features, unsigned policy)
{
    return (const struct evc_gcm *)select_built("gcm", features, policy, EVC_USE_ANY);
}

const struct evc_qarma *evc_qarma_select(uint64_t features, unsigned policy, enum evc_use use)
{
    return (const struct evc_qarma *)select_built("qarma", features, policy, use);
}
