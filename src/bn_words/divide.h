/* SPDX-License-Identifier: MIT */
/*
 * Division of two words by one, without a division: by a reciprocal, in a time
 * that depends on no operand.
 *
 * Source: Moller, Granlund: Improved division by invariant integers, IEEE Transactions on Computers
 *         60 (2011), algorithm 4. The reciprocal is by Newton's iteration, without their table.
 */
#ifndef EVC_BN_WORDS_DIVIDE_H
#define EVC_BN_WORDS_DIVIDE_H

#include "bn_words/product.h"

/* The number of zeros above the highest one of x, which is not 0. */
EVC_INLINE uint32_t leading_zeros(word x)
{
/* counting takes one instruction or two */
#if EVC_X86 || EVC_A64 || defined(__powerpc__) || (EVC_A32 && defined(__ARM_FEATURE_CLZ))
    return (uint32_t)(EVC_BN_WORD64 ? __builtin_clzll(x) : __builtin_clz((unsigned)x));
#else
    uint32_t n = 0;

    for (uint32_t step = WORD_BITS / 2; step; step /= 2) {
        const word upper_is_zero = mask_less(x >> (WORD_BITS - step), 1);

        n += step & (uint32_t)upper_is_zero;
        x = (x & ~upper_is_zero) | ((x << step) & upper_is_zero);
    }
    return n;
#endif
}

/* x >> (WORD_BITS - n), and 0 for n = 0. */
EVC_INLINE word bits_above(word x, uint32_t n)
{
    return x >> 1 >> (WORD_BITS - 1 - n);
}

/*
 * (B^2 - 1) / d - B, rounded down; the highest bit of d is set.
 *
 * With D = d / B and y = 1 + v / B, y begins as the tangent of 1 / D at D = 3/4, or as 1 where that
 * is more. Both are at most 1 / D, with 1 - D y <= 1/9. Newton's step y + y (1 - D y) squares that
 * and stays below 1 / D. Words are rounded down: in the last step (1 - D y) B loses at most 1 times
 * y, and a product less than 1. The step itself leaves less than 2^-36. So v is at most 2 less than
 * exact if y <= 2 - 2^-36. More than that takes D below 1/2 + 2^-37: there v was computed for every
 * d, as for all words of 32 bits, and is at most 2 less as well.
 */
EVC_INLINE word reciprocal_of(word d)
{
    const word third = (word)-1 / 3; /* B / 3 */
    const word start = third * 2 + third / 3; /* 7/9 B, rounded down */
    const word above = d - ((word)1 << (WORD_BITS - 1));
    const word drop = above + multiply_high(above, start) + 2; /* 16/9 above, rounded up */
    word v, rest_high, rest_low;

    /* y - 1 = 8/3 - 16/9 D - 1 = 7/9 - 16/9 (D - 1/2) */
    v = (start - drop) & mask_less(drop, start);
    for (int i = 0; i < (WORD_BITS == 64 ? 5 : 4); i++) {
        const word rest = ~(d + multiply_high(d, v)); /* (B^2 - d (B + v)) / B, less one at most */

        v += rest + multiply_high(v, rest);
    }
    /* rest = B^2 - 1 - d (B + v): once d more for each that v is too small. */
    rest_low = ~(d * v);
    rest_high = ~(d + multiply_high(d, v));
    for (int i = 0; i < 2; i++) {
        const word enough = ~(mask_less(rest_high, 1) & mask_less(rest_low, d));
        const word take = d & enough;

        v += 1 & enough;
        rest_high -= rest_low < take;
        rest_low -= take;
    }
    return v;
}

/* The quotient of high * B + low by d, whose highest bit is set and whose
 * reciprocal is v; high < d. */
EVC_INLINE word divide_normal(word high, word low, word d, word v, word *remainder)
{
    sum q = sum_add_product(sum_of(high, low), v, high);
    word quotient = sum_high(q) + 1, rest = low - quotient * d, mask;

    mask = mask_less(sum_low(q), rest);
    quotient += mask;
    rest += mask & d;
    mask = ~mask_less(rest, d);
    quotient -= mask;
    rest -= mask & d;
    *remainder = rest;
    return quotient;
}

/* high * B + low modulo the divisor's word, for high < word. */
EVC_INLINE word remainder_of_small(word high, word low, const struct evc_bn_divisor *d)
{
    word rest;

    (void)divide_normal(high << d->shift | bits_above(low, d->shift), low << d->shift, d->normal,
                        d->reciprocal, &rest);
    return rest >> d->shift;
}

/* high * B + low modulo the divisor's word w. With B modulo w instead of B it is at most (B - 1)
 * (w - 1) + B - 1, which is (B - 1) w: so what is above the lower word is below w. */
EVC_INLINE word remainder_of(word high, word low, const struct evc_bn_divisor *d)
{
    /* the barrier: without it GCC copies a word in each turn of a loop before this, on AArch64 */
    const sum folded = sum_add_product(sum_of(0, low), d->power[0], word_barrier(high));

    return remainder_of_small(sum_high(folded), sum_low(folded), d);
}

#endif
