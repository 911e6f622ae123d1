/* SPDX-License-Identifier: MIT */
/* Sums of several words on x86, whose carries stay in the flag: compilers take one instruction more, or branch. */
#ifndef EVC_COMMON_CARRY_H
#define EVC_COMMON_CARRY_H

#include "everycore/isa.h"

#if EVC_X86

/* Adds the number of two words (lower, upper) to the one of three (low, middle, high). All are registers. */
#define EVC_ADD_TWO_WORDS(low, middle, high, lower, upper)                                                             \
    __asm__("add %3, %0\n\tadc %4, %1\n\tadc $0, %2"                                                                   \
            : "+&r"(low), "+&r"(middle), "+&r"(high)                                                                   \
            : "r"(lower), "r"(upper)                                                                                   \
            : "cc")

#endif

#endif
