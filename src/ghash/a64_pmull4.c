/* SPDX-License-Identifier: MIT */
/*
 * GHASH with PMULL of 64 bits, 4 blocks with one reduction.
 *
 * Method:   4 blocks times H^4 ... H^1 by Karatsuba, two blocks at a time, summed
 *           before one reduction of two multiplications; a rest of fewer blocks by the
 *           lower powers in the same way.
 * Source:   Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage
 *           for Computing the GCM Mode, 2014; Montgomery: Modular Multiplication
 *           Without Trial Division, 1985.
 * Needs:    A64_PMULL.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/arm_order.h"
#include "common/bytes.h"

#if EVC_BUILT(A64_PMULL)
EVC_ISA_BEGIN(A64_PMULL)

#define GROUP 4
#define v_xor3(a, b, c) veorq_u64(veorq_u64(a, b), c)
#include "ghash/a64_pmull_blocks.h"

const struct evc_ghash evc_ghash_a64_pmull4 = {
    .kernel = EVC_KERNEL_HEAD(a64_pmull4, A64_PMULL, CT, ANY, GROUP, struct key, 0, NEON, 0),
    PMULL_SLOTS,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
