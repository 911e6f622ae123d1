/* SPDX-License-Identifier: MIT */
/*
 * The word primitives in C, of product.h's products. A kernel takes from here what
 * it has no better code for.
 */
#ifndef EVC_BN_WORDS_STEPS_H
#define EVC_BN_WORDS_STEPS_H

#include "bn_words/carry_rows.h"
#include "bn_words/divide.h"
#include "bn_words/kernel.h"
#include "common/carry.h"

/* ---- Rows ------------------------------------------------------------------------------------ */

/* a + b + *carry; the carry, 0 or 1, is replaced. */
EVC_INLINE word add_carry(word a, word b, word *carry)
{
#if EVC_BN_HALVES || (EVC_BN_WORD64 && !defined(__powerpc64__))
    const word with_carry = a + *carry, all = with_carry + b;

    *carry = (word)(with_carry < a) + (word)(all < b);
    return all;
#else
    const sum s = (sum)a + b + *carry;

    *carry = sum_high(s);
    return sum_low(s);
#endif
}

/* a - b - *borrow; the borrow, 0 or 1, is replaced. */
EVC_INLINE word subtract_borrow(word a, word b, word *borrow)
{
#if EVC_BN_HALVES || EVC_BN_WORD64
    const word without = a - b, all = without - *borrow;

    *borrow = (word)(a < b) + (word)(without < *borrow);
    return all;
#else
    const uint64_t s = (uint64_t)a - b - *borrow;

    *borrow = (word)(s >> 63);
    return (word)s;
#endif
}

/* A function over n_words words, four a turn. Step(i): what is done with words
 * i, which are moved on. */
#define FOUR_A_TURN(Step, Move)          \
    for (; n_words >= 4; n_words -= 4) { \
        Step(0);                         \
        Step(1);                         \
        Step(2);                         \
        Step(3);                         \
        Move(4);                         \
    }                                    \
    for (; n_words; n_words--) {         \
        Step(0);                         \
        Move(1);                         \
    }

/* Eights and a four of words of such a function, in a way that keeps the
 * carry if the CPU has one. */
#if EVC_BN_CARRY_ROWS
#define CARRY_ROWS(eight, four, carry)   \
    for (; n_words >= 8; n_words -= 8) { \
        carry = eight(r, a, b, carry);   \
        MOVE_R_A_B(8);                   \
    }                                    \
    if (n_words >= 4) {                  \
        carry = four(r, a, b, carry);    \
        MOVE_R_A_B(4);                   \
        n_words -= 4;                    \
    }
#else
#define CARRY_ROWS(eight, four, carry)
#endif

#define MOVE_R_A(n) (r += (n), a += (n))
#define MOVE_R_A_B(n) (r += (n), a += (n), b += (n))
#define MOVE_2R_A(n) (r += 2 * (n), a += (n))

#define ADD_STEP(i) r[i] = add_carry(a[i], b[i], &carry)
EVC_INLINE word add_words_steps(word *r, const word *a, const word *b, size_t n_words)
{
    word carry = 0;

    CARRY_ROWS(add_eight, add_four, carry)
    FOUR_A_TURN(ADD_STEP, MOVE_R_A_B)
    return carry;
}

#define SUB_STEP(i) r[i] = subtract_borrow(a[i], b[i], &borrow)
EVC_INLINE word sub_words_steps(word *r, const word *a, const word *b, size_t n_words)
{
    word borrow = 0;

    CARRY_ROWS(subtract_eight, subtract_four, borrow)
    FOUR_A_TURN(SUB_STEP, MOVE_R_A_B)
    return borrow;
}

#if EVC_BN_MULTIPLY_IN_MEMORY
#define MUL_STEP(i) multiply_one(r + (i), a[i], w, &carry)
#define MUL_ADD_STEP(i) multiply_add_one(r + (i), a[i], w, &carry)
#else
#define MUL_STEP(i) r[i] = multiply_add(a[i], w, 0, &carry)
#define MUL_ADD_STEP(i) r[i] = multiply_add(a[i], w, r[i], &carry)
#endif

/* Fours of words of such a function, in a way that keeps the carry if the CPU has one. */
#if EVC_BN_MULTIPLY_FOUR
#define MULTIPLY_ROWS(four)              \
    for (; n_words >= 4; n_words -= 4) { \
        carry = four(r, a, w, carry);    \
        MOVE_R_A(4);                     \
    }
#else
#define MULTIPLY_ROWS(four)
#endif

EVC_INLINE word mul_words_steps(word *r, const word *a, size_t n_words, word w)
{
    word carry = 0;

    MULTIPLY_ROWS(multiply_four)
    FOUR_A_TURN(MUL_STEP, MOVE_R_A)
    return carry;
}

EVC_INLINE word mul_add_words_steps(word *r, const word *a, size_t n_words, word w)
{
    word carry = 0;

    MULTIPLY_ROWS(multiply_add_four)
    FOUR_A_TURN(MUL_ADD_STEP, MOVE_R_A)
    return carry;
}

#define SQR_STEP(i)                                       \
    do {                                                  \
        word upper = 0;                                   \
                                                          \
        r[2 * (i)] = multiply_add(a[i], a[i], 0, &upper); \
        r[2 * (i) + 1] = upper;                           \
    } while (0)
EVC_INLINE void sqr_words_steps(word *r, const word *a, size_t n_words)
{
    FOUR_A_TURN(SQR_STEP, MOVE_2R_A)
}

#if defined(__s390x__) && EVC_BN_MULTIPLY_FOUR

/* ---- Products of 4 and of 8 words, by rows --------------------------------------------------- */

/* A row of n words, which begins so many words behind r. */
#define ROW(four, at, w)                                 \
    do {                                                 \
        word above = four(r + (at), a, w, 0);            \
                                                         \
        if (n == 8)                                      \
            above = four(r + (at) + 4, a + 4, w, above); \
        r[(at) + n] = above;                             \
    } while (0)

#define DEFINE_COMBA(n_words)                                                         \
    EVC_INLINE void mul_comba##n_words##_steps(word *r, const word *a, const word *b) \
    {                                                                                 \
        enum { n = n_words };                                                         \
                                                                                      \
        ROW(multiply_four, 0, b[0]);                                                  \
        for (int i = 1; i < n; i++, r++)                                              \
            ROW(multiply_add_four, 1, b[i]);                                          \
    }                                                                                 \
    EVC_INLINE void sqr_comba##n_words##_steps(word *r, const word *a)                \
    {                                                                                 \
        mul_comba##n_words##_steps(r, a, a);                                          \
    }

#else

/* ---- Columns --------------------------------------------------------------------------------- */

/* A column is three words where the carry stays one between additions or a product is no type
 * of the compiler's, and two sums elsewhere. Squares keep two columns at once: with sums they
 * need more registers, and fewer instructions unless three of them add or double a column, as
 * on x86 and 64-bit POWER. */
#if EVC_BN_HALVES || (defined(EVC_ADD_TWO_WORDS) && (EVC_X86 || EVC_BN_WORD64 == EVC_WORD64))
#define MUL_COLUMN_IS(name) three_words##name
#define NEEDS_THREE_WORDS 1
#else
#define MUL_COLUMN_IS(name) two_sums##name
#define NEEDS_THREE_WORDS 0
#endif
#if EVC_BN_HALVES || EVC_X86 || (defined(__powerpc64__) && EVC_BN_WORD64)
#define SQR_COLUMN_IS(name) three_words##name
#define NEEDS_TWO_SUMS 0
#else
#define SQR_COLUMN_IS(name) two_sums##name
#define NEEDS_TWO_SUMS 1
#endif

#if NEEDS_THREE_WORDS

/* Three words to which products are added; a column of 8 has 8 at most, so
 * the third counts to 16. */
struct three_words {
    word low, middle, high;
};

EVC_INLINE void three_words_add(struct three_words *c, word a, word b)
{
#if defined(EVC_ADD_TWO_WORDS) && !EVC_BN_HALVES
    const sum product = (sum)a * b;

    EVC_ADD_TWO_WORDS(c->low, c->middle, c->high, sum_low(product), sum_high(product));
#else
    word upper = 0;

    c->low = multiply_add(a, b, c->low, &upper);
    c->middle += upper;
    c->high += c->middle < upper;
#endif
}

#if EVC_X86

EVC_INLINE void three_words_add_column(struct three_words *c, const struct three_words *other)
{
    __asm__("add %3, %0\n\tadc %4, %1\n\tadc %5, %2"
            : "+&r"(c->low), "+&r"(c->middle), "+&r"(c->high)
            : "r"(other->low), "r"(other->middle), "r"(other->high)
            : "cc");
}

EVC_INLINE void three_words_double(struct three_words *c)
{
    __asm__("add %0, %0\n\tadc %1, %1\n\tadc %2, %2"
            : "+r"(c->low), "+r"(c->middle), "+r"(c->high)
            :
            : "cc");
}

#elif defined(__powerpc64__) && EVC_BN_WORD64 && !EVC_BN_HALVES

EVC_INLINE void three_words_add_column(struct three_words *c, const struct three_words *other)
{
    __asm__("addc %0, %0, %3\n\tadde %1, %1, %4\n\tadde %2, %2, %5"
            : "+&r"(c->low), "+&r"(c->middle), "+&r"(c->high)
            : "r"(other->low), "r"(other->middle), "r"(other->high)
            : EVC_CARRY_FLAG);
}

EVC_INLINE void three_words_double(struct three_words *c)
{
    __asm__("addc %0, %0, %0\n\tadde %1, %1, %1\n\tadde %2, %2, %2"
            : "+r"(c->low), "+r"(c->middle), "+r"(c->high)
            :
            : EVC_CARRY_FLAG);
}

#else

EVC_INLINE void three_words_double(struct three_words *c)
{
    c->high = c->high << 1 | c->middle >> (WORD_BITS - 1);
    c->middle = c->middle << 1 | c->low >> (WORD_BITS - 1);
    c->low <<= 1;
}

EVC_INLINE void three_words_add_column(struct three_words *c, const struct three_words *other)
{
    word carry = 0;

    c->low = add_carry(c->low, other->low, &carry);
    c->middle = add_carry(c->middle, other->middle, &carry);
    c->high += other->high + carry;
}

#endif

/* Returns the lowest word, and makes the words above it those of the next column. */
EVC_INLINE word three_words_next(struct three_words *c)
{
    const word low = c->low;

    c->low = c->middle;
    c->middle = c->high;
    c->high = 0;
    return low;
}

#endif

#if NEEDS_TWO_SUMS || !NEEDS_THREE_WORDS

/* The sums of the lower and of the upper words of products: two words each, so that neither
 * carries into the other. */
struct two_sums {
    sum low, high;
};

EVC_INLINE void two_sums_add(struct two_sums *c, word a, word b)
{
    const sum product = (sum)a * b;

    c->low += sum_low(product);
    c->high += sum_high(product);
}

EVC_INLINE void two_sums_double(struct two_sums *c)
{
    c->low <<= 1;
    c->high <<= 1;
}

EVC_INLINE void two_sums_add_column(struct two_sums *c, const struct two_sums *other)
{
    c->low += other->low;
    c->high += other->high;
}

/* Returns the lowest word, and makes the words above it those of the next column. */
EVC_INLINE word two_sums_next(struct two_sums *c)
{
    const word low = sum_low(c->low);

    c->low = c->high + sum_high(c->low);
    c->high = 0;
    return low;
}

#endif

/* The statement for i from 0 to 7, written out. */
#define EACH_OF_8(S) S(0) S(1) S(2) S(3) S(4) S(5) S(6) S(7)

/* Column k of n words: all products of words whose indices add up to k. Both are constants once
 * this is inlined, and what a constant rules out costs nothing. */
#define MUL_PART(i)                         \
    if ((i) < n && (i) <= k && k - (i) < n) \
        MUL_COLUMN_IS(_add)(c, a[i], b[k - (i)]);
EVC_INLINE void mul_column(struct MUL_COLUMN_IS() *c, const word *a, const word *b, int k, int n)
{
    EACH_OF_8(MUL_PART)
}

/* Products of unlike words come twice: their sum is doubled once. */
#define SQR_PART(i)                 \
    if (2 * (i) < k && k - (i) < n) \
        SQR_COLUMN_IS(_add)(&once, a[i], a[k - (i)]);
EVC_INLINE void sqr_column(struct SQR_COLUMN_IS() *c, const word *a, int k, int n)
{
    struct SQR_COLUMN_IS() once = {0};

    EACH_OF_8(SQR_PART)
    SQR_COLUMN_IS(_double)(&once);
    if (k % 2 == 0)
        SQR_COLUMN_IS(_add)(&once, a[k / 2], a[k / 2]);
    SQR_COLUMN_IS(_add_column)(c, &once);
}

#define MUL_COLUMN(k) mul_column(&c, a, b, k, n), r[k] = MUL_COLUMN_IS(_next)(&c)
#define SQR_COLUMN(k) sqr_column(&c, a, k, n), r[k] = SQR_COLUMN_IS(_next)(&c)
#define COLUMNS_4(COLUMN) \
    COLUMN(0);            \
    COLUMN(1);            \
    COLUMN(2);            \
    COLUMN(3);            \
    COLUMN(4);            \
    COLUMN(5);            \
    COLUMN(6)
#define COLUMNS_8(COLUMN) \
    COLUMNS_4(COLUMN);    \
    COLUMN(7);            \
    COLUMN(8);            \
    COLUMN(9);            \
    COLUMN(10);           \
    COLUMN(11);           \
    COLUMN(12);           \
    COLUMN(13);           \
    COLUMN(14)

#define DEFINE_COMBA(n_words)                                                         \
    EVC_INLINE void mul_comba##n_words##_steps(word *r, const word *a, const word *b) \
    {                                                                                 \
        enum { n = n_words };                                                         \
        struct MUL_COLUMN_IS() c = {0};                                               \
                                                                                      \
        COLUMNS_##n_words(MUL_COLUMN);                                                \
        r[2 * n - 1] = MUL_COLUMN_IS(_next)(&c);                                      \
    }                                                                                 \
    EVC_INLINE void sqr_comba##n_words##_steps(word *r, const word *a)                \
    {                                                                                 \
        enum { n = n_words };                                                         \
        struct SQR_COLUMN_IS() c = {0};                                               \
                                                                                      \
        COLUMNS_##n_words(SQR_COLUMN);                                                \
        r[2 * n - 1] = SQR_COLUMN_IS(_next)(&c);                                      \
    }

#endif

DEFINE_COMBA(4)
DEFINE_COMBA(8)

/* ---- Division -------------------------------------------------------------------------------- */

EVC_INLINE word div_words_steps(word high, word low, word d)
{
    const word is_zero = mask_less(d, 1);
    const word divisor = d | (1 & is_zero);
    const uint32_t shift = leading_zeros(divisor);
    const word normal = divisor << shift, v = reciprocal_of(normal);
    word rest = bits_above(high, shift);

    /* Words of the quotient, the upper one of which is left out. */
    (void)divide_normal(rest, high << shift | bits_above(low, shift), normal, v, &rest);
    return divide_normal(rest, low << shift, normal, v, &rest) | is_zero;
}

/*
 * Four words a turn: what is above them is two words, so that
 *     high B^5 + low B^4 + a3 B^3 + a2 B^2 + a1 B + a0
 * is congruent to five products of a word and a power, and a0: at most 5 (B - 1)
 * (B / 8 - 1) + B - 1 < B^2.
 */

/* s = what the last n_words % 4 words are congruent to, the lower word first; returns
 * where these words begin. */
EVC_INLINE const word *mod_words_begin(const word *a, size_t n_words,
                                       const struct evc_bn_divisor *d, word s[2])
{
    a += n_words;
    s[0] = s[1] = 0;
    if (n_words & 2) {
        a -= 2;
        s[0] = a[0];
        s[1] = a[1];
    }
    if (n_words & 1) {
        sum all;

        a -= 1;
        all =
            sum_add_product(sum_add_product(sum_of(0, a[0]), s[0], d->power[0]), s[1], d->power[1]);
        s[0] = sum_low(all);
        s[1] = sum_high(all);
    }
    return a;
}

EVC_INLINE word mod_words_folded(const word *a, size_t n_words, const struct evc_bn_divisor *d)
{
    const word b1 = d->power[0], b2 = d->power[1], b3 = d->power[2], b4 = d->power[3],
               b5 = d->power[4];
    word first[2];
    sum s;

    a = mod_words_begin(a, n_words, d, first);
    s = sum_of(first[1], first[0]);
    for (n_words /= 4; n_words; n_words--) {
        const word high = sum_high(s), low = sum_low(s);

        a -= 4;
        s = sum_add_product(sum_of(0, a[0]), a[1], b1);
        s = sum_add_product(s, a[2], b2);
        s = sum_add_product(s, a[3], b3);
        s = sum_add_product(s, low, b4);
        s = sum_add_product(s, high, b5);
    }
    return remainder_of(sum_high(s), sum_low(s), d);
}

/* A division for each word, for divisors of which sums of products have three words. */
EVC_INLINE word mod_words_divided(const word *a, size_t n_words, const struct evc_bn_divisor *d)
{
    const uint32_t shift = d->shift;
    word rest = 0, above;

    if (!n_words)
        return 0;
    above = a[n_words - 1];
    rest = bits_above(above, shift);
    while (--n_words) {
        const word below = a[n_words - 1];

        (void)divide_normal(rest, above << shift | bits_above(below, shift), d->normal,
                            d->reciprocal, &rest);
        above = below;
    }
    (void)divide_normal(rest, above << shift, d->normal, d->reciprocal, &rest);
    return rest >> shift;
}

/* ---- Slots of a kernel that has nothing of its own ------------------------------------------- */

#define EVC_BN_SLOT_add_words                                                    \
    static word add_words(word *r, const word *a, const word *b, size_t n_words) \
    {                                                                            \
        return add_words_steps(r, a, b, n_words);                                \
    }
#define EVC_BN_SLOT_sub_words                                                    \
    static word sub_words(word *r, const word *a, const word *b, size_t n_words) \
    {                                                                            \
        return sub_words_steps(r, a, b, n_words);                                \
    }
#define EVC_BN_SLOT_mul_words                                             \
    static word mul_words(word *r, const word *a, size_t n_words, word w) \
    {                                                                     \
        return mul_words_steps(r, a, n_words, w);                         \
    }
#define EVC_BN_SLOT_mul_add_words                                             \
    static word mul_add_words(word *r, const word *a, size_t n_words, word w) \
    {                                                                         \
        return mul_add_words_steps(r, a, n_words, w);                         \
    }
#define EVC_BN_SLOT_sqr_words                                     \
    static void sqr_words(word *r, const word *a, size_t n_words) \
    {                                                             \
        sqr_words_steps(r, a, n_words);                           \
    }
#define EVC_BN_SLOT_MUL_COMBA(n)                                    \
    static void mul_comba##n(word *r, const word *a, const word *b) \
    {                                                               \
        mul_comba##n##_steps(r, a, b);                              \
    }
#define EVC_BN_SLOT_SQR_COMBA(n)                     \
    static void sqr_comba##n(word *r, const word *a) \
    {                                                \
        sqr_comba##n##_steps(r, a);                  \
    }
#define EVC_BN_SLOT_div_words                          \
    static word div_words(word high, word low, word d) \
    {                                                  \
        return div_words_steps(high, low, d);          \
    }
#define EVC_BN_SLOT_mod_words                                                                 \
    static word mod_words(const word *a, size_t n_words, const struct evc_bn_divisor *d)      \
    {                                                                                         \
        return d->folds ? mod_words_folded(a, n_words, d) : mod_words_divided(a, n_words, d); \
    }

#define EVC_BN_SLOTS_ALL                                                                        \
    EVC_BN_SLOT_add_words EVC_BN_SLOT_sub_words EVC_BN_SLOT_mul_words EVC_BN_SLOT_mul_add_words \
        EVC_BN_SLOT_sqr_words EVC_BN_SLOT_MUL_COMBA(4) EVC_BN_SLOT_MUL_COMBA(8)                 \
            EVC_BN_SLOT_SQR_COMBA(4) EVC_BN_SLOT_SQR_COMBA(8)                                   \
                EVC_BN_SLOT_div_words EVC_BN_SLOT_mod_words

/* The slots of a descriptor, whose functions have their names. */
#define EVC_BN_SLOT_NAMES                                                             \
    .add_words = add_words, .sub_words = sub_words, .mul_words = mul_words,           \
    .mul_add_words = mul_add_words, .sqr_words = sqr_words, .mul_comba4 = mul_comba4, \
    .mul_comba8 = mul_comba8, .sqr_comba4 = sqr_comba4, .sqr_comba8 = sqr_comba8,     \
    .div_words = div_words, .mod_words = mod_words

#endif
