/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for ARMv6 and later in assembly: a product and two words
 * more in one instruction.
 *
 * Method:   the product first, then its reduction, both in strips of four limbs whose sums
 *           stay in registers: for a product of limbs, one umaal. Squares have each cross
 *           product once. Limbs that fill no strip make a narrower one, so no length of
 *           numbers pays for a longer one.
 * Source:   Arm DDI 0406 (2018), UMAAL in chapter A8; Koc, Acar, Kaliski: Analyzing and Comparing
 *           Montgomery Multiplication Algorithms, IEEE Micro 16 (1996), method SOS.
 * Needs:    A32_UMAAL.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "everycore/isa.h"

#if EVC_BUILT(A32_UMAAL)
#define LIMB_BITS 32
#define STRIPS(name) evc_bn_a32_umaal_##name
#define SQUARE_FROM 4 /* all lengths have as many */
#include "bn/strips_steps.h"

const struct evc_bn evc_bn_a32_umaal = {
    .kernel = EVC_KERNEL_HEAD(a32_umaal, A32_UMAAL, CT, ANY, 1, struct evc_bn_modulus, 0, BASELINE,
                              704),
    BN_STRIPS_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
