/* SPDX-License-Identifier: MIT */
/*
 * SHA-512 by the SHA-512 instructions of A64.
 *
 * Method:   sha512h and sha512h2 make two rounds; the state is four vectors of two words, which
 *           change their names instead of their values. sha512su0 and sha512su1 are the message
 *           schedule, two words at once.
 * Source:   FIPS 180-4 (2015) section 6.4.2; Arm Architecture Reference Manual for A-profile
 *           architecture (DDI 0487), SHA512H, SHA512H2, SHA512SU0, SHA512SU1.
 * Needs:    A64_SHA512.   Timing: CT (no branch or address depends on the message).
 * Key form: private.
 */
#include "sha2/kernel.h"

#include "common/arm.h"

#if EVC_BUILT(A64_SHA512)
#include "sha2/constants.h"

EVC_ISA_BEGIN(A64_SHA512)

/* Two words of the message, the first in lane 0. */
EVC_INLINE uint64x2_t load_words(const uint8_t *in)
{
#if EVC_BIG_ENDIAN
    return vcombine_u64(vcreate_u64(evc_load64_be(in)), vcreate_u64(evc_load64_be(in + 8)));
#else
    return vreinterpretq_u64_u8(vrev64q_u8(vld1q_u8(in)));
#endif
}

static void blocks512(uint64_t h[8], const uint8_t *in, size_t n_blocks)
{
    uint64x2_t ab = vld1q_u64(h), cd = vld1q_u64(h + 2), ef = vld1q_u64(h + 4),
               gh = vld1q_u64(h + 6);

    for (; n_blocks; n_blocks--, in += 128) {
        const uint64x2_t before[4] = {ab, cd, ef, gh};
        uint64x2_t w[8];

        for (int i = 0; i < 8; i++)
            w[i] = load_words(in + 16 * i);

/* Two rounds with the words w[i & 7]: gh becomes ab, and cd becomes ef. The instructions want the
 * words with the second of them first, and pairs (f, g) and (d, e). */
#define ROUNDS(ab, cd, ef, gh, i)                                                                  \
    do {                                                                                           \
        const uint64x2_t wk = vaddq_u64(w[(i) & 7], vld1q_u64(k + 2 * (i)));                       \
        const uint64x2_t sum = vaddq_u64(vextq_u64(wk, wk, 1), gh);                                \
        const uint64x2_t t =                                                                       \
            vsha512hq_u64(sum, vextq_u64(ef, gh, 1), vextq_u64(cd, ef, 1));                        \
        gh = vsha512h2q_u64(t, cd, ab);                                                            \
        cd = vaddq_u64(cd, t);                                                                     \
    } while (0)
#define EIGHT(i)                                                                                   \
    ROUNDS(ab, cd, ef, gh, (i) + 0);                                                               \
    NEXT((i) + 0);                                                                                 \
    ROUNDS(gh, ab, cd, ef, (i) + 1);                                                               \
    NEXT((i) + 1);                                                                                 \
    ROUNDS(ef, gh, ab, cd, (i) + 2);                                                               \
    NEXT((i) + 2);                                                                                 \
    ROUNDS(cd, ef, gh, ab, (i) + 3);                                                               \
    NEXT((i) + 3)
/* The words of 16 rounds later. */
#define NEXT(i)                                                                                    \
    w[(i) & 7] = vsha512su1q_u64(vsha512su0q_u64(w[(i) & 7], w[((i) + 1) & 7]), w[((i) + 7) & 7],  \
                                 vextq_u64(w[((i) + 4) & 7], w[((i) + 5) & 7], 1))
        const uint64_t *k = evc_sha2_k512;
        for (; k < evc_sha2_k512 + 64; k += 16) {
            EIGHT(0);
            EIGHT(4);
        }
#undef NEXT
#define NEXT(i) ((void)0)
        EIGHT(0);
        EIGHT(4);
#undef NEXT
#undef EIGHT
#undef ROUNDS
        ab = vaddq_u64(ab, before[0]);
        cd = vaddq_u64(cd, before[1]);
        ef = vaddq_u64(ef, before[2]);
        gh = vaddq_u64(gh, before[3]);
    }
    vst1q_u64(h, ab);
    vst1q_u64(h + 2, cd);
    vst1q_u64(h + 4, ef);
    vst1q_u64(h + 6, gh);
}

EVC_ISA_END

const struct evc_sha2 evc_sha2_a64_sha512 = {
    .kernel = EVC_KEYLESS_HEAD(a64_sha512, A64_SHA512, CT, SHA512, NEON, 384),
    .blocks512 = blocks512,
};

#else
EVC_EMPTY_UNIT
#endif
