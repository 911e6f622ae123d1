/* SPDX-License-Identifier: MIT */
/*
 * GHASH with VMULL.P64 of A32, 4 blocks with one reduction: 64-bit chips with 32-bit systems.
 *
 * Method:   4 blocks times H^4 ... H^1 by Karatsuba, two blocks at a time, summed
 *           before one reduction of two multiplications; a rest of fewer blocks by the
 *           lower powers in the same way.
 * Source:   Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage
 *           for Computing the GCM Mode, 2014; Montgomery: Modular Multiplication
 *           Without Trial Division, 1985.
 * Needs:    A32_PMULL.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/arm.h"
#include "common/bytes.h"

#if EVC_BUILT(A32_PMULL)
EVC_ISA_BEGIN(A32_PMULL)

#include "common/a32_neon.h"
#include "common/a32_pmull.h"

#define GROUP 4
#define v_xor3(a, b, c) veorq_u64(veorq_u64(a, b), c)
#include "ghash/a64_pmull_blocks.h"

const struct evc_ghash evc_ghash_a32_pmull = {
    .kernel = EVC_KERNEL_HEAD(a32_pmull, A32_PMULL, CT, ANY, GROUP, struct key, 0, NEON, 0),
    PMULL_SLOTS,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
