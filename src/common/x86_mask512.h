/* SPDX-License-Identifier: MIT */
/*
 * The first bytes of 512-bit vectors from and to memory, by masks; for a region of
 * AVX-512 with BW, and BMI2.
 *
 * A masked access is repaired by microcode, in hundreds of cycles, if a byte that is masked off
 * lies on a page without access. So bytes at the end of a page are moved by pieces without masks. A
 * masked access that ends with the page would do as well, but in place it overlaps the store of the
 * vector before, and waits for it.
 */
#ifndef EVC_COMMON_X86_MASK512_H
#define EVC_COMMON_X86_MASK512_H

#include "common/x86_part.h"

/* Whether a vector at p reaches into the next page, and its first n_bytes do not. The first
 * condition alone is false for most addresses, so that the second costs nothing there. */
EVC_INLINE int evc_x86_reaches_next_page(const void *p, size_t n_bytes)
{
    const uint32_t at = (uint32_t)((uintptr_t)p % 4096);

    return at > 4096 - 64 && at + n_bytes <= 4096;
}

EVC_INLINE __mmask64 evc_x86_first_bytes(size_t n_bytes) /* 0 to 64 */
{
    return _bzhi_u64(~UINT64_C(0), (unsigned)n_bytes);
}

/* n_bytes: 1 to 63 */
EVC_INLINE __m512i evc_x86_load_pieces512(const uint8_t *p, size_t n_bytes)
{
    const uint8_t *rest = p + (n_bytes & 48), *block = p + (n_bytes & 32);
    const __m128i part = n_bytes % 16 ? evc_x86_load_part(rest, n_bytes % 16) : _mm_setzero_si128();
    __m512i v = EVC_X86_EXTEND512(part);

    if (n_bytes & 16)
        v = _mm512_inserti32x4(
            EVC_X86_EXTEND512(_mm_loadu_si128((const __m128i *)(const void *)block)), part, 1);
    if (n_bytes & 32)
        v = _mm512_inserti64x4(_mm512_shuffle_i64x2(v, v, 0x44),
                               _mm256_loadu_si256((const __m256i *)(const void *)p), 0);
    return v;
}

/* n_bytes: 1 to 63 */
EVC_INLINE void evc_x86_store_pieces512(uint8_t *p, __m512i v, size_t n_bytes)
{
    __m256i half = _mm512_castsi512_si256(v);
    __m128i block;

    if (n_bytes & 32) {
        _mm256_storeu_si256((__m256i *)(void *)p, half);
        half = _mm512_extracti64x4_epi64(v, 1);
        p += 32;
    }
    block = _mm256_castsi256_si128(half);
    if (n_bytes & 16) {
        _mm_storeu_si128((__m128i *)(void *)p, block);
        block = _mm256_extracti128_si256(half, 1);
        p += 16;
    }
    if (n_bytes % 16)
        evc_x86_store_part(p, block, n_bytes % 16);
}

/* The n_bytes (0 to 64) at p, zeros behind. */
EVC_INLINE __m512i evc_x86_load_bytes512(const uint8_t *p, size_t n_bytes)
{
    if (!n_bytes)
        return _mm512_setzero_si512();
    if (evc_x86_reaches_next_page(p, n_bytes))
        return evc_x86_load_pieces512(p, n_bytes);
    return _mm512_maskz_loadu_epi8(evc_x86_first_bytes(n_bytes), p);
}

/* The first n_bytes (0 to 64) of v to p. */
EVC_INLINE void evc_x86_store_bytes512(uint8_t *p, __m512i v, size_t n_bytes)
{
    if (!n_bytes)
        return;
    if (evc_x86_reaches_next_page(p, n_bytes))
        evc_x86_store_pieces512(p, v, n_bytes);
    else
        _mm512_mask_storeu_epi8(p, evc_x86_first_bytes(n_bytes), v);
}

#endif
