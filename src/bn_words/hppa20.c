/* SPDX-License-Identifier: MIT */
/*
 * Word primitives for PA-RISC 2.0 in assembly, with registers of 64 bits in a program of 32 bits: a
 * product comes back by one load, and a sum of a product and two words needs no carry.
 *
 * Method:   rows of four products a turn; columns written out, each parked on the stack while the
 *           one before is summed; remainders of four words a turn.
 * Source:   Kane, PA-RISC 2.0 Architecture (1996), chapters 1 and 7.
 * Needs:    HPPA_WIDE.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "bn_words/kernel.h"

#if EVC_BUILT(HPPA_WIDE)

#define HPPA(name) evc_bn_words_hppa20_##name

#include "bn_words/hppa_rows.h"

const struct evc_bn_words evc_bn_words_hppa20 = {
    .kernel = EVC_KEYLESS_HEAD(hppa20, HPPA_WIDE, CT, ANY, BASELINE, 512),
    EVC_BN_SLOT_NAMES,
};

#else
EVC_EMPTY_UNIT
#endif
