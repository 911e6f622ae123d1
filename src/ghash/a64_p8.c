/* SPDX-License-Identifier: MIT */
/*
 * GHASH with PMULL of 8 bits, a block at a time with H rotated beforehand: the
 * published way, for comparison.
 *
 * Method:   a product of 64 x 64 bits from 8 of 8 bytes each, by H and by H rotated by 1 to 4
 *           bytes, with the block rotated by 1 to 3; their sums are put in place by masks and
 *           rotations. Three of these by Karatsuba, and a reduction by shifts.
 * Source:   Camara, Gouvea, Lopez, Dahab: Fast Software Polynomial Multiplication on ARM Processors
 *           Using the NEON Engine, 2013 (64 bits from 8 bytes each); Biesheuvel: GHASH for low-end
 *           ARM cores, 2017 (rotated H).
 * Needs:    A64_NEON.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/arm.h"
#include "common/arm_order.h"
#include "common/bytes.h"

#if EVC_BUILT(A64_NEON)
EVC_ISA_BEGIN(A64_NEON)

#include "ghash/a64_p8_steps.h"

#define B(v) vreinterpretq_u8_u64(v)

/* Forms of H's halves and of their sum: 8 bytes, and these rotated down by 1 to 4. */
struct key {
    struct evc_ghash_head head;
    EVC_ALIGN(16) uint8_t rotated[3][5][8];
};

enum { HIGH, LOW, SUM };

EVC_INLINE uint8x16_t multiply8(uint8x8_t a, uint8x8_t b)
{
    return vreinterpretq_u8_p16(vmull_p8(vreinterpret_p8_u8(a), vreinterpret_p8_u8(b)));
}

/* Bits that were rotated round the upper end count in the lower half as well. keep: the bits that
 * stay in the upper half. */
EVC_INLINE uint64x2_t unwrap(uint64x2_t lower, uint64x2_t *upper, uint64x2_t keep)
{
    const uint64x2_t both = veorq_u64(lower, *upper);

    *upper = vandq_u64(*upper, keep);
    return veorq_u64(both, *upper);
}

/* a * b of 64 bits; b: with its rotations. */
EVC_INLINE uint8x16_t multiply64(uint8x8_t a, const uint8_t b[5][8])
{
    const uint8x8_t b0 = vld1_u8(b[0]);
    const uint64x2_t by_1 =
        U64(veorq_u8(multiply8(vext_u8(a, a, 1), b0), multiply8(a, vld1_u8(b[1]))));
    const uint64x2_t by_2 =
        U64(veorq_u8(multiply8(vext_u8(a, a, 2), b0), multiply8(a, vld1_u8(b[2]))));
    const uint64x2_t by_3 =
        U64(veorq_u8(multiply8(vext_u8(a, a, 3), b0), multiply8(a, vld1_u8(b[3]))));
    const uint64x2_t by_4 = U64(multiply8(a, vld1_u8(b[4])));
    const uint64x2_t keep_12 = vcombine_u64(vcreate_u64(UINT64_C(0x0000ffffffffffff)),
                                            vcreate_u64(UINT64_C(0x00000000ffffffff)));
    const uint64x2_t keep_34 =
        vcombine_u64(vcreate_u64(UINT64_C(0x000000000000ffff)), vcreate_u64(0));
    uint64x2_t upper_12 = vuzp2q_u64(by_1, by_2), upper_34 = vuzp2q_u64(by_3, by_4);
    const uint64x2_t lower_12 = unwrap(vuzp1q_u64(by_1, by_2), &upper_12, keep_12);
    const uint64x2_t lower_34 = unwrap(vuzp1q_u64(by_3, by_4), &upper_34, keep_34);
    const uint8x16_t x1 = B(vzip1q_u64(lower_12, upper_12)), x2 = B(vzip2q_u64(lower_12, upper_12));
    const uint8x16_t x3 = B(vzip1q_u64(lower_34, upper_34)), x4 = B(vzip2q_u64(lower_34, upper_34));

    return veorq_u8(
        veorq_u8(multiply8(a, b0), veorq_u8(vextq_u8(x1, x1, 15), vextq_u8(x2, x2, 14))),
        veorq_u8(vextq_u8(x3, x3, 13), vextq_u8(x4, x4, 12)));
}

EVC_INLINE uint8x16_t load(const uint8_t *p)
{
    return vrev64q_u8(vld1q_u8(p));
}

static void blocks(const void *vkey, uint8_t y_bytes[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;
    const uint8x16_t zero = vdupq_n_u8(0);
    uint8x16_t y = load(y_bytes);

    for (; n_blocks; n_blocks--, in += 16) {
        uint8x16_t hi, lo, mi;
        y = veorq_u8(y, load(in));
        hi = multiply64(vget_low_u8(y), key->rotated[HIGH]);
        lo = multiply64(vget_high_u8(y), key->rotated[LOW]);
        mi = multiply64(veor_u8(vget_low_u8(y), vget_high_u8(y)), key->rotated[SUM]);
        mi = veorq_u8(mi, veorq_u8(lo, hi));
        y = reduce(veorq_u8(lo, vextq_u8(zero, mi, 8)), veorq_u8(hi, vextq_u8(mi, zero, 8)));
    }
    vst1q_u8(y_bytes, vrev64q_u8(y));
}

static void set_key(void *vkey, const uint8_t h[16])
{
    struct key *key = vkey;
    const uint8x16_t power = power_of(h);
    const uint8x8_t hi = vget_low_u8(power), lo = vget_high_u8(power),
                    part[3] = {hi, lo, veor_u8(hi, lo)};

    for (unsigned i = 0; i < 3; i++) {
        vst1_u8(key->rotated[i][0], part[i]);
        vst1_u8(key->rotated[i][1], vext_u8(part[i], part[i], 1));
        vst1_u8(key->rotated[i][2], vext_u8(part[i], part[i], 2));
        vst1_u8(key->rotated[i][3], vext_u8(part[i], part[i], 3));
        vst1_u8(key->rotated[i][4], vext_u8(part[i], part[i], 4));
    }
}

const struct evc_ghash evc_ghash_a64_p8 = {
    .kernel = EVC_KERNEL_HEAD(a64_p8, A64_NEON, CT, ANY, 1, struct key, 0, NEON, 384),
    .set_key = set_key,
    .blocks = blocks,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
