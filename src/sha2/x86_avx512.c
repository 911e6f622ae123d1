/* SPDX-License-Identifier: MIT */
/*
 * SHA-2 of many messages in vectors of 512 bits: 16 of SHA-256, 8 of SHA-512.
 *
 * Method:   each vector has a word of each message. vprord and vprorq rotate, vpternlog does Ch,
 *           Maj and sums of three; the words of a block are transposed as they are read. One
 *           message is hashed as by x86_shani and x86_avx2.
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

EVC_ISA_BEGIN(X86_AVX2_BMI2)
#include "sha2/x86_avx2_blocks512.h"
EVC_ISA_END

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

/* The 16 words at in[i] + at of each message. */
EVC_INLINE void load_words256(uint8_t *rows, const uint8_t *const in[16], size_t at)
{
    const vec order =
        _mm512_broadcast_i32x4(_mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203));

    for (size_t i = 0; i < 16; i += 4) {
        const vec m0 = _mm512_shuffle_epi8(load_row(in[i] + at), order),
                  m1 = _mm512_shuffle_epi8(load_row(in[i + 1] + at), order),
                  m2 = _mm512_shuffle_epi8(load_row(in[i + 2] + at), order),
                  m3 = _mm512_shuffle_epi8(load_row(in[i + 3] + at), order);
        const vec low01 = _mm512_unpacklo_epi32(m0, m1), high01 = _mm512_unpackhi_epi32(m0, m1),
                  low23 = _mm512_unpacklo_epi32(m2, m3), high23 = _mm512_unpackhi_epi32(m2, m3);
        store_row(rows + 64 * i, _mm512_unpacklo_epi64(low01, low23));
        store_row(rows + 64 * i + 64, _mm512_unpackhi_epi64(low01, low23));
        store_row(rows + 64 * i + 128, _mm512_unpacklo_epi64(high01, high23));
        store_row(rows + 64 * i + 192, _mm512_unpackhi_epi64(high01, high23));
    }
    for (size_t i = 0; i < 4; i++, rows += 64) {
        vec v0 = load_row(rows), v1 = load_row(rows + 256), v2 = load_row(rows + 512),
            v3 = load_row(rows + 768);
        transpose_blocks(&v0, &v1, &v2, &v3);
        store_row(rows, v0);
        store_row(rows + 256, v1);
        store_row(rows + 512, v2);
        store_row(rows + 768, v3);
    }
}

#define VEC vec
#define BITS 32
#define N_ROUNDS 64
#define CONSTANTS evc_sha2_k256
#define ADD(x, y) _mm512_add_epi32(x, y)
#define EACH(k) _mm512_set1_epi32((int)(k))
#define ROTR32(x, n) _mm512_ror_epi32(x, n)
#define BIG0(x) XOR3(ROTR32(x, 2), ROTR32(x, 13), ROTR32(x, 22))
#define BIG1(x) XOR3(ROTR32(x, 6), ROTR32(x, 11), ROTR32(x, 25))
#define SMALL0(x) XOR3(ROTR32(x, 7), ROTR32(x, 18), _mm512_srli_epi32(x, 3))
#define SMALL1(x) XOR3(ROTR32(x, 17), ROTR32(x, 19), _mm512_srli_epi32(x, 10))
#define LOAD_WORDS load_words256
#define BLOCKS_MANY blocks256_many
#define ITERATE_MANY iterate256_many
#include "sha2/lanes_steps.h"

/* ---- SHA-512 --------------------------------------------------------------------------------- */

/* The 16 words at in[i] + at of each message. */
EVC_INLINE void load_words512(uint8_t *rows, const uint8_t *const in[8], size_t at)
{
    vec w[8];
    const vec order =
        _mm512_broadcast_i32x4(_mm_set_epi64x(0x08090a0b0c0d0e0f, 0x0001020304050607));

    for (size_t half = 0; half < 2; half++, at += 64, rows += 8 * 64) {
        for (size_t i = 0; i < 8; i += 2) {
            const vec m0 = _mm512_shuffle_epi8(load_row(in[i] + at), order),
                      m1 = _mm512_shuffle_epi8(load_row(in[i + 1] + at), order);
            w[i] = _mm512_unpacklo_epi64(m0, m1);
            w[i + 1] = _mm512_unpackhi_epi64(m0, m1);
        }
        for (size_t i = 0; i < 2; i++)
            transpose_blocks(w + i, w + i + 2, w + i + 4, w + i + 6);
        for (size_t i = 0; i < 8; i++)
            store_row(rows + 64 * i, w[i]);
    }
}

#define VEC vec
#define BITS 64
#define N_ROUNDS 80
#define CONSTANTS evc_sha2_k512
#define ADD(x, y) _mm512_add_epi64(x, y)
#define EACH(k) _mm512_set1_epi64((long long)(k))
#define V_ROR64(x, n) _mm512_ror_epi64(x, n)
#define BIG0(x) XOR3(V_ROR64(x, 28), V_ROR64(x, 34), V_ROR64(x, 39))
#define BIG1(x) XOR3(V_ROR64(x, 14), V_ROR64(x, 18), V_ROR64(x, 41))
#define SMALL0(x) XOR3(V_ROR64(x, 1), V_ROR64(x, 8), _mm512_srli_epi64(x, 7))
#define SMALL1(x) XOR3(V_ROR64(x, 19), V_ROR64(x, 61), _mm512_srli_epi64(x, 6))
#define LOAD_WORDS load_words512
#define BLOCKS_MANY blocks512_many
#define ITERATE_MANY iterate512_many
#include "sha2/lanes_steps.h"

EVC_ISA_END

const struct evc_sha2 evc_sha2_x86_avx512 = {
    .kernel = EVC_KEYLESS_HEAD(x86_avx512, X86_AVX512_SHA, CT, ANY, NARROW, 1280),
    .blocks256 = blocks256,
    .blocks512 = blocks512,
    .lanes256 = {.n = 16, .fewest = 8, .blocks = blocks256_many, .iterate = iterate256_many},
    .lanes512 = {.n = 8, .fewest = 2, .blocks = blocks512_many, .iterate = iterate512_many},
};

#else
EVC_EMPTY_UNIT
#endif
