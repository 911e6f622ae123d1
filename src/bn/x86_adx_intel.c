/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for x86-64 with mulx, in assembly, for cores whose general registers
 * share ports with vectors.
 *
 * Method:   as x86_adx, but rows are summed by add and adc, every other product in one chain, and
 *           two digits of the reduction are known before the row of the first one.
 * Source:   as x86_adx.
 * Needs:    X86_ADX_INTEL.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "everycore/isa.h"

#if EVC_BUILT(X86_ADX_INTEL)
#define LIMB_BITS 64
#include "bn/limbs_steps.h"

#define X86_ADX_NAME(slot) evc_bn_x86_adx_intel_##slot
#include "bn/x86_adx_steps.h"

const struct evc_bn evc_bn_x86_adx_intel = {
    .kernel = EVC_KERNEL_HEAD(x86_adx_intel, X86_ADX_INTEL, CT, ANY, 1, struct evc_bn_modulus, 0,
                              BASELINE, 704),
    X86_ADX_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
