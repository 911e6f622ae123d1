/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication by columns, with limbs of 64 bits and products of 128.
 *
 * Method:   product scanning with the reduction interleaved; squares with each cross product once
 *           (columns_steps.h), unrolled up to 40 limbs on x86-64 (unrolled_columns.h).
 * Source:   Koc, Acar, Kaliski: Analyzing and Comparing Montgomery Multiplication Algorithms, IEEE
 *           Micro 16 (1996), method FIPS; Montgomery: Modular Multiplication without Trial
 *           Division, Math. Comp. 44 (1985).
 * Needs:    CT_MUL128.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "everycore/isa.h"

#if EVC_BUILT(CT_MUL128)
#define LIMB_BITS 64
#include "bn/columns_steps.h"

const struct evc_bn evc_bn_c_limb64 = {
    .kernel = EVC_KERNEL_HEAD(c_limb64, CT_MUL128, CT, ANY, 1, struct evc_bn_modulus, 0, BASELINE,
                              704),
    BN_COLUMNS_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
