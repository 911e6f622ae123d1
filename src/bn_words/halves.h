/* SPDX-License-Identifier: MIT */
/*
 * Whether a product of two words is made of four products of half words: EVC_BN_HALVES is 1
 * where the CPU has no instruction for a product of double width. A file that defines it as 1
 * gets half words everywhere.
 */
#ifndef EVC_BN_WORDS_HALVES_H
#define EVC_BN_WORDS_HALVES_H

#include "everycore/isa.h"

#if !defined(EVC_BN_HALVES)
/* 64 bits: SPARC V9 before VIS 3 and 64-bit PA-RISC have no upper half of a product. 32 bits:
 * neither have Thumb-1, the 68060, the 68000 and ColdFire. GCC calls a library for all of them. */
#if EVC_BN_WORD64 && (!defined(__SIZEOF_INT128__) || defined(__hppa__) || \
                      (defined(__sparc__) && !(defined(__VIS__) && __VIS__ >= 0x300)))
#define EVC_BN_HALVES 1
#elif EVC_BN_WORD32 && ((defined(__thumb__) && !defined(__thumb2__)) ||                         \
                        (defined(__m68k__) && !defined(__mc68020__) && !defined(__mc68030__) && \
                         !defined(__mc68040__)))
#define EVC_BN_HALVES 1
#else
#define EVC_BN_HALVES 0
#endif
#endif

#endif
