/* SPDX-License-Identifier: MIT */
/*
 * Word primitives for x86-64 with mulx, adcx and adox, in assembly.
 *
 * Method:   rows of eight words a turn with two chains of carries at once;
 *           all else as in c_words64.
 * Source:   Ozturk et al.: New Instructions Supporting Large Integer Arithmetic, Intel (2012).
 * Needs:    X86_ADX.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "bn_words/kernel.h"

#if EVC_BUILT(X86_ADX)

#include "bn_words/steps.h"

word EVC_SYSV evc_bn_words_x86_adx_add(word *r, const word *a, const word *b, size_t n_words);
word EVC_SYSV evc_bn_words_x86_adx_sub(word *r, const word *a, const word *b, size_t n_words);
word EVC_SYSV evc_bn_words_x86_adx_mul(word *r, const word *a, size_t n_words, word w);
word EVC_SYSV evc_bn_words_x86_adx_mul_add(word *r, const word *a, size_t n_words, word w);

static word add_words(word *r, const word *a, const word *b, size_t n_words)
{
    return evc_bn_words_x86_adx_add(r, a, b, n_words);
}

static word sub_words(word *r, const word *a, const word *b, size_t n_words)
{
    return evc_bn_words_x86_adx_sub(r, a, b, n_words);
}

static word mul_words(word *r, const word *a, size_t n_words, word w)
{
    return evc_bn_words_x86_adx_mul(r, a, n_words, w);
}

static word mul_add_words(word *r, const word *a, size_t n_words, word w)
{
    return evc_bn_words_x86_adx_mul_add(r, a, n_words, w);
}

EVC_BN_SLOT_sqr_words
EVC_BN_SLOT_MUL_COMBA(4)
EVC_BN_SLOT_MUL_COMBA(8)
EVC_BN_SLOT_SQR_COMBA(4)
EVC_BN_SLOT_SQR_COMBA(8)
EVC_BN_SLOT_div_words
EVC_BN_SLOT_mod_words

const struct evc_bn_words evc_bn_words_x86_adx = {
    .kernel = EVC_KEYLESS_HEAD(x86_adx, X86_ADX, CT, ANY, BASELINE, 512),
    EVC_BN_SLOT_NAMES,
};

#else
EVC_EMPTY_UNIT
#endif
