/* SPDX-License-Identifier: MIT */
/*
 * Vectors of one block: the words in which x86_vperm_steps.h and x86_bitslice_steps.h are written,
 * for a region of SSSE3. x86_blocks256.h has vectors of two blocks.
 *
 *   V_LANES                     blocks of a vector
 *   v_all, v_low, v_high        a block to every lane; the block in the lowest
 *                               lane, in the highest one
 *   v_after(first, x)           as many blocks as a vector holds: the block
 *                               `first`, then those of x
 *   v_load, v_store             16 * V_LANES bytes at any address; v_constant: a load, aligned
 *   v_shuffle                   bytes within every lane, as PSHUFB does it
 *   v_shift4                    16-bit fields to the right by 4
 *   v_right, v_left             64-bit fields by n
 *   v_left32, v_add32           32-bit fields
 *   v_bytes_up, v_bytes_down    the bytes of every lane by n places
 *   v_clear_upper_halves()      before each return of a slot; nothing where a vector is one block
 */
#ifndef EVC_AES_X86_BLOCKS128_H
#define EVC_AES_X86_BLOCKS128_H

typedef __m128i vec;
#define V_LANES 1
#define v_all(block) (block)
#define v_low(x) (x)
#define v_high(x) (x)
#define v_after(first, x) ((void)(x), (first))
#define v_load(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#define v_constant(p) _mm_load_si128((const __m128i *)(const void *)(p))
#define v_store(p, x) _mm_storeu_si128((__m128i *)(void *)(p), x)
#define v_xor(x, y) _mm_xor_si128(x, y)
#define v_and(x, y) _mm_and_si128(x, y)
#define v_shuffle(x, m) _mm_shuffle_epi8(x, m)
#define v_shift4(x) _mm_srli_epi16(x, 4)
#define v_right(x, n) _mm_srli_epi64(x, n)
#define v_left(x, n) _mm_slli_epi64(x, n)
#define v_add32(x, y) _mm_add_epi32(x, y)
#define v_left32(x, n) _mm_slli_epi32(x, n)
#define v_bytes_up(x, n) _mm_bslli_si128(x, n)
#define v_bytes_down(x, n) _mm_bsrli_si128(x, n)
#define v_clear_upper_halves() ((void)0)

#endif
