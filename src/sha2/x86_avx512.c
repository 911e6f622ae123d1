/* SPDX-License-Identifier: MIT */
/*
 * SHA-2 of many messages in vectors of 512 bits: 16 of SHA-256, 8 of SHA-512.
 *
 * Method:   each vector has a word of each message. vprord and vprorq rotate, vpternlog does Ch,
 *           Maj and sums of three; the words of a block are transposed as they are read. One
 *           message is hashed as by x86_shani and x86_avx2, the latter in x86_avx512_asm.S.
 * Source:   FIPS 180-4 (2015) sections 4.1, 6.2.2 and 6.4.2; Gueron, Krasnov: "Simultaneous Hashing
 *           of Multiple Messages" (2012).
 * Needs:    X86_AVX512_SHA.   Timing: CT (no branch or address depends on the message).
 * Key form: private.
 */
#include "sha2/kernel.h"

#include "common/x86.h"

#if EVC_BUILT(X86_AVX512_SHA)
#include "sha2/constants.h"

EVC_ISA_BEGIN(X86_SHANI)
#include "sha2/x86_shani_blocks.h"
EVC_ISA_END

/* By x86_avx512_asm.S. */
void EVC_SYSV evc_sha2_x86_avx512_blocks512(uint64_t state[8], const uint8_t *in, size_t n_blocks,
                                            const uint64_t k[80]);

static void blocks512(uint64_t state[8], const uint8_t *in, size_t n_blocks)
{
    evc_sha2_x86_avx512_blocks512(state, in, n_blocks, evc_sha2_k512);
}

EVC_ISA_BEGIN(X86_AVX512_SHA)

typedef __m512i vec;

#define CLEAR_MANY()                  \
    do {                              \
        EVC_CLEAR_HIGH_REGISTERS();   \
        EVC_X86_CLEAR_UPPER_HALVES(); \
    } while (0)

EVC_INLINE vec load_row(const void *p)
{
    return _mm512_loadu_si512(p);
}

EVC_INLINE void store_row(void *p, vec v)
{
    _mm512_storeu_si512(p, v);
}

/* Block number j of vector i becomes block number i of vector j. */
EVC_INLINE void transpose_blocks(vec *v0, vec *v1, vec *v2, vec *v3)
{
    const vec even01 = _mm512_shuffle_i32x4(*v0, *v1, 0x88),
              odd01 = _mm512_shuffle_i32x4(*v0, *v1, 0xdd),
              even23 = _mm512_shuffle_i32x4(*v2, *v3, 0x88),
              odd23 = _mm512_shuffle_i32x4(*v2, *v3, 0xdd);

    *v0 = _mm512_shuffle_i32x4(even01, even23, 0x88);
    *v1 = _mm512_shuffle_i32x4(odd01, odd23, 0x88);
    *v2 = _mm512_shuffle_i32x4(even01, even23, 0xdd);
    *v3 = _mm512_shuffle_i32x4(odd01, odd23, 0xdd);
}

#define XOR(x, y) _mm512_xor_si512(x, y)
#define XOR3(x, y, z) _mm512_ternarylogic_epi64(x, y, z, 0x96)
#define CH(x, y, z) _mm512_ternarylogic_epi64(x, y, z, 0xca)
#define MAJ(x, y, z) _mm512_ternarylogic_epi64(x, y, z, 0xe8)

/* ---- SHA-256 --------------------------------------------------------------------------------- */

/* Blocks of four messages become vectors of words: block i of vector j has word 4i + j of each. */
EVC_INLINE void mix_four256(vec *m)
{
    const vec low01 = _mm512_unpacklo_epi32(m[0], m[1]), high01 = _mm512_unpackhi_epi32(m[0], m[1]),
              low23 = _mm512_unpacklo_epi32(m[2], m[3]), high23 = _mm512_unpackhi_epi32(m[2], m[3]);

    m[0] = _mm512_unpacklo_epi64(low01, low23);
    m[1] = _mm512_unpackhi_epi64(low01, low23);
    m[2] = _mm512_unpacklo_epi64(high01, high23);
    m[3] = _mm512_unpackhi_epi64(high01, high23);
}

EVC_INLINE void mix256(vec *w)
{
    transpose_blocks(w, w + 4, w + 8, w + 12);
    transpose_blocks(w + 1, w + 5, w + 9, w + 13);
    transpose_blocks(w + 2, w + 6, w + 10, w + 14);
    transpose_blocks(w + 3, w + 7, w + 11, w + 15);
}

#define ORDER256 _mm512_broadcast_i32x4(_mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203))

#define VEC vec
#define N_REGISTERS 32
#define BITS 32
#define N_ROUNDS 64
#define CONSTANTS evc_sha2_k256
#define ADD(x, y) _mm512_add_epi32(x, y)
#define SUB(x, y) _mm512_sub_epi32(x, y)
#define EACH(k) _mm512_set1_epi32((int)(k))
#define ROTR32(x, n) _mm512_ror_epi32(x, n)
#define BIG0(x) XOR3(ROTR32(x, 2), ROTR32(x, 13), ROTR32(x, 22))
#define BIG1(x) XOR3(ROTR32(x, 6), ROTR32(x, 11), ROTR32(x, 25))
#define SMALL0(x) XOR3(ROTR32(x, 7), ROTR32(x, 18), _mm512_srli_epi32(x, 3))
#define SMALL1(x) XOR3(ROTR32(x, 17), ROTR32(x, 19), _mm512_srli_epi32(x, 10))
#define READ_ROW(in, at, t) _mm512_shuffle_epi8(load_row((in)[t] + (at)), ORDER256)
#define MIX_FOUR mix_four256
#define MIX mix256
#define BLOCKS_MANY blocks256_many
#define ITERATE_MANY iterate256_many
#include "sha2/lanes_steps.h"

/* ---- SHA-512 --------------------------------------------------------------------------------- */

/* Half blocks of two messages, twice, become vectors of words: block i of the first and of the
 * second vector of each pair has words 2i and 2i + 1. */
EVC_INLINE void mix_four512(vec *m)
{
    const vec low01 = _mm512_unpacklo_epi64(m[0], m[1]), low23 = _mm512_unpacklo_epi64(m[2], m[3]);

    m[1] = _mm512_unpackhi_epi64(m[0], m[1]);
    m[3] = _mm512_unpackhi_epi64(m[2], m[3]);
    m[0] = low01;
    m[2] = low23;
}

EVC_INLINE void mix512(vec *w)
{
    transpose_blocks(w, w + 2, w + 4, w + 6);
    transpose_blocks(w + 1, w + 3, w + 5, w + 7);
    transpose_blocks(w + 8, w + 10, w + 12, w + 14);
    transpose_blocks(w + 9, w + 11, w + 13, w + 15);
}

#define ORDER512 _mm512_broadcast_i32x4(_mm_set_epi64x(0x08090a0b0c0d0e0f, 0x0001020304050607))

#define VEC vec
#define N_REGISTERS 32
#define BITS 64
#define N_ROUNDS 80
#define CONSTANTS evc_sha2_k512
#define ADD(x, y) _mm512_add_epi64(x, y)
#define SUB(x, y) _mm512_sub_epi64(x, y)
#define EACH(k) _mm512_set1_epi64((long long)(k))
#define V_ROR64(x, n) _mm512_ror_epi64(x, n)
#define BIG0(x) XOR3(V_ROR64(x, 28), V_ROR64(x, 34), V_ROR64(x, 39))
#define BIG1(x) XOR3(V_ROR64(x, 14), V_ROR64(x, 18), V_ROR64(x, 41))
#define SMALL0(x) XOR3(V_ROR64(x, 1), V_ROR64(x, 8), _mm512_srli_epi64(x, 7))
#define SMALL1(x) XOR3(V_ROR64(x, 19), V_ROR64(x, 61), _mm512_srli_epi64(x, 6))
#define READ_ROW(in, at, t) \
    _mm512_shuffle_epi8(load_row((in)[(t) % 8] + (at) + (t) / 8 * 64), ORDER512)
#define MIX_FOUR mix_four512
#define MIX mix512
#define BLOCKS_MANY blocks512_many
#define ITERATE_MANY iterate512_many
#include "sha2/lanes_steps.h"

EVC_ISA_END

const struct evc_sha2 evc_sha2_x86_avx512 = {
    .kernel = EVC_KEYLESS_HEAD(x86_avx512, X86_AVX512_SHA, CT, ANY, NARROW, 384),
    .blocks256 = blocks256,
    .blocks512 = blocks512,
    .lanes256 = {.n = 16,
                 .fewest = 8,
                 .stack_bytes = 1536,
                 .blocks = blocks256_many,
                 .iterate = iterate256_many},
    .lanes512 = {.n = 8,
                 .fewest = 2,
                 .stack_bytes = 1536,
                 .blocks = blocks512_many,
                 .iterate = iterate512_many},
};

#else
EVC_EMPTY_UNIT
#endif
