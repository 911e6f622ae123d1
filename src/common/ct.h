/* SPDX-License-Identifier: MIT */
/*
 * The whole vocabulary for code that handles secrets: masks instead of branches.
 *
 * A mask is all ones or all zeros. The value barrier keeps the compiler from learning that, and so
 * from turning a mask back into a branch.
 */
#ifndef EVC_COMMON_CT_H
#define EVC_COMMON_CT_H

#include "everycore/everycore.h"
#include "everycore/isa.h"

#include "common/bytes.h"

EVC_INLINE uint32_t evc_barrier32(uint32_t x)
{
#if EVC_GNU_C
    __asm__("" : "+r"(x));
#else
    volatile uint32_t v = x;
    x = v;
#endif
    return x;
}

EVC_INLINE uint64_t evc_barrier64(uint64_t x)
{
#if EVC_GNU_C
    __asm__("" : "+r"(x));
#else
    volatile uint64_t v = x;
    x = v;
#endif
    return x;
}

/* x, which no vectoriser takes out of its general register. Registers of 32 bits tempt none, and a
 * barrier on a pair of them would cost moves. */
EVC_INLINE uint64_t evc_scalar64(uint64_t x)
{
#if EVC_WORD64
    x = evc_barrier64(x);
#endif
    return x;
}

/* All ones if the highest bit of x is set. A compiler for a CPU that cannot move on a condition, as
 * clang for RISC-V, would branch on the sign of x instead. */
EVC_INLINE uint64_t evc_mask_highest64(uint64_t x)
{
#if EVC_WORD64
    return evc_barrier64((uint64_t)0 - (x >> 63));
#else
    const uint32_t mask = evc_barrier32((uint32_t)0 - (uint32_t)(x >> 63));

    return (uint64_t)mask << 32 | mask;
#endif
}

/* All ones if x is not zero. */
EVC_INLINE uint32_t evc_mask_nonzero32(uint32_t x)
{
    return (uint32_t)0 - (evc_barrier32(x | ((uint32_t)0 - x)) >> 31);
}

/* Mask ? a : b. */
EVC_INLINE uint32_t evc_choose32(uint32_t mask, uint32_t a, uint32_t b)
{
    return b ^ (evc_barrier32(mask) & (a ^ b));
}

/* All ones if the len_bytes bytes at a and b are the same; reads all of them. The barriers keep
 * vectorisers away: clang for A32 writes words that it gathers in a vector to the stack first. */
EVC_INLINE uint32_t evc_mask_equal(const uint8_t *a, const uint8_t *b, size_t len_bytes)
{
    uint32_t differ = 0;

    for (; len_bytes >= 4; len_bytes -= 4, a += 4, b += 4)
        differ = evc_barrier32(differ | (evc_load32_ne(a) ^ evc_load32_ne(b)));
    for (; len_bytes; len_bytes--)
        differ = evc_barrier32(differ | (uint32_t)(*a++ ^ *b++));
    return ~evc_mask_nonzero32(differ);
}

/* The status of a tag that differs in these bits, without a branch: only the caller learns it. */
EVC_INLINE enum evc_status evc_tag_status(uint64_t differs)
{
#if EVC_WORD64
    return (enum evc_status)(evc_mask_highest64(differs | (0 - differs)) & (uint64_t)EVC_ERR_TAG);
#else
    const uint32_t folded = (uint32_t)differs | (uint32_t)(differs >> 32);

    return (enum evc_status)(evc_mask_nonzero32(folded) & (uint32_t)EVC_ERR_TAG);
#endif
}

/*
 * Marks for a taint checker (valgrind's memcheck, built with -DEVC_TAINT):
 * the harness marks secrets;
 * kernels never do. evc_public() stands only in code above the kernels, each with its reason.
 */
#if defined(EVC_TAINT)
#include <valgrind/memcheck.h>
#define evc_secret(p, n) ((void)VALGRIND_MAKE_MEM_UNDEFINED(p, n))
#define evc_public(p, n) ((void)VALGRIND_MAKE_MEM_DEFINED(p, n))
#else
#define evc_secret(p, n) ((void)(p), (void)(n))
#define evc_public(p, n) ((void)(p), (void)(n))
#endif

#endif
