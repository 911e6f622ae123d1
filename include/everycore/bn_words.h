/* SPDX-License-Identifier: MIT */
/*
 * Word primitives: the inner loops of a library of big numbers, which do what OpenSSL's functions
 * bn_mul_add_words and the like do, and remainders by words without a division.
 *
 *     const struct evc_bn_words *words = evc_bn_words_select(evc_cpu_features(), 0);
 *     carry = words->mul_add_words(r, a, n_words, w);
 *     ...
 *     evc_bn_words_clear(words);
 *
 * A number is an array of words, the least significant first. B is 2 to the
 * power of EVC_BN_WORD_BITS.
 *
 * Timing. The time of every operation depends on n_words alone. Kernels that multiply need a CPU
 * that multiplies in constant time (CT_MUL, everycore/cpu.h); c_ref does not multiply. div_words is
 * constant-time as well, because it multiplies by a reciprocal. So are remainders: the number and
 * the divisor may be secret, but the time reveals whether the divisor is at most B / 8. The words
 * of evc_bn_trial_groups and evc_bn_trial_set are public.
 *
 * Operations leave words of their operands in registers and on the stack. After the last one of a
 * computation, call evc_bn_words_clear.
 */
#ifndef EVERYCORE_BN_WORDS_H
#define EVERYCORE_BN_WORDS_H

#include "everycore/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

#if EVC_BN_WORD64
typedef uint64_t evc_bn_word;
#else
typedef uint32_t evc_bn_word;
#endif

/* ---- Divisors -------------------------------------------------------------------------------- */

#define EVC_BN_FOLDS 5

/* A word to divide by, prepared. */
struct evc_bn_divisor {
    evc_bn_word word;
    evc_bn_word normal;              /* word, shifted so that its highest bit is set */
    evc_bn_word reciprocal;          /* (B^2 - 1) / normal - B, rounded down */
    evc_bn_word power[EVC_BN_FOLDS]; /* B, B^2, ..., B^5 modulo word */
    uint32_t shift;                  /* from word to normal */
    uint32_t folds;                  /* 1 if word <= B / 8: sums of words times
                                      * powers fit into two words */
};

/* ---- Kernels --------------------------------------------------------------------------------- */

/*
 * The descriptor: a kernel's operations. r, a, b: n_words words each, at any address that suits a
 * word; n_words may be 0. r may be a or b, but not overlap them in part, unless said otherwise.
 */
struct evc_bn_words {
    struct evc_kernel kernel;

    /* r = a + b; returns the carry, 0 or 1. */
    evc_bn_word (*add_words)(evc_bn_word *r, const evc_bn_word *a, const evc_bn_word *b,
                             size_t n_words);
    /* r = a - b; returns the borrow, 0 or 1. */
    evc_bn_word (*sub_words)(evc_bn_word *r, const evc_bn_word *a, const evc_bn_word *b,
                             size_t n_words);
    /* r = a * w; returns the carry, one word. */
    evc_bn_word (*mul_words)(evc_bn_word *r, const evc_bn_word *a, size_t n_words, evc_bn_word w);
    /* r = r + a * w; returns the carry, one word. */
    evc_bn_word (*mul_add_words)(evc_bn_word *r, const evc_bn_word *a, size_t n_words,
                                 evc_bn_word w);
    /* r[2i + 1], r[2i] = a[i] squared, for each word alone: 2 * n_words words
     * that do not overlap a. */
    void (*sqr_words)(evc_bn_word *r, const evc_bn_word *a, size_t n_words);
    /* r = a * b, of 4 or 8 words; r has twice as many, which do not overlap a or b. a may be b. */
    void (*mul_comba4)(evc_bn_word *r, const evc_bn_word *a, const evc_bn_word *b);
    void (*mul_comba8)(evc_bn_word *r, const evc_bn_word *a, const evc_bn_word *b);
    /* r = a squared; r does not overlap a. */
    void (*sqr_comba4)(evc_bn_word *r, const evc_bn_word *a);
    void (*sqr_comba8)(evc_bn_word *r, const evc_bn_word *a);
    /* (high * B + low) / d, rounded down, modulo B. All ones if d is 0. */
    evc_bn_word (*div_words)(evc_bn_word high, evc_bn_word low, evc_bn_word d);
    /* a modulo the divisor's word. */
    evc_bn_word (*mod_words)(const evc_bn_word *a, size_t n_words, const struct evc_bn_divisor *d);
};

/* As evc_aes_select. Never NULL: c_ref always fits. c_ref multiplies bit by bit, some thirty times
 * slower than the others. It is selected if the features lack CT_MUL; everycore/cpu.h says how a
 * caller can set it. EVC_ALLOW_VARTIME allows the other kernels everywhere. */
EVC_API const struct evc_bn_words *evc_bn_words_select(uint64_t features, unsigned policy);

/* As evc_aes_named and evc_aes_at. */
EVC_API const struct evc_bn_words *evc_bn_words_named(const char *name);
EVC_API const struct evc_bn_words *evc_bn_words_at(unsigned index);

/* Any descriptor begins with its struct evc_kernel. */
static inline const struct evc_kernel *evc_bn_words_kernel(const struct evc_bn_words *words)
{
    return (const struct evc_kernel *)(const void *)words;
}

/* Clears what operations of this kernel may have left in vector registers, and on the stack below
 * the calling function. */
static inline void evc_bn_words_clear(const struct evc_bn_words *words)
{
    words->kernel.clear(words->kernel.stack_bytes);
}

/* ---- Remainders ------------------------------------------------------------------------------ */

/* Prepares a divisor. EVC_ERR_PARAMETER if word is 0: *d is then all zeros, and mod_words
 * must not be given it. */
EVC_CHECKED enum evc_status evc_bn_divisor_set(struct evc_bn_divisor *d, evc_bn_word word);

/* a modulo w, like OpenSSL's BN_mod_word. All ones if w is 0. The call prepares w each time. */
EVC_API evc_bn_word evc_bn_mod_word(const struct evc_bn_words *words, const evc_bn_word *a,
                                    size_t n_words, evc_bn_word w);

/*
 * Trial division: the remainders of one number by many small words. A group of words has a product
 * that is small enough for one pass over the number; a second step divides the remainder by each
 * word of the group.
 */
#define EVC_BN_TRIAL_WORDS 4

/* Up to four words and their product. */
struct evc_bn_trial {
    struct evc_bn_divisor product;
    uint32_t n;
    uint32_t word[EVC_BN_TRIAL_WORDS];
    evc_bn_word inverse[EVC_BN_TRIAL_WORDS]; /* (B - 1) / word, rounded down */
};

/* The number of groups of n words, in their order; 0 if a word is 0 or above 2^28. */
EVC_API size_t evc_bn_trial_groups(const uint32_t *words, size_t n);

/*
 * Prepares the groups. words: n public words.
 *
 * EVC_ERR_PARAMETER   a word is 0 or above 2^28
 * EVC_ERR_LENGTH      n_groups is not what evc_bn_trial_groups returns
 */
EVC_CHECKED enum evc_status evc_bn_trial_set(struct evc_bn_trial *groups, size_t n_groups,
                                             const uint32_t *words, size_t n);

/* remainders[i] = a modulo the i-th word of all groups. */
EVC_API void evc_bn_trial_mod(const struct evc_bn_words *words, const struct evc_bn_trial *groups,
                              size_t n_groups, const evc_bn_word *a, size_t n_words,
                              uint32_t *remainders);

#ifdef __cplusplus
}
#endif
#endif
