/* SPDX-License-Identifier: MIT */
/*
 * Products of two words, and sums of such products.
 *
 * Where the CPU has an instruction for a product of double width, the compiler's type of double
 * width makes it. Elsewhere that type would call a library for each word, and a product is four
 * products of half words (halves.h).
 */
#ifndef EVC_BN_WORDS_PRODUCT_H
#define EVC_BN_WORDS_PRODUCT_H

#include "everycore/bn_words.h"

#include "bn_words/halves.h"
#include "common/bytes.h"
#include "common/ct.h"

typedef evc_bn_word word;

#define WORD_BITS EVC_BN_WORD_BITS

EVC_INLINE word word_barrier(word x)
{
#if EVC_BN_WORD64
    return evc_barrier64(x);
#else
    return evc_barrier32(x);
#endif
}

/* All ones if a < b. */
EVC_INLINE word mask_less(word a, word b)
{
    return (word)0 - word_barrier((word)(a < b));
}

#if EVC_BN_HALVES

/* Two words. */
typedef struct {
    word low, high;
} sum;

#define HALF_BITS (WORD_BITS / 2)
#define LOW_HALF (((word)1 << HALF_BITS) - 1)

/* a * b + add + *carry, whose upper word replaces *carry. H = 2^HALF_BITS: a product of halves and
 * two halves more are at most (H - 1)^2 + 2 (H - 1) = H^2 - 1, so no line overflows. */
EVC_INLINE word multiply_add(word a, word b, word add, word *carry)
{
    const word a0 = a & LOW_HALF, a1 = a >> HALF_BITS, b0 = b & LOW_HALF, b1 = b >> HALF_BITS;
    const word p0 = a0 * b0 + (add & LOW_HALF) + (*carry & LOW_HALF);
    const word p1 = a1 * b0 + (add >> HALF_BITS) + (p0 >> HALF_BITS);
    const word p2 = a0 * b1 + (*carry >> HALF_BITS) + (p1 & LOW_HALF);

    *carry = a1 * b1 + (p1 >> HALF_BITS) + (p2 >> HALF_BITS);
    return p2 << HALF_BITS | (p0 & LOW_HALF);
}

EVC_INLINE sum sum_of(word high, word low)
{
    const sum s = {low, high};

    return s;
}

/* s + a * b, where that fits into two words. */
EVC_INLINE sum sum_add_product(sum s, word a, word b)
{
    word carry = 0;

    s.low = multiply_add(a, b, s.low, &carry);
    s.high += carry;
    return s;
}

EVC_INLINE word sum_low(sum s)
{
    return s.low;
}

EVC_INLINE word sum_high(sum s)
{
    return s.high;
}

#else

#if EVC_BN_WORD64
__extension__ typedef unsigned __int128 sum;
#else
typedef uint64_t sum;
#endif

EVC_INLINE word multiply_add(word a, word b, word add, word *carry)
{
#if EVC_X86 /* four additions, for which compilers take up to seven instructions */
    const sum product = (sum)a * b;
    word low = (word)product, high = (word)(product >> WORD_BITS);

    if (!(__builtin_constant_p(add) && add == 0))
        __asm__("add %2, %0\n\tadc $0, %1" : "+&r"(low), "+r"(high) : "r"(add) : "cc");
    __asm__("add %2, %0\n\tadc $0, %1" : "+&r"(low), "+r"(high) : "r"(*carry) : "cc");
    *carry = high;
    return low;
#else
    const sum s = (sum)a * b + add + *carry;

    *carry = (word)(s >> WORD_BITS);
    return (word)s;
#endif
}

EVC_INLINE sum sum_of(word high, word low)
{
    return (sum)high << WORD_BITS | low;
}

EVC_INLINE sum sum_add_product(sum s, word a, word b)
{
    return s + (sum)a * b;
}

EVC_INLINE word sum_low(sum s)
{
    return (word)s;
}

EVC_INLINE word sum_high(sum s)
{
    return (word)(s >> WORD_BITS);
}

#endif

/* The upper word of a * b. */
EVC_INLINE word multiply_high(word a, word b)
{
    return sum_high(sum_add_product(sum_of(0, 0), a, b));
}

#endif
