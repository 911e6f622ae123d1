/* SPDX-License-Identifier: MIT */
/* What no CPU has to be asked for: facts of the build. */
#ifndef EVC_CPU_COMMON_H
#define EVC_CPU_COMMON_H

#include "everycore/cpu.h"

/* Cores known or documented to multiply 32 x 32 and 64 x 64 bits in a time that does not depend on the
 * operands: all x86-64 and A64 cores that Linux runs on. Others must set the bit themselves. */
static inline uint64_t evc_features_of_build(void)
{
    return (EVC_WORD64 ? EVC_CPU(TUNE_WORD64) : 0) | (EVC_X86_64 || EVC_A64 ? EVC_CPU(CT_MUL) : 0) |
           (EVC_A32_THUMB2 ? EVC_CPU(A32_THUMB2) : 0);
}

#endif
