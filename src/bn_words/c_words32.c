/* SPDX-License-Identifier: MIT */
/*
 * Word primitives in C, on words of 32 bits.
 *
 * Method:   rows four words a turn; columns written out, squares with their unlike products doubled
 *           once; remainders of four words a turn by powers of B; division by a reciprocal.
 *           Products are those of product.h.
 * Source:   Knuth, The Art of Computer Programming, volume 2 (1997), section 4.3.1; Comba, IBM
 *           Systems Journal 29 (1990); steps.h and divide.h for remainders.
 * Needs:    BN_WORDS32.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#if defined(__thumb__) && !defined(__thumb2__) && defined(__ARM_ARCH_ISA_ARM) && !defined(__clang__)
/* Thumb-1 has no product of double width: all of this file is code of the other set */
#pragma GCC target("arm")
#define EVC_BN_HALVES 0
#endif

#include "bn_words/kernel.h"

#if EVC_BUILT(BN_WORDS32)

#include "bn_words/steps.h"

EVC_BN_SLOTS_ALL

const struct evc_bn_words evc_bn_words_c_words32 = {
    .kernel = EVC_KEYLESS_HEAD(c_words32, BN_WORDS32, CT, ANY, BASELINE, 512),
    EVC_BN_SLOT_NAMES,
};

#else
EVC_EMPTY_UNIT
#endif
