/* SPDX-License-Identifier: MIT */
/* For those who expand kernels.def, and for the descriptors that its lines describe. */
#ifndef EVC_COMMON_REGISTRY_H
#define EVC_COMMON_REGISTRY_H

#include "everycore/kernel.h"

/* EVC_WHEN(1, x) is x, EVC_WHEN(0, x) nothing. */
#define EVC_WHEN_0(...)
#define EVC_WHEN_1(...) __VA_ARGS__
#define EVC_WHEN(condition, ...) EVC_CAT(EVC_WHEN_, condition)(__VA_ARGS__)

/* The descriptors of all lines, of every primitive: so a file defines exactly the symbol that its line
 * promises. */
#define EVC_DECLARE(primitive, stem) extern EVC_API const struct evc_##primitive evc_##primitive##_##stem;
#define KERNEL(primitive, stem, isa, timing, use)                                                  \
    EVC_WHEN(EVC_BUILT(isa), EVC_DECLARE(primitive, stem))
#include "kernels.def"
#undef KERNEL

/*
 * The head of a descriptor: EVC_KERNEL_HEAD(c_ref, ANY, VARTIME, SERIAL, 1, struct key, traits, clear).
 * The stem,
 * ISA, timing and use are those of the kernel's line; a test holds the two against each other.
 */
#define EVC_KERNEL_HEAD(stem_, isa_, timing_, use_, batch_, key_type_, traits_, clear_)            \
    {                                                                                              \
        .name = #stem_, .needs = EVC_NEEDS_##isa_, .traits = (traits_),                            \
        .key_bytes = (uint32_t)sizeof(key_type_), .key_align = 16, .timing = EVC_TIMING_##timing_, \
        .use = EVC_USE_##use_, .batch = (batch_), .clear = (clear_)                                \
    }

#endif
