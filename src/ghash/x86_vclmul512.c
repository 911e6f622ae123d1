/* SPDX-License-Identifier: MIT */
/*
 * GHASH with VPCLMULQDQ on 512-bit vectors, 32 blocks with one reduction.
 *
 * Method:   8 vectors of 4 blocks times H^32 ... H^1 by Karatsuba, summed before one reduction
 *           of two multiplications; a rest of fewer blocks by the lower powers, its last
 *           vector by a masked load.
 * Source:   Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage
 *           for Computing the GCM Mode, 2014; Montgomery: Modular Multiplication
 *           Without Trial Division, 1985.
 * Needs:    X86_VCLMUL512.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_VCLMUL512)
EVC_ISA_BEGIN(X86_VCLMUL512)

#define GROUP 8
#include "common/x86_vec512.h"
#include "ghash/x86_clmul_blocks.h"

const struct evc_ghash evc_ghash_x86_vclmul512 = {
    .kernel = EVC_KERNEL_HEAD(x86_vclmul512, X86_VCLMUL512, CT, ANY, BATCH, struct key, 0, ZMM, 0),
    CLMUL_SLOTS,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
