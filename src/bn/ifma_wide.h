/* SPDX-License-Identifier: MIT */
/*
 * Montgomery products modulo one number, or two side by side, in vectors of 512 bits.
 *
 * A number is V vectors of digits. Lane j of vector v is digit j V + v: a lane is a block of V digits. A turn adds
 * a times one block of b, of which each digit goes to all lanes, and then the multiple of n that makes the lowest block
 * zero, and moves all down by a block, which is one lane. So digits of one weight meet without a shift, and the carries
 * between lanes wait until the end. The V digits of the multiple of n come from the lowest lane alone, by mulx.
 *
 * Numbers are below 2n, and R = 2^(52 V turns) is above 4n: so a b / R + n is below 2n again.
 *
 * Source: Walter: Montgomery's multiplication technique: how to make it smaller and faster, CHES 1999, for R above 4n;
 *         Gueron, Krasnov: Software implementation of modular exponentiation, using advanced vector instructions
 *         architectures, WAIFI 2012, for redundant digits in vectors.
 */
#ifndef EVC_BN_IFMA_WIDE_H
#define EVC_BN_IFMA_WIDE_H

#include "bn/ifma_steps.h"

__extension__ typedef unsigned __int128 wide;

#define SHIFT (64 - DIGIT_BITS)

EVC_ISA_BEGIN(X86_IFMA)

/* ---- Shapes ------------------------------------------------------------------------------------------- */

/* Vectors of a number are panels of 1 to 5; sizes between need no panel of another width. */
EVC_INLINE uint32_t vectors_for(size_t n_bytes)
{
    static const uint8_t sizes[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 20};
    const size_t lane_digits = (8 * n_bytes + 2 + DIGIT_BITS * LANES - 1) / (DIGIT_BITS * LANES);
    size_t i = 0;

    while (sizes[i] < lane_digits)
        i++;
    return sizes[i];
}

EVC_INLINE int width_for(uint32_t vectors)
{
    return vectors <= 5 ? (int)vectors : vectors % 5 == 0 ? 5 : vectors % 4 == 0 ? 4 : 3;
}

/* Turns of a product: 52 V bits each. */
EVC_INLINE uint32_t turns_for(size_t n_bytes, uint32_t vectors)
{
    return (uint32_t)((8 * n_bytes + 2 + DIGIT_BITS * vectors - 1) / (DIGIT_BITS * vectors));
}

/* The word of 64 bits that holds digit i. */
EVC_INLINE size_t word_of(size_t i, uint32_t vectors)
{
    return i % vectors * LANES + i / vectors;
}

/* ---- Carries ------------------------------------------------------------------------------------------- */

/* Adds carry to each lane of x[0] and lets it run through the vectors; returns what leaves each lane. */
EVC_INLINE vec ripple(void *x, vec carry, uint32_t vectors)
{
    for (uint32_t v = 0; v < vectors; v++) {
        const vec sum = v_add(v_load(at(x, v)), carry);

        v_store(at(x, v), _mm512_and_si512(sum, v_digits));
        carry = _mm512_srli_epi64(sum, DIGIT_BITS);
    }
    return carry;
}

EVC_INLINE vec to_next_lane(vec x)
{
    return _mm512_alignr_epi64(x, v_zero, LANES - 1);
}

EVC_INLINE vec to_lane_before(vec x)
{
    return _mm512_alignr_epi64(v_zero, x, 1);
}

/* Lanes that are not 0. */
EVC_INLINE uint32_t nonzero_lanes(vec x)
{
    return (uint32_t)_mm512_test_epi64_mask(x, x);
}

/* Makes digits of columns below 2^63. Returns 1 if the number is beyond the highest lane, which loses that carry.
 * First, carries of any size move to the next lane. What they cause there is a carry of 1 from lanes that overflow,
 * and it passes through lanes that are all ones: as in the sum of two numbers of 8 bits. */
EVC_INLINE uint32_t normalize(void *x, uint32_t vectors)
{
    const vec first = ripple(x, v_zero, vectors), second = ripple(x, to_next_lane(first), vectors);
    const uint32_t overflow = nonzero_lanes(second);
    uint32_t ones = 0xff, into;

    for (uint32_t v = 0; v < vectors; v++)
        ones &= (uint32_t)_mm512_cmpeq_epi64_mask(v_load(at(x, v)), v_digits);
    into = (ones + 2 * overflow) ^ ones;
    ripple(x, _mm512_maskz_set1_epi64((__mmask8)into, 1), vectors);
    return (into >> 8 | nonzero_lanes(first) >> 7) & 1;
}

/* ---- Turns --------------------------------------------------------------------------------------------- */

/* One modulus, and memory of its products, aligned to 64. */
struct side {
    uint8_t *n, *x, *y, *m; /* vectors: V, V, 4 V, V */
    uint64_t k0;
};

#define SIDE_VECTORS 7 /* V of them */

EVC_INLINE uint8_t *place_side(struct side *s, uint8_t *memory, uint32_t vectors)
{
    s->n = memory;
    s->x = at(memory, vectors);
    s->m = at(memory, 2 * vectors);
    s->y = at(memory, 3 * vectors);
    return at(memory, SIDE_VECTORS * vectors);
}

EVC_INLINE uint64_t lowest_lane(const void *x, size_t i)
{
    return evc_load64_ne(at_const(x, i));
}

/* y = a times the block of digits at b. */
EVC_INLINE void multiply_panels(uint8_t *y, const void *a, const uint8_t *b, int width, int panels)
{
    struct upper lower, above;

    upper_clear(&above);
    for (int k = 0; k < 2 * panels - 1; k++) {
        struct sums s;

        sums_clear(&s);
        for (int i = k < panels ? 0 : k - panels + 1; i < panels && i <= k; i++)
            add_panel(&s, at_const(a, (size_t)(width * i)), ONE_DIGIT, at_const(b, (size_t)(width * (k - i))), width);
        take_columns(&lower, &above, &s, width);
#define STORE(i) v_store(at(y, (size_t)(width * k + i)), lower.column[i]);
        EACH_OF_WIDTH(width, STORE);
#undef STORE
    }
#define STORE(i) v_store(at(y, (size_t)(width * (2 * panels - 1) + i)), above.column[i]);
    EACH_OF_WIDTH(width, STORE);
#undef STORE
}

/* The lower half of a product, and the upper half of the one with the digit below. shifted: the first factor, times
 * 2^12, so that the upper half is the upper word. */
EVC_INLINE uint64_t halves(uint64_t shifted, uint64_t y, uint64_t y_below)
{
    return (shifted * y >> SHIFT) + (uint64_t)((wide)shifted * y_below >> 64);
}

/* Makes digit v of a block of m of its column, which has all but the carry. The lower half of m[v] n[0] is what makes
 * the column a multiple of 2^52: so the next carry is its quotient, rounded up. */
EVC_INLINE uint64_t digit_of_multiple(const struct side *s, size_t v, uint64_t column, uint64_t k0_shifted,
                                      uint64_t *carry)
{
    const uint64_t shifted = (column + *carry) * k0_shifted;

    evc_store64_ne(at(s->m, v), shifted >> SHIFT);
    *carry = (column + *carry + DIGIT_MASK) >> DIGIT_BITS;
    return shifted;
}

/* The digits m with which m n + x + y has a lowest block of zeros; returns the carry out of that block, without the
 * upper halves of products that belong to the next one. Columns are below 2^63. */
EVC_INLINE uint64_t block_in_memory(const struct side *s, const uint8_t *y, size_t vectors)
{
    const uint8_t *const n = s->n, *const x = s->x, *const m = s->m;
    const uint64_t k0 = s->k0 << SHIFT;
    uint64_t carry = 0;

    for (size_t v = 0; v < vectors; v++) {
        uint64_t column = lowest_lane(x, v) + lowest_lane(y, v);

        for (size_t u = 0; u < v; u++)
            column += halves(lowest_lane(m, u) << SHIFT, lowest_lane(n, v - u), lowest_lane(n, v - u - 1));
        digit_of_multiple(s, v, column, k0, &carry);
    }
    return carry;
}

/* The same of one panel, in registers. */
EVC_INLINE uint64_t block_in_registers(const struct side *s, const uint8_t *y, int width)
{
    const uint64_t k0 = s->k0 << SHIFT;
    uint64_t n[MOST_WIDTH], column[MOST_WIDTH], carry = 0, shifted;

#define LOAD(v)                                                                                    \
    n[v] = lowest_lane(s->n, v);                                                                   \
    column[v] = lowest_lane(s->x, v) + lowest_lane(y, v);
#define ADD_TO(v, u)                                                                               \
    if ((v) < width)                                                                               \
        column[(v) < MOST_WIDTH ? (v) : 0] +=                                                      \
            halves(shifted, n[(v) < MOST_WIDTH ? (v) - (u) : 0], n[(v) < MOST_WIDTH ? (v) - (u) - 1 : 0]);
#define DIGIT(v)                                                                                   \
    shifted = digit_of_multiple(s, v, column[v], k0, &carry);                                      \
    ADD_TO(v + 1, v) ADD_TO(v + 2, v) ADD_TO(v + 3, v) ADD_TO(v + 4, v)
    EACH_OF_WIDTH(width, LOAD);
    EACH_OF_WIDTH(width, DIGIT);
#undef LOAD
#undef ADD_TO
#undef DIGIT
    return carry;
}

EVC_INLINE uint64_t block_of_multiple(const struct side *s, const uint8_t *y, int width, int panels)
{
    return panels == 1 ? block_in_registers(s, y, width) : block_in_memory(s, y, (size_t)(width * panels));
}

/* x = (x + y + m n) / 2^(52 V). */
EVC_INLINE void add_panels_of_multiple(const struct side *s, const uint8_t *y, uint64_t carry, int width, int panels)
{
    struct upper lower, above;

    upper_clear(&above);
    for (int k = 0; k < 2 * panels - 1; k++) {
        struct sums t;

        sums_clear(&t);
        for (int i = k < panels ? 0 : k - panels + 1; i < panels && i <= k; i++)
            add_panel(&t, at_const(s->n, (size_t)(width * i)), ONE_DIGIT, at_const(s->m, (size_t)(width * (k - i))),
                      width);
        take_columns(&lower, &above, &t, width);
#define COLUMN(i) v_add(lower.column[i], v_load(at_const(y, (size_t)(width * k + i))))
#define DOWN(i)                                                                                    \
    v_store(at(s->x, (size_t)(width * k + i)),                                                     \
            to_lane_before(v_add(COLUMN(i), v_load(at_const(s->x, (size_t)(width * k + i))))));
#define ADD(i)                                                                                     \
    v_store(at(s->x, (size_t)(width * (k - panels) + i)),                                          \
            v_add(COLUMN(i), v_load(at_const(s->x, (size_t)(width * (k - panels) + i)))));
        if (k < panels)
            EACH_OF_WIDTH(width, DOWN);
        else
            EACH_OF_WIDTH(width, ADD);
    }
    {
        const int k = 2 * panels - 1;

        lower = above;
        EACH_OF_WIDTH(width, ADD);
    }
#undef COLUMN
#undef DOWN
#undef ADD
    v_store(s->x, v_add(v_load(s->x), _mm512_maskz_set1_epi64(1, (long long)carry)));
}

/* Both of several panels: functions of their own, for the sake of size. */
#define DEFINE_OF_WIDTH(width)                                                                     \
    EVC_OUT_OF_LINE void multiply_block_##width(uint8_t *y, const void *a, const uint8_t *b, int panels)            \
    {                                                                                              \
        multiply_panels(y, a, b, width, panels);                                                   \
    }                                                                                              \
    EVC_OUT_OF_LINE void add_multiple_##width(const struct side *s, const uint8_t *y, uint64_t carry, int panels)   \
    {                                                                                              \
        add_panels_of_multiple(s, y, carry, width, panels);                                        \
    }
DEFINE_OF_WIDTH(3)
DEFINE_OF_WIDTH(4)
DEFINE_OF_WIDTH(5)
#undef DEFINE_OF_WIDTH

EVC_INLINE void multiply_block(uint8_t *y, const void *a, const uint8_t *b, int width, int panels)
{
    if (panels == 1)
        multiply_panels(y, a, b, width, 1);
    else if (width == 3)
        multiply_block_3(y, a, b, panels);
    else if (width == 4)
        multiply_block_4(y, a, b, panels);
    else
        multiply_block_5(y, a, b, panels);
}

EVC_INLINE void add_multiple(const struct side *s, const uint8_t *y, uint64_t carry, int width, int panels)
{
    if (panels == 1)
        add_panels_of_multiple(s, y, carry, width, 1);
    else if (width == 3)
        add_multiple_3(s, y, carry, panels);
    else if (width == 4)
        add_multiple_4(s, y, carry, panels);
    else
        add_multiple_5(s, y, carry, panels);
}

EVC_INLINE void clear_vectors(void *x, uint32_t vectors)
{
    for (uint32_t v = 0; v < vectors; v++)
        v_store(at(x, v), v_zero);
}

EVC_INLINE void copy_vectors(void *to, const void *from, uint32_t vectors)
{
    for (uint32_t v = 0; v < vectors; v++)
        v_store(at(to, v), v_load(at_const(from, v)));
}

/* s->x = a b / R. The next block of b is multiplied while the digits of the multiple of n are made. */
EVC_INLINE void one_product(const struct side *s, const void *a, const uint8_t *b, int width, int panels,
                            uint32_t turns)
{
    const uint32_t vectors = (uint32_t)(width * panels);
    uint8_t *y = s->y, *next = at(s->y, 2 * vectors);

    clear_vectors(s->x, vectors);
    multiply_block(y, a, b, width, panels);
    for (uint32_t turn = 1; turn <= turns; turn++) {
        const uint64_t carry = block_of_multiple(s, y, width, panels);
        uint8_t *const now = y;

        if (turn < turns)
            multiply_block(next, a, b + 8 * turn, width, panels);
        add_multiple(s, now, carry, width, panels);
        y = next;
        next = now;
    }
    normalize(s->x, vectors);
}

/* The same of two moduli, one half a turn behind the other, so that vectors are multiplied while mulx is waited for. */
EVC_INLINE void two_products(const struct side *s, const void *const a[2], const uint8_t *const b[2], int width,
                             int panels, uint32_t turns)
{
    const uint32_t vectors = (uint32_t)(width * panels);

    clear_vectors(s[0].x, vectors);
    clear_vectors(s[1].x, vectors);
    multiply_block(s[0].y, a[0], b[0], width, panels);
    for (uint32_t turn = 0; turn < turns; turn++) {
        uint64_t carry = block_of_multiple(&s[0], s[0].y, width, panels);

        multiply_block(s[1].y, a[1], b[1] + 8 * turn, width, panels);
        add_multiple(&s[0], s[0].y, carry, width, panels);
        carry = block_of_multiple(&s[1], s[1].y, width, panels);
        if (turn + 1 < turns)
            multiply_block(s[0].y, a[0], b[0] + 8 * (turn + 1), width, panels);
        add_multiple(&s[1], s[1].y, carry, width, panels);
    }
    normalize(s[0].x, vectors);
    normalize(s[1].x, vectors);
}

/* The statement with the width and the number of panels that these vectors have. */
#define FOR_VECTORS(vectors, CALL)                                                                 \
    do {                                                                                           \
        if ((vectors) == 1)                                                                        \
            CALL(1, 1);                                                                            \
        else if ((vectors) == 2)                                                                   \
            CALL(2, 1);                                                                            \
        else if ((vectors) == 3)                                                                   \
            CALL(3, 1);                                                                            \
        else if ((vectors) == 4)                                                                   \
            CALL(4, 1);                                                                            \
        else if ((vectors) == 5)                                                                   \
            CALL(5, 1);                                                                            \
        else if (width_for(vectors) == 3)                                                          \
            CALL(3, (int)(vectors) / 3);                                                           \
        else if (width_for(vectors) == 4)                                                          \
            CALL(4, (int)(vectors) / 4);                                                           \
        else                                                                                       \
            CALL(5, (int)(vectors) / 5);                                                           \
    } while (0)

EVC_ISA_END

#endif
