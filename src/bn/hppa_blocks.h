/* SPDX-License-Identifier: MIT */
/*
 * Products, squares and reductions by the blocks of eight words of a kernel's assembly. Words of 32
 * bits, the least significant first. Numbers have an even number of words, and zeros behind them up
 * to a whole block of eight.
 *
 * Includers define HPPA(name), the name of a function of the assembly, and bn_sum, the type of each
 * place of a double product t, whose value is the sum of t[i] * B^i: words, or sums of 64 bits.
 * Carries are one word: what is to be added to t[n] for hppa_xmpyu, with what is to be added to
 * t[n + 1] in its upper half for hppa20.
 *
 * The words of a number that fill no block, which are 2, 4 or 6, are multiplied by blocks of the
 * other number: so they cost their own products and not those of a whole block.
 *
 * Inline, as a caller that has whole blocks alone needs less of them.
 */
#ifndef EVC_BN_HPPA_BLOCKS_H
#define EVC_BN_HPPA_BLOCKS_H

#include "common/bytes.h"

#include <stddef.h>
#include <stdint.h>

/* t[0 ... n + 7] += a[0 ... n - 1] * b[0 ... 7]; n is even, not 0. There is no carry: what is
 * above that is not changed. */
void HPPA(multiply_8)(bn_sum *t, const uint32_t *a, size_t n_words, const uint32_t *b);

/* The same, where t was 0. */
void HPPA(set_8)(bn_sum *t, const uint32_t *a, size_t n_words, const uint32_t *b);

/* The same for 2, 4 or 6 words, with a carry at t[n]. Returns the carry at t[n + 8]. */
uint32_t HPPA(add_rows)(bn_sum *t, const uint32_t *a, size_t n_words, const uint32_t *b,
                        uint32_t carry);

/* t[0 ... w + n_words - 1] += q * n, where q is such that the lowest w words become 0.
 * These are not written. w: the words in whole blocks of n, 8 or more. n0: -1 / n modulo
 * B. Returns the carry. */
uint32_t HPPA(reduce)(bn_sum *t, const uint32_t *n, size_t n_words, uint32_t n0);

/* The same by blocks of sixteen words, which n_words fills, where HPPA_SIXTEEN is defined. */
uint32_t HPPA(reduce_16)(bn_sum *t, const uint32_t *n, size_t n_words, uint32_t n0);

/* t[0 ... n_digits + 7] += q * n[0 ... 7], where q has 2, 4 or 6 words and is such that so many
 * words of t become 0; in their place it is written, as words. Returns the carry. */
uint32_t HPPA(reduce_rows)(bn_sum *t, const uint32_t *n, size_t n_digits, uint32_t n0);

/* r = the upper half of t and the carry above it, less n if that is not negative. n_words: even,
 * not 0. hppa_xmpyu: t, whose address is a multiple of 8, is 0 then. */
void HPPA(finish)(uint32_t *r, bn_sum *t, const uint32_t *n, size_t n_words, uint32_t carry);

/* t[2i ... 2i + 15] += the products of two different words of a[i ... i + 7], each once, for each
 * multiple i of 8 below n_words, which is one, too, and not 0. */
void HPPA(cross)(bn_sum *t, const uint32_t *a, size_t n_words);

/* t[0 ... 2n - 1] = 2t + the squares of a[0 ... n - 1], each at its place; n is a
 * multiple of 4, not 0. */
void HPPA(add_squares)(bn_sum *t, const uint32_t *a, size_t n_words);

EVC_INLINE void clear_eight(bn_sum *t)
{
    t[0] = t[1] = t[2] = t[3] = t[4] = t[5] = t[6] = t[7] = 0;
}

/* t = a * b: 2 * n_words words, and those above them up to two whole blocks become 0. */
EVC_INLINE void product(bn_sum *t, const uint32_t *a, const uint32_t *b, size_t n_words)
{
    const size_t rest = n_words % 8, whole = n_words - rest;
    uint32_t carry = 0;

    if (whole)
        HPPA(set_8)(t, a, n_words, b);
    else
        clear_eight(t);
    for (size_t i = 8; i < whole; i += 8) {
        clear_eight(t + i + n_words);
        HPPA(multiply_8)(t + i, a, n_words, b + i);
    }
    if (!rest)
        return;
    clear_eight(t + whole + n_words);
    clear_eight(t + 2 * whole + 8);
    for (size_t i = 0; i <= whole; i += 8)
        carry = HPPA(add_rows)(t + whole + i, b + whole, rest, a + i, carry);
}

/* t = a squared: products of different words, doubled, and the squares of words; zeros
 * above it as in product. */
EVC_INLINE void square(bn_sum *t, const uint32_t *a, size_t n_words)
{
    const size_t blocks = (n_words + 7) / 8 * 8;

    clear_eight(t);
    if (n_words > 8)
        HPPA(set_8)(t + 8, a + 8, n_words - 8, a);
    for (size_t i = 8; i + 8 < n_words; i += 8) {
        clear_eight(t + n_words + i);
        HPPA(multiply_8)(t + 2 * i + 8, a + i + 8, n_words - i - 8, a + i);
    }
    clear_eight(t + n_words + blocks - 8);
    if (n_words < blocks)
        clear_eight(t + 2 * blocks - 8);
    HPPA(cross)(t, a, blocks);
    HPPA(add_squares)(t, a, (n_words + 3) / 4 * 4);
}

/* Reduces by the words in whole blocks of n. Returns the carry. */
EVC_INLINE uint32_t reduce_whole(bn_sum *t, const uint32_t *n, size_t n_words, uint32_t n0)
{
#if defined(HPPA_SIXTEEN)
    if (n_words % 16 == 0)
        return HPPA(reduce_16)(t, n, n_words, n0);
#endif
    return n_words < 8 ? 0 : HPPA(reduce)(t, n, n_words, n0);
}

/* r = t / R modulo n, where R = B^n_words; t is lost, or, with hppa_xmpyu, 0. */
EVC_INLINE void reduce(uint32_t *r, bn_sum *t, const uint32_t *n, uint32_t n0, size_t n_words)
{
    const size_t rest = n_words % 8, whole = n_words - rest;
    bn_sum *const last = t + whole;
    uint32_t carry = reduce_whole(t, n, n_words, n0), below;

    if (rest) {
        below = HPPA(reduce_rows)(last, n, rest, n0);
        for (size_t i = 8; i <= whole; i += 8)
            below = HPPA(add_rows)(last + i, (const uint32_t *)last, rest, n + i,
                                   below + (i == whole ? carry : 0));
        carry = (uint32_t)t[2 * n_words];
    }
    HPPA(finish)(r, t, n, n_words, carry);
}

#endif
