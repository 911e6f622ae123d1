/* SPDX-License-Identifier: MIT */
/*
 * SHA-2 by the general registers of x86-64, with the message schedule of two blocks in vectors.
 *
 * Method:   vectors of 256 bits hold the words of one block in their lower half and those of the
 *           next block in their upper half, with the round constants added. Rounds of the first
 *           block run beside the schedule of both; those of the second block read what was stored.
 *           rorx rotates into another register, andn is half of Ch.
 * Source:   FIPS 180-4 (2015) sections 6.2.2 and 6.4.2; Gueron, Krasnov: "Simultaneous Hashing of
 *           Multiple Messages" (2012) and "Parallelizing message schedules to accelerate the
 *           computations of hash functions" (2012).
 * Needs:    X86_AVX2_BMI2.   Timing: CT (no branch or address depends on the message).
 * Key form: private.
 */
#include "sha2/kernel.h"

#include "common/x86.h"

#if EVC_BUILT(X86_AVX2_BMI2)
#include "sha2/constants.h"

EVC_ISA_BEGIN(X86_AVX2_BMI2)

/* Two runs of 16 bytes as the halves of a vector. */
EVC_INLINE __m256i load_two(const void *low, const void *high)
{
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)low)),
        _mm_loadu_si128((const __m128i *)high), 1);
}

EVC_INLINE __m256i both(const void *p)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
}

EVC_INLINE void store(void *p, __m256i v)
{
    _mm256_store_si256((__m256i *)p, v);
}

#define ROUND(a, b, c, d, e, f, g, h, wk)                                                          \
    do {                                                                                           \
        h += (wk);                                                                                 \
        h += BIG1(e);                                                                              \
        h += ((f) & (e)) + ((g) & ~(e));                                                           \
        d += h;                                                                                    \
        ab = (a) ^ (b);                                                                            \
        h += BIG0(a);                                                                              \
        h += (ab & bc) ^ (b);                                                                      \
        bc = ab;                                                                                   \
    } while (0)

/* ---- SHA-256 --------------------------------------------------------------------------------- */

#define ROTR32(x, n) ((x) >> (n) | (x) << (32 - (n)))
#define BIG0(x) (ROTR32(x, 2) ^ ROTR32(x, 13) ^ ROTR32(x, 22))
#define BIG1(x) (ROTR32(x, 6) ^ ROTR32(x, 11) ^ ROTR32(x, 25))

/* x rotated to the right by n bits, as a sum of two. */
#define V_ROTR32(x, n) _mm256_xor_si256(_mm256_srli_epi32(x, n), _mm256_slli_epi32(x, 32 - (n)))

EVC_INLINE __m256i small0_256(__m256i x)
{
    return _mm256_xor_si256(_mm256_xor_si256(V_ROTR32(x, 7), V_ROTR32(x, 18)),
                            _mm256_srli_epi32(x, 3));
}

/* small sigma 1 of two words in each half, which stand twice in 64 bits, so that shifts of 64 bits
 * rotate them; `place` puts them into the words 0 and 1 or 2 and 3, and zeros into the others. */
EVC_INLINE __m256i small1_256(__m256i twice, __m128i place)
{
    const __m256i sum = _mm256_xor_si256(
        _mm256_xor_si256(_mm256_srli_epi64(twice, 17), _mm256_srli_epi64(twice, 19)),
        _mm256_srli_epi32(twice, 10));

    return _mm256_shuffle_epi8(sum, _mm256_broadcastsi128_si256(place));
}

/* The words of 16 rounds later in place of w0. */
EVC_INLINE __m256i next_256(__m256i w0, __m256i w1, __m256i w2, __m256i w3)
{
    w0 = _mm256_add_epi32(w0, small0_256(_mm256_alignr_epi8(w1, w0, 4)));
    w0 = _mm256_add_epi32(w0, _mm256_alignr_epi8(w3, w2, 4));
    w0 = _mm256_add_epi32(w0, small1_256(_mm256_shuffle_epi32(w3, 0xfa),
                                         _mm_set_epi64x(-1, 0x0b0a090803020100)));
    return _mm256_add_epi32(w0, small1_256(_mm256_shuffle_epi32(w0, 0x50),
                                           _mm_set_epi64x(0x0b0a090803020100, -1)));
}

#define FOUR(a, b, c, d, e, f, g, h, wk)                                                           \
    ROUND(a, b, c, d, e, f, g, h, (wk)[0]);                                                        \
    ROUND(h, a, b, c, d, e, f, g, (wk)[1]);                                                        \
    ROUND(g, h, a, b, c, d, e, f, (wk)[2]);                                                        \
    ROUND(f, g, h, a, b, c, d, e, (wk)[3])

/* The words of both blocks; of four rounds, those of the first block, then those of the second. */
static void blocks256(uint32_t state[8], const uint8_t *in, size_t n_blocks)
{
    EVC_ALIGN(32) uint32_t wk[16][8];
    const __m256i order = both((const uint8_t[16]){3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14,
                                                   13, 12});

    while (n_blocks) {
        const size_t n = n_blocks == 1 ? 1 : 2;
        const uint8_t *const second = in + 64 * (n - 1);
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4],
                 f = state[5], g = state[6], h = state[7], ab, bc = b ^ c;
        __m256i w0 = _mm256_shuffle_epi8(load_two(in, second), order),
                w1 = _mm256_shuffle_epi8(load_two(in + 16, second + 16), order),
                w2 = _mm256_shuffle_epi8(load_two(in + 32, second + 32), order),
                w3 = _mm256_shuffle_epi8(load_two(in + 48, second + 48), order);

        store(wk[0], _mm256_add_epi32(w0, both(evc_sha2_k256)));
        store(wk[1], _mm256_add_epi32(w1, both(evc_sha2_k256 + 4)));
        store(wk[2], _mm256_add_epi32(w2, both(evc_sha2_k256 + 8)));
        store(wk[3], _mm256_add_epi32(w3, both(evc_sha2_k256 + 12)));
        for (size_t i = 0; i < 12; i += 4) {
            const uint32_t *const k = evc_sha2_k256 + 4 * i + 16;
            w0 = next_256(w0, w1, w2, w3);
            FOUR(a, b, c, d, e, f, g, h, wk[i]);
            store(wk[i + 4], _mm256_add_epi32(w0, both(k)));
            w1 = next_256(w1, w2, w3, w0);
            FOUR(e, f, g, h, a, b, c, d, wk[i + 1]);
            store(wk[i + 5], _mm256_add_epi32(w1, both(k + 4)));
            w2 = next_256(w2, w3, w0, w1);
            FOUR(a, b, c, d, e, f, g, h, wk[i + 2]);
            store(wk[i + 6], _mm256_add_epi32(w2, both(k + 8)));
            w3 = next_256(w3, w0, w1, w2);
            FOUR(e, f, g, h, a, b, c, d, wk[i + 3]);
            store(wk[i + 7], _mm256_add_epi32(w3, both(k + 12)));
        }
        FOUR(a, b, c, d, e, f, g, h, wk[12]);
        FOUR(e, f, g, h, a, b, c, d, wk[13]);
        FOUR(a, b, c, d, e, f, g, h, wk[14]);
        FOUR(e, f, g, h, a, b, c, d, wk[15]);
        for (size_t left = n; --left;) {
            a = state[0] += a, b = state[1] += b, c = state[2] += c, d = state[3] += d;
            e = state[4] += e, f = state[5] += f, g = state[6] += g, h = state[7] += h;
            bc = b ^ c;
            for (size_t i = 0; i < 16; i += 2) {
                FOUR(a, b, c, d, e, f, g, h, wk[i] + 4);
                FOUR(e, f, g, h, a, b, c, d, wk[i + 1] + 4);
            }
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
        in += 64 * n, n_blocks -= n;
    }
    EVC_X86_CLEAR_UPPER_HALVES();
}

/* ---- SHA-512 --------------------------------------------------------------------------------- */

#undef BIG0
#undef BIG1
#define ROTR64(x, n) ((x) >> (n) | (x) << (64 - (n)))
#define BIG0(x) (ROTR64(x, 28) ^ ROTR64(x, 34) ^ ROTR64(x, 39))
#define BIG1(x) (ROTR64(x, 14) ^ ROTR64(x, 18) ^ ROTR64(x, 41))
#define V_ROTR64(x, n) _mm256_xor_si256(_mm256_srli_epi64(x, n), _mm256_slli_epi64(x, 64 - (n)))

/* Two words of the first block, and two of the second. */
union two {
    __m256i vector;
    uint64_t words[4];
};

/* The words of 16 rounds later in place of w[i]. */
EVC_INLINE __m256i next_512(const union two w[8], size_t i)
{
    const __m256i x = _mm256_alignr_epi8(w[(i + 1) & 7].vector, w[i].vector, 8),
                  y = w[(i + 7) & 7].vector;
    const __m256i small0 = _mm256_xor_si256(_mm256_xor_si256(V_ROTR64(x, 1), V_ROTR64(x, 8)),
                                            _mm256_srli_epi64(x, 7));
    const __m256i small1 = _mm256_xor_si256(_mm256_xor_si256(V_ROTR64(y, 19), V_ROTR64(y, 61)),
                                            _mm256_srli_epi64(y, 6));

    return _mm256_add_epi64(
        _mm256_add_epi64(w[i].vector, small0),
        _mm256_add_epi64(
            _mm256_alignr_epi8(w[(i + 5) & 7].vector, w[(i + 4) & 7].vector, 8), small1));
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
    w[i].vector = next_512(w, i);                                                                  \
    keep_second(second[turn + (i)], w[i].vector, k + 16 + 2 * (i));                                \
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
        size_t turn = 0;

        for (size_t i = 0; i < 8; i++)
            w[i].vector = _mm256_shuffle_epi8(load_two(in + 16 * i, last + 16 * i), both(order));
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

EVC_ISA_END

const struct evc_sha2 evc_sha2_x86_avx2 = {
    .kernel = EVC_KEYLESS_HEAD(x86_avx2, X86_AVX2_BMI2, CT, ANY, YMM, 1280),
    .blocks256 = blocks256,
    .blocks512 = blocks512,
};

#else
EVC_EMPTY_UNIT
#endif
