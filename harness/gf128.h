/* SPDX-License-Identifier: MIT */
/*
 * The field of GCM by definition (SP 800-38D sections 6.3 and 6.4), with powers of x alone: what
 * GHASH ought to compute. Nothing is shared with src/ghash.
 */
#ifndef HARNESS_GF128_H
#define HARNESS_GF128_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bit i of a block: the leftmost is bit 0, the coefficient of x^0. */
static inline unsigned gf128_bit(const uint8_t block[16], size_t i)
{
    return (unsigned)(block[i / 8] >> (7 - i % 8)) & 1u;
}

static inline void gf128_add(uint8_t to[16], const uint8_t a[16])
{
    for (int i = 0; i < 16; i++)
        to[i] ^= a[i];
}

/* a * x, with x^128 = x^7 + x^2 + x + 1. */
static inline void gf128_times_x(uint8_t a[16])
{
    unsigned out = a[15] & 1u;

    for (int i = 15; i > 0; i--)
        a[i] = (uint8_t)(a[i] >> 1 | a[i - 1] << 7);
    a[0] = (uint8_t)(a[0] >> 1 ^ (out ? 0xe1 : 0));
}

/* a * b: the sum of the b * x^i for the bits i of a. */
static inline void gf128_multiply(uint8_t a[16], const uint8_t b[16])
{
    uint8_t power[16], product[16] = {0};

    memcpy(power, b, 16);
    for (size_t i = 0; i < 128; i++, gf128_times_x(power))
        if (gf128_bit(a, i))
            gf128_add(product, power);
    memcpy(a, product, 16);
}

/* 1 / a = a^(2^128 - 2): the product of a^2, a^4, ... a^(2^127). */
static inline void gf128_invert(uint8_t a[16])
{
    uint8_t power[16], same[16];

    memcpy(power, a, 16);
    memset(a, 0, 16);
    a[0] = 0x80; /* x^0 */
    for (int i = 1; i < 128; i++) {
        memcpy(same, power, 16);
        gf128_multiply(power, same);
        gf128_multiply(a, power);
    }
}

#endif
