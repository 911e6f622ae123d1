/* SPDX-License-Identifier: MIT */
/*
 * Products of digits of 52 bits in vectors of eight, by IFMA: the panel, which one modulus
 * (ifma_wide.h) and eight moduli side by side (ifma_batch.h) have in common.
 *
 * A panel is up to six vectors of digits of one factor times as many digits of the other. Its
 * products are summed in columns, the lower and the upper 52 bits of each product in sums of their
 * own, so that no addition waits for the one before: with 22 sums, 6 vectors and one digit a panel
 * fits into the 32 registers.
 *
 * A column holds at most 4 * 192 halves of products, and twice as much for a moment: less than
 * 2^63. A product takes the lower 52 bits of its factors, so that a digit may have carries above it
 * that were added elsewhere.
 */
#ifndef EVC_BN_IFMA_STEPS_H
#define EVC_BN_IFMA_STEPS_H

#include "bn/ifma_vectors.h"

IFMA_BEGIN

/* Column c of a panel is low[c] + high[c - 1]. */
#define LAST_SUM (2 * MOST_WIDTH - 2)
struct sums {
    vec low[LAST_SUM + 1], high[LAST_SUM + 1];
};

EVC_INLINE void sums_clear(struct sums *s)
{
    s->low[0] = s->low[1] = s->low[2] = s->low[3] = s->low[4] = v_zero;
    s->low[5] = s->low[6] = s->low[7] = s->low[8] = s->low[9] = s->low[10] = v_zero;
    s->high[0] = s->high[1] = s->high[2] = s->high[3] = s->high[4] = v_zero;
    s->high[5] = s->high[6] = s->high[7] = s->high[8] = s->high[9] = s->high[10] = v_zero;
}

/* Adds x y, whose columns are c and c + 1. */
#define ADD_PRODUCT(s, c, x, y)                                                                    \
    do {                                                                                           \
        (s)->low[c] = add_low((s)->low[c], x, y);                                                  \
        (s)->high[c] = add_high((s)->high[c], x, y);                                               \
    } while (0)

/* A digit of the second factor: the same for all lanes, or a vector of them. */
enum digits { ONE_DIGIT, EIGHT_DIGITS };

EVC_INLINE vec digit(enum digits digits, const void *b, size_t i)
{
    const uint8_t *p = at_const(b, i);

    if (digits == ONE_DIGIT)
        return _mm512_set1_epi64((long long)evc_load64_ne(p));
    return v_load(p);
}

/* One digit of the second factor, number row, times the vectors of the first. */
EVC_INLINE void add_row(struct sums *s, const struct upper *a, vec y, int row, int width)
{
#define PRODUCT_WITH(i) ADD_PRODUCT(s, row + i, a->column[i], y);
    EACH_OF_WIDTH(width, PRODUCT_WITH);
#undef PRODUCT_WITH
}

/* Adds the panel of the vectors at a and the digits at b. */
EVC_INLINE void add_panel(struct sums *s, const void *a, enum digits digits, const void *b,
                          int width)
{
    struct upper x;

#define ROW(i) add_row(s, &x, digit(digits, b, i), i, width);
    load_columns(&x, a, width);
    EACH_OF_WIDTH(width, ROW);
#undef ROW
}

/* The lower columns of the sums, with what the panel before has left above its own; above
 * becomes the upper ones. */
EVC_INLINE void take_columns(struct upper *lower, struct upper *above, const struct sums *s,
                             int width)
{
#define LOWER(i)       \
    lower->column[i] = \
        v_add(above->column[i], i ? v_add(s->low[i], s->high[i ? i - 1 : 0]) : s->low[0]);
#define LOW(c) s->low[(c) < LAST_SUM ? (c) : LAST_SUM]
#define UPPER(i)       \
    above->column[i] = \
        i + 1 < width ? v_add(LOW(width + i), s->high[width + i - 1]) : s->high[2 * width - 2];
    EACH_OF_WIDTH(width, LOWER);
    EACH_OF_WIDTH(width, UPPER);
#undef LOWER
#undef LOW
#undef UPPER
}

EVC_ISA_END

#endif
