/* SPDX-License-Identifier: MIT */
/*
 * Montgomery products modulo two numbers of one length at once, or one in vectors of 256 bits, row
 * by row, with columns in registers.
 *
 * The lower four lanes are blocks of a number modulo the first, the upper four of one modulo the
 * second; vectors of 256 bits have the lower four alone. A number is V vectors of digits of 50
 * bits; digit i is in lane i / V of its half, vector i mod V. A row adds a times a digit of b, and
 * moves all down by a digit: the lowest vector goes to the lane before, as the highest.
 *
 * Products are computed modulo a multiple of n: n' = n k with k = -1 / n modulo 2^50. Since n' + 1
 * is a multiple of 2^50, say f 2^50, the lowest digit m of any x is by itself the multiple that
 * makes the digit zero: (x + m n') / 2^50 is f m and the digits of x above. So a digit is ready
 * after one product and one permutation.
 *
 * The multiplier takes factors of 52 bits, and two of these are not used by a digit. One lets
 * digits be as large as 2^50 + 2^11 after a single round of carries, of all digits at once. The
 * other lets a square double a digit: in row number (l, v), of lane l and vector v, it adds the
 * product of a's vector v, twice those of the vectors above, and nothing of the vectors below, for
 * these were factors of a row (l', v') with v' below v, doubled. Columns are complete when they are
 * the lowest ones: each product is in its row or in an earlier one.
 *
 * m is the lower 52 bits of a column, what is above them is a carry; the last m of a product is a
 * digit. So a b / R is below n' (1 + 2^-46) + a b / R, for R = 2^(50 rows); with 32 n' below R,
 * numbers stay below 2 n'. Columns are below 44 (2^52 + 2^51 + 2^53): less than 2^60.
 *
 * Source: Orup: Simplifying quotient determination in high-radix modular multiplication, ARITH
 *         1995, for n'; Gueron, Krasnov: Software implementation of modular exponentiation, using
 *         advanced vector instructions architectures, WAIFI 2012, for redundant digits in vectors,
 *         and for digits shorter than the multiplier's.
 */
#ifndef EVC_BN_IFMA_ROWS_H
#define EVC_BN_IFMA_ROWS_H

#include "bn/ifma_vectors.h"

IFMA_BEGIN

#define ROW_BITS 50
/* Bytes of n. x86_ifma.c makes R^2 of three powers of 2 below n. */
#define FEWEST_ROW_BYTES (VECTOR_BITS == 512 ? 38 : 1)
#if VECTOR_BITS == 256
#define MOST_HELD 6 /* vectors of a column's upper part in registers */
#elif defined(__clang__)
#define MOST_HELD 8 /* clang stores more than these, and its own */
#else
#define MOST_HELD 11
#endif
/* Vectors of which a and f do not stay in registers, beside columns. */
#define FEWEST_RELOADED (VECTOR_BITS == 512 ? 8 : 6)
#define ROW_MASK ((UINT64_C(1) << ROW_BITS) - 1)
#define ROW_SPARE_BITS (ROW_BITS + 5) /* of R above n */
#define MOST_ROW_VECTORS 11 /* in vectors of 256 bits 8: panels are faster for longer numbers */

#define EACH_OF_ROW(width, STATEMENT)                                                              \
    do {                                                                                           \
        STATEMENT(0)                                                                               \
        STATEMENT(1)                                                                               \
        STATEMENT(2)                                                                               \
        if ((width) > 3) {                                                                         \
            STATEMENT(3)                                                                           \
        }                                                                                          \
        if ((width) > 4) {                                                                         \
            STATEMENT(4)                                                                           \
            STATEMENT(5)                                                                           \
        }                                                                                          \
        if ((width) > 6) {                                                                         \
            STATEMENT(6)                                                                           \
            STATEMENT(7)                                                                           \
        }                                                                                          \
        if ((width) > 8) {                                                                         \
            STATEMENT(8)                                                                           \
            STATEMENT(9)                                                                           \
            STATEMENT(10)                                                                          \
        }                                                                                          \
    } while (0)

/* Rows of a product of numbers of V vectors: 3, 4, 6, 8 or 11. */
EVC_INLINE uint32_t rows_of(uint32_t vectors)
{
    return vectors == 6 ? 22 : vectors == 11 ? 43 : HALF_LANES * vectors;
}

/* Vectors of numbers; 0: they are too short, or too long. */
EVC_INLINE uint32_t row_vectors_for(size_t n_bytes)
{
    static const uint8_t sizes[] = {3, 4, 6, 8, VECTOR_BITS == 512 ? MOST_ROW_VECTORS : 8};

    for (size_t i = 0; i < sizeof sizes; i++)
        if (8 * n_bytes + ROW_SPARE_BITS <= ROW_BITS * rows_of(sizes[i]))
            return n_bytes < FEWEST_ROW_BYTES ? 0 : sizes[i];
    return 0;
}

/* Columns: column c of the window of row r is number (r + c) mod V of both; its value is low + 4
 * high. Of the row before: m, in all lanes of its half, and the carry, which the lowest column
 * has to get. More columns than registers would be a frame of more than 1 KiB, so `high` is in
 * the caller's memory where numbers have more than MOST_HELD vectors: then some CPUs are bound by
 * its loads and stores. */
struct rows {
    vec low[MOST_ROW_VECTORS], held[MOST_HELD], m, carry;
    uint8_t *columns;
};

enum kind { PRODUCT, SQUARE };

#define COLUMN(c) ((row + (c)) % width)

EVC_INLINE vec high(const struct rows *s, int column, int width)
{
    return width > MOST_HELD ? v_load(at_const(s->columns, (size_t)column)) : s->held[column];
}

EVC_INLINE void set_high(struct rows *s, int column, int width, vec x)
{
    if (width > MOST_HELD)
        v_store(at(s->columns, (size_t)column), x);
    else
        s->held[column] = x;
}

EVC_INLINE vec value_of(const struct rows *s, int column, int width)
{
    return v_add(s->low[column], v_shift_left(high(s, column, width), 2));
}

/* x = x + a d + f m, and x = x / 2^50 for the next row, but for m' f. lane: of d.
 * twice: 2 a, of a square. */
EVC_INLINE void add_one_row(struct rows *s, const uint8_t *a, const uint8_t *twice,
                            const uint8_t *b, const uint8_t *f, lane_choice lane, int row,
                            int width, enum kind kind)
{
    const vec d = spread_lane(at_const(b, (size_t)row), lane), m = s->m;
    vec lowest;

    if (width >= FEWEST_RELOADED) {
        RELOAD(a);
        RELOAD(twice);
        RELOAD(f);
        RELOAD(b);
    }

#define FACTOR(v) v_load(at_const(kind == SQUARE && (v) > row ? twice : a, v))
#define IS_DUE(v) (kind == PRODUCT || (v) >= row)
    if (IS_DUE(0))
        s->low[COLUMN(0)] = add_low(s->low[COLUMN(0)], FACTOR(0), d);
    s->low[COLUMN(0)] = add_low(s->low[COLUMN(0)], v_load(f), m);
    set_high(s, COLUMN(0), width, v_add(high(s, COLUMN(0), width), s->carry));
    lowest = value_of(s, COLUMN(0), width);
    s->m = spread_lowest_of_halves(lowest);
    s->carry = shift_right_lowest_of_halves(lowest, DIGIT_BITS);
    s->low[COLUMN(0)] = to_lane_before_in_halves(lowest);
    set_high(s, COLUMN(0), width, v_zero);
#define ADD(v)                                                                                     \
    if (width >= FEWEST_RELOADED && width <= MOST_HELD)                                            \
        __asm__ volatile("" : : : "memory"); /* no load before its turn, or columns are spilled */ \
    {                                                                                              \
        const vec x = FACTOR(v), y = v_load(at_const(f, v));                                       \
        vec above = high(s, COLUMN((v) + 1), width);                                               \
        if (IS_DUE(v) && (v))                                                                      \
            s->low[COLUMN(v)] = add_low(s->low[COLUMN(v)], x, d);                                  \
        if (IS_DUE(v))                                                                             \
            above = add_high(above, x, d);                                                         \
        if (v)                                                                                     \
            s->low[COLUMN(v)] = add_low(s->low[COLUMN(v)], y, m);                                  \
        set_high(s, COLUMN((v) + 1), width, add_high(above, y, m));                                \
    }
    EACH_OF_ROW(width, ADD);
#undef ADD
#undef IS_DUE
#undef FACTOR
}

/* r = the digits of x + f m. row: of the window. Digits before carries go through r. */
EVC_INLINE void finish_rows(struct rows *s, uint8_t *r, const uint8_t *f, int row, int width)
{
    const vec mask = v_all((long long)ROW_MASK), m = v_and(s->m, mask);
    vec above = v_zero;

    /* Bits 50 and 51, which are not in this m. */
    s->low[COLUMN(0)] =
        v_add(s->low[COLUMN(0)], shift_right_lowest_of_halves(v_shift_left(s->m, 64 - DIGIT_BITS),
                                                              64 - DIGIT_BITS + ROW_BITS));
#define ADD(v)                                                                                     \
    {                                                                                              \
        const vec y = v_load(at_const(f, v));                                                      \
        s->low[COLUMN(v)] = add_low(s->low[COLUMN(v)], y, m);                                      \
        if ((v) + 1 < width)                                                                       \
            set_high(s, COLUMN((v) + 1), width, add_high(high(s, COLUMN((v) + 1), width), y, m));  \
        else                                                                                       \
            above = add_high(above, y, m);                                                         \
    }
#define VALUE(v) v_store(at(r, v), value_of(s, COLUMN(v), width));
#define CARRY(v)                                                                                   \
    {                                                                                              \
        const vec column = v_load(at_const(r, v));                                                 \
        v_store(at(r, v), v_add(v_and(column, mask), above));                                      \
        above = v_shift_right(column, ROW_BITS);                                                   \
    }
    EACH_OF_ROW(width, ADD);
    set_high(s, COLUMN(0), width,
             v_add(high(s, COLUMN(0), width), v_add(s->carry, to_next_lane_in_halves(above))));
    EACH_OF_ROW(width, VALUE);
    above = to_next_lane_in_halves(v_shift_right(v_load(at_const(r, (size_t)width - 1)), ROW_BITS));
    EACH_OF_ROW(width, CARRY);
#undef ADD
#undef VALUE
#undef CARRY
}

/* r = a b / R of both; kind: SQUARE if b is a, and then twice is 2 a. r may be a or b.
 * columns: memory of V vectors. */
EVC_INLINE void rows_product(uint8_t *r, const uint8_t *a, const uint8_t *twice, const uint8_t *b,
                             const uint8_t *f, uint8_t *columns, int width, enum kind kind)
{
    const int last = (int)rows_of((uint32_t)width) - (HALF_LANES - 1) * width;
    struct rows s;

    s.columns = columns;
#define CLEAR(v)                                                                                   \
    s.low[v] = v_zero;                                                                             \
    set_high(&s, v, width, v_zero);
    EACH_OF_ROW(width, CLEAR);
#undef CLEAR
    s.m = s.carry = v_zero;
    for (uint64_t l = 0; l < HALF_LANES; l++) {
        const lane_choice lane = lane_of_halves(l);

#define ROW(row)                                                                                   \
    if ((row) == last && l == HALF_LANES - 1)                                                      \
        goto finish;                                                                               \
    add_one_row(&s, a, twice, b, f, lane, row, width, kind);
        EACH_OF_ROW(width, ROW);
#undef ROW
    }
finish:
    finish_rows(&s, r, f, last % width, width);
}

#define DEFINE_ROWS(width)                                                                         \
    EVC_OUT_OF_LINE void rows_of_width_##width(uint8_t *r, const uint8_t *a, const uint8_t *b,     \
                                               const uint8_t *f, uint8_t *columns)                 \
    {                                                                                              \
        rows_product(r, a, NULL, b, f, columns, width, PRODUCT);                                   \
    }                                                                                              \
    EVC_OUT_OF_LINE void square_rows_of_width_##width(uint8_t *r, const uint8_t *a,                \
                                                      uint8_t *twice, const uint8_t *f,            \
                                                      uint8_t *columns)                            \
    {                                                                                              \
        for (size_t v = 1; v < (width); v++)                                                       \
            v_store(at(twice, v), v_add(v_load(at_const(a, v)), v_load(at_const(a, v))));          \
        rows_product(r, a, twice, a, f, columns, width, SQUARE);                                   \
    }
DEFINE_ROWS(3)
DEFINE_ROWS(4)
DEFINE_ROWS(6)
DEFINE_ROWS(8)
#if VECTOR_BITS == 512
DEFINE_ROWS(11)
#endif
#undef DEFINE_ROWS

EVC_INLINE void rows_mul(uint8_t *r, const uint8_t *a, const uint8_t *b, const uint8_t *f,
                         uint8_t *columns, uint32_t vectors)
{
    switch (vectors) {
    case 3: rows_of_width_3(r, a, b, f, columns); break;
    case 4: rows_of_width_4(r, a, b, f, columns); break;
    case 6: rows_of_width_6(r, a, b, f, columns); break;
#if VECTOR_BITS == 512
    case 8: rows_of_width_8(r, a, b, f, columns); break;
    default: rows_of_width_11(r, a, b, f, columns);
#else
    default: rows_of_width_8(r, a, b, f, columns);
#endif
    }
}

/* twice: memory of V vectors. */
EVC_INLINE void rows_sqr(uint8_t *r, const uint8_t *a, uint8_t *twice, const uint8_t *f,
                         uint8_t *columns, uint32_t vectors)
{
    switch (vectors) {
    case 3: square_rows_of_width_3(r, a, twice, f, columns); break;
    case 4: square_rows_of_width_4(r, a, twice, f, columns); break;
    case 6: square_rows_of_width_6(r, a, twice, f, columns); break;
#if VECTOR_BITS == 512
    case 8: square_rows_of_width_8(r, a, twice, f, columns); break;
    default: square_rows_of_width_11(r, a, twice, f, columns);
#else
    default: square_rows_of_width_8(r, a, twice, f, columns);
#endif
    }
}

EVC_ISA_END

#endif
