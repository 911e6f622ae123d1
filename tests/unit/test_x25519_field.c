/* SPDX-License-Identifier: MIT */
/*
 * The field of a kernel of X25519 at its bounds. No scalar and no point bring limbs there; so a
 * kernel's file is included, and its functions are called with limbs that are as large
 * as its comments allow. Numbers that are computed bit by bit judge them.
 */
#include <string.h>

/* Beside the library's. */
#define evc_x25519_c_ref tested_c_ref
#define evc_x25519_c_small tested_c_small
#define evc_x25519_c_limb26 tested_c_limb26
#define evc_x25519_c_limb51 tested_c_limb51
#define evc_x25519_x86_adx tested_x86_adx

#if defined(OF_c_ref)
#include "x25519/c_ref.c"
#elif defined(OF_c_small)
#include "x25519/c_small.c"
#elif defined(OF_c_limb26)
#include "x25519/c_limb26.c"
#elif defined(OF_x86_adx)
#include "x25519/x86_adx.c"
#else
#include "x25519/c_limb51.c"
#endif

#include "tap.h"

#ifndef TURNS
#define TURNS 120 /* fewer where an emulator is asked */
#endif

/* Sixteen digits of 16 bits, of which the last has 15, and may have more. */
struct number {
    uint32_t digit[16];
};

static void carry_digits(struct number *n)
{
    for (int turn = 0; turn < 3; turn++) {
        uint32_t carry = 0;

        for (int i = 0; i < 16; i++) {
            const int n_bits = i < 15 ? 16 : 15;
            carry += n->digit[i];
            n->digit[i] = carry & ((UINT32_C(1) << n_bits) - 1);
            carry >>= n_bits;
        }
        n->digit[0] += 19 * carry;
    }
}

static void number_double(struct number *n)
{
    for (int i = 0; i < 16; i++)
        n->digit[i] *= 2;
    carry_digits(n);
}

static void number_add(struct number *n, const struct number *other)
{
    for (int i = 0; i < 16; i++)
        n->digit[i] += other->digit[i];
    carry_digits(n);
}

/* a - b = a + (p - 1) b */
static void number_mul(struct number *out, const struct number *a, const struct number *b);
static void number_sub(struct number *out, const struct number *a, const struct number *b)
{
    struct number minus_1;

    for (int i = 0; i < 16; i++)
        minus_1.digit[i] = i == 0 ? 0xffec : i < 15 ? 0xffff : 0x7fff;
    number_mul(out, &minus_1, b);
    number_add(out, a);
}

static void number_mul(struct number *out, const struct number *a, const struct number *b)
{
    struct number sum = {{0}};

    for (int i = 255; i >= 0; i--) {
        number_double(&sum);
        if (a->digit[i / 16] >> i % 16 & 1)
            number_add(&sum, b);
    }
    *out = sum;
}

/* The least number of the class, as bytes. */
static void number_bytes(uint8_t out[32], const struct number *n)
{
    struct number least = *n;
    int is_p = least.digit[0] >= 0xffed && least.digit[15] == 0x7fff;

    for (int i = 1; i < 15; i++)
        is_p = is_p && least.digit[i] == 0xffff;
    if (is_p) {
        memset(&least, 0, sizeof least);
        least.digit[0] = n->digit[0] - 0xffed;
    }
    for (int i = 0; i < 32; i++)
        out[i] = (uint8_t)(least.digit[i / 2] >> 8 * (i % 2));
}

static void number_of(struct number *out, const struct fe *a)
{
    memset(out, 0, sizeof *out);
    for (int i = N_LIMBS - 1; i >= 0; i--) {
        struct number limb = {{0}};

        for (int k = 0; k < BITS_OF(i); k++)
            number_double(out);
        for (int k = 0; k < 4; k++)
            limb.digit[k] = (uint32_t)((uint64_t)a->limb[i] >> 16 * k & 0xffff);
        number_add(out, &limb);
    }
}

/* ---- Elements at the bounds ------------------------------------------------------------------ */

enum where { ANYWHERE, LARGEST, AROUND_2_255, N_WHERES };

#if defined(OF_x86_adx)

#define LIMB_LIMIT(i) ((i) < 3 ? 0 : UINT64_C(1) << 63 | 1) /* 0: none */

static uint64_t a_limb(void)
{
    switch (random_below(5)) {
    case 0: return 0;
    case 1: return random_below(64);
    case 2: return UINT64_MAX;
    case 3: return UINT64_MAX - random_below(64);
    default: return (uint64_t)random_below(1 << 30) << 34 | random_below(1 << 30);
    }
}

static void a_product(struct fe *out, enum where where)
{
    for (int i = 0; i < N_LIMBS; i++)
        out->limb[i] = where == LARGEST ? UINT64_MAX : where == ANYWHERE ? a_limb() : 0;
    out->limb[3] = where == AROUND_2_255 ? UINT64_C(1) << 63 : out->limb[3] & UINT64_MAX >> 1;
    if (where == AROUND_2_255)
        out->limb[0] = random_below(2) ? (1 << 23) - 1 : random_below(64);
}

static void an_element(struct fe *out, unsigned kind, enum where where)
{
    a_product(out, where);
    if (kind) /* a sum or a difference: any number below 2^256 */
        out->limb[3] = where == ANYWHERE ? a_limb() : UINT64_MAX;
}

#else

#define LIMB_LIMIT(i) ((UINT64_C(1) << BITS_OF(i)) + ((i) == 1 ? 1 << 13 : 0))

/* A limb of a product: 0, 1, the largest, or any. */
static limb_t largest_limb(int i)
{
    return (limb_t)((UINT64_C(1) << BITS_OF(i)) - 1 + (i == 1 ? 1 << 13 : 0));
}

static limb_t a_limb(int i)
{
    switch (random_below(4)) {
    case 0: return 0;
    case 1: return (limb_t)random_below(2);
    case 2:
        return (limb_t)((uint64_t)random_below(1 << 25) << 26 | random_below(1 << 26)) &
               (limb_t)((UINT64_C(1) << BITS_OF(i)) - 1);
    default: return largest_limb(i);
    }
}

static void a_product(struct fe *out, enum where where)
{
    for (int i = 0; i < N_LIMBS; i++)
        out->limb[i] = where == ANYWHERE ? a_limb(i) : largest_limb(i);
    if (where == AROUND_2_255) {
        out->limb[0] = (limb_t)random_below(64);
        out->limb[1] = (limb_t)1 << BITS_OF(1);
    }
}

/* One that fe_mul may get: kind 0 a product, 1 a sum, 2 a difference. */
static void an_element(struct fe *out, unsigned kind, enum where where)
{
    struct fe a, b;

    a_product(&a, where);
    a_product(&b, where);
    if (kind == 2 && where != ANYWHERE)
        fe_set(&b, 0);
    if (kind == 0)
        *out = a;
    else if (kind == 1)
        fe_add(out, &a, &b);
    else
        fe_sub(out, &a, &b);
}

#endif

static void expect(const struct fe *out, const struct number *expected)
{
    struct number again;
    uint8_t bytes[32], right[32];

    number_bytes(right, expected);
    number_of(&again, out);
    number_bytes(bytes, &again);
    EXPECT(memcmp(bytes, right, 32) == 0);
    for (int i = 0; i < N_LIMBS; i++)
        EXPECT(!LIMB_LIMIT(i) || out->limb[i] < LIMB_LIMIT(i));
    fe_store(bytes, out);
    EXPECT(memcmp(bytes, right, 32) == 0);
}

static const struct number factor = {{121665 & 0xffff, 121665 >> 16}};

static void products_are_right(unsigned kind_a, unsigned kind_b, enum where where)
{
    struct fe a, b, out;
    struct number na, nb, n;

    an_element(&a, kind_a, where);
    an_element(&b, kind_b, where);
    number_of(&na, &a);
    number_of(&nb, &b);
    fe_mul(&out, &a, &b);
    number_mul(&n, &na, &nb);
    expect(&out, &n);
    fe_square(&out, &a);
    number_mul(&n, &na, &na);
    expect(&out, &n);
#if !defined(OF_x86_adx)
    fe_times_121665(&out, &a);
    number_mul(&n, &na, &factor);
    expect(&out, &n);
#endif
}

/* A step of the ladder, behind the bit 0 or 1 of a scalar. */
static void step_is_right(struct ladder *l, unsigned bit)
{
    uint8_t scalar[1] = {(uint8_t)bit};
    struct number x1, x[2], z[2], sum[2], difference[2], da, cb, t, u;

    number_of(&x1, &l->x1);
    number_of(&x[0], &l->x2);
    number_of(&z[0], &l->z2);
    number_of(&x[1], &l->x3);
    number_of(&z[1], &l->z3);
    for (int i = 0; i < 2; i++) {
        sum[i] = x[i];
        number_add(&sum[i], &z[i]);
        number_sub(&difference[i], &x[i], &z[i]);
    }
    number_mul(&da, &difference[1], &sum[0]);
    number_mul(&cb, &sum[1], &difference[0]);
    ladder_of(l, scalar, 1);
    t = da;
    number_add(&t, &cb);
    number_mul(&u, &t, &t);
    expect(&l->x3, &u);
    number_sub(&t, &da, &cb);
    number_mul(&u, &t, &t);
    number_mul(&t, &u, &x1);
    expect(&l->z3, &t);
    number_mul(&da, &sum[bit], &sum[bit]);
    number_mul(&cb, &difference[bit], &difference[bit]);
    number_mul(&t, &da, &cb);
    expect(&l->x2, &t);
    number_sub(&t, &da, &cb);
    number_mul(&u, &t, &factor);
    number_add(&u, &da);
    number_mul(&da, &t, &u);
    expect(&l->z2, &da);
}

static void steps_from_the_bounds_are_right(void)
{
    for (unsigned turn = 0; turn < TURNS; turn++) {
        const enum where where = (enum where)(turn % N_WHERES);
        struct ladder l;

        a_product(&l.x1, where);
        a_product(&l.x2, where);
        a_product(&l.z2, random_below(2) ? ANYWHERE : where);
        a_product(&l.x3, where);
        a_product(&l.z3, random_below(2) ? ANYWHERE : where);
        step_is_right(&l, turn & 1);
    }
}

/* The difference of the squares of x + 1 and x - 1 is 4 x: a number whose product by 121665 carries
 * out of its fourth word of 64 bits, which hardly any other does. */
static void products_by_121665_carry(void)
{
    static const struct number quarter = {{0xfff2, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
                                           0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
                                           0xffff, 0x5fff}};
    uint64_t inverse = 121665; /* modulo 2^64, by five steps of Newton's */

    for (int i = 0; i < 5; i++)
        inverse *= 2 - 121665 * inverse;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        const uint64_t top = inverse * (UINT64_MAX - random_below(100000)) & UINT64_MAX >> 1;
        struct number four_x = {{0}}, x;
        struct ladder l;
        uint8_t bytes[32];

        for (int i = 0; i < 16; i++)
            four_x.digit[i] = i < 12 ? 0xffff : (uint32_t)(top >> 16 * (i - 12) & 0xffff);
        number_mul(&x, &four_x, &quarter);
        number_bytes(bytes, &x);
        fe_load(&l.x2, bytes);
        fe_set(&l.z2, 1);
        a_product(&l.x1, ANYWHERE);
        a_product(&l.x3, ANYWHERE);
        a_product(&l.z3, ANYWHERE);
        step_is_right(&l, 0);
    }
}

static void numbers_at_the_bounds_are_multiplied_right(void)
{
    for (unsigned kinds = 0; kinds < 9; kinds++)
        for (unsigned turn = 0; turn < TURNS; turn++)
            products_are_right(kinds / 3, kinds % 3, (enum where)(turn % N_WHERES));
}

/* The numbers of 255 bits around p are among them. */
static void bytes_become_numbers_and_least_numbers_bytes(void)
{
    for (int turn = 0; turn < 768; turn++) {
        uint8_t in[32], out[32], expected[32];
        struct number n = {{0}};
        struct fe a;

        random_fill(in, sizeof in);
        if (turn % 3 == 0) {
            memset(in, 0xff, sizeof in);
            in[0] = (uint8_t)(turn / 3);
        }
        in[31] &= 0x7f;
        for (int i = 0; i < 32; i++)
            n.digit[i / 2] |= (uint32_t)in[i] << 8 * (i % 2);
        number_bytes(expected, &n);
        fe_load(&a, in);
        fe_store(out, &a);
        EXPECT(memcmp(out, expected, 32) == 0);
    }
}

int main(void)
{
#if defined(OF_x86_adx)
    if (EVC_NEEDS_X86_ADX & ~evc_cpu_features()) {
        printf("1..0 # SKIP this CPU has no ADX\n");
        return 0;
    }
#endif
    RUN(numbers_at_the_bounds_are_multiplied_right);
    RUN(steps_from_the_bounds_are_right);
    RUN(products_by_121665_carry);
    RUN(bytes_become_numbers_and_least_numbers_bytes);
    return tap_done();
}
