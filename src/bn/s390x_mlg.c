/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for IBM Z, in assembly.
 *
 * Method:   the product first, then its reduction, both in strips of four limbs whose sums stay in
 *           registers: mlg and two additions with carry for a product of limbs. Squares have each
 *           cross product once. Limbs that fill no strip make a narrower one, so no length of
 *           numbers pays for a longer one.
 * Source:   Koc, Acar, Kaliski: Analyzing and Comparing Montgomery Multiplication Algorithms, IEEE
 *           Micro 16 (1996), method SOS.
 * Needs:    S390X_CT_MUL.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "everycore/isa.h"

#if EVC_BUILT(S390X_CT_MUL)
#define LIMB_BITS 64
#define STRIPS(name) evc_bn_s390x_mlg_##name
#define SQUARE_FROM 8
#include "bn/strips_steps.h"

const struct evc_bn evc_bn_s390x_mlg = {
    .kernel = EVC_KERNEL_HEAD(s390x_mlg, S390X_CT_MUL, CT, ANY, 1, struct evc_bn_modulus, 0,
                              BASELINE, 704),
    BN_STRIPS_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
