/* SPDX-License-Identifier: MIT */
/*
 * SHA-2 by the vectors of POWER8 and later.
 *
 * Method:   a to h stand in the most significant words of eight vectors, whose other words are not
 *           used; vshasigmaw and vshasigmad are the functions that the standard writes with a
 *           sigma, vsel is Ch and half of Maj. The message schedule makes four words of SHA-256 or
 *           two of SHA-512 at once.
 * Source:   FIPS 180-4 (2015) sections 6.2.2 and 6.4.2; Power ISA 2.07 B (2018), section 6.11.
 * Needs:    PPC_VCRYPTO.   Timing: CT (no branch or address depends on the message).
 * Key form: private.
 */
#include "sha2/kernel.h"

#if EVC_BUILT(PPC_VCRYPTO)
EVC_ISA_BEGIN(PPC_VCRYPTO)
#include "common/ppc.h"
#include "sha2/constants.h"

typedef uint64_t doubles __attribute__((vector_size(16)));
typedef evc_ppc_words words;

/* big: 1 for the functions of a round, 0 for those of the schedule; number: 0 or 1 */
#define SIGMA(type, letter, x, big, number)                                                        \
    __extension__({                                                                                \
        type to_;                                                                                  \
        __asm__("vshasigma" letter " %0, %1, " #big ", 15*" #number : "=v"(to_) : "v"(x));         \
        to_;                                                                                       \
    })

/* Each bit of b where that of mask is 1, else of a. */
#define SELECT(type, a, b, mask)                                                                   \
    __extension__({                                                                                \
        type to_;                                                                                  \
        __asm__("vsel %0, %1, %2, %3" : "=v"(to_) : "v"(a), "v"(b), "v"(mask));                    \
        to_;                                                                                       \
    })

#define ROUND(type, letter, a, b, c, d, e, f, g, h, wk)                                            \
    do {                                                                                           \
        h += SELECT(type, g, f, e) + (wk) + SIGMA(type, letter, e, 1, 1);                          \
        d += h;                                                                                    \
        h += SIGMA(type, letter, a, 1, 0) + SELECT(type, b, c, a ^ b);                             \
    } while (0)

/* Bytes n to n + 15 of a and b in a row. */
#define SHIFT(type, a, b, n)                                                                       \
    __extension__({                                                                                \
        type shifted_;                                                                             \
        EVC_PPC_SHIFT(shifted_, a, b, n);                                                          \
        shifted_;                                                                                  \
    })

/* ---- SHA-256 --------------------------------------------------------------------------------- */

/* Four numbers of 32 bits in memory, the first one most significant. */
EVC_INLINE words load_words(const uint32_t *p)
{
    const evc_ppc_vec raw = evc_ppc_load_raw((const uint8_t *)p);
#if EVC_BIG_ENDIAN
    return (words)raw;
#else
    words to;

    EVC_PPC_VPERM(to, raw, raw,
                  EVC_PPC_BYTES(4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
    return to;
#endif
}

static void blocks256(uint32_t state[8], const uint8_t *in, size_t n_blocks)
{
    const words zero = {0, 0, 0, 0};
    words s[8];

    for (int i = 0; i < 8; i++)
        s[i] = (words)evc_ppc_block((uint64_t)state[i] << 32, 0);
    for (; n_blocks; n_blocks--, in += 64) {
        words a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
        words w0 = (words)evc_ppc_load(in), w1 = (words)evc_ppc_load(in + 16),
              w2 = (words)evc_ppc_load(in + 32), w3 = (words)evc_ppc_load(in + 48);
        const uint32_t *k = evc_sha2_k256;

#define FOUR(a, b, c, d, e, f, g, h, w, i)                                                         \
    do {                                                                                           \
        const words wk = (w) + load_words(k + 4 * (i));                                            \
        ROUND(words, "w", a, b, c, d, e, f, g, h, wk);                                             \
        ROUND(words, "w", h, a, b, c, d, e, f, g, SHIFT(words, wk, wk, 4));                        \
        ROUND(words, "w", g, h, a, b, c, d, e, f, SHIFT(words, wk, wk, 8));                        \
        ROUND(words, "w", f, g, h, a, b, c, d, e, SHIFT(words, wk, wk, 12));                       \
    } while (0)
/* w0 becomes the words of 16 rounds later: two of them need those before, the others these two. */
#define NEXT(w0, w1, w2, w3)                                                                       \
    do {                                                                                           \
        w0 += SIGMA(words, "w", SHIFT(words, w0, w1, 4), 0, 0) + SHIFT(words, w2, w3, 4);          \
        w0 += SIGMA(words, "w", SHIFT(words, w3, zero, 8), 0, 1);                                  \
        w0 += SIGMA(words, "w", SHIFT(words, zero, w0, 8), 0, 1);                                  \
    } while (0)
        for (;; k += 16) {
            FOUR(a, b, c, d, e, f, g, h, w0, 0);
            FOUR(e, f, g, h, a, b, c, d, w1, 1);
            FOUR(a, b, c, d, e, f, g, h, w2, 2);
            FOUR(e, f, g, h, a, b, c, d, w3, 3);
            if (k == evc_sha2_k256 + 48)
                break;
            NEXT(w0, w1, w2, w3);
            NEXT(w1, w2, w3, w0);
            NEXT(w2, w3, w0, w1);
            NEXT(w3, w0, w1, w2);
        }
#undef FOUR
#undef NEXT
        s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;
    }
    for (int i = 0; i < 8; i++)
        state[i] = (uint32_t)(evc_ppc_upper((evc_ppc_vec)s[i]) >> 32);
}

/* ---- SHA-512 --------------------------------------------------------------------------------- */

#define LOAD_WORDS(i) (doubles)evc_ppc_turn(evc_ppc_load_ith(in, i))

static void blocks512(uint64_t state[8], const uint8_t *in, size_t n_blocks)
{
    doubles s[8];

    for (size_t i = 0; i < 8; i += 2) {
        s[i] = (doubles)evc_ppc_load_raw((const uint8_t *)(state + i));
        s[i + 1] = SHIFT(doubles, s[i], s[i], 8);
    }
    do {
        doubles a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
        doubles w[8] = {LOAD_WORDS(0), LOAD_WORDS(1), LOAD_WORDS(2), LOAD_WORDS(3),
                        LOAD_WORDS(4), LOAD_WORDS(5), LOAD_WORDS(6), LOAD_WORDS(7)};
        const uint64_t *k = evc_sha2_k512;

/* lxvd2x loads numbers of 64 bits in order. */
#define TWO(a, b, c, d, e, f, g, h, i)                                                             \
    do {                                                                                           \
        const doubles wk = w[i] + (doubles)evc_ppc_load_ith((const uint8_t *)k, i);                \
        ROUND(doubles, "d", a, b, c, d, e, f, g, h, wk);                                           \
        ROUND(doubles, "d", h, a, b, c, d, e, f, g, SHIFT(doubles, wk, wk, 8));                    \
    } while (0)
#define NEXT(i)                                                                                    \
    w[i] += SIGMA(doubles, "d", SHIFT(doubles, w[i], w[((i) + 1) & 7], 8), 0, 0) +                 \
            SHIFT(doubles, w[((i) + 4) & 7], w[((i) + 5) & 7], 8) +                                \
            SIGMA(doubles, "d", w[((i) + 7) & 7], 0, 1)
        for (;; k += 16) {
            TWO(a, b, c, d, e, f, g, h, 0);
            TWO(g, h, a, b, c, d, e, f, 1);
            TWO(e, f, g, h, a, b, c, d, 2);
            TWO(c, d, e, f, g, h, a, b, 3);
            TWO(a, b, c, d, e, f, g, h, 4);
            TWO(g, h, a, b, c, d, e, f, 5);
            TWO(e, f, g, h, a, b, c, d, 6);
            TWO(c, d, e, f, g, h, a, b, 7);
            if (k == evc_sha2_k512 + 64)
                break;
            NEXT(0); NEXT(1); NEXT(2); NEXT(3); NEXT(4); NEXT(5); NEXT(6); NEXT(7);
        }
#undef TWO
#undef NEXT
        s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;
        in += 128;
    } while (--n_blocks);
    for (size_t i = 0; i < 8; i += 2)
        evc_ppc_store_raw((uint8_t *)(state + i),
                          evc_ppc_uppers((evc_ppc_vec)s[i], (evc_ppc_vec)s[i + 1]));
}

EVC_ISA_END

const struct evc_sha2 evc_sha2_ppc_vshasigma = {
    .kernel = EVC_KEYLESS_HEAD(ppc_vshasigma, PPC_VCRYPTO, CT, ANY, VSX, 1344),
    .blocks256 = blocks256,
    .blocks512 = blocks512,
};

#else
EVC_EMPTY_UNIT
#endif
