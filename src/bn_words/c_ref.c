/* SPDX-License-Identifier: MIT */
/*
 * Word primitives bit by bit, without a multiplication: the oracle for every other kernel, and the
 * constant-time choice where nobody knows that the multiplier is one.
 *
 * Method:   products by shifting and adding, quotients by shifting and subtracting, one
 *           bit at a time, with masks.
 * Source:   Knuth, The Art of Computer Programming, volume 2 (1997), section 4.3.1, in base 2.
 * Needs:    ANY.   Timing: CT (no multiplications, no secret branches or addresses).
 * Key form: private.
 */
#include "bn_words/kernel.h"

#include "common/ct.h"

typedef evc_bn_word word;

#define WORD_BITS EVC_BN_WORD_BITS

/* All ones if bit i of x is set. */
static word mask_bit(word x, int i)
{
    word bit = x >> i & 1;

    EVC_KEEP(bit);
    return (word)0 - bit;
}

/* *low + *high B, plus x B^0; the carry out of *high is lost. */
static void add_low(word *low, word *high, word x)
{
    *low += x;
    *high += *low < x;
}

/* a * b, in two words. */
static void product(word a, word b, word *low, word *high)
{
    *low = *high = 0;
    for (int i = WORD_BITS - 1; i >= 0; i--) {
        *high = *high << 1 | *low >> (WORD_BITS - 1);
        *low <<= 1;
        add_low(low, high, a & mask_bit(b, i));
    }
}

static word add_words(word *r, const word *a, const word *b, size_t n_words)
{
    word carry = 0;

    for (size_t i = 0; i < n_words; i++) {
        word low = a[i], high = 0;

        add_low(&low, &high, b[i]);
        add_low(&low, &high, carry);
        r[i] = low;
        carry = high;
    }
    return carry;
}

static word sub_words(word *r, const word *a, const word *b, size_t n_words)
{
    word carry = 1; /* a - b = a + ~b + 1 */

    for (size_t i = 0; i < n_words; i++) {
        word low = a[i], high = 0;

        add_low(&low, &high, ~b[i]);
        add_low(&low, &high, carry);
        r[i] = low;
        carry = high;
    }
    return 1 - carry;
}

static word mul_words(word *r, const word *a, size_t n_words, word w)
{
    word carry = 0;

    for (size_t i = 0; i < n_words; i++) {
        word low, high;

        product(a[i], w, &low, &high);
        add_low(&low, &high, carry);
        r[i] = low;
        carry = high;
    }
    return carry;
}

static word mul_add_words(word *r, const word *a, size_t n_words, word w)
{
    word carry = 0;

    for (size_t i = 0; i < n_words; i++) {
        word low, high;

        product(a[i], w, &low, &high);
        add_low(&low, &high, carry);
        add_low(&low, &high, r[i]);
        r[i] = low;
        carry = high;
    }
    return carry;
}

static void sqr_words(word *r, const word *a, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        product(a[i], a[i], &r[2 * i], &r[2 * i + 1]);
}

/* r = a * b, by rows. */
static void multiply(word *r, const word *a, const word *b, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        r[i] = 0;
    for (size_t i = 0; i < n_words; i++)
        r[n_words + i] = mul_add_words(r + i, a, n_words, b[i]);
}

static void mul_comba4(word *r, const word *a, const word *b)
{
    multiply(r, a, b, 4);
}

static void mul_comba8(word *r, const word *a, const word *b)
{
    multiply(r, a, b, 8);
}

static void sqr_comba4(word *r, const word *a)
{
    multiply(r, a, a, 4);
}

static void sqr_comba8(word *r, const word *a)
{
    multiply(r, a, a, 8);
}

/* The remainder of rest * B + x by d, for rest < d; the quotient is a word. */
static word divide(word rest, word x, word d, word *quotient)
{
    *quotient = 0;
    for (int i = WORD_BITS - 1; i >= 0; i--) {
        const word above = rest >> (WORD_BITS - 1);
        word fits;

        rest = rest << 1 | (x >> i & 1);
        fits = above | (word)(rest >= d);
        EVC_KEEP(fits);
        rest -= d & ((word)0 - fits);
        *quotient = *quotient << 1 | fits;
    }
    return rest;
}

static word div_words(word high, word low, word d)
{
    word quotient, rest = divide(0, high, d, &quotient);

    (void)divide(rest, low, d, &quotient); /* by 0: each bit is 1 */
    return quotient;
}

static word mod_words(const word *a, size_t n_words, const struct evc_bn_divisor *d)
{
    word quotient, rest = 0;

    while (n_words--)
        rest = divide(rest, a[n_words], d->word, &quotient);
    return rest;
}

const struct evc_bn_words evc_bn_words_c_ref = {
    .kernel = EVC_KEYLESS_HEAD(c_ref, ANY, CT, ANY, BASELINE, 512),
    .add_words = add_words,
    .sub_words = sub_words,
    .mul_words = mul_words,
    .mul_add_words = mul_add_words,
    .sqr_words = sqr_words,
    .mul_comba4 = mul_comba4,
    .mul_comba8 = mul_comba8,
    .sqr_comba4 = sqr_comba4,
    .sqr_comba8 = sqr_comba8,
    .div_words = div_words,
    .mod_words = mod_words,
};
