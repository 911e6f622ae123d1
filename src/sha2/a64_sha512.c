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
#include "sha2/a64_registers.h"
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
    const uint64_t *k = evc_sha2_k512;

    do {
        const uint64x2_t ab_before = ab, cd_before = cd, ef_before = ef, gh_before = gh;
        uint64x2_t w0 = load_words(in), w1 = load_words(in + 16), w2 = load_words(in + 32),
                   w3 = load_words(in + 48), w4 = load_words(in + 64), w5 = load_words(in + 80),
                   w6 = load_words(in + 96), w7 = load_words(in + 112);

        HIDE_POINTER(k); /* in the loop: there are no registers to load all constants ahead of it */
/* Two rounds with the words w and the constants k: gh becomes ab, and cd becomes ef. The
 * instructions want the words with the second of them first, and pairs (f, g) and (d, e). */
#define ROUNDS(ab, cd, ef, gh, w, k)                                                               \
    do {                                                                                           \
        const uint64x2_t wk = vaddq_u64(w, k);                                                     \
        const uint64x2_t sum = vaddq_u64(vextq_u64(wk, wk, 1), gh);                                \
        const uint64x2_t t =                                                                       \
            vsha512hq_u64(sum, vextq_u64(ef, gh, 1), vextq_u64(cd, ef, 1));                        \
        const uint64x2_t ef_next = vaddq_u64(cd, t);                                               \
        gh = vsha512h2q_u64(t, cd, ab);                                                            \
        cd = ef_next;                                                                              \
    } while (0)
/* w0 becomes the words of 16 rounds later. */
#define NEXT(w0, w1, w4, w5, w7)                                                                   \
    w0 = vsha512su1q_u64(vsha512su0q_u64(w0, w1), w7, vextq_u64(w4, w5, 1))
#define NO_NEXT(w0, w1, w4, w5, w7) ((void)0)
/* Four rounds, whose constants are loaded by one instruction. */
#define FOUR(ab, cd, ef, gh, w0, w1, w2, w4, w5, w6, w7, i, next)                                  \
    do {                                                                                           \
        uint64x2_t k0 = vld1q_u64(k + 2 * (i)), k1 = vld1q_u64(k + 2 * (i) + 2);                   \
        AT_ONCE(k0, k1);                                                                           \
        ROUNDS(ab, cd, ef, gh, w0, k0);                                                            \
        next(w0, w1, w4, w5, w7);                                                                  \
        ROUNDS(gh, ab, cd, ef, w1, k1);                                                            \
        next(w1, w2, w5, w6, w0);                                                                  \
    } while (0)
#define SIXTEEN(i, next)                                                                           \
    FOUR(ab, cd, ef, gh, w0, w1, w2, w4, w5, w6, w7, (i) + 0, next);                               \
    FOUR(ef, gh, ab, cd, w2, w3, w4, w6, w7, w0, w1, (i) + 2, next);                               \
    FOUR(ab, cd, ef, gh, w4, w5, w6, w0, w1, w2, w3, (i) + 4, next);                               \
    FOUR(ef, gh, ab, cd, w6, w7, w0, w2, w3, w4, w5, (i) + 6, next)
        SIXTEEN(0, NEXT);
        SIXTEEN(8, NEXT);
        SIXTEEN(16, NEXT);
        SIXTEEN(24, NEXT);
        SIXTEEN(32, NO_NEXT);
#undef SIXTEEN
#undef FOUR
#undef NO_NEXT
#undef NEXT
#undef ROUNDS
        ab = vaddq_u64(ab, ab_before);
        cd = vaddq_u64(cd, cd_before);
        ef = vaddq_u64(ef, ef_before);
        gh = vaddq_u64(gh, gh_before);
        in += 128;
    } while (--n_blocks);
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
