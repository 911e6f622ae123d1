/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for PA-RISC 2.0 in assembly, by blocks of eight words, with registers
 * of 64 bits in a program of 32 bits.
 *
 * Method:   as hppa_xmpyu, but a product is added as it is: sums are of 64 bits, one for each word,
 *           and carries go from one to the next but one, in two chains. A product costs xmpyu, a
 *           store, a load and an addition.
 * Source:   Kane, PA-RISC 2.0 Architecture (1996), chapters 1, 6 and 7; Koc, Acar,
 *           Kaliski: Analyzing and Comparing Montgomery Multiplication Algorithms, IEEE
 *           Micro 16 (1996), method SOS.
 * Needs:    HPPA_WIDE.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "everycore/isa.h"

#if EVC_BUILT(HPPA_WIDE)
#define LIMB_BITS 32
#define LIMBS_IN_BLOCK 8
#define LIMBS_IN_R 2
#define SCRATCH_NUMBERS 4 /* a double product in sums of 64 bits */
#define HPPA(name) evc_bn_hppa20_##name
#include "common/bytes.h"
typedef uint64_t bn_sum;
#include "bn/hppa_steps.h"

const struct evc_bn evc_bn_hppa20 = {
    .kernel = EVC_KERNEL_HEAD(hppa20, HPPA_WIDE, CT, ANY, 1, struct evc_bn_modulus, 0, BASELINE,
                              704),
    BN_HPPA_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
