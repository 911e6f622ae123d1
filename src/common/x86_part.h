/* SPDX-License-Identifier: MIT */
/* Blocks, and parts of a block, to and from xmm registers; for a region of SSE2 or more. */
#ifndef EVC_COMMON_X86_PART_H
#define EVC_COMMON_X86_PART_H

#include "common/bytes.h"

/* 16 bytes at any address. */
EVC_INLINE __m128i evc_x86_load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

EVC_INLINE void evc_x86_store(uint8_t *p, __m128i x)
{
    _mm_storeu_si128((__m128i *)(void *)p, x);
}

/* 16 bytes at a multiple of 16, as in a key: a load may be a memory operand. */
EVC_INLINE __m128i evc_x86_load_aligned(const uint8_t *p)
{
    return _mm_load_si128((const __m128i *)(const void *)p);
}

EVC_INLINE void evc_x86_store_aligned(uint8_t *p, __m128i x)
{
    _mm_store_si128((__m128i *)(void *)p, x);
}

/* n_bytes 1 to 15 at p as the low bytes of a block, zeros above; reads nothing else: two words
 * that overlap, or three bytes that may be the same. */
EVC_INLINE __m128i evc_x86_load_part(const uint8_t *p, size_t n_bytes)
{
    uint64_t lo, hi = 0;

    if (n_bytes >= 8) {
        lo = evc_load64_le(p);
        hi = evc_load64_le(p + n_bytes - 8) >> 1 >> (127 - 8 * n_bytes);
    } else if (n_bytes >= 4) {
        lo = evc_load32_le(p) | (uint64_t)evc_load32_le(p + n_bytes - 4) << (8 * n_bytes - 32);
    } else {
        lo = (uint64_t)(p[0] | p[n_bytes / 2] << (n_bytes / 2 * 8) |
                        p[n_bytes - 1] << (n_bytes * 8 - 8));
    }
    return _mm_set_epi64x((long long)hi, (long long)lo);
}

/* The low n_bytes (1 to 15) of x to p; writes nothing else. */
EVC_INLINE void evc_x86_store_part(uint8_t *p, __m128i x, size_t n_bytes)
{
    uint64_t w[2];

    _mm_storeu_si128((__m128i *)(void *)w, x);
    if (n_bytes >= 8) {
        evc_store64_le(p, w[0]);
        evc_store64_le(p + n_bytes - 8,
                       w[0] >> (8 * n_bytes - 64) | w[1] << 1 << (127 - 8 * n_bytes));
    } else if (n_bytes >= 4) {
        evc_store32_le(p, (uint32_t)w[0]);
        evc_store32_le(p + n_bytes - 4, (uint32_t)(w[0] >> (8 * n_bytes - 32)));
    } else {
        p[n_bytes / 2] = (uint8_t)(w[0] >> (n_bytes / 2 * 8));
        p[n_bytes - 1] = (uint8_t)(w[0] >> (n_bytes * 8 - 8));
        p[0] = (uint8_t)w[0];
    }
}

#endif
