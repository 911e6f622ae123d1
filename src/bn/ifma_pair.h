/* SPDX-License-Identifier: MIT */
/*
 * Montgomery products modulo two numbers of one length at once, in vectors of 512 bits, or modulo
 * one in vectors of 256.
 *
 * The lower four lanes are blocks of a number modulo the first, the upper four of one modulo the
 * second; vectors of 256 bits have the lower four alone. A number is V vectors, in panels of W;
 * digit i is in lane i / V of its half, vector i mod V. A turn works off W digits of b: it adds a
 * times these, and the multiple m n that makes the lowest W digits zero, and moves all down by a
 * panel; the lowest panel goes to the lane before, as the highest.
 *
 * The digits of m are x (-1 / n) modulo 2^(52 W), of the lowest panel's lowest lane, in vectors
 * like everything else. So one instruction works for both numbers. What the lowest panel then
 * carries is a quotient that comes out even, and two of its columns tell it.
 *
 * Numbers are below 8n, and R = 2^(208 V) is at least 2^8 times a number of as many bits as n: so
 * a b / R + n is below 2n.
 *
 * Source: Montgomery: Modular multiplication without trial division, Mathematics
 *         of Computation 44 (1985);
 *         Walter: Montgomery's multiplication technique: how to make it smaller and faster, CHES
 *         1999, for R above 4n; Gueron, Krasnov: Software implementation of modular
 *         exponentiation, using advanced vector instructions architectures, WAIFI 2012, for
 *         redundant digits in vectors.
 */
#ifndef EVC_BN_IFMA_PAIR_H
#define EVC_BN_IFMA_PAIR_H

#include "bn/ifma_vectors.h"

IFMA_BEGIN

#define MOST_PAIR_VECTORS 40

/* The vector and the lane of digit i of a number, 0 or 1. */
EVC_INLINE size_t pair_vector_of(size_t i, uint32_t vectors)
{
    return i % vectors;
}

EVC_INLINE size_t pair_lane_of(size_t i, uint32_t vectors, size_t number)
{
    return HALF_LANES * number + i / vectors;
}

/* Two moduli, and memory of products, aligned to 64. */
struct pair {
    uint8_t *n;       /* V vectors */
    uint8_t *inverse; /* -1 / n modulo 2^(52 W): W vectors, of which the lowest
                       * lane of each half counts */
    uint8_t *above;   /* W columns of a product, which belong to the next lane */
    uint8_t *rest;    /* W columns that become the highest panel */
    uint8_t *m;       /* W digits of the multiple of n, each in all lanes of its half */
    uint8_t *digits;  /* W digits of b, likewise */
    uint32_t vectors;
};

#define PAIR_PANELS 5 /* of W vectors, beside n */

EVC_INLINE int pair_width_for(uint32_t vectors)
{
    return vectors % 6 == 0 ? 6 : 5;
}

EVC_INLINE uint8_t *place_pair(struct pair *s, uint8_t *memory, uint32_t vectors)
{
    const size_t width = (size_t)pair_width_for(vectors);

    s->vectors = vectors;
    s->n = memory;
    s->inverse = at(memory, vectors);
    s->above = at(s->inverse, width);
    s->rest = at(s->above, width);
    s->m = at(s->rest, width);
    s->digits = at(s->m, width);
    return at(s->digits, width);
}

/* Columns of a panel, low and high halves together: fewer registers, and each sum
 * waits for the one before. */
struct panel {
    vec column[2 * MOST_WIDTH];
};

EVC_INLINE void panel_clear(struct panel *p)
{
    p->column[0] = p->column[1] = p->column[2] = p->column[3] = p->column[4] = p->column[5] =
        v_zero;
    p->column[6] = p->column[7] = p->column[8] = p->column[9] = p->column[10] = p->column[11] =
        v_zero;
}

/* Adds one digit of the second factor, number row, times the vectors at a. */
EVC_INLINE void panel_add_row(struct panel *p, const uint8_t *a, vec y, int row, int width)
{
#define LOW(i) p->column[row + i] = add_low(p->column[row + i], v_load(at_const(a, i)), y);
#define HIGH(i) \
    p->column[row + i + 1] = add_high(p->column[row + i + 1], v_load(at_const(a, i)), y);
    EACH_OF_WIDTH(width, LOW);
    EACH_OF_WIDTH(width, HIGH);
#undef LOW
#undef HIGH
}

EVC_INLINE void panel_add(struct panel *p, const uint8_t *a, const uint8_t *digits, int width)
{
#define ROW(i) panel_add_row(p, a, v_load(at_const(digits, i)), i, width);
    EACH_OF_WIDTH(width, ROW);
#undef ROW
}

/* The lower columns become the upper ones. */
EVC_INLINE void panel_move_down(struct panel *p, int width)
{
#define DOWN(i)                                                                                    \
    p->column[i] = p->column[width + i];                                                           \
    p->column[width + i] = v_zero;
    EACH_OF_WIDTH(width, DOWN);
#undef DOWN
}

/* Adds the lower W columns of one digit of the second factor, number row, times W digits at a. */
EVC_INLINE void add_lower_row(struct upper *low, const uint8_t *a, vec y, int row, int width)
{
#define LOW(i)                                                                                     \
    if (i + row < width)                                                                           \
        low->column[i + row] = add_low(low->column[i + row], v_load(at_const(a, i)), y);
#define HIGH(i)                                                                                    \
    if (i + row + 1 < width)                                                                       \
        low->column[i + row + 1] = add_high(low->column[i + row + 1], v_load(at_const(a, i)), y);
    EACH_OF_WIDTH(width, LOW);
    EACH_OF_WIDTH(width, HIGH);
#undef LOW
#undef HIGH
}

/* low = the columns of x (-1 / n) modulo 2^(52 W), and t = the panel at a times W digits at b;
 * b = NULL: only the first. Both take turns, so that one is multiplied while the other waits. */
EVC_INLINE void multiply_lowest(const struct pair *s, struct upper *low, struct panel *t,
                                const struct upper *x, const uint8_t *a, const uint8_t *b,
                                lane_choice lane, int width)
{
    vec carry = v_zero;

    upper_clear(low);
    panel_clear(t);
#define DIGIT(v)                                                                                   \
    {                                                                                              \
        const vec d = v_add(x->column[v], carry);                                                  \
        carry = v_shift_right(d, DIGIT_BITS);                                                      \
        add_lower_row(low, s->inverse, d, v, width);                                               \
        if (b) {                                                                                   \
            const vec digit = spread_lane(at_const(b, v), lane);                                   \
            v_store(at(s->digits, v), digit);                                                      \
            panel_add_row(t, a, digit, v, width);                                                  \
        }                                                                                          \
    }
    EACH_OF_WIDTH(width, DIGIT);
#undef DIGIT
}

/* rest = what becomes the highest panel, but for the columns of the panel below it; t = what the
 * lowest panel x, with the multiple of n, leaves for the next one. */
EVC_INLINE void reduce_lowest(const struct pair *s, struct upper *rest, struct panel *t,
                              const struct upper *x, const uint8_t *a, const uint8_t *b,
                              lane_choice lane, int width)
{
    struct upper low;
    vec carry = v_zero;

    multiply_lowest(s, &low, t, x, a, b, lane, width);
#define REST(i) rest->column[i] = v_add(t->column[i], v_load(at_const(s->above, i)));
#define ABOVE(i) v_store(at(s->above, i), t->column[width + i]);
#define START(i) t->column[i] = x->column[i];
#define MULTIPLE(v)                                                                                \
    {                                                                                              \
        const vec d = v_add(low.column[v], carry), m = spread_lowest_of_halves(d);                 \
        carry = v_shift_right(d, DIGIT_BITS);                                                      \
        v_store(at(s->m, v), m);                                                                   \
        panel_add_row(t, s->n, m, v, width);                                                       \
    }
#define BEFORE(i) rest->column[i] = v_add(rest->column[i], to_lane_before_in_halves(t->column[i]));
    EACH_OF_WIDTH(width, REST);
    EACH_OF_WIDTH(width, ABOVE);
    panel_clear(t);
    EACH_OF_WIDTH(width, START);
    EACH_OF_WIDTH(width, MULTIPLE);
    EACH_OF_WIDTH(width, BEFORE);
    /* The lowest panel is a multiple of 2^(52 W): its highest column and what the one below carries
     * fall short of a multiple of 2^52 by 1 or 0. */
    carry =
        v_add(v_add(t->column[width - 1], v_one), v_shift_right(t->column[width - 2], DIGIT_BITS));
    panel_move_down(t, width);
    t->column[0] = v_add(t->column[0], shift_right_lowest_of_halves(carry, DIGIT_BITS));
#undef REST
#undef ABOVE
#undef START
#undef MULTIPLE
#undef BEFORE
}

/* x = (x + m n) / 2^(52 W), and a times the digits at b; b = NULL: nothing more. */
EVC_INLINE void pair_turn(const struct pair *s, uint8_t *x, const uint8_t *a, const uint8_t *b,
                          lane_choice lane, int width, int panels)
{
    const size_t top = (size_t)(width * (panels - 1));
    struct upper lowest, rest;
    struct panel t;

#define KEEP(i) v_store(at(s->rest, i), rest.column[i]);
#define FROM(i) t.column[i] = v_add(t.column[i], v_load(at(x, panel + (size_t)width + i)));
#define STORE(i) v_store(at(x, panel + i), t.column[i]);
#define TOP(i) v_store(at(x, top + i), v_add(t.column[i], v_load(at(s->rest, i))));
    load_columns(&lowest, x, width);
    reduce_lowest(s, &rest, &t, &lowest, at_const(a, top), b, lane, width);
    EACH_OF_WIDTH(width, KEEP);
    for (size_t panel = 0; panel < top; panel += (size_t)width) {
        EACH_OF_WIDTH(width, FROM);
        panel_add(&t, at_const(s->n, panel + (size_t)width), s->m, width);
        if (b)
            panel_add(&t, at_const(a, panel), s->digits, width);
        EACH_OF_WIDTH(width, STORE);
        panel_move_down(&t, width);
    }
    EACH_OF_WIDTH(width, TOP);
#undef KEEP
#undef FROM
#undef STORE
#undef TOP
}

/* x = a times the first W digits of b. */
EVC_INLINE void pair_first(const struct pair *s, uint8_t *x, const uint8_t *a, const uint8_t *b,
                           int width, int panels)
{
    struct panel t;

#define SPREAD(i) v_store(at(s->digits, i), spread_lowest_of_halves(v_load(at_const(b, i))));
#define STORE(i) v_store(at(x, panel + i), t.column[i]);
#define ABOVE(i) v_store(at(s->above, i), t.column[i]);
    EACH_OF_WIDTH(width, SPREAD);
    panel_clear(&t);
    for (size_t panel = 0; panel < (size_t)(width * panels); panel += (size_t)width) {
        panel_add(&t, at_const(a, panel), s->digits, width);
        EACH_OF_WIDTH(width, STORE);
        panel_move_down(&t, width);
    }
    EACH_OF_WIDTH(width, ABOVE);
#undef SPREAD
#undef STORE
#undef ABOVE
}

/* x = a b / R. normalize takes the halves for one number: nothing passes between them, as
 * both are below R / 2. */
EVC_INLINE void pair_product(const struct pair *s, uint8_t *x, const uint8_t *a, const uint8_t *b,
                             int width, int panels)
{
    pair_first(s, x, a, b, width, panels);
    for (uint64_t lane = 0; lane < HALF_LANES; lane++) {
        const lane_choice lanes = lane_of_halves(lane);

        for (int panel = lane ? 0 : 1; panel < panels; panel++)
            pair_turn(s, x, a, at_const(b, (size_t)(panel * width)), lanes, width, panels);
    }
    pair_turn(s, x, a, NULL, lane_of_halves(0), width, panels);
    normalize(x, (uint32_t)(width * panels));
}

EVC_OUT_OF_LINE void pair_of_width_5(const struct pair *s, uint8_t *x, const uint8_t *a,
                                     const uint8_t *b)
{
    pair_product(s, x, a, b, 5, (int)s->vectors / 5);
}

EVC_OUT_OF_LINE void pair_of_width_6(const struct pair *s, uint8_t *x, const uint8_t *a,
                                     const uint8_t *b)
{
    pair_product(s, x, a, b, 6, (int)s->vectors / 6);
}

/* x = a b / R of both; x is neither a nor b. */
EVC_INLINE void pair_mul(const struct pair *s, uint8_t *x, const uint8_t *a, const uint8_t *b)
{
    if (pair_width_for(s->vectors) == 5)
        pair_of_width_5(s, x, a, b);
    else
        pair_of_width_6(s, x, a, b);
}

EVC_ISA_END

#endif
