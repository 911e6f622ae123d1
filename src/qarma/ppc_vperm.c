/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 with look-ups of 16 bytes in a register of AltiVec.
 *
 * Method:   a byte for each cell; vperm is S-box, rho and every permutation (look_steps.h). omega
 *           is a table of 32 bytes, which leaves the cells that it does not step. Where flags name
 *           POWER8 or later, vpermxor makes two of the three look-ups of a step of M, and adds.
 * Source:   Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2; Power ISA 2.07 B
 *           (2018), section 6.8.
 * Needs:    PPC_ALTIVEC.   Timing: CT (no tables in memory that secrets index, no secret branches).
 * Key form: private.
 */
#include "qarma/kernel.h"

#if EVC_BUILT(PPC_ALTIVEC)

EVC_ISA_BEGIN(PPC_ALTIVEC)

#include "qarma/ppc_look.h"
#include "qarma/look_steps.h"

const struct evc_qarma evc_qarma_ppc_vperm = {
    .kernel = EVC_KERNEL_HEAD(ppc_vperm, PPC_ALTIVEC, CT, ANY, 1, struct key, 0, ALTIVEC,
                              STACK_BYTES),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .encrypt_many = encrypt_many,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
