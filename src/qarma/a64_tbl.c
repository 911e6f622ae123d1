/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 with look-ups of 16 bytes in a register.
 *
 * Method:   a byte for each cell; TBL is S-box, rho and every permutation (nibbles_steps.h).
 * Source:   Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2; Arm Architecture Reference Manual for
 *           A-profile (DDI 0487), TBL.
 * Needs:    A64_NEON.   Timing: CT (no tables in memory that secrets index, no secret branches).
 * Key form: private.
 */
#include "qarma/kernel.h"

#include "common/arm.h"

#if EVC_BUILT(A64_NEON)

#include "common/bytes.h"

EVC_ISA_BEGIN(A64_NEON)

typedef uint8x16_t vec;
#define v_load(p) vld1q_u8(p)
#define v_store(p, x) vst1q_u8(p, x)
#define v_xor veorq_u8
#define v_xor3(a, b, e) veorq_u8(veorq_u8(a, b), e)
#define v_zero vdupq_n_u8(0)
#define v_look vqtbl1q_u8

/* Lane i of the low eight: byte i of the number, from its low end; on big-endian cores through memory, where the order
 * of lanes is certain. */
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

const struct evc_qarma evc_qarma_a64_tbl = {
    .kernel = EVC_KERNEL_HEAD(a64_tbl, A64_NEON, CT, ANY, 1, struct key, 0),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
