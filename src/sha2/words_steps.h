/* SPDX-License-Identifier: MIT */
/*
 * Rounds of SHA-2 in one file's type of words, unrolled by 16, with the message schedule in a ring
 * of 16 words. Included once for each of SHA-256 and SHA-512, after these definitions:
 *   WORD, LOAD(p), WORD_BYTES   a word; its big-endian value at p
 *   BLOCK_FUNCTION, N_ROUNDS    the function's name, and how many rounds it has
 *   BIG0, BIG1, SMALL0, SMALL1  the functions of the standard that are written with a sigma
 * and, if the CPU gains by it:
 *   FEW_REGISTERS   majorities keep no value from one round to the next
 *   ROUNDS_APART    the compiler moves nothing of the schedule from one round into another: it
 *                   would compute sigmas early, and spill them
 *   ODD_IN_MEMORY   odd words of the schedule stand in memory, even ones in registers: of 26
 *                   registers, GCC would spill the words of a round instead
 *   SUMS_IN_ORDER   terms are added one by one: fewer of them live at once
 *   SHORT_OFFSETS   a load reaches from -4 to 3 words, as far as GCC has it for PA-RISC: it would
 *                   keep an address for each word
 *
 * Method:   variables change their names instead of their values; (a & b) ^ (a & c) ^ (b & c) is
 *           ((a ^ b) & (b ^ c)) ^ b, and b ^ c is the a ^ b of the round before. With few registers
 *           it is (a & b) + (c & (a ^ b)).
 */
EVC_INLINE void BLOCK_FUNCTION(WORD h[8], const uint8_t *in, const WORD *k)
{
#ifdef SHORT_OFFSETS
#define HIDE(p) EVC_KEEP(p)
#else
#define HIDE(p) ((void)0)
#endif
#ifdef ODD_IN_MEMORY
    WORD even[8], stored[8], *odd = stored + 4;
#define W(t) (*((t) & 1 ? &odd[((t) >> 1 & 7) - 4] : &even[(t) >> 1 & 7]))
    HIDE(odd);
    EVC_KEEP_MEMORY(odd);
#else
    WORD w[16];
#define W(t) w[(t) & 15]
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
#define END_ROUND() EVC_BARRIER()
#else
#define END_ROUND() ((void)0)
#endif
#ifdef SUMS_IN_ORDER
#define SUM4(h, i, j, k, l) h += (k) + (l); EVC_KEEP(h); h += (j); EVC_KEEP(h); h += (i)
#define SUM2(h, i, j) h += (j); EVC_KEEP(h); h += (i)
#else
#define SUM4(h, i, j, k, l) h += (i) + (j) + (k) + (l)
#define SUM2(h, i, j) h += (i) + (j)
#endif
#define ROUND(a, b, c, d, e, f, g, h, t, word)                                                     \
    do {                                                                                           \
        SUM4(h, BIG1(e), (e & (f ^ g)) ^ g, k[((t) & 7) - 4], word);                               \
        d += h;                                                                                    \
        SUM2(h, BIG0(a), MAJORITY(a, b, c));                                                       \
        NEXT_MAJORITY();                                                                           \
        END_ROUND();                                                                               \
    } while (0)
#define FIRST(t) (W(t) = LOAD(in + WORD_BYTES * (((t) & 7) - 4)))
#if defined(ODD_IN_MEMORY) || defined(FEW_REGISTERS) /* a word is read from memory twice */
#define NEXT(t)                                                                                    \
    (fresh = first + W((t) + 9), first = W((t) + 1),                                               \
     fresh += SMALL0(first) + SMALL1(newest[(t) & 1]), newest[(t) & 1] = fresh, W(t) = fresh)
#else
#define NEXT(t) (W(t) += SMALL1(W((t) + 14)) + W((t) + 9) + SMALL0(W((t) + 1)))
#endif
#define EIGHT(WORD_OF, t)                                                                          \
    k += 4;                                                                                        \
    HIDE(k);                                                                                       \
    ROUND(a, b, c, d, e, f, g, i, (t) + 0, WORD_OF((t) + 0));                                      \
    ROUND(i, a, b, c, d, e, f, g, (t) + 1, WORD_OF((t) + 1));                                      \
    ROUND(g, i, a, b, c, d, e, f, (t) + 2, WORD_OF((t) + 2));                                      \
    ROUND(f, g, i, a, b, c, d, e, (t) + 3, WORD_OF((t) + 3));                                      \
    ROUND(e, f, g, i, a, b, c, d, (t) + 4, WORD_OF((t) + 4));                                      \
    ROUND(d, e, f, g, i, a, b, c, (t) + 5, WORD_OF((t) + 5));                                      \
    ROUND(c, d, e, f, g, i, a, b, (t) + 6, WORD_OF((t) + 6));                                      \
    ROUND(b, c, d, e, f, g, i, a, (t) + 7, WORD_OF((t) + 7));                                      \
    k += 4
    in += 4 * WORD_BYTES;
    HIDE(in);
    EIGHT(FIRST, 0);
    in += 8 * WORD_BYTES;
    HIDE(in);
    EIGHT(FIRST, 8);
#if defined(ODD_IN_MEMORY) || defined(FEW_REGISTERS)
    WORD fresh, first = W(0), newest[2] = {W(14), W(15)};
#endif
    for (int turn = 16; turn < N_ROUNDS; turn += 16) {
        EIGHT(NEXT, 0);
        EIGHT(NEXT, 8);
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e, h[5] += f, h[6] += g, h[7] += i;
#undef MAJORITY
#undef NEXT_MAJORITY
#undef END_ROUND
#undef ROUND
#undef HIDE
#undef W
#undef SUM4
#undef SUM2
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
#undef ODD_IN_MEMORY
#undef SUMS_IN_ORDER
#undef SHORT_OFFSETS
