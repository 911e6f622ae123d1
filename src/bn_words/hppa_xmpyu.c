/* SPDX-License-Identifier: MIT */
/*
 * Word primitives for PA-RISC 1.1 in assembly: products by xmpyu, with operands that go from memory
 * to the unit for floating point directly.
 *
 * Method:   rows of four products a turn with two chains of carries; columns written out, each
 *           parked on the stack while the one before is summed; remainders of four words a turn.
 * Source:   PA-RISC 1.1 Architecture and Instruction Set Reference Manual
 *           (1994), chapter 6 (XMPYU).
 * Needs:    HPPA_XMPYU.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "bn_words/kernel.h"

#if EVC_BUILT(HPPA_XMPYU)

#define HPPA(name) evc_bn_words_hppa_xmpyu_##name

#include "bn_words/hppa_rows.h"

const struct evc_bn_words evc_bn_words_hppa_xmpyu = {
    .kernel = EVC_KEYLESS_HEAD(hppa_xmpyu, HPPA_XMPYU, CT, ANY, BASELINE, 512),
    EVC_BN_SLOT_NAMES,
};

#else
EVC_EMPTY_UNIT
#endif
