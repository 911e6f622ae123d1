/* SPDX-License-Identifier: MIT */
/*
 * GHASH with PMULL of 8 bits, 8 blocks with one reduction, by intrinsics: the twin of
 * a64_p8x8, for comparison.
 *
 * Method:   three levels of Karatsuba down to 16 bits, blocks by pairs; products of bytes are
 *           summed over 8 blocks where they stand, then added up and reduced by shifts. 17 sums
 *           leave compilers few registers.
 * Source:   Karatsuba, Ofman: Multiplication of Many-Digital Numbers by Automatic Computers, 1962;
 *           Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage for
 *           Computing the GCM Mode, 2014.
 * Needs:    A64_NEON.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/arm.h"
#include "common/bytes.h"
#include "common/each.h"

#if EVC_BUILT(A64_NEON)
EVC_ISA_BEGIN(A64_NEON)

#include "ghash/a64_p8x8_blocks.h"

const struct evc_ghash evc_ghash_a64_p8x8_intrinsics = {
    .kernel = EVC_KERNEL_HEAD(a64_p8x8_intrinsics, A64_NEON, CT, ANY, GROUP, struct key, 0, NEON,
                              512),
    .set_key = set_key,
    .blocks = blocks,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
