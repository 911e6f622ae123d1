/* SPDX-License-Identifier: MIT */
/* 256-bit vectors of 2 blocks, by the words of ghash/x86_clmul_steps.h; for a region of
 * AVX2 with VPCLMULQDQ. */
#ifndef EVC_COMMON_X86_VEC256_H
#define EVC_COMMON_X86_VEC256_H

typedef __m256i vec;
#define LANES 2
#define v_load(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define v_load_once(p) v_load(p)
#define v_store(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define v_xor(a, b) _mm256_xor_si256(a, b)
#define v_xor3(a, b, c) _mm256_xor_si256(_mm256_xor_si256(a, b), c)
#define v_swap(v) _mm256_shuffle_epi32(v, 0x4e)
#define v_low_halves(a, b) _mm256_unpacklo_epi64(a, b)
#define v_high_halves(a, b) _mm256_unpackhi_epi64(a, b)
#define v_clmul(a, b, imm) _mm256_clmulepi64_epi128(a, b, imm)
#define v_reverse(v)                                                                               \
    _mm256_shuffle_epi8(v, _mm256_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f,               \
                                             0x0001020304050607, 0x08090a0b0c0d0e0f))
#define v_lows(a, b) v_low_halves(v_reverse(a), v_reverse(b))
#define v_highs(a, b) v_high_halves(v_reverse(a), v_reverse(b))
#define v_all(block) _mm256_broadcastsi128_si256(block)
#define v_all_as_first(v) _mm256_permute2x128_si256(v, v, 0x00)
#define v_alternate(a, b) _mm256_blend_epi32(a, b, 0xf0)
#define v_first(block) EVC_X86_EXTEND256(block)
#define v_barrier(v) __asm__("" : "+x"(v)) /* the compiler does not know what is in it */
#define v_zero() _mm256_setzero_si256()
#define v_clear_upper_halves() EVC_X86_CLEAR_UPPER_HALVES()

EVC_INLINE __m128i v_fold(vec v)
{
    return _mm_xor_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}

EVC_INLINE vec v_last(__m128i block)
{
    return _mm256_inserti128_si256(_mm256_setzero_si256(), block, 1);
}

EVC_INLINE vec v_load_back(const uint8_t *p, size_t n)
{
    (void)n; /* 1 */
    return v_last(_mm_loadu_si128((const __m128i *)(const void *)p));
}

EVC_INLINE vec v_back(__m128i block, size_t n)
{
    return n == 1 ? v_last(block) : v_first(block);
}

#endif
