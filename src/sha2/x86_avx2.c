/* SPDX-License-Identifier: MIT */
/*
 * SHA-2 by the general registers of x86-64, with the message schedule of two blocks in vectors; of
 * many messages in vectors of 256 bits, 8 of SHA-256 or 4 of SHA-512.
 *
 * Method:   vectors of 256 bits hold the words of one block in their lower half and those of the
 *           next block in their upper half, with the round constants added. Rounds of the first
 *           block run beside the schedule of both; those of the second block read what was stored.
 *           rorx rotates into another register, andn is half of Ch. SHA-512 is in
 *           x86_avx2_asm.S. Of many messages, each vector has a word of each one; words are
 *           transposed as they are read.
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
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)low)),
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

/* ab and bc: a ^ b and b ^ c. */
#define ROUND(a, b, c, d, e, f, g, h, wk) \
    do {                                  \
        h += (wk);                        \
        h += BIG1(e);                     \
        h += ((f) & (e)) + ((g) & ~(e));  \
        d += h;                           \
        ab = (a) ^ (b);                   \
        h += BIG0(a);                     \
        h += (ab & bc) ^ (b);             \
        bc = ab;                          \
    } while (0)

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

#undef BIG0
#undef BIG1

/* ---- SHA-512 --------------------------------------------------------------------------------- */

/* By x86_avx2_asm.S. */
void EVC_SYSV evc_sha2_x86_avx2_blocks512(uint64_t state[8], const uint8_t *in, size_t n_blocks,
                                          const uint64_t k[80]);

static void blocks512(uint64_t state[8], const uint8_t *in, size_t n_blocks)
{
    evc_sha2_x86_avx2_blocks512(state, in, n_blocks, evc_sha2_k512);
}

/* ---- Many messages --------------------------------------------------------------------------- */

#define CLEAR_MANY() EVC_X86_CLEAR_UPPER_HALVES()

EVC_INLINE __m256i load_row(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

EVC_INLINE void store_row(void *p, __m256i v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

#define XOR(x, y) _mm256_xor_si256(x, y)
#define CH(x, y, z) XOR(_mm256_and_si256(XOR(y, z), x), z)
#define OR(x, y) _mm256_or_si256(x, y)
#define MAJ(x, y, z) OR(_mm256_and_si256(x, y), _mm256_and_si256(OR(x, y), z))

/* The 16 words at in[i] + at of each message. */
EVC_INLINE void load_words256(uint8_t *rows, const uint8_t *const in[8], size_t at)
{
    const __m256i order = both((const uint8_t[16]){3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14,
                                                   13, 12});

    for (const size_t end = at + 64; at < end; at += 16, rows += 4 * 32) {
        const __m256i m0 = _mm256_shuffle_epi8(load_two(in[0] + at, in[4] + at), order),
                      m1 = _mm256_shuffle_epi8(load_two(in[1] + at, in[5] + at), order),
                      m2 = _mm256_shuffle_epi8(load_two(in[2] + at, in[6] + at), order),
                      m3 = _mm256_shuffle_epi8(load_two(in[3] + at, in[7] + at), order);
        const __m256i low01 = _mm256_unpacklo_epi32(m0, m1), high01 = _mm256_unpackhi_epi32(m0, m1),
                      low23 = _mm256_unpacklo_epi32(m2, m3), high23 = _mm256_unpackhi_epi32(m2, m3);
        store_row(rows, _mm256_unpacklo_epi64(low01, low23));
        store_row(rows + 32, _mm256_unpackhi_epi64(low01, low23));
        store_row(rows + 64, _mm256_unpacklo_epi64(high01, high23));
        store_row(rows + 96, _mm256_unpackhi_epi64(high01, high23));
    }
}

#define VEC __m256i
#define N_REGISTERS 16
#define BITS 32
#define N_ROUNDS 64
#define CONSTANTS evc_sha2_k256
#define ADD(x, y) _mm256_add_epi32(x, y)
#define SUB(x, y) _mm256_sub_epi32(x, y)
#define EACH(k) _mm256_set1_epi32((int)(k))
#define BIG0(x) XOR(XOR(V_ROTR32(x, 2), V_ROTR32(x, 13)), V_ROTR32(x, 22))
#define BIG1(x) XOR(XOR(V_ROTR32(x, 6), V_ROTR32(x, 11)), V_ROTR32(x, 25))
#define SMALL0(x) small0_256(x)
#define SMALL1(x) XOR(XOR(V_ROTR32(x, 17), V_ROTR32(x, 19)), _mm256_srli_epi32(x, 10))
#define LOAD_WORDS load_words256
#define BLOCKS_MANY blocks256_many
#define ITERATE_MANY iterate256_many
#include "sha2/lanes_steps.h"

#define V_ROTR64(x, n) _mm256_xor_si256(_mm256_srli_epi64(x, n), _mm256_slli_epi64(x, 64 - (n)))

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

/* The same for SHA-512. */
EVC_INLINE void load_words512(uint8_t *rows, const uint8_t *const in[4], size_t at)
{
    const __m256i order = both((const uint8_t[16]){7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10,
                                                   9, 8});

    for (const size_t end = at + 128; at < end; at += 16, rows += 2 * 32) {
        const __m256i m0 = _mm256_shuffle_epi8(load_two(in[0] + at, in[2] + at), order),
                      m1 = _mm256_shuffle_epi8(load_two(in[1] + at, in[3] + at), order);
        store_row(rows, _mm256_unpacklo_epi64(m0, m1));
        store_row(rows + 32, _mm256_unpackhi_epi64(m0, m1));
    }
}

#define VEC __m256i
#define N_REGISTERS 16
#define BITS 64
#define N_ROUNDS 80
#define CONSTANTS evc_sha2_k512
#define ADD(x, y) _mm256_add_epi64(x, y)
#define SUB(x, y) _mm256_sub_epi64(x, y)
#define EACH(k) _mm256_set1_epi64x((long long)(k))
#define BIG0(x) XOR(XOR(V_ROTR64(x, 28), V_ROTR64(x, 34)), V_ROTR64(x, 39))
#define BIG1(x) XOR(XOR(V_ROTR64(x, 14), V_ROTR64(x, 18)), V_ROTR64(x, 41))
#define SMALL0(x) small0_512(x)
#define SMALL1(x) small1_512(x)
#define LOAD_WORDS load_words512
#define BLOCKS_MANY blocks512_many
#define ITERATE_MANY iterate512_many
#include "sha2/lanes_steps.h"

EVC_ISA_END

const struct evc_sha2 evc_sha2_x86_avx2 = {
    .kernel = EVC_KEYLESS_HEAD(x86_avx2, X86_AVX2_BMI2, CT, ANY, YMM, 1280),
    .blocks256 = blocks256,
    .blocks512 = blocks512,
    .lanes256 = {.n = 8,
                 .fewest = 4,
                 .stack_bytes = 1280,
                 .blocks = blocks256_many,
                 .iterate = iterate256_many},
    .lanes512 = {.n = 4,
                 .fewest = 3,
                 .stack_bytes = 1280,
                 .blocks = blocks512_many,
                 .iterate = iterate512_many},
};

#else
EVC_EMPTY_UNIT
#endif
