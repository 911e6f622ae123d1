/* SPDX-License-Identifier: MIT */
/*
 * GHASH with VMULL.P8, 8 blocks with one reduction, for NEON of 32-bit Arm.
 *
 * Method:   three levels of Karatsuba down to 16 bits, blocks by pairs; products of bytes are
 *           summed over 8 blocks where they stand, then added up and reduced by shifts. Of 17
 *           sums, some wait in memory.
 * Source:   Karatsuba, Ofman: Multiplication of Many-Digital Numbers by Automatic Computers, 1962;
 *           Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage for
 *           Computing the GCM Mode, 2014.
 * Needs:    A32_NEON.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/arm.h"
#include "common/bytes.h"
#include "common/each.h"

#if EVC_BUILT(A32_NEON)
EVC_ISA_BEGIN(A32_NEON)

#include "common/a32_neon.h"

#include "ghash/a64_p8x8_blocks.h"

const struct evc_ghash evc_ghash_a32_p8x8 = {
    .kernel = EVC_KERNEL_HEAD(a32_p8x8, A32_NEON, CT, ANY, GROUP, struct key, 0, NEON, 640),
    .set_key = set_key,
    .blocks = blocks,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
