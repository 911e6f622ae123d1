/* SPDX-License-Identifier: MIT */
/*
 * Montgomery products modulo eight numbers side by side: vector i holds digit i of each.
 *
 * Products are summed by columns of panels, and the multiple of n with them: a column is finished
 * before the next one begins, and sums stay in registers. A square has each cross product once. The
 * digits m of the multiple are made panel by panel; where they are no longer needed, digits of the
 * result take their places.
 *
 * Numbers are below 4n, and R = 2^(52 L) is above 16n: so a b / R + n is below 2n, and twice
 * that below 4n. A power of 2 is made of squares that are doubled where the exponent has a
 * bit, without a subtraction.
 */
#ifndef EVC_BN_IFMA_BATCH_H
#define EVC_BN_IFMA_BATCH_H

#include "bn/ifma_steps.h"

IFMA_BEGIN

#define PANEL 5 /* vectors */

/* Panels of numbers of so many bits. */
EVC_INLINE size_t panels_for(size_t n_bits)
{
    return (n_bits + 4 + PANEL * DIGIT_BITS - 1) / (PANEL * DIGIT_BITS);
}

/* n and k0 = -1 / n modulo 2^52 of eight moduli; n has as many vectors as a number. */
struct batch {
    uint8_t *n;
    size_t panels;
    vec k0;
};

/* ---- Columns --------------------------------------------------------------------------------- */

EVC_INLINE const uint8_t *panel_of(const void *x, size_t i)
{
    return at_const(x, PANEL * i);
}

/* Adds x y, digit by digit, with a digit of each product in column k. */
EVC_INLINE void add_column(struct sums *s, const void *x, const void *y, size_t first, size_t last,
                           size_t k)
{
    for (size_t i = first; i < last; i++)
        add_panel(s, panel_of(x, i), EIGHT_DIGITS, panel_of(y, k - i), PANEL);
}

EVC_INLINE void double_sums(struct sums *s)
{
#define TWICE(i)                                                                                   \
    s->low[i] = v_add(s->low[i], s->low[i]);                                                       \
    s->high[i] = v_add(s->high[i], s->high[i]);
#define TWICE_LAST(i) TWICE(PANEL - 1 + i)
    EACH_OF_WIDTH(PANEL - 1, TWICE);
    EACH_OF_WIDTH(PANEL, TWICE_LAST);
#undef TWICE
#undef TWICE_LAST
}

/* The products of different digits of a panel, each once. */
EVC_INLINE void add_cross_products(struct sums *s, const uint8_t *a)
{
    const vec a0 = v_load(a), a1 = v_load(at_const(a, 1)), a2 = v_load(at_const(a, 2)),
              a3 = v_load(at_const(a, 3)), a4 = v_load(at_const(a, 4));

    ADD_PRODUCT(s, 1, a0, a1);
    ADD_PRODUCT(s, 2, a0, a2);
    ADD_PRODUCT(s, 3, a0, a3);
    ADD_PRODUCT(s, 4, a0, a4);
    ADD_PRODUCT(s, 5, a1, a4);
    ADD_PRODUCT(s, 6, a2, a4);
    ADD_PRODUCT(s, 7, a3, a4);
    ADD_PRODUCT(s, 3, a1, a2);
    ADD_PRODUCT(s, 4, a1, a3);
    ADD_PRODUCT(s, 5, a2, a3);
}

EVC_INLINE void add_squares(struct sums *s, const uint8_t *a)
{
#define SQUARE(i)                                                                                  \
    {                                                                                              \
        const vec x = v_load(at_const(a, i));                                                      \
        ADD_PRODUCT(s, 2 * (i), x, x);                                                             \
    }
    EACH_OF_WIDTH(PANEL, SQUARE);
#undef SQUARE
}

/* ---- The multiple of n ----------------------------------------------------------------------- */

/* A panel of columns, and the one above it. */
struct columns {
    vec column[2 * PANEL];
};

/* The next panel of m, which makes the lowest panel of n with it zero; what that carries goes
 * to the columns above. */
EVC_INLINE void make_panel(const struct batch *s, uint8_t *m, struct columns *c)
{
    const vec n = v_load(s->n);

#define ADD_DIGIT(v, i)                                                                            \
    c->column[v + i] = add_low(c->column[v + i], d, v_load(at_const(s->n, i)));                    \
    c->column[v + i + 1] = add_high(c->column[v + i + 1], d, v_load(at_const(s->n, i)));
#define DIGIT(v)                                                                                   \
    const vec d = add_low(v_zero, c->column[v], s->k0);                                            \
    const vec carry = _mm512_srli_epi64(add_low(c->column[v], d, n), DIGIT_BITS);                  \
    v_store(at(m, v), d);                                                                          \
    c->column[v + 1] = add_high(v_add(c->column[v + 1], carry), d, n);                             \
    ADD_DIGIT(v, 1) ADD_DIGIT(v, 2) ADD_DIGIT(v, 3) ADD_DIGIT(v, 4)
    EACH_OF_WIDTH(PANEL, DIGIT);
#undef ADD_DIGIT
#undef DIGIT
}

EVC_INLINE void make_digits(const struct batch *s, uint8_t *m, const struct upper *lower,
                            struct upper *above)
{
    struct columns c;

#define JOIN(i)                                                                                    \
    c.column[i] = lower->column[i];                                                                \
    c.column[PANEL + i] = above->column[i];
#define PART(i) above->column[i] = c.column[PANEL + i];
    EACH_OF_WIDTH(PANEL, JOIN);
    make_panel(s, m, &c);
    EACH_OF_WIDTH(PANEL, PART);
#undef JOIN
#undef PART
}

/* Digits of the result, doubled by up to 1 bit; carry: from the panel below. */
EVC_INLINE vec store_digits(uint8_t *r, const struct upper *columns, vec doublings, vec carry)
{
#define STORE(i)                                                                                   \
    carry = v_add(carry, _mm512_sllv_epi64(columns->column[i], doublings));                        \
    v_store(at(r, i), _mm512_and_si512(carry, v_digits));                                          \
    carry = _mm512_srli_epi64(carry, DIGIT_BITS);
    EACH_OF_WIDTH(PANEL, STORE);
#undef STORE
    return carry;
}

/* ---- Products -------------------------------------------------------------------------------- */

/* r = a b / R, or a^2 / R with b = NULL, times 2 in each lane where doublings is 1.
 * r is neither a nor b. */
EVC_INLINE void batch_product(const struct batch *s, uint8_t *r, const void *a, const void *b,
                              vec doublings)
{
    const size_t panels = s->panels;
    struct upper lower, above;
    vec carry = v_zero;

    upper_clear(&above);
    for (size_t k = 0; k < 2 * panels - 1; k++) {
        const size_t first = k < panels ? 0 : k - panels + 1;
        struct sums t;

        sums_clear(&t);
        if (b) {
            add_column(&t, a, b, first, k < panels ? k + 1 : panels, k);
        } else {
            add_column(&t, a, a, first, (k + 1) / 2, k);
            if (k % 2 == 0)
                add_cross_products(&t, panel_of(a, k / 2));
            double_sums(&t);
            if (k % 2 == 0)
                add_squares(&t, panel_of(a, k / 2));
        }
        add_column(&t, r, s->n, first, k < panels ? k : panels, k);
        take_columns(&lower, &above, &t, PANEL);
        if (k < panels)
            make_digits(s, at(r, PANEL * k), &lower, &above);
        else
            carry = store_digits(at(r, PANEL * (k - panels)), &lower, doublings, carry);
    }
    store_digits(at(r, PANEL * (panels - 1)), &above, doublings, carry);
}

EVC_OUT_OF_LINE void batch_mul(const struct batch *s, uint8_t *r, const uint8_t *a,
                               const uint8_t *b)
{
    batch_product(s, r, a, b, v_zero);
}

EVC_OUT_OF_LINE void batch_sqr(const struct batch *s, uint8_t *r, const uint8_t *a, vec doublings)
{
    batch_product(s, r, a, NULL, doublings);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* x = 2x, less n if that is not negative; x is below n before and after. t: as many vectors. */
EVC_INLINE void batch_double(const struct batch *s, uint8_t *x, uint8_t *t)
{
    const size_t digits = PANEL * s->panels;
    vec carry = v_zero, borrow = v_zero;

    for (size_t i = 0; i < digits; i++) {
        const vec twice = v_add(v_add(v_load(at(x, i)), v_load(at(x, i))), carry);
        const vec digit = _mm512_and_si512(twice, v_digits);
        const vec difference =
            _mm512_sub_epi64(_mm512_sub_epi64(digit, v_load(at(s->n, i))), borrow);

        carry = _mm512_srli_epi64(twice, DIGIT_BITS);
        borrow = _mm512_srli_epi64(difference, 63);
        v_store(at(x, i), digit);
        v_store(at(t, i), _mm512_and_si512(difference, v_digits));
    }
    borrow = _mm512_sub_epi64(v_zero, borrow); /* R is above 16n: the doubled number has no carry */
    for (size_t i = 0; i < digits; i++) /* borrow ? x : t */
        v_store(at(x, i),
                _mm512_ternarylogic_epi64(borrow, v_load(at(x, i)), v_load(at(t, i)), 0xca));
}

EVC_ISA_END

#endif
