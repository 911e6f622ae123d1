/* SPDX-License-Identifier: MIT */
/*
 * The kernels that this library contains, by the lines of kernels.def. Linking this file links them all;
 * a program that names one kernel (&evc_aes_c_ref) links that one alone.
 */
#include "aes/kernel.h"

/* ---- aes ------------------------------------------------------------------------------------- */


static const struct evc_aes *const aes_kernels[] = {
#define KERNEL(primitive, stem, isa, timing, use)                                                  \
    EVC_WHEN(EVC_BUILT(isa), IN_AES_##primitive(stem))
#define IN_AES_aes(stem) &evc_aes_##stem,
#include "kernels.def"
#undef KERNEL
};

const struct evc_aes *evc_aes_at(unsigned index)
{
    return index < sizeof aes_kernels / sizeof aes_kernels[0] ? aes_kernels[index] : NULL;
}

const struct evc_aes *evc_aes_named(const char *name)
{
    for (unsigned i = 0; i < sizeof aes_kernels / sizeof aes_kernels[0]; i++) {
        const char *a = aes_kernels[i]->kernel.name;
        const char *b = name;
        while (*a && *a == *b)
            a++, b++;
        if (*a == *b)
            return aes_kernels[i];
    }
    return NULL;
}

const struct evc_aes *evc_aes_select(uint64_t features, unsigned policy, enum evc_use use)
{
    const struct evc_registry_line *line;

    /* As evc_resolve(), among what is here: an i386 library may be told of a 64-bit CPU's features. */
    for (unsigned i = 0; (line = evc_registry_at(i)) != NULL; i++)
        if (line->built && evc_unfit(line, EVC_ARCH_HERE, "aes", features, policy, use) == EVC_FITS)
            return evc_aes_named(line->name);
    return NULL;
}
