/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 with look-ups of 16 bytes in a register.
 *
 * Method:   a byte for each cell; TBL is S-box, rho and every permutation (nibbles_steps.h).
 * Source:   Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2; Arm Architecture
 *           Reference Manual for A-profile (DDI 0487), TBL.
 * Needs:    A64_NEON.   Timing: CT (no tables in memory that secrets index, no secret branches).
 * Key form: private.
 */
#include "qarma/kernel.h"

#include "common/arm.h"

#if EVC_BUILT(A64_NEON)

EVC_ISA_BEGIN(A64_NEON)

#define v_xor3(a, b, e) veorq_u8(veorq_u8(a, b), e)

#include "qarma/a64_tbl_steps.h"

const struct evc_qarma evc_qarma_a64_tbl = {
    .kernel = EVC_KERNEL_HEAD(a64_tbl, A64_NEON, CT, ANY, 1, struct key, 0, NEON, 128),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
