/* SPDX-License-Identifier: MIT */
/*
 * The slots of both kernels for PA-RISC: calls of their assembly, and steps in C where that has
 * none. HPPA(name) is the name of a function of the kernel's assembly.
 */
#ifndef EVC_BN_WORDS_HPPA_ROWS_H
#define EVC_BN_WORDS_HPPA_ROWS_H

#include "bn_words/steps.h"

word HPPA(mul)(word *r, const word *a, size_t n_words, word w);
word HPPA(mul_add)(word *r, const word *a, size_t n_words, word w);
void HPPA(sqr)(word *r, const word *a, size_t n_words);
void HPPA(comba4)(word *r, const word *a, const word *b);
void HPPA(comba8)(word *r, const word *a, const word *b);

/* Replaces s, which what is above the words before `end` is congruent to, by what that and
 * 4 * n_turns words more are congruent to. n_turns > 0; powers: as in struct evc_bn_divisor; s:
 * the lower word first. */
void HPPA(fold)(const word *end, size_t n_turns, const word *powers, word s[2]);

EVC_BN_SLOT_add_words
EVC_BN_SLOT_sub_words
EVC_BN_SLOT_div_words

static word mul_words(word *r, const word *a, size_t n_words, word w)
{
    return HPPA(mul)(r, a, n_words, w);
}

static word mul_add_words(word *r, const word *a, size_t n_words, word w)
{
    return HPPA(mul_add)(r, a, n_words, w);
}

static void sqr_words(word *r, const word *a, size_t n_words)
{
    HPPA(sqr)(r, a, n_words);
}

static void mul_comba4(word *r, const word *a, const word *b)
{
    HPPA(comba4)(r, a, b);
}

static void mul_comba8(word *r, const word *a, const word *b)
{
    HPPA(comba8)(r, a, b);
}

static void sqr_comba4(word *r, const word *a)
{
    HPPA(comba4)(r, a, a);
}

static void sqr_comba8(word *r, const word *a)
{
    HPPA(comba8)(r, a, a);
}

static word mod_words(const word *a, size_t n_words, const struct evc_bn_divisor *d)
{
    word s[2] = {0, 0};

    if (!d->folds)
        return mod_words_divided(a, n_words, d);
    a = mod_words_begin(a, n_words, d, s);
    if (n_words / 4)
        HPPA(fold)(a, n_words / 4, d->power, s);
    return remainder_of(s[1], s[0], d);
}

#endif
