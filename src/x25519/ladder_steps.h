/* SPDX-License-Identifier: MIT */
/*
 * X25519 by the Montgomery ladder, for a field that a file defines before it includes this one:
 *   struct fe        an element of the integers modulo p = 2^255 - 19
 *   fe_load, fe_store        from 32 bytes, less than 2^255, least first; to less than p
 *   fe_set           to 0 or 1
 *   fe_add, fe_sub   of products or squares, of loaded elements, and of 0 and 1
 *   fe_mul, fe_square, fe_times_121665     of these, and of sums and differences
 *   fe_choose        sets an element to another one where the mask is all ones, and not where it
 *                    is 0
 *   fe_squares       optional macro: in^(2^n) for an even n
 *   ladder_of        optional macro: the steps of the ladder; then fe_add, fe_sub, fe_choose and
 *                    fe_times_121665 are not needed
 *   LITTLE_CODE      where bytes of code matter more than a tenth of the time
 *
 * Source: RFC 7748 section 5; Montgomery: Speeding the Pollard and elliptic curve methods of
 * factorization, Math. Comp. 48 (1987).
 */
struct ladder {
    struct fe x1, x2, z2, x3, z3, a, b, c, d;
};

#ifndef LITTLE_CODE
#ifndef fe_squares
/* out = in^(2^n) for an even n; out is not in. */
static void fe_squares(struct fe *out, const struct fe *in, uint32_t n)
{
    struct fe once;

    fe_square(&once, in);
    fe_square(out, &once);
    while (n -= 2) {
        fe_square(&once, out);
        fe_square(out, &once);
    }
}
#endif

/* out = in^(p - 2) = in^(2^255 - 21): the inverse; 0 of 0. out is not in. A name is the power. */
static void invert(struct fe *out, const struct fe *in)
{
    struct fe of_11, ones, once, t;

    fe_square(out, in);        /* 2 */
    fe_squares(&t, out, 2);  /* 8 */
    fe_mul(&ones, &t, in);     /* 9 */
    fe_mul(&of_11, &ones, out);
    fe_square(&t, &of_11);     /* 22 */
    fe_mul(out, &t, &ones);    /* 2^5 - 1 */
    fe_square(&ones, out);
    fe_squares(&t, &ones, 4);
    fe_mul(&ones, &t, out);    /* 2^10 - 1 */
    fe_squares(&t, &ones, 10);
    fe_mul(out, &t, &ones);    /* 2^20 - 1 */
    fe_squares(&t, out, 20);
    fe_mul(&once, &t, out);    /* 2^40 - 1 */
    fe_squares(&t, &once, 10);
    fe_mul(out, &t, &ones);    /* 2^50 - 1 */
    fe_squares(&t, out, 50);
    fe_mul(&ones, &t, out);    /* 2^100 - 1 */
    fe_squares(&t, &ones, 100);
    fe_mul(&once, &t, &ones);  /* 2^200 - 1 */
    fe_squares(&t, &once, 50);
    fe_mul(&ones, &t, out);    /* 2^250 - 1 */
    fe_squares(&t, &ones, 4);
    fe_square(&ones, &t);
    fe_mul(out, &ones, &of_11); /* 2^255 - 21 */
}
#else
/* The same: all bits of 2^255 - 21 are 1, but bits 2 and 4. */
static void invert(struct fe *out, const struct fe *in)
{
    struct fe t;

    *out = *in;
    for (int bit = 253; bit >= 0; bit--) {
        fe_square(&t, out);
        if (bit != 2 && bit != 4)
            fe_mul(out, &t, in);
        else
            *out = t;
    }
}
#endif

#ifndef ladder_of
/* Two points that differ by x1: (x3 : z3) becomes their sum, and (x2 : z2) is doubled, or becomes
 * twice (x3 : z3) where the mask is all ones. The sum does not depend on the order of the two. */
static void ladder_step(struct ladder *l, uint32_t mask)
{
    fe_add(&l->a, &l->x2, &l->z2);
    fe_sub(&l->b, &l->x2, &l->z2);
    fe_add(&l->c, &l->x3, &l->z3);
    fe_sub(&l->d, &l->x3, &l->z3);
    fe_mul(&l->x3, &l->d, &l->a);
    fe_mul(&l->z3, &l->c, &l->b);
    fe_choose(&l->a, &l->c, mask);
    fe_choose(&l->b, &l->d, mask);
    fe_square(&l->c, &l->a);
    fe_square(&l->d, &l->b);
    fe_add(&l->a, &l->x3, &l->z3);
    fe_sub(&l->b, &l->x3, &l->z3);
    fe_mul(&l->x2, &l->c, &l->d);
    fe_square(&l->x3, &l->a);
    fe_sub(&l->a, &l->c, &l->d);
    fe_square(&l->d, &l->b);
    fe_mul(&l->z3, &l->d, &l->x1);
    fe_times_121665(&l->b, &l->a);
    fe_add(&l->b, &l->b, &l->c);
    fe_mul(&l->z2, &l->a, &l->b);
}

/* The highest n_bits bits of a scalar: (x2 : z2) is the product behind the last one, or (x3 : z3)
 * where that is 1. */
static void ladder_of(struct ladder *l, const uint8_t *scalar, uint32_t n_bits)
{
    uint32_t before = 0;

    while (n_bits--) {
        const uint32_t bit = scalar[n_bits >> 3] >> (n_bits & 7) & 1;

        ladder_step(l, (uint32_t)0 - (bit ^ before));
        before = bit;
    }
}
#endif

static void multiply(uint8_t out[32], const uint8_t scalar[32], const uint8_t u[32])
{
    struct ladder l;

    fe_load(&l.x1, u);
    fe_set(&l.x2, 1);
    fe_set(&l.z2, 0);
    l.x3 = l.x1;
    fe_set(&l.z3, 1);
    ladder_of(&l, scalar, 255); /* the last bit is 0 */
    invert(&l.a, &l.z2);
    fe_mul(&l.b, &l.x2, &l.a);
    fe_store(out, &l.b);
}
