/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication by columns, with limbs of 32 bits and products of 64.
 *
 * Method:   product scanning with the reduction interleaved; squares with each cross
 *           product once (columns_steps.h).
 * Source:   Koc, Acar, Kaliski: Analyzing and Comparing Montgomery Multiplication Algorithms, IEEE
 *           Micro 16 (1996), method FIPS; Montgomery: Modular Multiplication without Trial
 *           Division, Math. Comp. 44 (1985).
 * Needs:    CT_MUL32.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#define LIMB_BITS 32
#include "bn/columns_steps.h"

const struct evc_bn evc_bn_c_limb32 = {
    .kernel = EVC_KERNEL_HEAD(c_limb32, CT_MUL32, CT, ANY, 1, struct evc_bn_modulus, 0, BASELINE,
                              704),
    BN_COLUMNS_SLOTS,
};
