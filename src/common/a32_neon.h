/* SPDX-License-Identifier: MIT */
/*
 * Intrinsics that A64 alone has, as A32 does them, so that steps of A64 kernels can be compiled
 * for both. Include it inside a region of A32_NEON or more. Halves of a vector are registers here,
 * and look-ups are by halves.
 */
#ifndef EVC_COMMON_A32_NEON_H
#define EVC_COMMON_A32_NEON_H

#include "common/bytes.h"

/* By their names: GCC 12 moves both halves of a table for every look-up of the intrinsic. */
EVC_INLINE uint8x16_t vqtbl1q_u8(uint8x16_t table, uint8x16_t i)
{
    uint8x16_t found;

    __asm__("vtbl.8 %e0, {%e1, %f1}, %e2\n\tvtbl.8 %f0, {%e1, %f1}, %f2"
            : "=&w"(found)
            : "w"(table), "w"(i));
    return found;
}

/* Two lanes that exchange places are one instruction with two results. */
#define EVC_A32_PERMUTES(type, vector)                  \
    EVC_INLINE vector vuzp1q_##type(vector a, vector b) \
    {                                                   \
        return vuzpq_##type(a, b).val[0];               \
    }                                                   \
    EVC_INLINE vector vuzp2q_##type(vector a, vector b) \
    {                                                   \
        return vuzpq_##type(a, b).val[1];               \
    }                                                   \
    EVC_INLINE vector vtrn1q_##type(vector a, vector b) \
    {                                                   \
        return vtrnq_##type(a, b).val[0];               \
    }
EVC_A32_PERMUTES(u8, uint8x16_t)
EVC_A32_PERMUTES(u16, uint16x8_t)
EVC_A32_PERMUTES(u32, uint32x4_t)
#undef EVC_A32_PERMUTES

/* With lanes of 64 bits these move halves, which costs nothing or one instruction. */
EVC_INLINE uint64x2_t vuzp1q_u64(uint64x2_t a, uint64x2_t b)
{
    return vcombine_u64(vget_low_u64(a), vget_low_u64(b));
}

EVC_INLINE uint64x2_t vuzp2q_u64(uint64x2_t a, uint64x2_t b)
{
    return vcombine_u64(vget_high_u64(a), vget_high_u64(b));
}

#define vtrn1q_u64(a, b) vuzp1q_u64(a, b)
#define vtrn2q_u64(a, b) vuzp2q_u64(a, b)

#define vmull_high_p8(a, b) vmull_p8(vget_high_p8(a), vget_high_p8(b))
#define vshll_high_n_u16(a, n) vshll_n_u16(vget_high_u16(a), n)
#define vshll_high_n_u32(a, n) vshll_n_u32(vget_high_u32(a), n)

/* Lanes of the high half. */
#define vdup_laneq_u8(a, lane) vdup_lane_u8(vget_high_u8(a), (lane) - 8)
#define vdupq_laneq_u32(a, lane) vdupq_lane_u32(vget_high_u32(a), (lane) - 2)
#define vcopyq_laneq_u32(to, to_lane, from, lane) \
    vsetq_lane_u32(vgetq_lane_u32(from, lane), to, to_lane)

#endif
