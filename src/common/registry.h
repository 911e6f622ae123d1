/* SPDX-License-Identifier: MIT */
/* For those who expand kernels.def, and for the descriptors that its lines describe. */
#ifndef EVC_COMMON_REGISTRY_H
#define EVC_COMMON_REGISTRY_H

#include "everycore/kernel.h"

#include "common/bytes.h"
#include "common/clear.h"

#if EVC_X86_64_ASM && EVC_COFF
/* Calls of assembly would go wrong if the compiler ignored EVC_SYSV. */
typedef char evc_compiler_must_know_sysv_abi[EVC_MICROSOFT_CALLS ? 1 : -1];
#elif EVC_X86_64_ASM && !defined(__clang__) && !defined(EVC_ISA_BY_FLAGS)
/* GCC's -mabi=ms does not reach functions behind a target pragma. */
typedef char evc_mabi_ms_needs_isa_by_flags[EVC_MICROSOFT_CALLS ? -1 : 1];
#endif

/* EVC_WHEN(1, x) is x, EVC_WHEN(0, x) nothing. */
#define EVC_WHEN_0(...)
#define EVC_WHEN_1(...) __VA_ARGS__
#define EVC_WHEN(condition, ...) EVC_CAT(EVC_WHEN_, condition)(__VA_ARGS__)

/* The use and the mark of a line, of all its words behind the timing class. A line without a mark
 * has the mark SELECTED. */
#define EVC_FIRST(first, ...) first
#define EVC_SECOND(first, second, ...) second
#define EVC_LINE_USE(...) EVC_CAT(EVC_USE_, EVC_FIRST(__VA_ARGS__, ~))
#define EVC_LINE_MARK(...) EVC_SECOND(__VA_ARGS__, SELECTED, ~)

/* EVC_IS(word) is 1 if word is defined as EVC_YES, else 0. */
#define EVC_YES ~, 1
#define EVC_IS(...) EVC_SECOND(__VA_ARGS__, 0, ~)

/* The descriptors of all lines, of every primitive: so a file defines exactly the symbol
 * that its line promises. */
#define EVC_DECLARE(primitive, stem) \
    extern EVC_API const struct evc_##primitive evc_##primitive##_##stem;
#define KERNEL(primitive, stem, isa, timing, ...)                                                  \
    EVC_WHEN(EVC_BUILT(isa), EVC_DECLARE(primitive, stem))
#include "kernels.def"
#undef KERNEL

/*
 * The head of a descriptor: EVC_KERNEL_HEAD(c_ref, ANY, VARTIME, SERIAL, 1, struct key, traits,
 * BASELINE, 640). The stem, ISA, timing and use are those of the kernel's line; a test holds
 * the two against each other. The last two are what its operations leave behind: EVC_REGISTERS_...,
 * and how many bytes of the stack.
 */
#define EVC_KERNEL_HEAD(stem_, isa_, timing_, use_, batch_, key_type_, traits_, registers_,        \
                        stack_bytes_)                                                              \
    {                                                                                              \
        .name = #stem_, .needs = EVC_NEEDS_##isa_, .traits = (traits_),                            \
        .key_bytes = (uint32_t)sizeof(key_type_), .key_align = 16, .timing = EVC_TIMING_##timing_, \
        .use = EVC_USE_##use_, .batch = (batch_), .registers = EVC_REGISTERS_##registers_,         \
        .stack_bytes = EVC_STACK_BYTES(registers_, stack_bytes_),                                  \
        .clear = (stack_bytes_) + EVC_MORE_STACK ? EVC_CLEAR_##registers_                          \
                                                 : EVC_CLEAR_REGISTERS_##registers_                \
    }

/* The same of a primitive that has no keys. */
#define EVC_KEYLESS_HEAD(stem_, isa_, timing_, use_, registers_, stack_bytes_) \
    {.name = #stem_,                                                           \
     .needs = EVC_NEEDS_##isa_,                                                \
     .key_align = 16,                                                          \
     .timing = EVC_TIMING_##timing_,                                           \
     .use = EVC_USE_##use_,                                                    \
     .batch = 1,                                                               \
     .registers = EVC_REGISTERS_##registers_,                                  \
     .stack_bytes = EVC_STACK_BYTES(registers_, stack_bytes_),                 \
     .clear = EVC_CLEAR_##registers_}

EVC_INLINE int evc_same_text(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* The rule of selection among kernels of one primitive and architecture: does one with these needs,
 * timing class and use serve this request? The timing class of a kernel that multiplies rests on
 * ct-mul; without that it is no more than variable time, which the policy may allow. */
EVC_INLINE enum evc_unfit evc_unfit_here(uint64_t needs, uint8_t timing, uint8_t use,
                                         uint64_t features, unsigned policy,
                                         enum evc_use wanted_use)
{
    if ((needs & ~features & ~(policy & EVC_ALLOW_VARTIME ? EVC_CPU(CT_MUL) : 0)) != 0)
        return EVC_UNFIT_FEATURE;
    if ((timing == EVC_TIMING_HARDENED && !(policy & EVC_ALLOW_HARDENED)) ||
        (timing == EVC_TIMING_VARTIME && !(policy & EVC_ALLOW_VARTIME)))
        return EVC_UNFIT_TIMING;
    if (wanted_use != EVC_USE_ANY && use != EVC_USE_ANY && use != wanted_use)
        return EVC_UNFIT_USE;
    return EVC_FITS;
}

#endif
