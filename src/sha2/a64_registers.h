/* SPDX-License-Identifier: MIT */
/*
 * Hints to compilers that save copies of vectors and addresses of constants. Without GCC's first
 * scheduler 0.83 of the instructions of SHA-512 are left.
 */
#ifndef EVC_SHA2_A64_REGISTERS_H
#define EVC_SHA2_A64_REGISTERS_H

#define EVC_ON_ARM_TOO
#include "common/few_spills.h"

/* AT_ONCE(x, y): both vectors are in registers here, so that one instruction loads them.
 * HIDE_POINTER(p): the compiler does not know where p points, so that it counts addresses from p
 * instead of making each of its own. */
#if EVC_GNU_C
#define AT_ONCE(x, y) __asm__("" : "+w"(x), "+w"(y))
#define HIDE_POINTER(p) __asm__("" : "+r"(p))
#else
#define AT_ONCE(x, y) ((void)0)
#define HIDE_POINTER(p) ((void)0)
#endif

#endif
