/* SPDX-License-Identifier: MIT */
/* Vectors of two blocks, by the words of x86_blocks128.h, for a region of AVX2. */
#ifndef EVC_AES_X86_BLOCKS256_H
#define EVC_AES_X86_BLOCKS256_H

typedef __m256i vec;
#define V_LANES 2
#define v_all(block) _mm256_broadcastsi128_si256(block)
#define v_low(x) _mm256_castsi256_si128(x)
#define v_high(x) _mm256_extracti128_si256(x, 1)
#define v_after(first, x) _mm256_inserti128_si256(_mm256_castsi128_si256(first), v_low(x), 1)
#define v_load(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define v_constant(p) _mm256_load_si256((const __m256i *)(const void *)(p))
#define v_store(p, x) _mm256_storeu_si256((__m256i *)(void *)(p), x)
#define v_xor(x, y) _mm256_xor_si256(x, y)
#define v_and(x, y) _mm256_and_si256(x, y)
#define v_shuffle(x, m) _mm256_shuffle_epi8(x, m)
#define v_shift4(x) _mm256_srli_epi16(x, 4)
#define v_right(x, n) _mm256_srli_epi64(x, n)
#define v_left(x, n) _mm256_slli_epi64(x, n)
#define v_add32(x, y) _mm256_add_epi32(x, y)
#define v_left32(x, n) _mm256_slli_epi32(x, n)
#define v_bytes_up(x, n) _mm256_slli_si256(x, n)
#define v_bytes_down(x, n) _mm256_srli_si256(x, n)
#define v_clear_upper_halves() EVC_X86_CLEAR_UPPER_HALVES()

#endif
