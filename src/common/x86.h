/* SPDX-License-Identifier: MIT */
/*
 * The x86 intrinsics, without libc: <immintrin.h> of GCC and clang pulls in <stdlib.h> through its
 * aligned allocation header, which a freestanding build does not have; its guard,
 * defined here, keeps it out.
 */
#ifndef EVC_COMMON_X86_H
#define EVC_COMMON_X86_H

#include "everycore/isa.h"

#if EVC_X86 /* files include this before they know what is built */
#define _MM_MALLOC_H_INCLUDED 1
#define __MM_MALLOC_H 1
#include <immintrin.h>

/* Clears the upper halves of the vector registers. A slot that uses registers of 256 or 512 bits
 * does so before each return: with upper halves in use, later SSE instructions of the caller are
 * slow on many cores. GCC and clang merge this with what they add themselves, but GCC adds
 * nothing at -O1 and -Os. */
#define EVC_X86_CLEAR_UPPER_HALVES() _mm256_zeroupper()

/* The block, and zeros above it. GCC knows the intrinsics that need no
 * instruction since version 10. */
#if defined(__clang__) || !defined(__GNUC__) || __GNUC__ >= 10
#define EVC_X86_EXTEND256(block) _mm256_zextsi128_si256(block)
#define EVC_X86_EXTEND512(block) _mm512_zextsi128_si512(block)
#else
#define EVC_X86_EXTEND256(block) _mm256_inserti128_si256(_mm256_setzero_si256(), block, 0)
#define EVC_X86_EXTEND512(block) _mm512_inserti32x4(_mm512_setzero_si512(), block, 0)
#endif
#endif

#endif
