/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for AArch64, in assembly.
 *
 * Method:   the product first, then its reduction, both in strips of eight limbs whose sums stay in
 *           registers: mul, umulh and two additions with carry for a product of limbs. Squares have
 *           each cross product once. Limbs that fill no strip make a narrower one, so no length of
 *           numbers pays for a longer one.
 * Source:   Koc, Acar, Kaliski: Analyzing and Comparing Montgomery Multiplication Algorithms, IEEE
 *           Micro 16 (1996), method SOS.
 * Needs:    A64_CT_MUL.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "everycore/isa.h"

#if EVC_BUILT(A64_CT_MUL)
#define LIMB_BITS 64
#define STRIPS(name) evc_bn_a64_umulh_##name
#define SQUARE_FROM 3
#include "bn/strips_steps.h"

const struct evc_bn evc_bn_a64_umulh = {
    .kernel = EVC_KERNEL_HEAD(a64_umulh, A64_CT_MUL, CT, ANY, 1, struct evc_bn_modulus, 0, BASELINE,
                              704),
    BN_STRIPS_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
