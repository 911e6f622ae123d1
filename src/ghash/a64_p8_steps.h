/* SPDX-License-Identifier: MIT */
/*
 * Elements for GHASH by multiplications of 8 bits: the first power of H, and the reduction by
 * shifts. Include it inside a region of A64_NEON.
 *
 * An element is a block whose halves are byte-reversed (REV64): lane 0 has the coefficients of x^0
 * to x^63, the first in its top bit, lane 1 the others. A product is the reflected one, one bit too
 * low; H carries that bit (it is divided by x), and so do all powers of H.
 */
#ifndef EVC_GHASH_A64_P8_STEPS_H
#define EVC_GHASH_A64_P8_STEPS_H

#define U16(v) vreinterpretq_u16_u8(v)
#define U32(v) vreinterpretq_u32_u8(v)
#define U64(v) vreinterpretq_u64_u8(v)

EVC_INLINE uint8x16_t add(uint8x16_t a, uint8x16_t b)
{
    return veorq_u8(a, b);
}

/* A block divided by x, as an element: a bit to the left; what falls out comes
 * back as the polynomial. */
EVC_INLINE uint8x16_t power_of(const uint8_t h[16])
{
    const uint64_t hi = evc_load64_be(h), lo = evc_load64_be(h + 8), out = UINT64_C(0) - (hi >> 63);

    return vreinterpretq_u8_u64(
        vcombine_u64(vcreate_u64((hi << 1 | lo >> 63) ^ (out & UINT64_C(0xc200000000000000))),
                     vcreate_u64(lo << 1 ^ (out & 1))));
}

#define SHIFT_LEFT(v, n) vreinterpretq_u8_u64(vshlq_n_u64(U64(v), n))
#define SHIFT_RIGHT(v, n) vreinterpretq_u8_u64(vshrq_n_u64(U64(v), n))

/* v times x^63 + x^62 + x^57, the lower 64 bits in each lane. */
EVC_INLINE uint8x16_t times_poly(uint8x16_t v)
{
    return add(add(SHIFT_LEFT(v, 63), SHIFT_LEFT(v, 62)), SHIFT_LEFT(v, 57));
}

/* Divided by x^128, in the reflected order of bits, as an element. */
EVC_INLINE uint8x16_t reduce(uint8x16_t lo, uint8x16_t hi)
{
    const uint8x16_t zero = vdupq_n_u8(0);

    lo = add(lo, vextq_u8(zero, times_poly(lo), 8));
    hi = add(hi, vextq_u8(times_poly(lo), zero, 8));
    hi = add(hi, add(add(lo, SHIFT_RIGHT(lo, 1)), add(SHIFT_RIGHT(lo, 2), SHIFT_RIGHT(lo, 7))));
    return vextq_u8(hi, hi, 8);
}

#endif
