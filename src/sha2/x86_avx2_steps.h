/* SPDX-License-Identifier: MIT */
/* Steps of SHA-256 and SHA-512 by general registers and vectors of 256 bits. A user of ROUND
 * defines BIG0, BIG1, and the variables ab and bc: a ^ b and b ^ c. */
#ifndef EVC_SHA2_X86_AVX2_STEPS_H
#define EVC_SHA2_X86_AVX2_STEPS_H

#include "common/bytes.h"

/* Two runs of 16 bytes as the halves of a vector. */
EVC_INLINE __m256i load_two(const void *low, const void *high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)low)),
                                   _mm_loadu_si128((const __m128i *)high), 1);
}

EVC_INLINE __m256i both(const void *p)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
}

#define ROUND(a, b, c, d, e, f, g, h, wk) \
    do {                                  \
        h += (wk);                        \
        h += BIG1(e);                     \
        h += ((f) & (e)) + ((g) & ~(e));  \
        d += h;                           \
        ab = (a) ^ (b);                   \
        h += BIG0(a);                     \
        h += (ab & bc) ^ (b);             \
        bc = ab;                          \
    } while (0)

#endif
