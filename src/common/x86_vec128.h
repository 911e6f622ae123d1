/* SPDX-License-Identifier: MIT */
/* 128-bit vectors of 1 block, by the words of ghash/x86_clmul_steps.h; for a region of
 * SSSE3 with PCLMULQDQ. */
#ifndef EVC_COMMON_X86_VEC128_H
#define EVC_COMMON_X86_VEC128_H

typedef __m128i vec;
#define LANES 1
#define v_load(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#define v_load_back(p, n) ((void)(n), v_load(p))
#define v_load_once(p) v_load(p)
#define v_store(p, v) _mm_storeu_si128((__m128i *)(void *)(p), v)
#define v_xor(a, b) _mm_xor_si128(a, b)
#define v_xor3(a, b, c) _mm_xor_si128(_mm_xor_si128(a, b), c)
#define v_swap(v) _mm_shuffle_epi32(v, 0x4e)
#define v_low_halves(a, b) _mm_unpacklo_epi64(a, b)
#define v_high_halves(a, b) _mm_unpackhi_epi64(a, b)
#define v_clmul(a, b, imm) _mm_clmulepi64_si128(a, b, imm)
#define v_reverse(v)                                                                               \
    _mm_shuffle_epi8(v, _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f))
#define v_lows(a, b) v_low_halves(v_reverse(a), v_reverse(b))
#define v_highs(a, b) v_high_halves(v_reverse(a), v_reverse(b))
#define v_all(block) (block)
#define v_all_as_first(v) (v)
#define v_first(block) (block)
#define v_back(block, n) ((void)(n), (block))
#define v_fold(v) (v)
#define v_barrier(v) __asm__("" : "+x"(v)) /* the compiler does not know what is in it */
#define v_zero() _mm_setzero_si128()
#define v_clear_upper_halves() ((void)0)

#endif
