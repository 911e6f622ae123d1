/* SPDX-License-Identifier: MIT */
/* SHA-256 by the instructions that A64 and A32 have alike, in a region that allows them. */
#ifndef EVC_SHA2_ARM_BLOCKS256_H
#define EVC_SHA2_ARM_BLOCKS256_H

#include "common/bytes.h"
#include "sha2/constants.h"

/* Four words of the message, the first in lane 0. */
EVC_INLINE uint32x4_t load_words(const uint8_t *in)
{
#if EVC_BIG_ENDIAN
    const uint32_t words[4] = {evc_load32_be(in), evc_load32_be(in + 4), evc_load32_be(in + 8),
                               evc_load32_be(in + 12)};

    return vld1q_u32(words);
#else
    return vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(in)));
#endif
}

/* A64 has registers for all constants, and loads two vectors of them by one instruction; its file
 * includes sha2/a64_registers.h before this. A32 loads constants for each block. */
#if EVC_A64
#define LOAD_CONSTANTS(i, j)                                                                       \
    uint32x4_t k##i = vld1q_u32(k + 4 * i), k##j = vld1q_u32(k + 4 * j);                           \
    AT_ONCE(k##i, k##j)
#define CONSTANTS(i) k##i
#else
#define CONSTANTS(i) vld1q_u32(evc_sha2_k256 + 4 * i)
#endif

static void blocks256(uint32_t h[8], const uint8_t *in, size_t n_blocks)
{
    uint32x4_t abcd = vld1q_u32(h), efgh = vld1q_u32(h + 4);
#if EVC_A64
    const uint32_t *k = evc_sha2_k256;

    HIDE_POINTER(k);
    LOAD_CONSTANTS(0, 1);
    LOAD_CONSTANTS(2, 3);
    LOAD_CONSTANTS(4, 5);
    LOAD_CONSTANTS(6, 7);
    LOAD_CONSTANTS(8, 9);
    LOAD_CONSTANTS(10, 11);
    LOAD_CONSTANTS(12, 13);
    LOAD_CONSTANTS(14, 15);
#endif

    do {
        const uint32x4_t abcd_before = abcd, efgh_before = efgh;
        uint32x4_t w0 = load_words(in), w1 = load_words(in + 16), w2 = load_words(in + 32),
                   w3 = load_words(in + 48);

/* Four rounds with the words w0; then w0 becomes the words of 16 rounds later. */
#define ROUNDS(i, w0, w1, w2, w3)                                                                  \
    do {                                                                                           \
        const uint32x4_t wk = vaddq_u32(w0, CONSTANTS(i));                                         \
        const uint32x4_t abcd_was = abcd;                                                          \
        if ((i) < 12)                                                                              \
            w0 = vsha256su1q_u32(vsha256su0q_u32(w0, w1), w2, w3);                                 \
        abcd = vsha256hq_u32(abcd, efgh, wk);                                                      \
        efgh = vsha256h2q_u32(efgh, abcd_was, wk);                                                 \
    } while (0)
#define SIXTEEN(i, j, k, l)                                                                        \
    ROUNDS(i, w0, w1, w2, w3);                                                                     \
    ROUNDS(j, w1, w2, w3, w0);                                                                     \
    ROUNDS(k, w2, w3, w0, w1);                                                                     \
    ROUNDS(l, w3, w0, w1, w2)
        SIXTEEN(0, 1, 2, 3);
        SIXTEEN(4, 5, 6, 7);
        SIXTEEN(8, 9, 10, 11);
        SIXTEEN(12, 13, 14, 15);
#undef ROUNDS
#undef SIXTEEN
        abcd = vaddq_u32(abcd, abcd_before);
        efgh = vaddq_u32(efgh, efgh_before);
        in += 64;
    } while (--n_blocks);
    vst1q_u32(h, abcd);
    vst1q_u32(h + 4, efgh);
}

#endif
