/* SPDX-License-Identifier: MIT */
/*
 * A list of kernels of one primitive, best first: those lines of kernels.def that this library
 * contains and a file asks for. It says which lines, and how their descriptors are named:
 *
 *     #define LISTS_aes EVC_YES               the primitive
 *     #define LISTS_SELECTED EVC_YES          marks of lines: SELECTED (none), PAIR; or NAMED: all
 *     #define LISTS_PAIR EVC_YES
 *     #define LISTED(stem) evc_aes_##stem
 *     #include "common/kernel_list.h"         defines the array `kernels`
 *
 * Every list stands in a file of its own, so that a program links the kernels of those lists alone
 * that it asks.
 */
#include "common/registry.h"

#if defined(LISTS_NAMED)
#define LISTS_SELECTED EVC_YES
#define LISTS_PAIR EVC_YES
#endif

/* A kernel, and what its line says of it. A descriptor begins with its struct evc_kernel, so a
 * pointer to the one is a pointer to the other. */
struct listed {
    const char *name;
    uint64_t needs;
    uint8_t timing, use;
    const struct evc_kernel *kernel;
};

#define EVC_LIST_LINE(mark, stem, isa, timing, use) \
    EVC_WHEN(EVC_IS(EVC_CAT(LISTS_, mark)),         \
             {#stem, EVC_NEEDS_##isa, EVC_TIMING_##timing, use, &LISTED(stem).kernel}, )
#define KERNEL(primitive, stem, isa, timing, ...)                                                  \
    EVC_WHEN(EVC_BUILT(isa), EVC_WHEN(EVC_IS(LISTS_##primitive),                                   \
                                      EVC_LIST_LINE(EVC_LINE_MARK(__VA_ARGS__), stem, isa, timing, \
                                                    EVC_LINE_USE(__VA_ARGS__))))

static const struct listed kernels[] = {
#include "kernels.def"
    {NULL, 0, 0, 0, NULL}};
#undef KERNEL

#if defined(LISTS_NAMED)

/* For the functions evc_<primitive>_at() and evc_<primitive>_named(). */
EVC_INLINE const struct evc_kernel *kernel_at(unsigned index)
{
    const struct listed *line = kernels;

    while (line->kernel && index--)
        line++;
    return line->kernel;
}

EVC_INLINE const struct evc_kernel *kernel_named(const char *name)
{
    const struct listed *line = kernels;

    while (line->kernel && !evc_same_text(line->name, name))
        line++;
    return line->kernel;
}

#else

/* As evc_resolve(), among what is here: an i386 library may be told of a 64-bit CPU's features. */
EVC_INLINE const struct evc_kernel *select_kernel(uint64_t features, unsigned policy,
                                                  enum evc_use use)
{
    const struct listed *line = kernels;

    while (line->kernel &&
           evc_unfit_here(line->needs, line->timing, line->use, features, policy, use))
        line++;
    return line->kernel;
}

#endif
