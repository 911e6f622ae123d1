/* SPDX-License-Identifier: MIT */
/*
 * Greatest common divisors and inverses by divsteps, in a number of steps that depends on
 * lengths alone, without multiplication. (Bernstein, Yang: Fast constant-time gcd computation
 * and modular inversion, TCHES 2019, issue 3: the step is that of section 8, and the number of
 * steps that of theorem 11.2.)
 */
#include "everycore/bn.h"

#include "bn/kernel.h"
#include "common/clear.h"
#include "common/number.h"

#if EVC_WORD64
typedef uint64_t word;
#else
typedef uint32_t word;
#endif
#define WORD_BYTES sizeof(word)
#define TOP_BIT (8 * WORD_BYTES - 1)

/* Numbers are words in two's complement, the least significant first, one word longer
 * than the longest operand. */
struct numbers {
    word *f, *g, *d, *e, *n;
    size_t words;
};

#define N_NUMBERS 5

static size_t words_for(size_t n_bytes)
{
    return (n_bytes + WORD_BYTES - 1) / WORD_BYTES + 1;
}

size_t evc_bn_gcd_scratch_bytes(size_t longest_bytes)
{
    if (longest_bytes == 0 || longest_bytes > EVC_BN_MAX_BYTES)
        return 0;
    return N_NUMBERS * words_for(longest_bytes) * WORD_BYTES + WORD_BYTES - 1;
}

static void place(struct numbers *s, void *scratch, size_t longest_bytes)
{
    uint8_t *const start = (uint8_t *)scratch + ((uintptr_t)0 - (uintptr_t)scratch) % WORD_BYTES;

    s->words = words_for(longest_bytes);
    s->f = (void *)start;
    s->g = s->f + s->words;
    s->d = s->g + s->words;
    s->e = s->d + s->words;
    s->n = s->e + s->words;
}

static void load(word *x, size_t words, const uint8_t *in, size_t in_bytes)
{
    for (size_t i = 0; i < words; i++)
        x[i] = (word)evc_number_word(in, in_bytes, WORD_BYTES, i);
}

static void store(uint8_t *out, size_t out_bytes, const word *x)
{
    for (size_t i = 0; i < out_bytes; i++)
        out[out_bytes - 1 - i] = (uint8_t)(x[i / WORD_BYTES] >> 8 * (i % WORD_BYTES));
}

/* All ones if bit, 0 or 1, is 1. */
static word mask_of(word bit)
{
    word mask = (word)0 - bit;

    EVC_KEEP(mask);
    return mask;
}

/* a + b + *carry, with the carry out of it in *carry. */
EVC_INLINE word add_word(word a, word b, word *carry)
{
    const word sum = a + b, all = sum + *carry;

    *carry = (word)(sum < a) | (word)(all < sum);
    return all;
}

/* x = -x where mask is all ones. */
static void negate(word *x, size_t words, word mask)
{
    word carry = mask & 1;

    for (size_t i = 0; i < words; i++)
        x[i] = add_word(x[i] ^ mask, 0, &carry);
}

/* Masks of a step: g is odd; f and g are swapped. */
struct step {
    word odd, swap;
};

/* f, g = swap ? g, (g - f) / 2 : f, (g + f if g is odd) / 2. */
static void divide_step(word *f, word *g, size_t words, struct step s)
{
    word carry = s.swap & 1, previous = 0;

    for (size_t i = 0; i < words; i++) {
        const word x = f[i], y = g[i];
        const word sum = add_word(y, (x ^ s.swap) & s.odd, &carry);
        f[i] = x ^ ((x ^ y) & s.swap);
        if (i)
            g[i - 1] = previous >> 1 | sum << TOP_BIT;
        previous = sum;
    }
    g[words - 1] = previous >> 1 | (previous & (word)1 << TOP_BIT);
}

/* The same of d and e modulo n: the sum is made even by adding n to it or taking n from it,
 * whatever keeps it between -n and n after halving. */
static void divide_step_modulo(word *d, word *e, const word *n, size_t words, struct step s)
{
    word carry = s.swap & 1, previous = 0, odd, plus;

    for (size_t i = 0; i < words; i++) {
        const word x = d[i], y = e[i];
        e[i] = add_word(y, (x ^ s.swap) & s.odd, &carry);
        d[i] = x ^ ((x ^ y) & s.swap);
    }
    odd = mask_of(e[0] & 1);
    plus = mask_of(e[words - 1] >> TOP_BIT);
    carry = odd & ~plus & 1;
    for (size_t i = 0; i < words; i++) {
        const word sum = add_word(e[i], (n[i] ^ ~plus) & odd, &carry);
        if (i)
            e[i - 1] = previous >> 1 | sum << TOP_BIT;
        previous = sum;
    }
    e[words - 1] = previous >> 1 | (previous & (word)1 << TOP_BIT);
}

/* Leaves the greatest common divisor of f and g, or its negative, in f; with_inverse: and in d a
 * number whose product with the first g is that modulo n. The steps are enough for all numbers of
 * this length; the slowest of up to 8 bytes that were found need 5/6 of them. */
static void divide_steps(const struct numbers *s, size_t longest_bytes, int with_inverse)
{
    const size_t bits = 8 * longest_bytes;
    size_t left = (49 * bits + (bits < 46 ? 80 : 57)) / 17;
    word delta = 1;

    while (left--) {
        /* delta > 0; it is far from overflowing */
        const word positive = mask_of(~(delta - 1) >> TOP_BIT);
        const word odd = mask_of(s->g[0] & 1);
        const struct step step = {odd, odd & positive};

        delta = 1 + (delta ^ step.swap) - step.swap;
        divide_step(s->f, s->g, s->words, step);
        if (with_inverse)
            divide_step_modulo(s->d, s->e, s->n, s->words, step);
    }
}

static word sign_of(const word *x, size_t words)
{
    return mask_of(x[words - 1] >> TOP_BIT);
}

#define clear() EVC_CLEAR(BASELINE, 512)

/* This and `invert` are out of line, since they leave words of secrets in their frames, and clear()
 * reaches only what is below its caller. */
EVC_OUT_OF_LINE void divide(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes,
                            uint8_t *out, void *scratch, size_t longest)
{
    struct numbers s;

    place(&s, scratch, longest);
    load(s.f, s.words, a, a_bytes);
    load(s.g, s.words, b, b_bytes);
    divide_steps(&s, longest, 0);
    negate(s.f, s.words, sign_of(s.f, s.words));
    store(out, a_bytes, s.f);
}

enum evc_status evc_bn_gcd(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes,
                           uint8_t *out, void *scratch, size_t scratch_bytes)
{
    const size_t longest = a_bytes > b_bytes ? a_bytes : b_bytes;
    uint32_t odd;

    if (a_bytes == 0 || b_bytes == 0 || longest > EVC_BN_MAX_BYTES)
        return EVC_ERR_LENGTH;
    if (scratch_bytes < evc_bn_gcd_scratch_bytes(longest))
        return EVC_ERR_SCRATCH;
    if (!a || !b)
        return EVC_ERR_PARAMETER;
    odd = evc_number_bit(a, a_bytes, 0);
    evc_public(&odd, sizeof odd); /* the status tells it */
    if (!odd)
        return EVC_ERR_MODULUS;
    divide(a, a_bytes, b, b_bytes, out, scratch, longest);
    evc_wipe(scratch, evc_bn_gcd_scratch_bytes(longest));
    clear();
    return EVC_OK;
}

/* n is odd and not 1, and a is below n. */
static enum evc_status check_inverse(const uint8_t *a, const uint8_t *n, size_t n_bytes)
{
    uint32_t good = evc_number_bit(n, n_bytes, 0) & ~evc_number_is(n, n_bytes, 1);
    uint32_t is_below = evc_number_below(a, n, n_bytes);

    evc_public(&good, sizeof good); /* the status tells it */
    evc_public(&is_below, sizeof is_below);
    return !good ? EVC_ERR_MODULUS : !is_below ? EVC_ERR_RANGE : EVC_OK;
}

/* Nonzero if f is not 1. */
static word differs_from_one(const word *f, size_t words)
{
    word differs = f[0] ^ 1;

    for (size_t i = 1; i < words; i++)
        differs |= f[i];
    return differs;
}

/* d modulo n, of a d between -n and n. */
static void add_modulus_if_negative(const struct numbers *s)
{
    const word negative = sign_of(s->d, s->words);
    word carry = 0;

    for (size_t i = 0; i < s->words; i++)
        s->d[i] = add_word(s->d[i], s->n[i] & negative, &carry);
}

EVC_OUT_OF_LINE enum evc_status invert(const uint8_t *a, const uint8_t *n, size_t n_bytes,
                                       uint8_t *out, void *scratch)
{
    struct numbers s;
    word negative, differs;

    place(&s, scratch, n_bytes);
    load(s.f, s.words, n, n_bytes);
    load(s.g, s.words, a, n_bytes);
    load(s.d, s.words, NULL, 0);
    load(s.e, s.words, NULL, 0);
    load(s.n, s.words, n, n_bytes);
    s.e[0] = 1;
    divide_steps(&s, n_bytes, 1);
    negative = sign_of(s.f, s.words);
    negate(s.f, s.words, negative);
    negate(s.d, s.words, negative);
    add_modulus_if_negative(&s);
    differs = differs_from_one(s.f, s.words);
    evc_public(&differs, sizeof differs); /* the status tells whether there is an inverse */
    if (differs)
        return EVC_ERR_INVERSE;
    store(out, n_bytes, s.d);
    return EVC_OK;
}

enum evc_status evc_bn_inverse(const uint8_t *a, const uint8_t *n, size_t n_bytes, uint8_t *out,
                               void *scratch, size_t scratch_bytes)
{
    enum evc_status status;

    if (n_bytes == 0 || n_bytes > EVC_BN_MAX_BYTES)
        return EVC_ERR_LENGTH;
    if (scratch_bytes < evc_bn_gcd_scratch_bytes(n_bytes))
        return EVC_ERR_SCRATCH;
    if (!a || !n)
        return EVC_ERR_PARAMETER;
    status = check_inverse(a, n, n_bytes);
    if (status == EVC_OK) {
        status = invert(a, n, n_bytes, out, scratch);
        evc_wipe(scratch, evc_bn_gcd_scratch_bytes(n_bytes));
    }
    clear();
    return status;
}
