/* SPDX-License-Identifier: MIT */
/*
 * Steps of the kernels that multiply integers with holes.
 *
 * A word whose bits stand 4 apart, at i, i + 4, i + 8 ..., multiplies another such word as
 * polynomials do, as long as no sum of bits exceeds 15: the lowest bit of each field of 4 is the
 * sum modulo 2, the rest are carries that a mask removes. A word is the sum of four of them; 16
 * products give its carry-less product.
 *
 * An element is two words, bit 127 - i of hi:lo the coefficient of x^i. The product of two is
 * the reflected product, one bit too low; H carries that bit (it is stored times x), and
 * reduction divides by x^128.
 */
#ifndef EVC_GHASH_CTMUL_STEPS_H
#define EVC_GHASH_CTMUL_STEPS_H

#include "common/bytes.h"
#include "common/ct.h"

struct evc_ghash_words {
    uint64_t hi, lo;
};

EVC_INLINE struct evc_ghash_words evc_ghash_load(const uint8_t block[16])
{
    struct evc_ghash_words w;

    w.hi = evc_load64_be(block);
    w.lo = evc_load64_be(block + 8);
    return w;
}

/* The same of a block whose bytes are reversed. */
EVC_INLINE struct evc_ghash_words evc_ghash_load_reversed(const uint8_t block[16])
{
    struct evc_ghash_words w;

    w.hi = evc_load64_le(block + 8);
    w.lo = evc_load64_le(block);
    return w;
}

EVC_INLINE void evc_ghash_store(uint8_t block[16], struct evc_ghash_words w)
{
    evc_store64_be(block, w.hi);
    evc_store64_be(block + 8, w.lo);
}

EVC_INLINE struct evc_ghash_words evc_ghash_times_x(struct evc_ghash_words w)
{
    const uint64_t out = evc_mask_highest64(w.hi);

    w.hi = ((w.hi << 1) | (w.lo >> 63)) ^ (out & UINT64_C(0xc200000000000000));
    w.lo = (w.lo << 1) ^ (out & 1);
    return w;
}

/* Products of 64-bit halves by Karatsuba, lower and upper word each: of the lower halves, of the
 * upper halves, of the sums of the halves. The whole is divided by x^128 modulo
 * x^128 + x^127 + x^126 + x^121 + 1 (Montgomery 1985), whose lower half is 1: 64 bits at a time are
 * added times the modulus, and vanish. */
EVC_INLINE struct evc_ghash_words evc_ghash_reduce(struct evc_ghash_words low,
                                                   struct evc_ghash_words high,
                                                   struct evc_ghash_words sums)
{
    struct evc_ghash_words r;
    uint64_t p0 = low.lo, p1 = low.hi ^ sums.lo ^ low.lo ^ high.lo;

    r.lo = high.lo ^ sums.hi ^ low.hi ^ high.hi;
    r.hi = high.hi;
    p1 ^= (p0 << 63) ^ (p0 << 62) ^ (p0 << 57);
    r.lo ^= p0 ^ (p0 >> 1) ^ (p0 >> 2) ^ (p0 >> 7);
    r.lo ^= (p1 << 63) ^ (p1 << 62) ^ (p1 << 57);
    r.hi ^= p1 ^ (p1 >> 1) ^ (p1 >> 2) ^ (p1 >> 7);
    return r;
}

#endif
