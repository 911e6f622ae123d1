/* SPDX-License-Identifier: MIT */
/* Sums of several words whose carries stay in the flag: compilers take more instructions, or branch. */
#ifndef EVC_COMMON_CARRY_H
#define EVC_COMMON_CARRY_H

#include "everycore/isa.h"

/* EVC_ADD_TWO_WORDS, where it is defined, adds the number of two words (lower, upper) to the one of three (low, middle,
 * high). All are registers, of the CPU's width. */
#if EVC_X86
#define EVC_ADD_TWO_WORDS(low, middle, high, lower, upper)                                                             \
    __asm__("add %3, %0\n\tadc %4, %1\n\tadc $0, %2"                                                                   \
            : "+&r"(low), "+&r"(middle), "+&r"(high)                                                                   \
            : "r"(lower), "r"(upper)                                                                                   \
            : "cc")
#elif defined(__s390x__)
#define EVC_ADD_TWO_WORDS(low, middle, high, lower, upper)                                                             \
    __asm__("algr %0, %3\n\talcgr %1, %4\n\talcgr %2, %5"                                                             \
            : "+&d"(low), "+&d"(middle), "+&d"(high)                                                                   \
            : "d"(lower), "d"(upper), "d"(UINT64_C(0))                                                                 \
            : "cc")
#elif defined(__m68k__)
#define EVC_ADD_TWO_WORDS(low, middle, high, lower, upper)                                                             \
    __asm__("add.l %3, %0\n\taddx.l %4, %1\n\taddx.l %5, %2"                                                          \
            : "+&d"(low), "+&d"(middle), "+&d"(high)                                                                   \
            : "d"(lower), "d"(upper), "d"(UINT32_C(0))                                                                 \
            : "cc")
#elif defined(__powerpc__)
#define EVC_ADD_TWO_WORDS(low, middle, high, lower, upper)                                                             \
    __asm__("addc %0, %0, %3\n\tadde %1, %1, %4\n\taddze %2, %2"                                                      \
            : "+&r"(low), "+&r"(middle), "+&r"(high)                                                                   \
            : "r"(lower), "r"(upper)                                                                                   \
            : "cc")
#elif defined(__hppa__) && !defined(__LP64__)
#define EVC_ADD_TWO_WORDS(low, middle, high, lower, upper)                                                             \
    __asm__("add %3, %0, %0\n\taddc %4, %1, %1\n\taddc %%r0, %2, %2"                                                  \
            : "+&r"(low), "+&r"(middle), "+&r"(high)                                                                   \
            : "r"(lower), "r"(upper)                                                                                   \
            : "cc")
#elif defined(__arm__) && (!defined(__thumb__) || defined(__thumb2__))
#define EVC_ADD_TWO_WORDS(low, middle, high, lower, upper)                                                             \
    __asm__("adds %0, %0, %3\n\tadcs %1, %1, %4\n\tadc %2, %2, #0"                                                    \
            : "+&r"(low), "+&r"(middle), "+&r"(high)                                                                   \
            : "r"(lower), "r"(upper)                                                                                   \
            : "cc")
#endif

#endif
