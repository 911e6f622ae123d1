/* SPDX-License-Identifier: MIT */
/*
 * Numbers as digits of 27 bits that are below 2n: bytes and sums. A kernel
 * defines, and includes this then:
 *
 *   digits_of(key)                  how many digits its numbers have
 *   get_digit(a, i)                 digit i of a number
 *   set_digit(a, i, value)
 *   modulus_digit(key, i)           digit i of the modulus
 *
 * R is above 4n, 2^SPARE_BITS more than a number of the bytes of n, so that no product needs a last
 * subtraction (Walter: Montgomery exponentiation needs no final subtractions, Electronics Letters
 * 35, 1999). Columns are below 2^64: they get at most 2 * 304 products and a carry below 2^37, and
 * 608 (2^27 - 1)^2 + 2^37 < 2^64.
 *
 * Every loop has a count that follows from the length of the modulus alone.
 */
#ifndef EVC_BN_DIGITS_STEPS_H
#define EVC_BN_DIGITS_STEPS_H

#include "common/bytes.h"
#include "common/ct.h"

#define DIGIT_BITS 27
#define DIGIT_MASK ((UINT32_C(1) << DIGIT_BITS) - 1)
#define SPARE_BITS 2

static size_t digits_of(const void *key);
EVC_INLINE uint32_t get_digit(const void *a, size_t i);
EVC_INLINE void set_digit(void *a, size_t i, uint32_t value);
EVC_INLINE uint32_t modulus_digit(const void *key, size_t i);

/* ---- Bytes ----------------------------------------------------------------------------------- */

static void load(const void *key, void *r, const uint8_t *in, size_t in_bytes)
{
    const size_t digits = digits_of(key);
    uint64_t bits = 0;
    unsigned n_bits = 0;

    for (size_t i = 0; i < digits; i++) {
        for (; n_bits < DIGIT_BITS && in_bytes > 0; n_bits += 8)
            bits |= (uint64_t)in[--in_bytes] << n_bits;
        set_digit(r, i, (uint32_t)bits & DIGIT_MASK);
        bits >>= DIGIT_BITS;
        n_bits = n_bits > DIGIT_BITS ? n_bits - DIGIT_BITS : 0;
    }
}

/* The sum of a digit, another one and a carry, whose digit is the value and whose upper
 * bits are the next carry. */
EVC_INLINE uint32_t take_digit(int32_t *sum)
{
    const uint32_t taken = (uint32_t)*sum & DIGIT_MASK;

    *sum >>= DIGIT_BITS;
    return taken;
}

/* All ones if a is below n. */
static uint32_t is_below_modulus(const void *key, const void *a)
{
    const size_t digits = digits_of(key);
    int32_t sum = 0;

    for (size_t i = 0; i < digits; i++) {
        sum += (int32_t)(get_digit(a, i) - modulus_digit(key, i));
        take_digit(&sum);
    }
    return evc_barrier32((uint32_t)sum);
}

static void store(const void *key, uint8_t *out, const void *a)
{
    const uint32_t mask = ~is_below_modulus(key, a);
    size_t left = evc_bn_n_bytes(key);
    int32_t sum = 0;
    uint64_t bits = 0;
    unsigned n_bits = 0;

    for (size_t i = 0; left > 0; i++) {
        sum += (int32_t)(get_digit(a, i) - (modulus_digit(key, i) & mask));
        bits |= (uint64_t)take_digit(&sum) << n_bits;
        for (n_bits += DIGIT_BITS; n_bits >= 8 && left > 0; n_bits -= 8, bits >>= 8)
            out[--left] = (uint8_t)bits;
    }
}

/* -1 / n modulo 2^DIGIT_BITS, by the lowest digit of n. Newton's iteration doubles the bits that
 * are right: from 3, for n n = 1 modulo 8. */
EVC_INLINE uint32_t negative_inverse(uint32_t low)
{
    uint32_t inverse = low;

    for (int bits = 3; bits < DIGIT_BITS; bits *= 2)
        inverse *= 2 - low * inverse;
    return (0u - inverse) & DIGIT_MASK;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* r = a + b or a - b, 2n less or more where that is needed to be from 0 to 2n - 1. */
EVC_INLINE void sum_or_difference(const void *key, void *r, const void *a, const void *b,
                                  void *scratch, int is_sum)
{
    const size_t digits = digits_of(key);
    int32_t sum = 0;
    uint32_t mask;

    for (size_t i = 0; i < digits; i++) {
        sum += (int32_t)(is_sum ? get_digit(a, i) + get_digit(b, i) - 2 * modulus_digit(key, i)
                                : get_digit(a, i) - get_digit(b, i));
        set_digit(scratch, i, take_digit(&sum));
    }
    mask = evc_barrier32((uint32_t)sum); /* all ones if it is negative */
    sum = 0;
    for (size_t i = 0; i < digits; i++) {
        sum += (int32_t)(get_digit(scratch, i) + (2 * modulus_digit(key, i) & mask));
        set_digit(r, i, take_digit(&sum));
    }
}

static void add(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    sum_or_difference(key, r, a, b, scratch, 1);
}

static void sub(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    sum_or_difference(key, r, a, b, scratch, 0);
}

#endif
