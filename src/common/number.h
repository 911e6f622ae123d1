/* SPDX-License-Identifier: MIT */
/*
 * Numbers as big-endian bytes, in which they stand at the interface: comparisons, sums, bits.
 *
 * Units: a number is n_bytes bytes, which may begin with zeros. Bit 0 is the least significant. A
 * mask is all ones or all zeros.
 *
 * Timing: each function says by its part whether it takes secret numbers. Loops over secrets keep
 * them in general registers: vector registers would hold bytes that nothing clears. Loops are in
 * number.c, out of line: what they leave in a frame lies below their callers, which clear it.
 */
#ifndef EVC_COMMON_NUMBER_H
#define EVC_COMMON_NUMBER_H

#include "common/ct.h"

/* ---- Secret numbers: the time follows from the lengths, and from `at` and n_bits ------------- */

/* All ones if a < b. */
uint32_t evc_number_below(const uint8_t *a, const uint8_t *b, size_t n_bytes);

/* All ones if a is the value, or at most the value, of 0 to 255. Zero bytes are the number 0. */
uint32_t evc_number_is(const uint8_t *a, size_t n_bytes, uint32_t value);
uint32_t evc_number_at_most(const uint8_t *a, size_t n_bytes, uint32_t most);

/* All ones if a is 1 or n - 1, and if a is from 2 to n - 2. n is odd. */
uint32_t evc_number_is_plus_minus_one(const uint8_t *a, const uint8_t *n, size_t n_bytes);
uint32_t evc_number_is_inner(const uint8_t *a, const uint8_t *n, size_t n_bytes);

/* r = a + b or a - b where the mask is all ones, else a. All ones if the result is beyond n_bytes
 * bytes, or below 0. r may be a or b. */
uint32_t evc_number_add(uint8_t *r, const uint8_t *a, const uint8_t *b, uint32_t mask,
                        size_t n_bytes);
uint32_t evc_number_sub(uint8_t *r, const uint8_t *a, const uint8_t *b, uint32_t mask,
                        size_t n_bytes);

/* a += addend; bits that leave at the top are lost. */
void evc_number_add_small(uint8_t *a, size_t n_bytes, uint32_t addend);

/* r = a / 2, rounded down. r may be a. */
void evc_number_halve(uint8_t *r, const uint8_t *a, size_t n_bytes);

/* r = a, with zeros before it. n_r is at least n_a. */
void evc_number_extend(uint8_t *r, size_t n_r, const uint8_t *a, size_t n_a);

EVC_INLINE uint32_t evc_number_bit(const uint8_t *a, size_t n_bytes, size_t at)
{
    return (uint32_t)a[n_bytes - 1 - at / 8] >> at % 8 & 1;
}

/* Bits at to at + n_bits - 1, of at most two bytes; those above the number are 0. */
EVC_INLINE size_t evc_number_bits(const uint8_t *a, size_t n_bytes, size_t at, unsigned n_bits)
{
    const size_t low = at / 8, high = (at + n_bits - 1) / 8;
    uint32_t two_bytes = a[n_bytes - 1 - low];

    if (high != low && high < n_bytes)
        two_bytes |= (uint32_t)a[n_bytes - 1 - high] << 8;
    return two_bytes >> at % 8 & (((uint32_t)1 << n_bits) - 1);
}

/* Word number `at` of word_bytes bytes, from the least significant one; 0 above the number. */
EVC_INLINE uint64_t evc_number_word(const uint8_t *a, size_t n_bytes, size_t word_bytes, size_t at)
{
    uint64_t word = 0;

    for (size_t j = 0; j < word_bytes && at * word_bytes + j < n_bytes; j++)
        word |= (uint64_t)a[n_bytes - 1 - at * word_bytes - j] << 8 * j;
    EVC_KEEP(word);
    return word;
}

/* Ones from the highest bit of x, which is below 2^16, down to bit 0. */
EVC_INLINE uint32_t evc_ones_below(uint32_t x)
{
    for (unsigned shift = 1; shift < 16; shift *= 2)
        x |= x >> shift;
    return x;
}

/* ---- Public numbers: their bits show in the time --------------------------------------------- */

/* Skips leading zeros. */
EVC_INLINE void evc_number_skip_zeros(const uint8_t **a, size_t *n_bytes)
{
    for (; *n_bytes && !**a; --*n_bytes)
        ++*a;
}

/* The number of bits from the highest that is 1 down to bit 0; 0 of the number 0. */
size_t evc_number_length_bits(const uint8_t *a, size_t n_bytes);

/* a modulo d, which is from 1 to 2^24. */
uint32_t evc_number_modulo(const uint8_t *a, size_t n_bytes, uint32_t d);

#endif
