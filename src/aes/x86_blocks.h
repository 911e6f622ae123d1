/* SPDX-License-Identifier: MIT */
/* Blocks in registers, for a region of SSE2 or more. Include it after
 * x86_blocks128.h or x86_blocks256.h. */
#ifndef EVC_AES_X86_BLOCKS_H
#define EVC_AES_X86_BLOCKS_H

#include "common/bytes.h"

EVC_INLINE __m128i load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

EVC_INLINE __m128i load_aligned(const uint8_t *p)
{
    return _mm_load_si128((const __m128i *)(const void *)p);
}

EVC_INLINE void store(uint8_t *p, __m128i x)
{
    _mm_storeu_si128((__m128i *)(void *)p, x);
}

EVC_INLINE size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

/* tweak * x in GF(2^128), byte 0 least significant, x^128 = x^7 + x^2 + x + 1 (IEEE 1619-2018
 * section 5.2): the top bit of each half goes into the other. */
EVC_INLINE __m128i times_x128(__m128i tweak)
{
    const __m128i tops = _mm_shuffle_epi32(_mm_srai_epi32(tweak, 31), 0x13);

    return _mm_xor_si128(_mm_add_epi64(tweak, tweak),
                         _mm_and_si128(tops, _mm_set_epi32(0, 1, 0, 0x87)));
}

/* Hides what x is made of: compilers regroup xors where the grouping makes a chain short, and turn
 * a loop of copies into a call of memcpy. */
EVC_INLINE vec hide_value(vec x)
{
#if EVC_GNU_C
    __asm__("" : "+x"(x));
#endif
    return x;
}

#endif
