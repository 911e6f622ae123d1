/* SPDX-License-Identifier: MIT */
/* The operands of big numbers, which a subject and its answers share. */
#ifndef SUBJECT_NUMBERS_H
#define SUBJECT_NUMBERS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "everycore/bn_words.h"

#define MOST_NUMBER_BYTES 256
/* Operations on each number, so that bytes at both ends do not count: products with the
 * factor, or that and squares. */
#define PRODUCTS 16
#define SQUARES 14
#define EXPONENT_BYTES 16
#define DIVISOR 65521 /* the largest prime below 2^16 */

/* A public modulus, odd, whose highest bit is set. */
static inline void modulus_of(uint8_t *n, size_t n_bytes)
{
    uint32_t x = (uint32_t)n_bytes;

    for (size_t i = 0; i < n_bytes; i++) {
        x = x * 1664525 + 1013904223; /* Numerical Recipes, 2nd edition, section 7.1 */
        n[i] = (uint8_t)(x >> 24);
    }
    n[0] |= 0x80;
    n[n_bytes - 1] |= 1;
}

/* A secret factor below the modulus, of 16 bytes of the key again and again. */
static inline void factor_of(uint8_t *factor, const uint8_t *user_key, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        factor[i] = user_key[i % 16];
    factor[0] &= 0x7f;
}

static inline evc_bn_word word_of(const uint8_t *user_key)
{
    evc_bn_word w;

    memcpy(&w, user_key, sizeof w);
    return w;
}

#endif
