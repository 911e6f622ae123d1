/* SPDX-License-Identifier: MIT */
/* The operations of common/arm_order.h on A32: elements of GHASH, and VMULL.P64. Include it inside
 * a region of A32_PMULL. */
#ifndef EVC_COMMON_A32_PMULL_H
#define EVC_COMMON_A32_PMULL_H

#include "common/bytes.h"

/* Lane i: bytes 8i to 8i + 7, the first of them most significant. */
EVC_INLINE uint64x2_t evc_u64_of_be_bytes(uint8x16_t v)
{
    return vreinterpretq_u64_u8(vrev64q_u8(v));
}

EVC_INLINE uint8x16_t evc_be_bytes_of_u64(uint64x2_t v)
{
    return vrev64q_u8(vreinterpretq_u8_u64(v));
}

/* The product of two polynomials over GF(2) (bit i is the coefficient of x^i), its low half in lane
 * 0. By its name, for clang has no intrinsic of it here. */
EVC_INLINE uint64x2_t evc_a32_pmull(uint64x1_t a, uint64x1_t b)
{
    uint64x2_t product;

    __asm__("vmull.p64 %q0, %P1, %P2" : "=w"(product) : "w"(a), "w"(b));
    return product;
}

/* Products of the lanes 0, and of the lanes 1. */
EVC_INLINE uint64x2_t evc_pmull_low(uint64x2_t a, uint64x2_t b)
{
    return evc_a32_pmull(vget_low_u64(a), vget_low_u64(b));
}

EVC_INLINE uint64x2_t evc_pmull_high(uint64x2_t a, uint64x2_t b)
{
    return evc_a32_pmull(vget_high_u64(a), vget_high_u64(b));
}

#endif
