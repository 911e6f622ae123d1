/* SPDX-License-Identifier: MIT */
/*
 * Word primitives in C, by products of half words: the code of c_words32 and c_words64 for
 * CPUs without a product of double width, under a name of its own, so that it can be tested
 * and measured on all others.
 *
 * Method:   a product of words is four of half words, added without a carry (product.h).
 *           All else as in c_words32.
 * Source:   Knuth, The Art of Computer Programming, volume 2 (1997), section 4.3.1, exercise 16.
 * Needs:    CT_MUL32.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#define EVC_BN_HALVES 1

#include "bn_words/kernel.h"

#include "bn_words/steps.h"

EVC_BN_SLOTS_ALL

const struct evc_bn_words evc_bn_words_c_halves = {
    .kernel = EVC_KEYLESS_HEAD(c_halves, CT_MUL32, CT, ANY, BASELINE, 512),
    EVC_BN_SLOT_NAMES,
};
