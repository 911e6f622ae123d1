/* SPDX-License-Identifier: MIT */
/*
 * Rounds of SHA-2 in one file's type of words, unrolled by 16, with the message schedule in a ring
 * of 16 words. Included once for each of SHA-256 and SHA-512, after these definitions:
 *   WORD, LOAD(p), WORD_BYTES   a word; its big-endian value at p
 *   BLOCK_FUNCTION, N_ROUNDS    the function's name, and how many rounds it has
 *   BIG0, BIG1, SMALL0, SMALL1  the functions of the standard that are written with a sigma
 * and, if the CPU gains by it:
 *   FEW_REGISTERS  majorities keep no value from one round to the next
 *   ROUNDS_APART   the compiler moves nothing of the schedule from one round into another: it
 *                  would compute sigmas early, and spill them
 *   UNROLLED       all 64 rounds are unrolled; a constant is loaded from memory, one instruction
 *
 * Method:   variables change their names instead of their values; (a & b) ^ (a & c) ^ (b & c) is
 *           ((a ^ b) & (b ^ c)) ^ b, and b ^ c is the a ^ b of the round before. With few registers
 *           it is (a & b) + (c & (a ^ b)).
 */
EVC_INLINE void BLOCK_FUNCTION(WORD h[8], const uint8_t *in, const WORD *k)
{
    WORD w[16];
#ifdef UNROLLED
    EVC_KEEP(k);
#endif
    WORD a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], i = h[7];

#ifdef FEW_REGISTERS
#define MAJORITY(a, b, c) ((a & b) + (c & (a ^ b)))
#define NEXT_MAJORITY() ((void)0)
#else
    WORD bc = b ^ c, ab;
#define MAJORITY(a, b, c) (((ab = a ^ b) & bc) ^ b)
#define NEXT_MAJORITY() (bc = ab)
#endif
#ifdef ROUNDS_APART
#define END_ROUND() EVC_KEEP_MEMORY(w)
#else
#define END_ROUND() ((void)0)
#endif
#define ROUND(a, b, c, d, e, f, g, h, t, word)                                                     \
    do {                                                                                           \
        h += BIG1(e) + ((e & (f ^ g)) ^ g) + k[t] + (word);                                        \
        d += h;                                                                                    \
        h += BIG0(a) + MAJORITY(a, b, c);                                                          \
        NEXT_MAJORITY();                                                                           \
        END_ROUND();                                                                               \
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
#ifdef UNROLLED
    EIGHT(NEXT, 16);
    EIGHT(NEXT, 24);
    EIGHT(NEXT, 32);
    EIGHT(NEXT, 40);
    EIGHT(NEXT, 48);
    EIGHT(NEXT, 56);
#else
    for (int turn = 16; turn < N_ROUNDS; turn += 16) {
        k += 16;
        EIGHT(NEXT, 0);
        EIGHT(NEXT, 8);
    }
#endif
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e, h[5] += f, h[6] += g, h[7] += i;
#undef MAJORITY
#undef NEXT_MAJORITY
#undef END_ROUND
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
#undef FEW_REGISTERS
#undef ROUNDS_APART
#undef UNROLLED
