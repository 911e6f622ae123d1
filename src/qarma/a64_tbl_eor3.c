/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 with look-ups of 16 bytes in a register, and sums of three in one instruction.
 *
 * Method:   that of a64_tbl, with the exclusive or of three operands that the
 *           SHA-3 instructions brought.
 * Source:   Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2; Arm Architecture
 *           Reference Manual for A-profile (DDI 0487), TBL, EOR3.
 * Needs:    A64_SHA3.   Timing: CT (no tables in memory that secrets index, no secret branches).
 * Key form: private.
 */
#include "qarma/kernel.h"

#include "common/arm.h"

#if EVC_BUILT(A64_SHA3)

EVC_ISA_BEGIN(A64_SHA3)

#define v_xor3 veor3q_u8

#include "qarma/a64_tbl_steps.h"

const struct evc_qarma evc_qarma_a64_tbl_eor3 = {
    .kernel = EVC_KERNEL_HEAD(a64_tbl_eor3, A64_SHA3, CT, ANY, 1, struct key, 0, NEON, 128),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
