/* SPDX-License-Identifier: MIT */
/*
 * The steps of QARMA-64 (nibbles_steps.h) with vectors of NEON. Include it inside the
 * ISA region, after v_xor3.
 */
#ifndef EVC_QARMA_A64_TBL_STEPS_H
#define EVC_QARMA_A64_TBL_STEPS_H

#include "common/arm.h"
#include "common/bytes.h"

typedef uint8x16_t vec;
#define v_load(p) vld1q_u8(p)
#define v_store(p, x) vst1q_u8(p, x)
#define v_xor veorq_u8
#define v_zero vdupq_n_u8(0)
#define v_look vqtbl1q_u8
#define v_clear_upper_halves() ((void)0)

EVC_INLINE uint8x16_t v_known(uint8x16_t x)
{
#if EVC_GNU_C
    __asm__("" : "+w"(x));
#endif
    return x;
}

/* Lane i of the low eight: byte i of the number, from its low end; on big-endian cores through
 * memory, where the order of lanes is certain. */
EVC_INLINE uint8x16_t v_number(uint64_t x)
{
#if EVC_BIG_ENDIAN
    uint8_t b[8];

    evc_store64_le(b, x);
    return vcombine_u8(vld1_u8(b), vdup_n_u8(0));
#else
    return vcombine_u8(vcreate_u8(x), vdup_n_u8(0));
#endif
}

EVC_INLINE uint64_t v_value(uint8x16_t lanes)
{
#if EVC_BIG_ENDIAN
    uint8_t b[16];

    vst1q_u8(b, lanes);
    return evc_load64_le(b);
#else
    return vgetq_lane_u64(vreinterpretq_u64_u8(lanes), 0);
#endif
}

EVC_INLINE uint8x16_t v_wide(uint8x16_t bytes)
{
    return vzip1q_u8(vandq_u8(bytes, vdupq_n_u8(15)), vshrq_n_u8(bytes, 4));
}

#define v_wide_xor(x, w) veorq_u8(v_wide(x), w)

#include "qarma/nibbles_steps.h"

#endif
