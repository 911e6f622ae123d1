/* SPDX-License-Identifier: MIT */
/* Sums of several words whose carries stay in the flag: compilers take more
 * instructions, or branch. */
#ifndef EVC_COMMON_CARRY_H
#define EVC_COMMON_CARRY_H

#include "everycore/isa.h"

/* The clobber of assembly that changes the carry. On POWER it is no condition. */
#if defined(__powerpc__)
#define EVC_CARRY_FLAG "xer"
#else
#define EVC_CARRY_FLAG "cc"
#endif

/* EVC_ADD_TWO_WORDS, where it is defined, adds the number of two words (lower, upper) to the one of
 * three (low, middle, high). All are registers, of the CPU's width. It is volatile on x86, as Clang
 * would else make several products first and move them to other registers. */
#if EVC_X86
#define EVC_ADD_TWO_WORDS(low, middle, high, lower, upper)    \
    __asm__ volatile("add %3, %0\n\tadc %4, %1\n\tadc $0, %2" \
            : "+&r"(low), "+&r"(middle), "+&r"(high)          \
            : "r"(lower), "r"(upper)                          \
            : "cc")
#elif defined(__s390x__)
#define EVC_ADD_TWO_WORDS(low, middle, high, lower, upper) \
    __asm__("algr %0, %3\n\talcgr %1, %4\n\talcgr %2, %5"  \
            : "+&d"(low), "+&d"(middle), "+&d"(high)       \
            : "d"(lower), "d"(upper), "d"(UINT64_C(0))     \
            : "cc")
#elif defined(__m68k__)
#define EVC_ADD_TWO_WORDS(low, middle, high, lower, upper)   \
    __asm__("add.l %3, %0\n\taddx.l %4, %1\n\taddx.l %5, %2" \
            : "+&d"(low), "+&d"(middle), "+&d"(high)         \
            : "d"(lower), "d"(upper), "d"(UINT32_C(0))       \
            : "cc")
#elif defined(__powerpc__)
#define EVC_ADD_TWO_WORDS(low, middle, high, lower, upper)       \
    __asm__("addc %0, %0, %3\n\tadde %1, %1, %4\n\taddze %2, %2" \
            : "+&r"(low), "+&r"(middle), "+&r"(high)             \
            : "r"(lower), "r"(upper)                             \
            : EVC_CARRY_FLAG)
#elif defined(__hppa__) && !defined(__LP64__)
#define EVC_ADD_TWO_WORDS(low, middle, high, lower, upper)           \
    __asm__("add %3, %0, %0\n\taddc %4, %1, %1\n\taddc %%r0, %2, %2" \
            : "+&r"(low), "+&r"(middle), "+&r"(high)                 \
            : "r"(lower), "r"(upper)                                 \
            : "cc")
#elif defined(__arm__) && (!defined(__thumb__) || defined(__thumb2__))
#define EVC_ADD_TWO_WORDS(low, middle, high, lower, upper)         \
    __asm__("adds %0, %0, %3\n\tadcs %1, %1, %4\n\tadc %2, %2, #0" \
            : "+&r"(low), "+&r"(middle), "+&r"(high)               \
            : "r"(lower), "r"(upper)                               \
            : "cc")
#endif

/* EVC_ADD_CARRY, where it is defined, adds the number of two words (x, y) and a carry to the one of
 * two words (lower, upper); EVC_SUBTRACT_CARRY subtracts both. The carry is 0 or all ones, and
 * becomes what is above the two words. */
#if EVC_X86
#define EVC_CARRY_OPERANDS(lower, upper, carry, x, y) \
    : "+&r"(lower), "+&r"(upper), "+&r"(carry) : "r"(x), "r"(y) : "cc"
#define EVC_ADD_CARRY(lower, upper, carry, x, y)                   \
    __asm__("add %2, %2\n\tadc %3, %0\n\tadc %4, %1\n\tsbb %2, %2" \
            EVC_CARRY_OPERANDS(lower, upper, carry, x, y))
#define EVC_SUBTRACT_CARRY(lower, upper, carry, x, y)              \
    __asm__("add %2, %2\n\tsbb %3, %0\n\tsbb %4, %1\n\tsbb %2, %2" \
            EVC_CARRY_OPERANDS(lower, upper, carry, x, y))
#endif

#endif
