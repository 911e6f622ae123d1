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

#include "bn/kernel.h"

#include "common/bytes.h"
#include "common/ct.h"
#include "common/x86.h"

#define DIGIT_BITS 52
#define DIGIT_MASK ((UINT64_C(1) << DIGIT_BITS) - 1)
#define LANES 8
#define MOST_WIDTH 6

EVC_ISA_BEGIN(X86_IFMA)

typedef __m512i vec;

#define add_low _mm512_madd52lo_epu64
#define add_high _mm512_madd52hi_epu64
#define v_add _mm512_add_epi64
#define v_zero _mm512_setzero_si512()
#define v_one _mm512_set1_epi64(1)
#define v_digits _mm512_set1_epi64((long long)DIGIT_MASK)

EVC_INLINE vec v_load(const void *p)
{
    return _mm512_loadu_si512(p);
}

EVC_INLINE void v_store(void *p, vec x)
{
    _mm512_storeu_si512(p, x);
}

/* Vector number i of an array in memory of bytes. */
EVC_INLINE uint8_t *at(void *vectors, size_t i)
{
    return (uint8_t *)vectors + sizeof(vec) * i;
}

EVC_INLINE const uint8_t *at_const(const void *vectors, size_t i)
{
    return (const uint8_t *)vectors + sizeof(vec) * i;
}

/* Column c of a panel is low[c] + high[c - 1]. */
#define LAST_SUM (2 * MOST_WIDTH - 2)
struct sums {
    vec low[LAST_SUM + 1], high[LAST_SUM + 1];
};

/* The upper columns of a panel, which are the lower ones of the next. */
struct upper {
    vec column[MOST_WIDTH];
};

/* width, in all of these: a constant, 1 to 6. Loops over it are written out. */
#define EACH_OF_WIDTH(width, STATEMENT)                                                            \
    do {                                                                                           \
        if ((width) > 0) {                                                                         \
            STATEMENT(0)                                                                           \
        }                                                                                          \
        if ((width) > 1) {                                                                         \
            STATEMENT(1)                                                                           \
        }                                                                                          \
        if ((width) > 2) {                                                                         \
            STATEMENT(2)                                                                           \
        }                                                                                          \
        if ((width) > 3) {                                                                         \
            STATEMENT(3)                                                                           \
        }                                                                                          \
        if ((width) > 4) {                                                                         \
            STATEMENT(4)                                                                           \
        }                                                                                          \
        if ((width) > 5) {                                                                         \
            STATEMENT(5)                                                                           \
        }                                                                                          \
    } while (0)

EVC_INLINE void sums_clear(struct sums *s)
{
    s->low[0] = s->low[1] = s->low[2] = s->low[3] = s->low[4] = v_zero;
    s->low[5] = s->low[6] = s->low[7] = s->low[8] = s->low[9] = s->low[10] = v_zero;
    s->high[0] = s->high[1] = s->high[2] = s->high[3] = s->high[4] = v_zero;
    s->high[5] = s->high[6] = s->high[7] = s->high[8] = s->high[9] = s->high[10] = v_zero;
}

EVC_INLINE void upper_clear(struct upper *u)
{
    u->column[0] = u->column[1] = u->column[2] = u->column[3] = u->column[4] = u->column[5] =
        v_zero;
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

EVC_INLINE void load_columns(struct upper *x, const void *a, int width)
{
#define LOAD(i) x->column[i] = v_load(at_const(a, i));
    EACH_OF_WIDTH(width, LOAD);
#undef LOAD
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
