/* SPDX-License-Identifier: MIT */
/*
 * The kernels that this library contains, by the lines of kernels.def. Linking
 * this file links them all;
 * a program that names one kernel (&evc_aes_c_ref) links that one alone.
 */
#include "aes/kernel.h"
#include "bn/kernel.h"
#include "bn_words/kernel.h"
#include "gcm/kernel.h"
#include "ghash/kernel.h"
#include "qarma/kernel.h"

/* A kernel that is built here, and what its line says of it. */
struct entry {
    const char *name;
    uint64_t needs;
    uint8_t timing, use;
    const struct evc_kernel *kernel;
};

/* Those of each primitive, best first, and an entry without a kernel. */
#define ENTRY_00(primitive, stem, isa, timing, use)
#define ENTRY_01(primitive, stem, isa, timing, use)
#define ENTRY_10(primitive, stem, isa, timing, use)
#define ENTRY_11(primitive, stem, isa, timing, use)                                                \
    {#stem, EVC_NEEDS_##isa, EVC_TIMING_##timing, EVC_USE_##use, &evc_##primitive##_##stem.kernel},
#define KERNEL(primitive, stem, isa, timing, use)                                                  \
    EVC_CAT(EVC_CAT(ENTRY_, EVC_BUILT(isa)), IS_##primitive)(primitive, stem, isa, timing, use)
#define END {NULL, 0, 0, 0, NULL}
#define IS_aes 0
#define IS_ghash 0
#define IS_gcm 0
#define IS_qarma 0
#define IS_bn 0
#define IS_bn_words 0

#undef IS_aes
#define IS_aes 1
static const struct entry aes_kernels[] = {
#include "kernels.def"
    END};
#undef IS_aes
#define IS_aes 0

#undef IS_ghash
#define IS_ghash 1
static const struct entry ghash_kernels[] = {
#include "kernels.def"
    END};
#undef IS_ghash
#define IS_ghash 0

#undef IS_gcm
#define IS_gcm 1
static const struct entry gcm_kernels[] = {
#include "kernels.def"
    END};
#undef IS_gcm
#define IS_gcm 0

#undef IS_qarma
#define IS_qarma 1
static const struct entry qarma_kernels[] = {
#include "kernels.def"
    END};
#undef IS_qarma
#define IS_qarma 0

#undef IS_bn
#define IS_bn 1
static const struct entry bn_kernels[] = {
#include "kernels.def"
    END};
#undef IS_bn
#define IS_bn 0
#undef IS_bn_words
#define IS_bn_words 1
static const struct entry bn_words_kernels[] = {
#include "kernels.def"
    END};
#undef IS_bn_words
#define IS_bn_words 0

static const struct evc_kernel *at(const struct entry *entry, unsigned index)
{
    while (entry->kernel && index--)
        entry++;
    return entry->kernel;
}

static const struct evc_kernel *named(const struct entry *entry, const char *name)
{
    while (entry->kernel && !evc_same_text(entry->name, name))
        entry++;
    return entry->kernel;
}

/* As evc_resolve(), among what is here: an i386 library may be told of a 64-bit CPU's features. */
static const struct evc_kernel *select_built(const struct entry *entry, uint64_t features,
                                             unsigned policy, enum evc_use use)
{
    while (entry->kernel &&
           evc_unfit_here(entry->needs, entry->timing, entry->use, features, policy, use))
        entry++;
    return entry->kernel;
}

/* A descriptor begins with its struct evc_kernel, so a pointer to the one is a
 * pointer to the other. */
#define AT_AND_NAMED(primitive)                                                                    \
    const struct evc_##primitive *evc_##primitive##_at(unsigned index)                             \
    {                                                                                              \
        return (const struct evc_##primitive *)at(primitive##_kernels, index);                     \
    }                                                                                              \
    const struct evc_##primitive *evc_##primitive##_named(const char *name)                        \
    {                                                                                              \
        return (const struct evc_##primitive *)named(primitive##_kernels, name);                   \
    }
AT_AND_NAMED(aes)
AT_AND_NAMED(ghash)
AT_AND_NAMED(gcm)
AT_AND_NAMED(qarma)
AT_AND_NAMED(bn)
AT_AND_NAMED(bn_words)

const struct evc_aes *evc_aes_select(uint64_t features, unsigned policy, enum evc_use use)
{
    return (const struct evc_aes *)select_built(aes_kernels, features, policy, use);
}

const struct evc_ghash *evc_ghash_select(uint64_t features, unsigned policy)
{
    return (const struct evc_ghash *)select_built(ghash_kernels, features, policy, EVC_USE_ANY);
}

const struct evc_gcm *evc_gcm_select(uint64_t features, unsigned policy)
{
    return (const struct evc_gcm *)select_built(gcm_kernels, features, policy, EVC_USE_ANY);
}

const struct evc_qarma *evc_qarma_select(uint64_t features, unsigned policy, enum evc_use use)
{
    return (const struct evc_qarma *)select_built(qarma_kernels, features, policy, use);
}

const struct evc_bn *evc_bn_select(uint64_t features, unsigned policy, enum evc_use use)
{
    return (const struct evc_bn *)select_built(bn_kernels, features, policy, use);
}

/* The first kernel that fits, or one behind it whose time is for such short moduli. */
const struct evc_bn *evc_bn_select_for(uint64_t features, unsigned policy, enum evc_use use,
                                       size_t n_bits)
{
    const struct evc_bn *const best = evc_bn_select(features, policy, use);

    if (use == EVC_USE_PARALLEL || n_bits >= best->fewest_bits)
        return best;
    for (const struct entry *e = bn_kernels; e->kernel; e++)
        if (!evc_unfit_here(e->needs, e->timing, e->use, features, policy, use) &&
            n_bits >= ((const struct evc_bn *)(const void *)e->kernel)->fewest_bits)
            return (const struct evc_bn *)(const void *)e->kernel;
    return best;
}

const struct evc_bn_words *evc_bn_words_select(uint64_t features, unsigned policy)
{
    return (const struct evc_bn_words *)select_built(bn_words_kernels, features, policy,
                                                     EVC_USE_ANY);
}
