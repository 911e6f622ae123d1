/* SPDX-License-Identifier: MIT */
/* Divisors of word primitives, and trial division. */
#include "everycore/bn_words.h"

#include "bn_words/divide.h"
#include "common/clear.h"

/* a * b modulo the divisor's word, for a and b that are less. */
static word multiply_modulo(word a, word b, const struct evc_bn_divisor *d)
{
    const sum product = sum_add_product(sum_of(0, 0), a, b);

    return remainder_of_small(sum_high(product), sum_low(product), d);
}

/* w is not 0. */
static void prepare(struct evc_bn_divisor *d, word w)
{
    d->word = w;
    d->shift = leading_zeros(w);
    d->normal = w << d->shift;
    d->reciprocal = reciprocal_of(d->normal);
    d->folds = 1 & (uint32_t)~mask_less((word)1 << (WORD_BITS - 3), w);
    /* folds: which of two ways to divide serves it is public: bn_words.h says so */
    evc_public(&d->folds, sizeof d->folds);
    /* power[0]: B - normal, since word divides normal */
    d->power[0] = remainder_of_small(0, 0 - d->normal, d);
    for (int i = 1; i < EVC_BN_FOLDS; i++)
        d->power[i] = multiply_modulo(d->power[i - 1], d->power[0], d);
}

enum evc_status evc_bn_divisor_set(struct evc_bn_divisor *d, evc_bn_word w)
{
    if (!w) {
        memset(d, 0, sizeof *d);
        return EVC_ERR_PARAMETER;
    }
    prepare(d, w);
    return EVC_OK;
}

evc_bn_word evc_bn_mod_word(const struct evc_bn_words *words, const evc_bn_word *a, size_t n_words,
                            evc_bn_word w)
{
    struct evc_bn_divisor d;
    word rest;

    if (!w)
        return (word)-1;
    prepare(&d, w);
    rest = words->mod_words(a, n_words, &d);
    evc_wipe(&d, sizeof d);
    evc_clear(&words->kernel);
    return rest;
}

/* ---- Trial division -------------------------------------------------------------------------- */

#define MOST ((word)1 << (WORD_BITS - 3)) /* that mod_words folds by */
#define MOST_SMALL ((uint32_t)1 << 28)

/* How many of n words make the next group, with their product; 0 if the first is not allowed. */
static size_t next_group(const uint32_t *words, size_t n, word *product)
{
    size_t i = 0;

    *product = 1;
    for (; i < n && i < EVC_BN_TRIAL_WORDS && words[i] && words[i] <= MOST_SMALL; i++) {
        const sum next = sum_add_product(sum_of(0, 0), *product, words[i]);

        if (sum_high(next) || sum_low(next) > MOST)
            break;
        *product = sum_low(next);
    }
    return i;
}

/* A function of this file alone: in OpenSSL's library global names of ours become local ones, and
 * on MIPS a call of a global name cannot. */
static size_t count_groups(const uint32_t *words, size_t n)
{
    size_t groups = 0;
    word product;

    while (n) {
        const size_t taken = next_group(words, n, &product);

        if (!taken)
            return 0;
        words += taken;
        n -= taken;
        groups++;
    }
    return groups;
}

size_t evc_bn_trial_groups(const uint32_t *words, size_t n)
{
    return count_groups(words, n);
}

static void set_group(struct evc_bn_trial *group, const uint32_t *words, size_t n, word product)
{
    memset(group, 0, sizeof *group);
    prepare(&group->product, product);
    group->n = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        const uint32_t shift = leading_zeros(words[i]);
        const word normal = (word)words[i] << shift, all = (word)-1;
        word rest;

        group->word[i] = words[i];
        group->inverse[i] = divide_normal(bits_above(all, shift), all << shift, normal,
                                          reciprocal_of(normal), &rest);
    }
}

enum evc_status evc_bn_trial_set(struct evc_bn_trial *groups, size_t n_groups,
                                 const uint32_t *words, size_t n)
{
    const size_t needed = count_groups(words, n);
    word product;

    if (n && !needed)
        return EVC_ERR_PARAMETER;
    if (n_groups != needed)
        return EVC_ERR_LENGTH;
    for (; n_groups; n_groups--, groups++) {
        const size_t taken = next_group(words, n, &product);

        set_group(groups, words, taken, product);
        words += taken;
        n -= taken;
    }
    return EVC_OK;
}

/* x modulo w, by the inverse: the quotient is at most one too small, since
 * x / w - x inverse / B < 1. */
static uint32_t small_remainder(word x, word w, word inverse)
{
    const word rest = x - multiply_high(x, inverse) * w;

    return (uint32_t)(rest - (w & ~mask_less(rest, w)));
}

void evc_bn_trial_mod(const struct evc_bn_words *words, const struct evc_bn_trial *groups,
                      size_t n_groups, const evc_bn_word *a, size_t n_words, uint32_t *remainders)
{
    for (; n_groups; n_groups--, groups++) {
        const word rest = words->mod_words(a, n_words, &groups->product);

        for (uint32_t i = 0; i < groups->n; i++)
            *remainders++ = small_remainder(rest, groups->word[i], groups->inverse[i]);
    }
    evc_clear(&words->kernel);
}
