/* SPDX-License-Identifier: MIT */
/*
 * Montgomery products modulo one number, or two side by side, in vectors of 512 bits.
 *
 * A number is V vectors of digits. Lane j of vector v is digit j V + v: a lane is a block of V
 * digits, and D = 2^(52 V) is the weight of a block. So digits of one weight meet without a shift,
 * and the carries between lanes wait until the end.
 *
 * Products are computed modulo a multiple of n: n' = n k with k = -1 / n modulo D. Since n' + 1 is
 * a multiple of D, say f D, the lowest block m of any x is by itself the multiple that makes the
 * block zero: (x + m n') / D is f m and the blocks of x above the lowest one. A turn adds a times
 * one block of b, moves all down by a block, which is one lane, and adds f m. The digits of m need
 * the carries of one lane, and no multiplication.
 *
 * Numbers are below 2n', and R = D^turns is above 64 D times a number of as many bits as
 * n: so a b / R + n' is at most n' + n' / 16 where a is below 2n' and b below 2n', or
 * below D times such a number.
 *
 * Source: Orup: Simplifying quotient determination in high-radix modular
 *         multiplication, ARITH 1995, for n';
 *         Walter: Montgomery's multiplication technique: how to make it smaller and faster, CHES
 *         1999, for R above 4n'; Gueron, Krasnov: Software implementation of modular
 *         exponentiation, using advanced vector instructions architectures, WAIFI 2012, for
 *         redundant digits in vectors.
 */
#ifndef EVC_BN_IFMA_WIDE_H
#define EVC_BN_IFMA_WIDE_H

#include "bn/ifma_steps.h"

IFMA_BEGIN

/* ---- Shapes ---------------------------------------------------------------------------------- */

#define MOST_VECTORS 24
#define SPARE_BITS 6 /* R is above 2^SPARE_BITS D 2^n_bits */

/* Vectors of a number: R has at most 8 blocks, as many as there are lanes. Numbers of more than 6
 * vectors are panels of 4 to 6; sizes between need no panel of another width. */
EVC_INLINE uint32_t vectors_for(size_t n_bytes)
{
    static const uint8_t sizes[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 18, 20, MOST_VECTORS};
    const size_t lane_digits =
        (8 * n_bytes + SPARE_BITS + DIGIT_BITS * (LANES - 1) - 1) / (DIGIT_BITS * (LANES - 1));
    size_t i = 0;

    while (sizes[i] < lane_digits)
        i++;
    return sizes[i];
}

EVC_INLINE int width_for(uint32_t vectors)
{
    return vectors <= MOST_WIDTH ? (int)vectors : vectors % 6 == 0 ? 6 : vectors % 5 == 0 ? 5 : 4;
}

/* Bits of a block, which a turn of a product works off. */
EVC_INLINE uint32_t block_bits(uint32_t vectors)
{
    return DIGIT_BITS * vectors;
}

EVC_INLINE uint32_t turns_for(size_t n_bytes, uint32_t vectors)
{
    const uint32_t block = block_bits(vectors);

    return ((uint32_t)(8 * n_bytes) + block + SPARE_BITS + block - 1) / block;
}

/* The word of 64 bits that holds digit i. */
EVC_INLINE size_t word_of(size_t i, uint32_t vectors)
{
    return i % vectors * LANES + i / vectors;
}

/* ---- Turns of up to 6 vectors, in registers -------------------------------------------------- */

/* One modulus, and memory of its products, aligned to 64. V vectors each. */
struct side {
    uint8_t *factor; /* f = (n' + 1) / D */
    uint8_t *x;      /* the product */
    uint8_t *above;  /* columns of x that belong to the next lane */
    uint8_t *m;      /* digits of the lowest block */
};

#define SIDE_VECTORS 4 /* V of them */

EVC_INLINE uint8_t *place_side(struct side *s, uint8_t *memory, uint32_t vectors)
{
    s->factor = memory;
    s->x = at(memory, vectors);
    s->above = at(memory, 2 * vectors);
    s->m = at(memory, 3 * vectors);
    return at(memory, SIDE_VECTORS * vectors);
}

/* The lowest digit of a lane to all lanes. */
EVC_INLINE vec spread_lowest(vec x)
{
    return _mm512_broadcastq_epi64(_mm512_castsi512_si128(x));
}

EVC_INLINE vec lowest_lane_of(vec x)
{
    return _mm512_maskz_mov_epi64(1, x);
}

/* A number in columns, of which those above belong to the next lane. */
struct blocks {
    struct upper columns, above;
};

/* The columns above are in memory where registers are too few for them:
 * width is above MOST_ABOVE. */
#define MOST_ABOVE 3

EVC_INLINE void load_above(struct blocks *x, const struct side *s, int width)
{
    if (width > MOST_ABOVE)
        load_columns(&x->above, s->above, width);
}

EVC_INLINE void store_above(const struct blocks *x, const struct side *s, int width)
{
#define STORE(i) v_store(at(s->above, i), x->above.column[i]);
    if (width > MOST_ABOVE)
        EACH_OF_WIDTH(width, STORE);
#undef STORE
}

/* x = (x + m n') / D, and a times the block at b; b = NULL: nothing more. That
 * product does not wait for m. */
EVC_INLINE void turn_in_registers(struct blocks *x, const struct side *s, const void *a,
                                  const uint8_t *b, int width)
{
    const uint8_t *factor = s->factor;
    struct upper f, rest;
    struct sums t;
    vec carry = v_zero;

    sums_clear(&t);
    if (b)
        add_panel(&t, a, ONE_DIGIT, b, width);
#define ADD_REST(i) \
    rest.column[i] = v_add(x->above.column[i], to_lane_before(x->columns.column[i]));
#define DIGIT(i)                                                                                   \
    {                                                                                              \
        const vec digit = v_add(x->columns.column[i], carry);                                      \
        carry = _mm512_srli_epi64(digit, DIGIT_BITS);                                              \
        if (width > MOST_ABOVE)                                                                    \
            RELOAD(factor);                                                                        \
        load_columns(&f, factor, width);                                                           \
        add_row(&t, &f, spread_lowest(digit), i, width);                                           \
    }
#define JOIN(i) x->columns.column[i] = v_add(x->columns.column[i], rest.column[i]);
    load_above(x, s, width);
    EACH_OF_WIDTH(width, ADD_REST);
    EACH_OF_WIDTH(width, DIGIT);
    upper_clear(&x->above);
    take_columns(&x->columns, &x->above, &t, width);
    store_above(x, s, width);
    rest.column[0] = v_add(rest.column[0], lowest_lane_of(carry));
    EACH_OF_WIDTH(width, JOIN);
#undef ADD_REST
#undef DIGIT
#undef JOIN
}

/* x = a times the first block of b. */
EVC_INLINE void first_block(struct blocks *x, const struct side *s, const void *a, const uint8_t *b,
                            int width)
{
    struct sums t;

    sums_clear(&t);
    add_panel(&t, a, ONE_DIGIT, b, width);
    upper_clear(&x->above);
    take_columns(&x->columns, &x->above, &t, width);
    store_above(x, s, width);
}

/* to = the digits of c: as normalize does, in registers. A carry of 1 reaches a digit if all below
 * it in its lane are ones, so all digits get theirs at once. The highest lane has none. A register
 * holds the ones that are added, as the masks are secret and a load under them would show. */
EVC_INLINE void store_number(uint8_t *to, struct upper *c, int width)
{
    vec carry = v_zero, one = v_one;
    uint32_t ones[MOST_WIDTH + 1], into;

    __asm__("" : "+v"(one));
#define RIPPLE(i)                                                                                  \
    c->column[i] = v_add(c->column[i], carry);                                                     \
    carry = _mm512_srli_epi64(c->column[i], DIGIT_BITS);                                           \
    c->column[i] = _mm512_and_si512(c->column[i], v_digits);
#define ONES(i) ones[i + 1] = ones[i] & (uint32_t)_mm512_cmpeq_epi64_mask(c->column[i], v_digits);
#define STORE(i)                                                                                   \
    v_store(at(to, i),                                                                             \
            _mm512_and_si512(                                                                      \
                v_add(c->column[i], _mm512_maskz_mov_epi64((__mmask8)(into & ones[i]), one)),      \
                v_digits));
    EACH_OF_WIDTH(width, RIPPLE);
    carry = to_next_lane(carry);
    EACH_OF_WIDTH(width, RIPPLE);
    ones[0] = 0xff;
    EACH_OF_WIDTH(width, ONES);
    into = (ones[width] + 2 * nonzero_lanes(carry)) ^ ones[width];
    EACH_OF_WIDTH(width, STORE);
#undef RIPPLE
#undef ONES
#undef STORE
}

/* r = 2 a, less 2n' if that is not negative, in registers. A digit of 2 a takes the highest bit
 * of the one below it, so no carry runs there; carries of the difference are those of
 * normalize_sums. minus_two: -2n'. */
EVC_INLINE void double_in_registers(uint8_t *r, const uint8_t *a, const uint8_t *minus_two,
                                    int width)
{
    struct upper x, t;
    vec carry = v_zero, one = v_one, below, keep;
    uint32_t ones[MOST_WIDTH + 1], overflow, into;

    __asm__("" : "+v"(one));
    load_columns(&x, a, width);
    below = to_next_lane(x.column[width - 1]);
#define DOUBLE(i)                                                                                  \
    {                                                                                              \
        const vec digits = x.column[i];                                                            \
        x.column[i] = double_digits(digits, below);                                                \
        below = digits;                                                                            \
    }
#define SUBTRACT(i)                                                                                \
    t.column[i] = v_add(v_add(x.column[i], v_load(at_const(minus_two, i))), carry);                \
    carry = _mm512_srli_epi64(t.column[i], DIGIT_BITS);                                            \
    t.column[i] = _mm512_and_si512(t.column[i], v_digits);
#define ONES(i) ones[i + 1] = ones[i] & (uint32_t)_mm512_cmpeq_epi64_mask(t.column[i], v_digits);
#define CHOOSE(i)                                                                              \
    t.column[i] = v_add(t.column[i], _mm512_maskz_mov_epi64((__mmask8)(into & ones[i]), one)); \
    v_store(at(r, i), _mm512_ternarylogic_epi64(keep, x.column[i],                             \
                                                _mm512_and_si512(t.column[i], v_digits), 0xca));
    EACH_OF_WIDTH(width, DOUBLE);
    EACH_OF_WIDTH(width, SUBTRACT);
    ones[0] = 0xff;
    EACH_OF_WIDTH(width, ONES);
    overflow = nonzero_lanes(carry);
    into = (ones[width] + 2 * overflow) ^ ones[width];
    keep = _mm512_set1_epi64((long long)(into >> 8 & 1) - 1);
    EACH_OF_WIDTH(width, CHOOSE);
#undef DOUBLE
#undef SUBTRACT
#undef ONES
#undef CHOOSE
}

/* s->x = the digits of x. */
EVC_INLINE void take_number(const struct side *s, struct blocks *x, int width)
{
#define JOIN(i) \
    x->columns.column[i] = v_add(x->columns.column[i], to_next_lane(x->above.column[i]));
    load_above(x, s, width);
    EACH_OF_WIDTH(width, JOIN);
    store_number(s->x, &x->columns, width);
#undef JOIN
}

EVC_INLINE void product_in_registers(const struct side *s, const void *a, const uint8_t *b,
                                     int width, uint32_t turns)
{
    struct blocks x;

    first_block(&x, s, a, b, width);
    for (uint32_t turn = 1; turn < turns; turn++)
        turn_in_registers(&x, s, a, b + 8 * turn, width);
    turn_in_registers(&x, s, a, NULL, width);
    take_number(s, &x, width);
}

/* The same of two moduli, turn by turn, so that one's vectors are multiplied while the
 * other's digits are made. */
EVC_INLINE void two_in_registers(const struct side *s, const void *const a[2],
                                 const uint8_t *const b[2], int width, uint32_t turns)
{
    struct blocks x, y;

    first_block(&x, &s[0], a[0], b[0], width);
    first_block(&y, &s[1], a[1], b[1], width);
    for (uint32_t turn = 1; turn < turns; turn++) {
        turn_in_registers(&x, &s[0], a[0], b[0] + 8 * turn, width);
        turn_in_registers(&y, &s[1], a[1], b[1] + 8 * turn, width);
    }
    turn_in_registers(&x, &s[0], a[0], NULL, width);
    take_number(&s[0], &x, width);
    turn_in_registers(&y, &s[1], a[1], NULL, width);
    take_number(&s[1], &y, width);
}

/* ---- Turns of several panels ----------------------------------------------------------------- */

/* m = the digits of the lowest block of x; returns the carry out of that. */
EVC_INLINE vec take_digits(const struct side *s, uint32_t vectors)
{
    vec carry = v_zero;

    for (uint32_t v = 0; v < vectors; v++) {
        const vec digit = v_add(v_load(at(s->x, v)), carry);

        carry = _mm512_srli_epi64(digit, DIGIT_BITS);
        v_store(at(s->m, v), digit);
    }
    return lowest_lane_of(carry);
}

/* Adds column k of panels of x and y. */
EVC_INLINE void add_panels(struct sums *s, const uint8_t *x, const uint8_t *y, int k, int width,
                           int panels)
{
    for (int i = k < panels ? 0 : k - panels + 1; i < panels && i <= k; i++)
        add_panel(s, at_const(x, (size_t)(width * i)), ONE_DIGIT,
                  at_const(y, (size_t)(width * (k - i))), width);
}

/* x = (x + m n') / D, and a times the block at b. b = NULL: nothing more. is_first: x is 0. */
EVC_INLINE void turn_in_memory(const struct side *s, const void *a, const uint8_t *b, int is_first,
                               int width, int panels)
{
    const vec carry = take_digits(s, (uint32_t)(width * panels));
    struct upper lower, above;

    upper_clear(&above);
    for (int k = 0; k < 2 * panels - 1; k++) {
        struct sums t;

        sums_clear(&t);
        if (b)
            add_panels(&t, a, b, k, width, panels);
        if (!is_first)
            add_panels(&t, s->factor, s->m, k, width, panels);
        take_columns(&lower, &above, &t, width);
#define PART(of, k, i) at(of, (size_t)(width * (k) + i))
#define JOIN(i)                    \
    v_store(PART(s->x, k, i),      \
            v_add(lower.column[i], \
                  v_add(to_lane_before(v_load(PART(s->x, k, i))), v_load(PART(s->above, k, i)))));
#define STORE(i) v_store(PART(s->above, k - panels, i), lower.column[i]);
        if (k < panels)
            EACH_OF_WIDTH(width, JOIN);
        else
            EACH_OF_WIDTH(width, STORE);
#undef STORE
#undef JOIN
    }
#define STORE(i) v_store(PART(s->above, panels - 1, i), above.column[i]);
    EACH_OF_WIDTH(width, STORE);
#undef STORE
#undef PART
    v_store(s->x, v_add(v_load(s->x), carry));
}

EVC_INLINE void product_in_memory(const struct side *s, const void *a, const uint8_t *b, int width,
                                  int panels, uint32_t turns)
{
    const uint32_t vectors = (uint32_t)(width * panels);

    clear_vectors(s->x, vectors);
    clear_vectors(s->above, vectors);
    for (uint32_t turn = 0; turn < turns; turn++)
        turn_in_memory(s, a, b + 8 * turn, turn == 0, width, panels);
    turn_in_memory(s, a, NULL, 0, width, panels);
    for (uint32_t v = 0; v < vectors; v++)
        v_store(at(s->x, v), v_add(v_load(at(s->x, v)), to_next_lane(v_load(at(s->above, v)))));
    normalize(s->x, vectors);
}

/* ---- Products -------------------------------------------------------------------------------- */

/* s->x = a b / R, of one side or of two. A function for each width, for the sake of size. */
#define DEFINE_OF_WIDTH(width)                                                     \
    EVC_OUT_OF_LINE void one_of_width_##width(const struct side *s, const void *a, \
                                              const uint8_t *b, uint32_t turns)    \
    {                                                                              \
        product_in_registers(s, a, b, width, turns);                               \
    }
#define DEFINE_OF_PANELS(width)                                                                \
    EVC_OUT_OF_LINE void panels_of_width_##width(const struct side *s, const void *a,          \
                                                 const uint8_t *b, int panels, uint32_t turns) \
    {                                                                                          \
        product_in_memory(s, a, b, width, panels, turns);                                      \
    }
DEFINE_OF_WIDTH(1)
DEFINE_OF_WIDTH(2)
DEFINE_OF_WIDTH(3)
DEFINE_OF_WIDTH(4)
DEFINE_OF_WIDTH(5)
DEFINE_OF_WIDTH(6)
DEFINE_OF_PANELS(4)
DEFINE_OF_PANELS(5)
DEFINE_OF_PANELS(6)
#undef DEFINE_OF_WIDTH
#undef DEFINE_OF_PANELS

static void one_product(const struct side *s, const void *a, const uint8_t *b, uint32_t vectors,
                        uint32_t turns)
{
    switch (vectors) {
    case 1: one_of_width_1(s, a, b, turns); break;
    case 2: one_of_width_2(s, a, b, turns); break;
    case 3: one_of_width_3(s, a, b, turns); break;
    case 4: one_of_width_4(s, a, b, turns); break;
    case 5: one_of_width_5(s, a, b, turns); break;
    case 6: one_of_width_6(s, a, b, turns); break;
    default:
        if (width_for(vectors) == 4)
            panels_of_width_4(s, a, b, (int)vectors / 4, turns);
        else if (width_for(vectors) == 5)
            panels_of_width_5(s, a, b, (int)vectors / 5, turns);
        else
            panels_of_width_6(s, a, b, (int)vectors / 6, turns);
    }
}

/* r = 2 a, less 2n' if that is not negative: numbers of up to 6 vectors. */
#define DEFINE_OF_WIDTH(width)                                                 \
    EVC_OUT_OF_LINE void double_of_width_##width(uint8_t *r, const uint8_t *a, \
                                                 const uint8_t *minus_two)     \
    {                                                                          \
        double_in_registers(r, a, minus_two, width);                           \
    }
DEFINE_OF_WIDTH(1)
DEFINE_OF_WIDTH(2)
DEFINE_OF_WIDTH(3)
DEFINE_OF_WIDTH(4)
DEFINE_OF_WIDTH(5)
DEFINE_OF_WIDTH(6)
#undef DEFINE_OF_WIDTH

static void double_short(uint8_t *r, const uint8_t *a, const uint8_t *minus_two, uint32_t vectors)
{
    switch (vectors) {
    case 1: double_of_width_1(r, a, minus_two); break;
    case 2: double_of_width_2(r, a, minus_two); break;
    case 3: double_of_width_3(r, a, minus_two); break;
    case 4: double_of_width_4(r, a, minus_two); break;
    case 5: double_of_width_5(r, a, minus_two); break;
    default: double_of_width_6(r, a, minus_two);
    }
}

/* Two numbers of one vector each, as longer ones are multiplied in halves of vectors
 * (ifma_rows.h, ifma_pair.h). */
EVC_OUT_OF_LINE void two_products(const struct side *s, const void *const a[2],
                                  const uint8_t *const b[2], uint32_t turns)
{
    two_in_registers(s, a, b, 1, turns);
}

EVC_ISA_END

#endif
