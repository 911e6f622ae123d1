/* SPDX-License-Identifier: MIT */
/*
 * Rounds of SHA-2 in one file's type of words, unrolled by 16, with the message schedule in a ring
 * of 16 words. Included once for each of SHA-256 and SHA-512, after these definitions:
 *   WORD, LOAD(p), WORD_BYTES   a word; its big-endian value at p
 *   BLOCK_FUNCTION, N_ROUNDS    the function's name, and how many rounds it has
 *   BIG0, BIG1, SMALL0, SMALL1  the functions of the standard that are written with a sigma
 *
 * Method:   variables change their names instead of their values; (a & b) ^ (a & c) ^ (b & c) is
 *           ((a ^ b) & (b ^ c)) ^ b, and b ^ c is the a ^ b of the round before.
 */
EVC_INLINE void BLOCK_FUNCTION(WORD h[8], const uint8_t *in, const WORD *k)
{
    WORD w[16];
    WORD a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], i = h[7];
    WORD bc = b ^ c, ab;

#define ROUND(a, b, c, d, e, f, g, h, t, word)                                                     \
    do {                                                                                           \
        h += BIG1(e) + ((e & (f ^ g)) ^ g) + k[t] + (word);                                        \
        d += h;                                                                                    \
        ab = a ^ b;                                                                                \
        h += BIG0(a) + ((ab & bc) ^ b);                                                            \
        bc = ab;                                                                                   \
    } while (0)
#define FIRST(t) (w[t] = LOAD(in + WORD_BYTES * (t)))
#define NEXT(t)                                                                                    \
    (w[(t) & 15] += SMALL1(w[((t) + 14) & 15]) + w[((t) + 9) & 15] + SMALL0(w[((t) + 1) & 15]))
#define EIGHT(WORD_OF, t)                                                                          \
    ROUND(a, b, c, d, e, f, g, i, (t) + 0, WORD_OF((t) + 0));                                      \
    ROUND(i, a, b, c, d, e, f, g, (t) + 1, WORD_OF((t) + 1));                                      \
    ROUND(g, i, a, b, c, d, e, f, (t) + 2, WORD_OF((t) + 2));                                      \
    ROUND(f, g, i, a, b, c, d, e, (t) + 3, WORD_OF((t) + 3));                                      \
    ROUND(e, f, g, i, a, b, c, d, (t) + 4, WORD_OF((t) + 4));                                      \
    ROUND(d, e, f, g, i, a, b, c, (t) + 5, WORD_OF((t) + 5));                                      \
    ROUND(c, d, e, f, g, i, a, b, (t) + 6, WORD_OF((t) + 6));                                      \
    ROUND(b, c, d, e, f, g, i, a, (t) + 7, WORD_OF((t) + 7))
    EIGHT(FIRST, 0);
    EIGHT(FIRST, 8);
    for (int turn = 16; turn < N_ROUNDS; turn += 16) {
        k += 16;
        EIGHT(NEXT, 0);
        EIGHT(NEXT, 8);
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e, h[5] += f, h[6] += g, h[7] += i;
#undef ROUND
#undef FIRST
#undef NEXT
#undef EIGHT
}
#undef WORD
#undef LOAD
#undef WORD_BYTES
#undef BLOCK_FUNCTION
#undef N_ROUNDS
#undef BIG0
#undef BIG1
#undef SMALL0
#undef SMALL1
