/* SPDX-License-Identifier: MIT */
/*
 * Word primitives for ARMv6 and later in assembly: a product and two words more in one instruction.
 *
 * Method:   rows of four words a turn; products of 4 and 8 words in strips of four, whose sums stay
 *           in registers; all else as in c_words32.
 * Source:   Arm DDI 0406 (2018), UMAAL in chapter A8.
 * Needs:    A32_UMAAL.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "bn_words/kernel.h"

#if EVC_BUILT(A32_UMAAL)

#include "bn_words/steps.h"

word evc_bn_words_a32_umaal_add(word *r, const word *a, const word *b, size_t n_words);
word evc_bn_words_a32_umaal_sub(word *r, const word *a, const word *b, size_t n_words);
word evc_bn_words_a32_umaal_mul(word *r, const word *a, size_t n_words, word w);
word evc_bn_words_a32_umaal_mul_add(word *r, const word *a, size_t n_words, word w);
void evc_bn_words_a32_umaal_mul_comba4(word *r, const word *a, const word *b);
void evc_bn_words_a32_umaal_mul_comba8(word *r, const word *a, const word *b);

static word add_words(word *r, const word *a, const word *b, size_t n_words)
{
    return evc_bn_words_a32_umaal_add(r, a, b, n_words);
}

static word sub_words(word *r, const word *a, const word *b, size_t n_words)
{
    return evc_bn_words_a32_umaal_sub(r, a, b, n_words);
}

static word mul_words(word *r, const word *a, size_t n_words, word w)
{
    return evc_bn_words_a32_umaal_mul(r, a, n_words, w);
}

static word mul_add_words(word *r, const word *a, size_t n_words, word w)
{
    return evc_bn_words_a32_umaal_mul_add(r, a, n_words, w);
}

static void mul_comba4(word *r, const word *a, const word *b)
{
    evc_bn_words_a32_umaal_mul_comba4(r, a, b);
}

static void mul_comba8(word *r, const word *a, const word *b)
{
    evc_bn_words_a32_umaal_mul_comba8(r, a, b);
}

static void sqr_comba4(word *r, const word *a)
{
    evc_bn_words_a32_umaal_mul_comba4(r, a, a);
}

static void sqr_comba8(word *r, const word *a)
{
    evc_bn_words_a32_umaal_mul_comba8(r, a, a);
}

EVC_BN_SLOT_sqr_words
EVC_BN_SLOT_div_words
EVC_BN_SLOT_mod_words

const struct evc_bn_words evc_bn_words_a32_umaal = {
    .kernel = EVC_KEYLESS_HEAD(a32_umaal, A32_UMAAL, CT, ANY, BASELINE, 512),
    EVC_BN_SLOT_NAMES,
};

#else
EVC_EMPTY_UNIT
#endif
