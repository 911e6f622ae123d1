/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for x86-64 with mulx, adcx and adox, in assembly.
 *
 * Method:   the product first, then its reduction, both in strips of eight limbs whose sums stay
 *           in registers, by eight rows at a time. Squares have each cross product once. Limbs that
 *           fill no strip make a narrower one, so no length of numbers pays for a longer one.
 *           Between the steps of a power, numbers are below R alone, not below n, and a table is
 *           read while squares wait for carries.
 * Source:   Ozturk et al.: New Instructions Supporting Large Integer Arithmetic, Intel (2012), for
 *           mulx and chains of carries; Koc, Acar, Kaliski: Analyzing and Comparing Montgomery
 *           Multiplication Algorithms, IEEE Micro 16 (1996), method SOS; Gueron: Efficient Software
 *           Implementations of Modular Exponentiation, J. Cryptogr. Eng. 2 (2012), for numbers
 *           below R.
 * Needs:    X86_ADX_SSE2.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "everycore/isa.h"

#if EVC_BUILT(X86_ADX_SSE2)
#define LIMB_BITS 64
#include "bn/limbs_steps.h"

#define X86_ADX_NAME(slot) evc_bn_x86_adx_##slot
#include "bn/x86_adx_steps.h"

const struct evc_bn evc_bn_x86_adx = {
    .kernel = EVC_KERNEL_HEAD(x86_adx, X86_ADX_SSE2, CT, ANY, 1, struct evc_bn_modulus, 0,
                              BASELINE, 704),
    X86_ADX_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
