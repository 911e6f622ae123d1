/* SPDX-License-Identifier: MIT */
/* 512-bit vectors of 4 blocks, by the words of ghash/x86_clmul_steps.h; for a region of AVX-512 with VPCLMULQDQ. */
#ifndef EVC_COMMON_X86_VEC512_H
#define EVC_COMMON_X86_VEC512_H

typedef __m512i vec;
#define LANES 4
#define v_load(p) _mm512_loadu_si512(p)
#define v_store(p, v) _mm512_storeu_si512(p, v)
#define v_load_part(p, n) _mm512_maskz_loadu_epi64((__mmask8)((1u << (2 * (n))) - 1), p)
#define v_xor(a, b) _mm512_xor_si512(a, b)
#define v_xor3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
#define v_swap(v) _mm512_shuffle_epi32(v, _MM_PERM_BADC)
#define v_low_halves(a, b) _mm512_unpacklo_epi64(a, b)
#define v_clmul(a, b, imm) _mm512_clmulepi64_epi128(a, b, imm)
#define v_reverse(v)                                                                               \
    _mm512_shuffle_epi8(v, _mm512_set4_epi64(0x0001020304050607, 0x08090a0b0c0d0e0f,               \
                                             0x0001020304050607, 0x08090a0b0c0d0e0f))
#define v_all(block) _mm512_broadcast_i32x4(block)
#define v_first(block) _mm512_zextsi128_si512(block)
#define v_fold(v) fold(v)
#define v_zero() _mm512_setzero_si512()

EVC_INLINE __m128i fold(vec v)
{
    const __m256i two = _mm256_xor_si256(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));

    return _mm_xor_si128(_mm256_castsi256_si128(two), _mm256_extracti128_si256(two, 1));
}

#endif
