/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication by columns (product scanning), for limbs of any width. A kernel defines
 * LIMB_BITS, which is 64, 32 or 16, and includes this. BN_COLUMNS_SLOTS are the slots of its
 * descriptor then, and `clear` is its clear.
 *
 * A column is the sum of all products of one weight. It is kept in three limbs, so that no carry
 * runs along the number (where a register holds two limbs, two of them share one);
 * the reduction adds its products to the same columns. A square sums each cross product once; the
 * reduction then adds them doubled, and the squares of the limbs.
 *
 * Every loop has a count that follows from the length of the modulus alone.
 */
#ifndef EVC_BN_COLUMNS_STEPS_H
#define EVC_BN_COLUMNS_STEPS_H

#include "bn/limbs_steps.h"

#include "common/carry.h"

/* ---- Columns --------------------------------------------------------------------------------- */

/* Whether two limbs fit into a register. */
#define COLUMN_OF_WIDE (LIMB_BITS == 16 || (LIMB_BITS == 32 && EVC_WORD64))

#if COLUMN_OF_WIDE

/* A column: its limb and the next one, and what goes to the third. */
struct column {
    wide low;
    limb high;
};

/* Vectors are worse at carries, so `high` is kept in its register. */
EVC_INLINE void add_to_column(struct column *c, wide product)
{
    c->low += product;
    c->high = (limb)(c->high + (c->low < product));
    EVC_KEEP(c->high);
}

EVC_INLINE limb column_limb(const struct column *c)
{
    return (limb)c->low;
}

/* The column's limb; the column becomes the next one. */
EVC_INLINE limb take_limb(struct column *c)
{
    const limb taken = (limb)c->low;

    c->low = c->low >> LIMB_BITS | (wide)c->high << LIMB_BITS;
    c->high = 0;
    return taken;
}

/* Adds to a column what take_limb has left of another one. */
EVC_INLINE void add_rest(struct column *c, const struct column *rest)
{
    add_to_column(c, rest->low);
}

#else

/* A column: its limb, and those above it. */
struct column {
    limb low, middle, high;
};

/* Each comparison is of one register. To compare two, many compilers branch, which takes a time
 * that depends on the sum: GCC 7, GCC since 13, and others where a CPU has no flags. The product
 * and a carry fit into two limbs:
 * (B - 1)^2 + 1 < B^2, with B = 2^LIMB_BITS. */
EVC_INLINE void add_to_column(struct column *c, wide product)
{
    const limb lower = (limb)product;
    limb upper = (limb)(product >> LIMB_BITS);

#if defined(EVC_ADD_TWO_WORDS)
    EVC_ADD_TWO_WORDS(c->low, c->middle, c->high, lower, upper);
#else
    c->low += lower;
    upper += c->low < lower;
    c->middle += upper;
    c->high += c->middle < upper;
    EVC_KEEP(c->high);
#endif
}

EVC_INLINE limb column_limb(const struct column *c)
{
    return c->low;
}

EVC_INLINE limb take_limb(struct column *c)
{
    const limb taken = c->low;

    c->low = c->middle;
    c->middle = c->high;
    c->high = 0;
    return taken;
}

EVC_INLINE void add_rest(struct column *c, const struct column *rest)
{
    add_to_column(c, (wide)rest->middle << LIMB_BITS | rest->low);
}

#endif

EVC_INLINE void add_product(struct column *c, limb x, limb y)
{
/* the compiler's type of double width is moved between pairs of registers */
#if defined(__s390x__) && LIMB_BITS == 64
    register limb lower __asm__("r1") = x;
    register limb upper __asm__("r0");

    __asm__(
        "mlgr %%r0, %[y]\n\talgr %[low], %%r1\n\talcgr %[middle], %%r0\n\talcgr %[high], %[zero]"
        : [low] "+&d"(c->low), [middle] "+&d"(c->middle), [high] "+&d"(c->high), "+&d"(lower),
          "=&d"(upper)
        : [y] "d"(y), [zero] "d"((limb)0)
        : "cc");
#else
    add_to_column(c, (wide)x * y);
#endif
}

/* Sums of two columns at once, of squares, need registers for six limbs and a product: x86 has
 * seven in all, m68k eight for data, and Arm fourteen for all. Sums of products of four numbers
 * need four addresses besides, for which x86 has no registers. */
#define FEW_REGISTERS (EVC_X86 && !EVC_WORD64 && LIMB_BITS == 32)
#if (defined(__m68k__) || EVC_A32) && LIMB_BITS == 32
#define ONE_COLUMN_AT_A_TIME 1
#else
#define ONE_COLUMN_AT_A_TIME FEW_REGISTERS
#endif

#if ONE_COLUMN_AT_A_TIME

/* Adds x[0] y[-1] + x[1] y[-2] + ..., count products. */
EVC_INLINE void add_products(struct column *c, const limb *x, const limb *y, size_t count)
{
    struct column sum = *c;

    if (count & 1)
        add_product(&sum, *x++, *--y);
    if (count & 2) {
        add_product(&sum, x[0], y[-1]);
        add_product(&sum, x[1], y[-2]);
        x += 2, y -= 2;
    }
    for (count /= 4; count; count--, x += 4, y -= 4) {
        add_product(&sum, x[0], y[-1]);
        add_product(&sum, x[1], y[-2]);
        add_product(&sum, x[2], y[-3]);
        add_product(&sum, x[3], y[-4]);
    }
    *c = sum;
}

#endif

#if FEW_REGISTERS

/* Adds x[0] y[-1] + x[1] y[-2] + ... and u[0] v[-1] + u[1] v[-2] + ..., count products of each. */
EVC_INLINE void add_products_of_two(struct column *c, const limb *x, const limb *y, const limb *u,
                                    const limb *v, size_t count)
{
    add_products(c, x, y, count);
    add_products(c, u, v, count);
}

#else

/* Adds x[0] y[-1] + u[0] v[-1] + x[1] y[-2] + u[1] v[-2] + ..., twice so many products. */
EVC_INLINE void add_products_of_two(struct column *c, const limb *x, const limb *y, const limb *u,
                                    const limb *v, size_t count)
{
    struct column sum = *c;

    if (count & 1) {
        add_product(&sum, *x++, *--y);
        add_product(&sum, *u++, *--v);
    }
    if (count & 2) {
        add_product(&sum, x[0], y[-1]);
        add_product(&sum, u[0], v[-1]);
        add_product(&sum, x[1], y[-2]);
        add_product(&sum, u[1], v[-2]);
        x += 2, y -= 2, u += 2, v -= 2;
    }
    for (count /= 4; count; count--, x += 4, y -= 4, u += 4, v -= 4) {
        add_product(&sum, x[0], y[-1]);
        add_product(&sum, u[0], v[-1]);
        add_product(&sum, x[1], y[-2]);
        add_product(&sum, u[1], v[-2]);
        add_product(&sum, x[2], y[-3]);
        add_product(&sum, u[2], v[-3]);
        add_product(&sum, x[3], y[-4]);
        add_product(&sum, u[3], v[-4]);
    }
    *c = sum;
}

#endif

static void mul(const void *key, void *r, const void *va, const void *vb, void *scratch)
{
    const size_t limbs = limbs_for(evc_bn_n_bytes(key));
    const struct private_part *p = private_part(key);
    const limb *a = va, *b = vb;
    limb *const digit = scratch, *const t = digit + limbs;
    struct column c = {0};

    for (size_t i = 0; i < limbs; i++) {
        add_products_of_two(&c, a, b + i + 1, digit, p->n + i + 1, i);
        add_product(&c, a[i], b[0]);
        digit[i] = (limb)((wide)column_limb(&c) * p->n0);
        add_product(&c, digit[i], p->n[0]);
        take_limb(&c); /* 0 */
    }
    for (size_t i = limbs; i < 2 * limbs - 1; i++) {
        const size_t first = i - limbs + 1;

        add_products_of_two(&c, a + first, b + limbs, digit + first, p->n + limbs, limbs - first);
        t[i - limbs] = take_limb(&c);
    }
    t[limbs - 1] = take_limb(&c);
    subtract_modulus(r, t, column_limb(&c), p->n, digit, limbs);
}

/* Makes a column zero, whose limb is low, by a multiple of the modulus. */
EVC_INLINE limb next_digit(struct column *c, const struct private_part *p)
{
    const limb digit = (limb)((wide)column_limb(c) * p->n0);

    add_product(c, digit, p->n[0]);
    return digit;
}

#if ONE_COLUMN_AT_A_TIME

/* ---- Squares: one column at a time, for few registers ---------------------------------------- */

/* t = the sum of all products of two different limbs of a, each once: 2 limbs limbs. */
EVC_OUT_OF_LINE void cross_products(limb *t, const limb *a, size_t limbs)
{
    struct column c = {0};

    for (size_t i = 0; i < 2 * limbs; i++) {
        const size_t first = i < limbs ? 0 : i - limbs + 1, middle = (i + 1) / 2;

        if (first < middle)
            add_products(&c, a + first, a + i - first + 1, middle - first);
        t[i] = take_limb(&c);
    }
}

/* Adds column i of a^2: its cross products doubled, and the square of a limb if i is even. *above:
 * the bit that doubling has left. */
EVC_INLINE void add_square_column(struct column *c, const limb *t, const limb *a, size_t i,
                                  limb *above)
{
    add_to_column(c, (limb)(t[i] << 1 | *above));
    *above = (limb)(t[i] >> (LIMB_BITS - 1));
    if (i % 2 == 0)
        add_product(c, a[i / 2], a[i / 2]);
}

EVC_OUT_OF_LINE void sqr_long(const void *key, limb *r, const limb *a, void *scratch)
{
    const size_t limbs = limbs_for(evc_bn_n_bytes(key));
    const struct private_part *p = private_part(key);
    limb *const t = scratch, *const digit = t + 2 * limbs;
    struct column c = {0};
    limb above = 0;

    cross_products(t, a, limbs);
    for (size_t i = 0; i < limbs; i++) {
        add_square_column(&c, t, a, i, &above);
        add_products(&c, digit, p->n + i + 1, i);
        digit[i] = next_digit(&c, p);
        take_limb(&c); /* 0 */
    }
    for (size_t i = limbs; i < 2 * limbs; i++) {
        const size_t first = i - limbs + 1;

        add_square_column(&c, t, a, i, &above);
        if (first < limbs)
            add_products(&c, digit + first, p->n + limbs, limbs - first);
        t[i - limbs] = take_limb(&c);
    }
    subtract_modulus(r, t, column_limb(&c), p->n, t + limbs, limbs);
}

#else

/* ---- Squares: two columns at once, so that a limb is loaded for two products ----------------- */

/* A column and the next one. */
struct two_columns {
    struct column first, second;
};

/* Adds x[0] y[0] + x[1] y[-1] + ... to the first column, x[0] y[1] + x[1] y[0] + ... to the second:
 * count products to each. */
EVC_INLINE void add_to_two(struct two_columns *c, const limb *x, const limb *y, size_t count)
{
    struct column first = c->first, second = c->second;
    limb above;

    if (count == 0)
        return;
    above = y[1];
    if (count & 1) {
        add_product(&second, *x, above);
        above = *y--;
        add_product(&first, *x++, above);
    }
    if (count & 2) {
        add_product(&second, x[0], above);
        add_product(&first, x[0], y[0]);
        add_product(&second, x[1], y[0]);
        above = y[-1];
        add_product(&first, x[1], above);
        x += 2, y -= 2;
    }
    for (count /= 4; count; count--, x += 4, y -= 4) {
        add_product(&second, x[0], above);
        add_product(&first, x[0], y[0]);
        add_product(&second, x[1], y[0]);
        add_product(&first, x[1], y[-1]);
        add_product(&second, x[2], y[-1]);
        add_product(&first, x[2], y[-2]);
        add_product(&second, x[3], y[-2]);
        above = y[-3];
        add_product(&first, x[3], above);
    }
    c->first = first;
    c->second = second;
}

/* The limb of the first column, whose carry goes to the second. */
EVC_INLINE limb take_first(struct two_columns *c)
{
    const limb taken = take_limb(&c->first);

    add_rest(&c->second, &c->first);
    return taken;
}

/* The limb of the second column; the next one becomes the first. */
EVC_INLINE limb take_second(struct two_columns *c)
{
    const limb taken = take_limb(&c->second);

    c->first = c->second;
    c->second = (struct column){0};
    return taken;
}

/* t = the sum of all products of two different limbs of a, each once: 2 limbs limbs. The last is 0:
 * with B = 2^LIMB_BITS, the sum is at most (B^(2 limbs) - 1) / (B + 1), which is less than B^(2
 * limbs - 1). Out of line, as compilers have registers enough for one of the two passes. */
EVC_OUT_OF_LINE void cross_products(limb *t, const limb *a, size_t limbs)
{
    struct two_columns c = {{0}, {0}};

    for (size_t i = 0; i < 2 * limbs; i += 2) {
        size_t first = i < limbs ? 0 : i - limbs + 1;

        if (i + 1 >= limbs) { /* the second column has no product with this limb */
            if (first < i / 2)
                add_product(&c.first, a[first], a[i - first]);
            first++;
        }
        if (first < i / 2)
            add_to_two(&c, a + first, a + i - first, i / 2 - first);
        if (i / 2 + 1 < limbs)
            add_product(&c.second, a[i / 2], a[i / 2 + 1]);
        t[i] = take_first(&c);
        t[i + 1] = take_second(&c);
    }
}

/* Adds column i of a^2 and the next one, where i is even: cross products doubled, and the square of
 * a limb. *above: the bit that doubling has left. */
EVC_INLINE void add_square_columns(struct two_columns *c, const limb *t, const limb *a, size_t i,
                                   limb *above)
{
    add_to_column(&c->first, (limb)(t[i] << 1 | *above));
    add_product(&c->first, a[i / 2], a[i / 2]);
    add_to_column(&c->second, (limb)(t[i + 1] << 1 | t[i] >> (LIMB_BITS - 1)));
    *above = (limb)(t[i + 1] >> (LIMB_BITS - 1));
}

/* Out of line: with the other way inside, compilers run out of registers. */
EVC_OUT_OF_LINE void sqr_long(const void *key, limb *r, const limb *a, void *scratch)
{
    const size_t limbs = limbs_for(evc_bn_n_bytes(key));
    const struct private_part *p = private_part(key);
    limb *const t = scratch, *const digit = t + 2 * limbs;
    struct two_columns c = {{0}, {0}};
    limb above = 0;
    size_t i;

    cross_products(t, a, limbs);
    for (i = 0; i + 1 < limbs; i += 2) {
        add_square_columns(&c, t, a, i, &above);
        add_to_two(&c, digit, p->n + i, i);
        digit[i] = next_digit(&c.first, p);
        take_first(&c); /* 0 */
        add_product(&c.second, digit[i], p->n[1]);
        digit[i + 1] = next_digit(&c.second, p);
        take_second(&c); /* 0 */
    }
    if (limbs % 2 != 0) { /* the last digit, and the lowest limb of the result */
        add_square_columns(&c, t, a, i, &above);
        add_product(&c.first, digit[0], p->n[limbs - 1]);
        add_to_two(&c, digit + 1, p->n + limbs - 2, limbs - 2);
        digit[i] = next_digit(&c.first, p);
        take_first(&c); /* 0 */
        add_product(&c.second, digit[i], p->n[1]);
        t[0] = take_second(&c);
        i += 2;
    }
    for (; i < 2 * limbs; i += 2) {
        const size_t first = i - limbs + 1;

        add_square_columns(&c, t, a, i, &above);
        add_product(&c.first, digit[first], p->n[limbs - 1]);
        add_to_two(&c, digit + first + 1, p->n + limbs - 2, limbs - first - 1);
        t[i - limbs] = take_first(&c);
        t[i - limbs + 1] = take_second(&c);
    }
    subtract_modulus(r, t, column_limb(&c.first), p->n, t + limbs, limbs);
}

#endif

/* ---- Squares of all lengths ------------------------------------------------------------------ */

/* Unrolled columns load each limb for one product, which costs nothing where products take
 * operands from memory. Their code is long, and without optimisation each inlined call would
 * keep its own variables. */
#if LIMB_BITS == 64 && EVC_X86 && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)

#include "bn/unrolled_columns.h"

#define SHORT_LIMBS 5
/* Longer ones are not squared faster by unrolled columns than by two columns at once. */
#define UNROLLED_LIMBS 40

EVC_INLINE void sqr_not_short(const void *key, limb *r, const limb *a, void *scratch)
{
    if (limbs_for(evc_bn_n_bytes(key)) <= UNROLLED_LIMBS)
        sqr_unrolled(key, r, a, scratch);
    else
        sqr_long(key, r, a, scratch);
}

#else

#define SHORT_LIMBS 8
#define sqr_not_short sqr_long

#endif

/* Few limbs, SHORT_LIMBS at most, are squared faster by a product: passes over them
 * cost more than they save. */
static void sqr(const void *key, void *r, const void *a, void *scratch)
{
    if (limbs_for(evc_bn_n_bytes(key)) <= SHORT_LIMBS)
        mul(key, r, a, a, scratch);
    else
        sqr_not_short(key, r, a, scratch);
}

/* The slots of a descriptor, behind its head. */
#define BN_COLUMNS_SLOTS BN_LIMBS_SLOTS, .mul = mul, .sqr = sqr

#endif
