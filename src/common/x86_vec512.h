/* SPDX-License-Identifier: MIT */
/* 512-bit vectors of 4 blocks, by the words of ghash/x86_clmul_steps.h; for a region of
 * AVX-512 with VPCLMULQDQ. */
#ifndef EVC_COMMON_X86_VEC512_H
#define EVC_COMMON_X86_VEC512_H

typedef __m512i vec;
#define LANES 4
#define v_load(p) _mm512_loadu_si512(p)
#define v_store(p, v) _mm512_storeu_si512(p, v)
#define v_xor(a, b) _mm512_xor_si512(a, b)
#define v_xor3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
#define v_swap(v) _mm512_shuffle_epi32(v, _MM_PERM_BADC)
#define v_low_halves(a, b) _mm512_unpacklo_epi64(a, b)
#define v_high_halves(a, b) _mm512_unpackhi_epi64(a, b)
#define v_clmul(a, b, imm) _mm512_clmulepi64_epi128(a, b, imm)
#define v_reverse(v)                                                                               \
    _mm512_shuffle_epi8(v, _mm512_set4_epi64(0x0001020304050607, 0x08090a0b0c0d0e0f,               \
                                             0x0001020304050607, 0x08090a0b0c0d0e0f))
#define v_all(block) _mm512_broadcast_i32x4(block)
#define v_all_as_first(v) _mm512_shuffle_i32x4(v, v, 0x00)
#define v_alternate(a, b) _mm512_mask_blend_epi64(0xcc, a, b)
#define v_halves(a, b) _mm512_mask_blend_epi64(0xf0, a, b)
#define v_first(block) EVC_X86_EXTEND512(block)
#define v_barrier(v) __asm__("" : "+v"(v)) /* the compiler does not know what is in it */
#define v_zero() _mm512_setzero_si512()
#define v_clear_upper_halves() EVC_X86_CLEAR_UPPER_HALVES()

/* first: indices of the bytes of a half, if it is in lane 0. Makes those for `lane`: of
 * a, and with bit 6 of b. */
#define BYTES_OF_LANE(first, lane)                                                                 \
    (first) + 0x4040404040404040 + 0x1010101010101010 * (lane),                                    \
        (first) + 0x1010101010101010 * (lane)
#define BYTES_OF_HALVES(first)                                                                     \
    _mm512_set_epi64(BYTES_OF_LANE(first, 3), BYTES_OF_LANE(first, 2), BYTES_OF_LANE(first, 1),    \
                     BYTES_OF_LANE(first, 0))
#define v_lows(a, b) _mm512_permutex2var_epi8(a, BYTES_OF_HALVES(0x08090a0b0c0d0e0f), b)
#define v_highs(a, b) _mm512_permutex2var_epi8(a, BYTES_OF_HALVES(0x0001020304050607), b)

/* For what is used several times: compilers would load it as often, and loads
 * of 64 bytes are scarce. */
EVC_INLINE vec v_load_once(const void *p)
{
    vec v = v_load(p);

    __asm__("" : "+v"(v));
    return v;
}

EVC_INLINE __m128i v_fold(vec v)
{
    const __m256i two =
        _mm256_xor_si256(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));

    return _mm_xor_si128(_mm256_castsi256_si128(two), _mm256_extracti128_si256(two, 1));
}

/* By loads of whole blocks: what a mask leaves out must not lie on a page without access, which
 * costs hundreds of cycles. */
EVC_INLINE vec v_load_back(const uint8_t *p, size_t n)
{
    const __m128i last = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * (n - 1)));
    vec v = _mm512_inserti32x4(_mm512_setzero_si512(), last, 3);

    if (n > 1)
        v = _mm512_inserti32x4(
            v, _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * (n - 2))), 2);
    if (n > 2)
        v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)p), 1);
    return v;
}

EVC_INLINE vec v_back(__m128i block, size_t n)
{
    return _mm512_maskz_broadcast_i32x4((__mmask16)(0xf << (16 - 4 * n)), block);
}

#endif
