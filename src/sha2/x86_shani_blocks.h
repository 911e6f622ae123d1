/* SPDX-License-Identifier: MIT */
/* SHA-256 by the SHA extensions of x86, in a region that allows them. */
#ifndef EVC_SHA2_X86_SHANI_BLOCKS_H
#define EVC_SHA2_X86_SHANI_BLOCKS_H

#include "sha2/constants.h"

EVC_INLINE __m128i load(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

static void blocks256(uint32_t h[8], const uint8_t *in, size_t n_blocks)
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m128i dcba = load(h), hgfe = load(h + 4);
    /* Vectors are named from the highest word to the lowest. */
    const __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);

    for (; n_blocks; n_blocks--, in += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i w[4];

/* Four rounds with words that are in w[i & 3]; then this vector becomes the words of 16 rounds
 * later, as far as they are known: sha256msg2 of the last of them needs the vector before. */
#define ROUNDS(i)                                                                                  \
    do {                                                                                           \
        const __m128i wk = _mm_add_epi32(w[(i) & 3], load(evc_sha2_k256 + 4 * (i)));               \
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);                                              \
        if ((i) >= 3 && (i) < 15) {                                                                \
            const __m128i back7 = _mm_alignr_epi8(w[(i) & 3], w[((i) + 3) & 3], 4);                \
            w[((i) + 1) & 3] = _mm_sha256msg2_epu32(_mm_add_epi32(w[((i) + 1) & 3], back7),        \
                                                    w[(i) & 3]);                                   \
        }                                                                                          \
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));                     \
        if ((i) >= 1 && (i) < 13)                                                                  \
            w[((i) + 3) & 3] = _mm_sha256msg1_epu32(w[((i) + 3) & 3], w[(i) & 3]);                 \
    } while (0)
        for (int i = 0; i < 4; i++)
            w[i] = _mm_shuffle_epi8(load(in + 16 * i), big_endian);
        ROUNDS(0); ROUNDS(1); ROUNDS(2); ROUNDS(3); ROUNDS(4); ROUNDS(5); ROUNDS(6); ROUNDS(7);
        ROUNDS(8); ROUNDS(9); ROUNDS(10); ROUNDS(11); ROUNDS(12); ROUNDS(13); ROUNDS(14);
        ROUNDS(15);
#undef ROUNDS
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)h, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(h + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#endif
