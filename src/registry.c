/* SPDX-License-Identifier: MIT */
/*
 * The kernels that this library contains, by the lines of kernels.def. Linking this file links them all;
 * a program that names one kernel (&evc_aes_c_ref) links that one alone.
 */
#include "aes/kernel.h"
#include "ghash/kernel.h"

static int same_text(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* The functions of a primitive over its table of kernels, which is above each use. */
#define AT_AND_NAMED(primitive)                                                                    \
    const struct evc_##primitive *evc_##primitive##_at(unsigned index)                             \
    {                                                                                              \
        const unsigned n = sizeof primitive##_kernels / sizeof primitive##_kernels[0];             \
        return index < n ? primitive##_kernels[index] : NULL;                                      \
    }                                                                                              \
    const struct evc_##primitive *evc_##primitive##_named(const char *name)                        \
    {                                                                                              \
        const struct evc_##primitive *found;                                                       \
        for (unsigned i = 0; (found = evc_##primitive##_at(i)) != NULL; i++)                       \
            if (same_text(evc_##primitive##_kernel(found)->name, name))                            \
                break;                                                                             \
        return found;                                                                              \
    }

/* A table takes the lines of its primitive: OF_<primitive> says what becomes of each. */
#define KERNEL(primitive, stem, isa, timing, use)                                                  \
    EVC_WHEN(EVC_BUILT(isa), OF_##primitive(stem))

/* As evc_resolve(), among what is here: an i386 library may be told of a 64-bit CPU's features. */
static const char *name_of_first(const char *primitive, uint64_t features, unsigned policy,
                                 enum evc_use use)
{
    const struct evc_registry_line *line;

    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++)
        if (line->built &&
            evc_unfit(line, EVC_ARCH_HERE, primitive, features, policy, use) == EVC_FITS)
            return line->name;
    return NULL;
}

/* ---- aes ------------------------------------------------------------------------------------- */

#define OF_aes(stem) &evc_aes_##stem,
#define OF_ghash(stem)
static const struct evc_aes *const aes_kernels[] = {
#include "kernels.def"
};
#undef OF_aes
#undef OF_ghash
AT_AND_NAMED(aes)

const struct evc_aes *evc_aes_select(uint64_t features, unsigned policy, enum evc_use use)
{
    const char *name = name_of_first("aes", features, policy, use);
    return name ? evc_aes_named(name) : NULL;
}

/* ---- ghash ----------------------------------------------------------------------------------- */

#define OF_aes(stem)
#define OF_ghash(stem) &evc_ghash_##stem,
static const struct evc_ghash *const ghash_kernels[] = {
#include "kernels.def"
};
#undef OF_aes
#undef OF_ghash
AT_AND_NAMED(ghash)

const struct evc_ghash *evc_ghash_select(uint64_t features, unsigned policy)
{
    const char *name = name_of_first("ghash", features, policy, EVC_USE_ANY);
    return name ? evc_ghash_named(name) : NULL;
}
