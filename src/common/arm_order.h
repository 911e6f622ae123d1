/* SPDX-License-Identifier: MIT */
/*
 * Vectors of bytes as vectors of integers, the same on big-endian cores.
 *
 * There the lanes that vreinterpret gives between element sizes are in question: clang takes them
 * as if stored and loaded again (LLVM, docs/BigEndianNEON), which turns the bytes around. So a
 * vreinterpret between sizes is right only where what it gives is turned back by its like, or where
 * the sizes do not meet: all bytes alike, masks, bitwise operations. Elsewhere the functions below,
 * whose big-endian half goes through integers.
 */
#ifndef EVC_COMMON_ARM_ORDER_H
#define EVC_COMMON_ARM_ORDER_H

#include "common/arm.h"

#include "common/bytes.h"

#if EVC_A64

/* Lane i: bytes 8i to 8i + 7, the first of them most significant. */
EVC_INLINE uint64x2_t evc_u64_of_be_bytes(uint8x16_t v)
{
#if EVC_BIG_ENDIAN
    uint8_t b[16];

    vst1q_u8(b, v);
    return vcombine_u64(vcreate_u64(evc_load64_be(b)), vcreate_u64(evc_load64_be(b + 8)));
#else
    return vreinterpretq_u64_u8(vrev64q_u8(v));
#endif
}

EVC_INLINE uint8x16_t evc_be_bytes_of_u64(uint64x2_t v)
{
#if EVC_BIG_ENDIAN
    uint8_t b[16];

    evc_store64_be(b, vgetq_lane_u64(v, 0));
    evc_store64_be(b + 8, vgetq_lane_u64(v, 1));
    return vld1q_u8(b);
#else
    return vrev64q_u8(vreinterpretq_u8_u64(v));
#endif
}

EVC_ISA_BEGIN(A64_PMULL)

/* The product of two polynomials over GF(2) (bit i is the coefficient of x^i), its low half in lane
 * 0. clang up to 19 turns that of vmull_p64 around on big-endian cores. */
EVC_INLINE uint64x2_t evc_pmull(uint64_t a, uint64_t b)
{
#if EVC_BIG_ENDIAN
    uint64_t low, high;

    __asm__("fmov d0, %2\n\t"
            "fmov d1, %3\n\t"
            "pmull v0.1q, v0.1d, v1.1d\n\t"
            "mov %0, v0.d[0]\n\t"
            "mov %1, v0.d[1]"
            : "=&r"(low), "=&r"(high)
            : "r"(a), "r"(b)
            : "v0", "v1");
    return vcombine_u64(vcreate_u64(low), vcreate_u64(high));
#else
    return vreinterpretq_u64_p128(vmull_p64((poly64_t)a, (poly64_t)b));
#endif
}

/* Products of the lanes 0, and of the lanes 1. */
EVC_INLINE uint64x2_t evc_pmull_low(uint64x2_t a, uint64x2_t b)
{
    return evc_pmull(vgetq_lane_u64(a, 0), vgetq_lane_u64(b, 0));
}

EVC_INLINE uint64x2_t evc_pmull_high(uint64x2_t a, uint64x2_t b)
{
#if EVC_BIG_ENDIAN
    return evc_pmull(vgetq_lane_u64(a, 1), vgetq_lane_u64(b, 1));
#else
    return vreinterpretq_u64_p128(
        vmull_high_p64(vreinterpretq_p64_u64(a), vreinterpretq_p64_u64(b)));
#endif
}

EVC_ISA_END

#endif
#endif
