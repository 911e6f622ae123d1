/* SPDX-License-Identifier: MIT */
/*
 * Whole numbers as words of 32 bits, the least significant first, for sums, products and divisions
 * that are not modulo an odd number. In constant time on every CPU: nothing is multiplied unless
 * the caller says so, and the time follows from the numbers of words.
 */
#ifndef EVC_RSA_WORDS_H
#define EVC_RSA_WORDS_H

#include "common/number.h"

EVC_INLINE size_t evc_words_for(size_t n_bytes)
{
    return (n_bytes + 3) / 4;
}

/* Between numbers and big-endian bytes. load: n_words words take all bytes; store: what is
 * above n_bytes bytes is 0. */
void evc_words_load(uint32_t *w, size_t n_words, const uint8_t *bytes, size_t n_bytes);
void evc_words_store(uint8_t *bytes, size_t n_bytes, const uint32_t *w);

/* r = a - b; all ones if it is below 0. r may be a or b. */
uint32_t evc_words_sub(uint32_t *r, const uint32_t *a, const uint32_t *b, size_t n_words);

/* r += a; what leaves at the top is lost. n_r is at least n_a. */
void evc_words_add(uint32_t *r, size_t n_r, const uint32_t *a, size_t n_a);

/* a += addend. */
void evc_words_add_small(uint32_t *a, size_t n_words, uint32_t addend);

/* All ones if they are the same. */
uint32_t evc_words_equal(const uint32_t *a, const uint32_t *b, size_t n_words);

/* r = mask ? a : b. r may be a or b. */
void evc_words_choose(uint32_t *r, uint32_t mask, const uint32_t *a, const uint32_t *b,
                      size_t n_words);

/* r = a shifted right by one bit; r may be a. */
void evc_words_halve(uint32_t *r, const uint32_t *a, size_t n_words);

/* r = a b, of n_a + n_b words. r overlaps neither. multiplies: by products of 16 bits, which take
 * constant time on the CPU; else by one shift and one addition for each bit of b. */
void evc_words_mul(uint32_t *r, const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b,
                   int multiplies);

/* remainder = a modulo m, of n_m words; quotient, of n_a words, may be a, or NULL. room:
 * n_m words. m is not 0. */
void evc_words_divide(uint32_t *quotient, uint32_t *remainder, const uint32_t *a, size_t n_a,
                      const uint32_t *m, size_t n_m, uint32_t *room);

#endif
