/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for 64-bit POWER, in assembly.
 *
 * Method:   the product first, then its reduction, both in strips of eight limbs whose sums stay in
 *           registers: mulld, mulhdu and two additions with carry for a product of limbs. Squares
 *           have each cross product once. Limbs that fill no strip make a narrower one, so no
 *           length of numbers pays for a longer one.
 * Source:   Koc, Acar, Kaliski: Analyzing and Comparing Montgomery Multiplication Algorithms, IEEE
 *           Micro 16 (1996), method SOS.
 * Needs:    PPC64_CT_MUL.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "everycore/isa.h"

#if EVC_BUILT(PPC64_CT_MUL)
#define LIMB_BITS 64
#define STRIPS(name) evc_bn_ppc64_mulhdu_##name
#define SQUARE_FROM 8
#include "bn/strips_steps.h"

const struct evc_bn evc_bn_ppc64_mulhdu = {
    .kernel =
        EVC_KERNEL_HEAD(ppc64_mulhdu, PPC64_CT_MUL, CT, ANY, 1, struct evc_bn_modulus, 0, BASELINE,
                        704),
    BN_STRIPS_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
