/* SPDX-License-Identifier: MIT */
/*
 * Word primitives in C, on words of 64 bits.
 *
 * Method:   rows four words a turn; columns written out, squares with their unlike products doubled
 *           once; remainders of four words a turn by powers of B; division by a reciprocal.
 *           Products are those of product.h.
 * Source:   Knuth, The Art of Computer Programming, volume 2 (1997), section 4.3.1; Comba, IBM
 *           Systems Journal 29 (1990); steps.h and divide.h for remainders.
 * Needs:    BN_WORDS64.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "bn_words/kernel.h"

#if EVC_BUILT(BN_WORDS64)

#include "bn_words/steps.h"

EVC_BN_SLOTS_ALL

const struct evc_bn_words evc_bn_words_c_words64 = {
    .kernel = EVC_KEYLESS_HEAD(c_words64, BN_WORDS64, CT, ANY, BASELINE, 512),
    EVC_BN_SLOT_NAMES,
};

#else
EVC_EMPTY_UNIT
#endif
