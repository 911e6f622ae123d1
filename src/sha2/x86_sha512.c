/* SPDX-License-Identifier: MIT */
/*
 * SHA-512 by the SHA-512 instructions of x86.
 *
 * Method:   vsha512rnds2 makes two rounds with the state as vectors of f, e, b, a and of h, g, d,
 *           c; vsha512msg1 and vsha512msg2 are the two halves of the message schedule, four words
 *           at once, and run beside the rounds of words that are ready.
 * Source:   FIPS 180-4 (2015) section 6.4.2; Intel Architecture Instruction Set Extensions
 *           Programming Reference (319433-052, 2024), VSHA512MSG1, VSHA512MSG2, VSHA512RNDS2.
 * Needs:    X86_SHA512.   Timing: CT (no branch or address depends on the message).
 * Key form: private.
 */
#include "sha2/kernel.h"

#include "common/x86.h"
#include "sha2/constants.h"

#if EVC_BUILT(X86_SHA512)
#include "common/x86_vex.h"

EVC_ISA_BEGIN(X86_SHA512)

/* Two rounds with the lower words of wk; hgdc becomes their feba, and feba is hgdc from now on. */
EVC_INLINE __m256i two_rounds(__m256i hgdc, __m256i feba, __m256i wk)
{
    __asm__(EVC_X86_VEX_OF_3("0x7f", "0xcb") : "+x"(hgdc) : "x"(feba), "x"(wk));
    return hgdc;
}

/* Words t to t + 3, to each of which the small sigma 0 of the next word is added; w4: t + 4. */
EVC_INLINE __m256i add_small0(__m256i w, __m256i w4)
{
    __asm__(EVC_X86_VEX_OF_2("0x7f", "0xcc") : "+x"(w) : "x"(w4));
    return w;
}

/* Sums, to each of which the small sigma 1 of the word two before is added: of w12 with t + 12 to
 * t + 15, and of the sums 0 and 1. */
EVC_INLINE __m256i add_small1(__m256i sums, __m256i w12)
{
    __asm__(EVC_X86_VEX_OF_2("0x7f", "0xcd") : "+x"(sums) : "x"(w12));
    return sums;
}

EVC_INLINE __m256i load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

/* Four words of the message. */
EVC_INLINE __m256i load_words(const uint8_t *in)
{
    return _mm256_shuffle_epi8(load(in), _mm256_broadcastsi128_si256(_mm_set_epi64x(
                                             0x08090a0b0c0d0e0f, 0x0001020304050607)));
}

EVC_INLINE __m256i swap_in_halves(__m256i x)
{
    return _mm256_shuffle_epi32(x, 0x4e);
}

static void blocks512(uint64_t h[8], const uint8_t *in, size_t n_blocks)
{
    /* Vectors are named from the lowest word to the highest. */
    const __m256i abcd = load(h), efgh = load(h + 4);
    __m256i feba = swap_in_halves(_mm256_permute2x128_si256(efgh, abcd, 0x20)),
            hgdc = swap_in_halves(_mm256_permute2x128_si256(efgh, abcd, 0x31));

    for (; n_blocks; n_blocks--, in += 128) {
        const __m256i feba_before = feba, hgdc_before = hgdc;
        __m256i w[4] = {load_words(in), load_words(in + 32), load_words(in + 64),
                        load_words(in + 96)};

/* Four rounds with words that are in w[i & 3]; then this vector becomes the words of 16 rounds
 * later, as far as they are known: add_small1 of the last of them needs the vector before. */
#define ROUNDS(i)                                                                                  \
    do {                                                                                           \
        const __m256i wk = _mm256_add_epi64(w[(i) & 3], load(evc_sha2_k512 + 4 * (i)));            \
        hgdc = two_rounds(hgdc, feba, wk);                                                         \
        if ((i) >= 3 && (i) < 19) {                                                                \
            const __m256i back7 = _mm256_permute4x64_epi64(                                        \
                _mm256_blend_epi32(w[((i) + 3) & 3], w[(i) & 3], 0x03), 0x39);                     \
            w[((i) + 1) & 3] =                                                                     \
                add_small1(_mm256_add_epi64(w[((i) + 1) & 3], back7), w[(i) & 3]);                 \
        }                                                                                          \
        feba = two_rounds(feba, hgdc, _mm256_permute2x128_si256(wk, wk, 0x01));                    \
        if ((i) >= 1 && (i) < 17)                                                                  \
            w[((i) + 3) & 3] = add_small0(w[((i) + 3) & 3], w[(i) & 3]);                           \
    } while (0)
        ROUNDS(0); ROUNDS(1); ROUNDS(2); ROUNDS(3); ROUNDS(4); ROUNDS(5); ROUNDS(6); ROUNDS(7);
        ROUNDS(8); ROUNDS(9); ROUNDS(10); ROUNDS(11); ROUNDS(12); ROUNDS(13); ROUNDS(14);
        ROUNDS(15); ROUNDS(16); ROUNDS(17); ROUNDS(18); ROUNDS(19);
#undef ROUNDS
        feba = _mm256_add_epi64(feba, feba_before);
        hgdc = _mm256_add_epi64(hgdc, hgdc_before);
    }
    const __m256i efab = swap_in_halves(feba), ghcd = swap_in_halves(hgdc);
    _mm256_storeu_si256((__m256i *)(void *)h, _mm256_permute2x128_si256(efab, ghcd, 0x31));
    _mm256_storeu_si256((__m256i *)(void *)(h + 4), _mm256_permute2x128_si256(efab, ghcd, 0x20));
    EVC_X86_CLEAR_UPPER_HALVES();
}

EVC_ISA_END

const struct evc_sha2 evc_sha2_x86_sha512 = {
    .kernel = EVC_KEYLESS_HEAD(x86_sha512, X86_SHA512, CT, SHA512, YMM, 384),
    .blocks512 = blocks512,
};

#else
EVC_EMPTY_UNIT
#endif
