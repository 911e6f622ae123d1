/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for PA-RISC 1.1 in assembly, by blocks of eight words.
 *
 * Method:   the product first, then its reduction, both by blocks of eight words whose sums stay in
 *           registers, with two chains of carries; products by xmpyu, each row multiplied while the
 *           row before is summed. Lengths that fill blocks of sixteen words are reduced by these.
 *           Squares have each cross product once. Words that fill no block are multiplied by blocks
 *           of the other factor, so no length of numbers pays for a longer one.
 * Source:   PA-RISC 1.1 Architecture and Instruction Set Reference Manual (1994), chapter 6
 *           (XMPYU); Koc, Acar, Kaliski: Analyzing and Comparing Montgomery Multiplication
 *           Algorithms, IEEE Micro 16 (1996), method SOS.
 * Needs:    HPPA_XMPYU.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "everycore/isa.h"

#if EVC_BUILT(HPPA_XMPYU)
#define LIMB_BITS 32
#define LIMBS_IN_BLOCK 8
#define LIMBS_IN_R 2
#define LIMBS_IN_WIDE_BLOCK 16
#define HPPA(name) evc_bn_hppa_xmpyu_##name
#define HPPA_SIXTEEN 1
#include "common/bytes.h"
typedef uint32_t bn_sum;
#include "bn/hppa_steps.h"

const struct evc_bn evc_bn_hppa_xmpyu = {
    .kernel = EVC_KERNEL_HEAD(hppa_xmpyu, HPPA_XMPYU, CT, ANY, 1, struct evc_bn_modulus, 0,
                              BASELINE, 704),
    BN_HPPA_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
