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

/* Half of a block; the highest bit of the word is the leftmost. */
static inline uint64_t gf128_half(const uint8_t bytes[8])
{
    uint64_t half = 0;

    for (int i = 0; i < 8; i++)
        half = half << 8 | bytes[i];
    return half;
}

/* a * b: the sum of the b * x^i for the bits i of a. */
static inline void gf128_multiply(uint8_t a[16], const uint8_t b[16])
{
    uint64_t left = gf128_half(b), right = gf128_half(b + 8); /* b * x^i */
    uint64_t product[2] = {0, 0};

    for (size_t i = 0; i < 128; i++) {
        const uint64_t mask = (uint64_t)0 - gf128_bit(a, i), out = right & 1;

        product[0] ^= left & mask;
        product[1] ^= right & mask;
        right = right >> 1 | left << 63;
        left = left >> 1 ^ out * (UINT64_C(0xe1) << 56);
    }
    for (int i = 0; i < 16; i++)
        a[i] = (uint8_t)(product[i / 8] >> (56 - 8 * (i % 8)));
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
