/* SPDX-License-Identifier: MIT */
/* SHA-512 by the general registers of x86-64, with the message schedule of two blocks in vectors of
 * 256 bits, in a region that allows AVX2 and BMI2. */
#ifndef EVC_SHA2_X86_AVX2_BLOCKS512_H
#define EVC_SHA2_X86_AVX2_BLOCKS512_H

#include "sha2/constants.h"
#include "sha2/x86_avx2_steps.h"

#define ROTR64(x, n) ((x) >> (n) | (x) << (64 - (n)))
#define BIG0(x) (ROTR64(x, 28) ^ ROTR64(x, 34) ^ ROTR64(x, 39))
#define BIG1(x) (ROTR64(x, 14) ^ ROTR64(x, 18) ^ ROTR64(x, 41))
#define V_ROTR64(x, n) _mm256_xor_si256(_mm256_srli_epi64(x, n), _mm256_slli_epi64(x, 64 - (n)))

/* Two words of the first block, and two of the second. */
union two {
    __m256i vector;
    uint64_t words[4];
};

EVC_INLINE __m256i small0_512(__m256i x)
{
    return _mm256_xor_si256(_mm256_xor_si256(V_ROTR64(x, 1), V_ROTR64(x, 8)),
                            _mm256_srli_epi64(x, 7));
}

EVC_INLINE __m256i small1_512(__m256i x)
{
    return _mm256_xor_si256(_mm256_xor_si256(V_ROTR64(x, 19), V_ROTR64(x, 61)),
                            _mm256_srli_epi64(x, 6));
}

/* The words of 16 rounds later in place of w[i]. newest: those before, w[i + 7], which come by a
 * register, since they were stored a moment ago. */
EVC_INLINE __m256i next_512(const union two w[8], size_t i, __m256i newest)
{
    const __m256i x = _mm256_alignr_epi8(w[(i + 1) & 7].vector, w[i].vector, 8);

    return _mm256_add_epi64(
        _mm256_add_epi64(w[i].vector, small0_512(x)),
        _mm256_add_epi64(
            _mm256_alignr_epi8(w[(i + 5) & 7].vector, w[(i + 4) & 7].vector, 8),
            small1_512(newest)));
}

#define TWO(a, b, c, d, e, f, g, h, w0, w1)                                                        \
    ROUND(a, b, c, d, e, f, g, h, w0);                                                             \
    ROUND(h, a, b, c, d, e, f, g, w1)
/* Two rounds of the first block, whose words are in the lower halves of w. */
#define OF_FIRST(a, b, c, d, e, f, g, h, i)                                                        \
    TWO(a, b, c, d, e, f, g, h, w[i].words[0] + k[2 * (i)], w[i].words[1] + k[2 * (i) + 1])
/* The same, then the words of 16 rounds later. */
#define STEP(a, b, c, d, e, f, g, h, i)                                                            \
    OF_FIRST(a, b, c, d, e, f, g, h, i);                                                           \
    newest = next_512(w, i, newest);                                                               \
    w[i].vector = newest;                                                                          \
    keep_second(second[turn + (i)], newest, k + 16 + 2 * (i));                                     \
    EVC_KEEP_MEMORY(w)
#define OF_SECOND(a, b, c, d, e, f, g, h, i)                                                       \
    TWO(a, b, c, d, e, f, g, h, second[turn + (i)][0], second[turn + (i)][1])
#define FROM_LAST(a, b, c, d, e, f, g, h, i)                                                       \
    TWO(a, b, c, d, e, f, g, h, evc_load64_be(last + 16 * (i)) + k[2 * (i)],                       \
        evc_load64_be(last + 16 * (i) + 8) + k[2 * (i) + 1])
#define SIXTEEN(DO)                                                                                \
    DO(a, b, c, d, e, f, g, h, 0);                                                                 \
    DO(g, h, a, b, c, d, e, f, 1);                                                                 \
    DO(e, f, g, h, a, b, c, d, 2);                                                                 \
    DO(c, d, e, f, g, h, a, b, 3);                                                                 \
    DO(a, b, c, d, e, f, g, h, 4);                                                                 \
    DO(g, h, a, b, c, d, e, f, 5);                                                                 \
    DO(e, f, g, h, a, b, c, d, 6);                                                                 \
    DO(c, d, e, f, g, h, a, b, 7)

/* Two words of the second block, with their constants. */
EVC_INLINE void keep_second(uint64_t to[2], __m256i w, const uint64_t k[2])
{
    _mm_store_si128((__m128i *)(void *)to,
                    _mm_add_epi64(_mm256_extracti128_si256(w, 1),
                                  _mm_load_si128((const __m128i *)(const void *)k)));
}

static void blocks512(uint64_t state[8], const uint8_t *in, size_t n_blocks)
{
    static const uint8_t order[16] = {7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8};
    EVC_ALIGN(16) uint64_t second[32][2];
    union two ring[8], *w = ring;

    EVC_KEEP(w); /* in memory: GCC would spill registers, each to a place of its own */
    while (n_blocks) {
        const size_t n = n_blocks == 1 ? 1 : 2;
        const uint8_t *const last = in + 128 * (n - 1);
        const uint64_t *k = evc_sha2_k512;
        uint64_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4],
                 f = state[5], g = state[6], h = state[7], ab, bc = b ^ c;
        __m256i newest;
        size_t turn = 0;

        for (size_t i = 0; i < 8; i++)
            w[i].vector = _mm256_shuffle_epi8(load_two(in + 16 * i, last + 16 * i), both(order));
        newest = w[7].vector;
        for (; turn < 32; turn += 8, k += 16) {
            SIXTEEN(STEP);
        }
        SIXTEEN(OF_FIRST);
        if (n == 2) {
            a = state[0] += a, b = state[1] += b, c = state[2] += c, d = state[3] += d;
            e = state[4] += e, f = state[5] += f, g = state[6] += g, h = state[7] += h;
            bc = b ^ c;
            k = evc_sha2_k512;
            SIXTEEN(FROM_LAST);
            for (turn = 0; turn < 32; turn += 8) {
                SIXTEEN(OF_SECOND);
            }
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
        in += 128 * n, n_blocks -= n;
    }
    EVC_X86_CLEAR_UPPER_HALVES();
}
#undef BIG0
#undef BIG1
#undef TWO
#undef OF_FIRST
#undef STEP
#undef OF_SECOND
#undef FROM_LAST
#undef SIXTEEN

#endif
