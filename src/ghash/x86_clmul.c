/* SPDX-License-Identifier: MIT */
/*
 * GHASH with PCLMULQDQ, 8 blocks with one reduction.
 *
 * Method:   8 blocks times H^8 ... H^1 by Karatsuba, summed before one
 *           reduction of two multiplications;
 *           a rest of fewer blocks by the lower powers, one product of four multiplications each.
 * Source:   Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage
 *           for Computing the GCM Mode, 2014; Montgomery: Modular Multiplication
 *           Without Trial Division, 1985.
 * Needs:    X86_CLMUL.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_CLMUL)
EVC_ISA_BEGIN(X86_CLMUL)

#define GROUP 8
#include "common/x86_vec128.h"
#include "ghash/x86_clmul_blocks.h"

const struct evc_ghash evc_ghash_x86_clmul = {
    .kernel = EVC_KERNEL_HEAD(x86_clmul, X86_CLMUL, CT, ANY, BATCH, struct key, 0, XMM, 384),
    CLMUL_SLOTS,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
