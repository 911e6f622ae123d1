/* SPDX-License-Identifier: MIT */
/*
 * Squares by columns, unrolled: a turn of the outer loops is eight columns, and a turn of a column
 * is eight products of the reduction and four of the square. The products beyond whole turns are a
 * constant number; no counter is kept for them. With few limbs they are most of a column.
 * columns_steps.h includes this.
 *
 * A column is summed apart from the one before it, and gets its rest and its digit
 * last, for they are late.
 */
#ifndef EVC_BN_UNROLLED_COLUMNS_H
#define EVC_BN_UNROLLED_COLUMNS_H

#define COLUMNS_IN_TURN 8

/* Adds x[0] y[0] + x[1] y[-1] + ..., count products: a constant of at most 8. */
EVC_INLINE void add_few(struct column *c, const limb *x, const limb *y, size_t count)
{
    if (count > 0)
        add_product(c, x[0], y[0]);
    if (count > 1)
        add_product(c, x[1], y[-1]);
    if (count > 2)
        add_product(c, x[2], y[-2]);
    if (count > 3)
        add_product(c, x[3], y[-3]);
    if (count > 4)
        add_product(c, x[4], y[-4]);
    if (count > 5)
        add_product(c, x[5], y[-5]);
    if (count > 6)
        add_product(c, x[6], y[-6]);
    if (count > 7)
        add_product(c, x[7], y[-7]);
}

/* The same for turns * in_turn + few products; in_turn and few are constants. */
EVC_INLINE void add_turns(struct column *c, const limb *x, const limb *y, size_t turns,
                          size_t in_turn, size_t few)
{
    for (; turns; turns--, x += in_turn, y -= in_turn)
        add_few(c, x, y, in_turn);
    add_few(c, x, y, few);
}

EVC_INLINE void double_column(struct column *c)
{
    c->high += c->high;
    add_to_column(c, (wide)c->middle << LIMB_BITS | c->low);
}

struct square {
    const limb *a, *n;
    limb *digit, *t; /* the multiple of n, and the upper half of the sum */
    limb n0;
    size_t limbs;
};

/* The digit that makes column c zero, which becomes the next one. */
EVC_INLINE limb end_lower(struct column *c, const struct square *s)
{
    const limb digit = (limb)((wide)column_limb(c) * s->n0);

    add_product(c, digit, s->n[0]);
    take_limb(c); /* 0 */
    return digit;
}

/* Column i = 8 turns + rest of the lower half, with rest from 1 to 8: products of limbs
 * whose places add up to i. *c: the rest of the column before it, whose digit is newest.
 * Returns its own digit. */
EVC_INLINE limb lower_column(struct column *c, const struct square *s, size_t turns, size_t rest,
                             limb newest)
{
    const size_t i = COLUMNS_IN_TURN * turns + rest;
    struct column sum = {0};

    add_turns(&sum, s->a, s->a + i, turns, 4, (rest + 1) / 2);
    double_column(&sum);
    if (rest % 2 == 0)
        add_product(&sum, s->a[i / 2], s->a[i / 2]);
    add_turns(&sum, s->digit, s->n + i, turns, 8, rest - 1);
    add_rest(&sum, c);
    add_product(&sum, newest, s->n[1]);
    newest = s->digit[i] = end_lower(&sum, s);
    *c = sum;
    return newest;
}

/* The column of the upper half to which count = 8 turns + rest limbs of each number belong,
 * with rest from 0 to 7. */
EVC_INLINE void upper_column(struct column *c, const struct square *s, size_t turns, size_t rest)
{
    const size_t count = COLUMNS_IN_TURN * turns + rest, first = s->limbs - count,
                 last = s->limbs - 1;
    struct column sum = {0};

    add_turns(&sum, s->a + first, s->a + last, turns, 4, rest / 2);
    double_column(&sum);
    if (rest % 2 == 1)
        add_product(&sum, s->a[first + count / 2], s->a[first + count / 2]);
    add_turns(&sum, s->digit + first, s->n + last, turns, 8, rest);
    add_rest(&sum, c);
    s->t[first - 1] = take_limb(&sum);
    *c = sum;
}

#define LOWER(rest)                                 \
    if (COLUMNS_IN_TURN * turns + (rest) < s.limbs) \
    newest = lower_column(&c, &s, turns, rest, newest)

#define UPPER(rest)                                 \
    if (COLUMNS_IN_TURN * turns + (rest) < s.limbs) \
    upper_column(&c, &s, turns, rest)

EVC_OUT_OF_LINE void sqr_unrolled(const void *key, limb *r, const limb *a, void *scratch)
{
    const size_t limbs = limbs_for(evc_bn_n_bytes(key));
    const struct private_part *p = private_part(key);
    const struct square s = {a, p->n, scratch, (limb *)scratch + limbs, p->n0, limbs};
    struct column c = {0};
    limb newest;

    add_product(&c, a[0], a[0]);
    newest = s.digit[0] = end_lower(&c, &s);
    for (size_t turns = 0; COLUMNS_IN_TURN * turns + 1 < limbs; turns++) {
        LOWER(1);
        LOWER(2);
        LOWER(3);
        LOWER(4);
        LOWER(5);
        LOWER(6);
        LOWER(7);
        LOWER(8);
    }
    for (size_t turns = limbs / COLUMNS_IN_TURN + 1; turns-- > 0;) {
        UPPER(7);
        UPPER(6);
        UPPER(5);
        UPPER(4);
        UPPER(3);
        UPPER(2);
        UPPER(1);
        UPPER(0);
    }
    subtract_modulus(r, s.t, column_limb(&c), p->n, s.digit, limbs);
}

#undef LOWER
#undef UPPER

#endif
