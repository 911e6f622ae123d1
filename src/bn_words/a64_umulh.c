/* SPDX-License-Identifier: MIT */
/*
 * Word primitives for AArch64 in assembly.
 *
 * Method:   rows of eight words a turn; products of 4 and 8 words by rows whose sums stay in
 *           registers, squares with their unlike products once; all else as in c_words64.
 * Source:   Arm DDI 0487 (2024), MUL, UMULH and ADCS in chapter C6.
 * Needs:    A64_CT_MUL.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "bn_words/kernel.h"

#if EVC_BUILT(A64_CT_MUL)

#include "bn_words/steps.h"

word evc_bn_words_a64_umulh_add(word *r, const word *a, const word *b, size_t n_words);
word evc_bn_words_a64_umulh_sub(word *r, const word *a, const word *b, size_t n_words);
word evc_bn_words_a64_umulh_mul(word *r, const word *a, size_t n_words, word w);
word evc_bn_words_a64_umulh_mul_add(word *r, const word *a, size_t n_words, word w);
void evc_bn_words_a64_umulh_mul_comba4(word *r, const word *a, const word *b);
void evc_bn_words_a64_umulh_mul_comba8(word *r, const word *a, const word *b);
void evc_bn_words_a64_umulh_sqr_comba4(word *r, const word *a);
void evc_bn_words_a64_umulh_sqr_comba8(word *r, const word *a);

static word add_words(word *r, const word *a, const word *b, size_t n_words)
{
    return evc_bn_words_a64_umulh_add(r, a, b, n_words);
}

static word sub_words(word *r, const word *a, const word *b, size_t n_words)
{
    return evc_bn_words_a64_umulh_sub(r, a, b, n_words);
}

static word mul_words(word *r, const word *a, size_t n_words, word w)
{
    return evc_bn_words_a64_umulh_mul(r, a, n_words, w);
}

static word mul_add_words(word *r, const word *a, size_t n_words, word w)
{
    return evc_bn_words_a64_umulh_mul_add(r, a, n_words, w);
}

static void mul_comba4(word *r, const word *a, const word *b)
{
    evc_bn_words_a64_umulh_mul_comba4(r, a, b);
}

static void mul_comba8(word *r, const word *a, const word *b)
{
    evc_bn_words_a64_umulh_mul_comba8(r, a, b);
}

static void sqr_comba4(word *r, const word *a)
{
    evc_bn_words_a64_umulh_sqr_comba4(r, a);
}

static void sqr_comba8(word *r, const word *a)
{
    evc_bn_words_a64_umulh_sqr_comba8(r, a);
}

EVC_BN_SLOT_sqr_words
EVC_BN_SLOT_div_words
EVC_BN_SLOT_mod_words

const struct evc_bn_words evc_bn_words_a64_umulh = {
    .kernel = EVC_KEYLESS_HEAD(a64_umulh, A64_CT_MUL, CT, ANY, BASELINE, 512),
    EVC_BN_SLOT_NAMES,
};

#else
EVC_EMPTY_UNIT
#endif
