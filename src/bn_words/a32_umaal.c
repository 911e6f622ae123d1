/* SPDX-License-Identifier: MIT */
/*
 * Word primitives for ARMv6 and later in assembly: a product and two words more in one instruction.
 *
 * Method:   rows of four words a turn; products of 4 and 8 words by rows; all else as in c_words32.
 * Source:   Arm DDI 0406 (2018), UMAAL in chapter A8.
 * Needs:    A32_UMAAL.   Timing: CT (no secret branches or addresses; rests on the multiplier's constant time).
 * Key form: private.
 */
#include "bn_words/kernel.h"

#if EVC_BUILT(A32_UMAAL)

#include "bn_words/steps.h"
#include "common/clear.h"

word evc_bn_words_a32_umaal_add(word *r, const word *a, const word *b, size_t n_words);
word evc_bn_words_a32_umaal_sub(word *r, const word *a, const word *b, size_t n_words);
word evc_bn_words_a32_umaal_mul(word *r, const word *a, size_t n_words, word w);
word evc_bn_words_a32_umaal_mul_add(word *r, const word *a, size_t n_words, word w);

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

/* n_words > 0 */
EVC_INLINE void multiply_umaal_rows(word *r, const word *a, const word *b, size_t n_words)
{
    r[n_words] = evc_bn_words_a32_umaal_mul(r, a, n_words, b[0]);
    for (size_t i = 1; i < n_words; i++)
        r[n_words + i] = evc_bn_words_a32_umaal_mul_add(r + i, a, n_words, b[i]);
}

static void mul_comba4(word *r, const word *a, const word *b)
{
    multiply_umaal_rows(r, a, b, 4);
}

static void mul_comba8(word *r, const word *a, const word *b)
{
    multiply_umaal_rows(r, a, b, 8);
}

static void sqr_comba4(word *r, const word *a)
{
    multiply_umaal_rows(r, a, a, 4);
}

static void sqr_comba8(word *r, const word *a)
{
    multiply_umaal_rows(r, a, a, 8);
}

EVC_BN_SLOT_sqr_words
EVC_BN_SLOT_div_words
EVC_BN_SLOT_mod_words

EVC_DEFINE_CLEAR_STACK(clear, BASELINE, 512)

const struct evc_bn_words evc_bn_words_a32_umaal = {
    .kernel = EVC_BN_WORDS_HEAD(a32_umaal, A32_UMAAL, CT, ANY, clear),
    EVC_BN_SLOT_NAMES,
};

#else
EVC_EMPTY_UNIT
#endif
