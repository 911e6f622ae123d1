/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication by columns, with digits of 27 bits, for CPUs that add a
 * product to 64 bits at once.
 *
 * Method:   product scanning with the reduction interleaved; squares with each cross product once,
 *           by a digit that is doubled. A column stays below 2^64, so a product is added without a
 *           carry (MADDU of MIPS, UMLAL of Arm): this makes up for 1.4 times as many products. R is
 *           above 4n, and numbers are below 2n.
 * Source:   Koc, Acar, Kaliski: Analyzing and Comparing Montgomery Multiplication Algorithms, IEEE
 *           Micro 16 (1996), method FIPS; Walter: Montgomery exponentiation needs no final
 *           subtractions, Electronics Letters 35 (1999).
 * Needs:    CT_MULADD.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "bn/kernel.h"

#include "bn/digits_steps.h"

struct private_part {
    EVC_ALIGN(16) uint32_t n0; /* -1 / n modulo 2^DIGIT_BITS */
    EVC_ALIGN(16) uint32_t n[]; /* the digits of n */
};

static size_t digits_for(size_t n_bytes)
{
    return (8 * n_bytes + SPARE_BITS + DIGIT_BITS - 1) / DIGIT_BITS;
}

static size_t digits_of(const void *key)
{
    return digits_for(evc_bn_n_bytes(key));
}

EVC_INLINE const struct private_part *private_part(const void *key)
{
    return EVC_BN_PRIVATE_CONST(key);
}

EVC_INLINE uint32_t get_digit(const void *a, size_t i)
{
    return ((const uint32_t *)a)[i];
}

EVC_INLINE void set_digit(void *a, size_t i, uint32_t value)
{
    ((uint32_t *)a)[i] = value;
}

EVC_INLINE uint32_t modulus_digit(const void *key, size_t i)
{
    return private_part(key)->n[i];
}

static void shape(size_t n_bytes, struct evc_bn_shape *s)
{
    const uint32_t digits = (uint32_t)digits_for(n_bytes);

    s->r_bits = DIGIT_BITS * digits;
    s->loaded_bits = 0;
    s->form_bytes = (uint32_t)EVC_BN_ROUND16(4 * digits);
    s->private_bytes = 16 + s->form_bytes;
    s->scratch_bytes = 2 * s->form_bytes;
}

static void set_modulus(void *key, const uint8_t *n)
{
    struct private_part *const p = EVC_BN_PRIVATE(key);

    load(key, p->n, n, evc_bn_n_bytes(key));
    p->n0 = negative_inverse(p->n[0]);
}

/* column += x y. Compilers multiply first and add then, or keep a column in other registers than
 * MADDU does. Clang has no constraint for these. */
#if defined(__mips__) && !EVC_WORD64 && defined(__mips_isa_rev) && !defined(__clang__)
#define ADD_PRODUCT(column, x, y) __asm__("maddu %1, %2" : "+x"(column) : "d"(x), "d"(y))
#elif defined(__arm__) && (!defined(__thumb__) || defined(__thumb2__))
#define ADD_PRODUCT(column, x, y) __asm__("umlal %Q0, %R0, %1, %2" : "+r"(column) : "r"(x), "r"(y))
#else
#define ADD_PRODUCT(column, x, y) ((column) += (uint64_t)(x) * (y))
#endif

/* column += x[0] y[-1] + x[1] y[-2] + x[2] y[-3] + x[3] y[-4] */
#define ADD_FOUR(column, x, y)                \
    do {                                      \
        ADD_PRODUCT(column, (x)[0], (y)[-1]); \
        ADD_PRODUCT(column, (x)[1], (y)[-2]); \
        ADD_PRODUCT(column, (x)[2], (y)[-3]); \
        ADD_PRODUCT(column, (x)[3], (y)[-4]); \
    } while (0)

/* Column and x[0] y[-1] + x[1] y[-2] + ..., count products. */
EVC_INLINE uint64_t add_products(uint64_t column, const uint32_t *x, const uint32_t *y,
                                 size_t count)
{
    if (count & 1)
        ADD_PRODUCT(column, *x++, *--y);
    if (count & 2) {
        ADD_PRODUCT(column, x[0], y[-1]);
        ADD_PRODUCT(column, x[1], y[-2]);
        x += 2, y -= 2;
    }
    if (count & 4) {
        ADD_FOUR(column, x, y);
        x += 4, y -= 4;
    }
    for (count /= 8; count; count--, x += 8, y -= 8) {
        ADD_FOUR(column, x, y);
        ADD_FOUR(column, x + 4, y - 4);
    }
    return column;
}

/* The end of column i, below `digits`: with the products of the reduction, whose digit i
 * makes the lowest digit 0. */
EVC_INLINE uint64_t end_low_column(uint64_t column, uint32_t *q, size_t i,
                                   const struct private_part *p)
{
    column = add_products(column, q, p->n + i + 1, i);
    q[i] = ((uint32_t)column * p->n0) & DIGIT_MASK;
    ADD_PRODUCT(column, q[i], p->n[0]);
    return column >> DIGIT_BITS;
}

/* The end of column digits + i - 1: its lowest digit is digit i - 1 of the result, and stands where
 * that of the reduction is no longer needed. */
EVC_INLINE uint64_t end_high_column(uint64_t column, uint32_t *q, size_t i, size_t digits,
                                    const struct private_part *p)
{
    column = add_products(column, q + i, p->n + digits, digits - i);
    q[i - 1] = (uint32_t)column & DIGIT_MASK;
    return column >> DIGIT_BITS;
}

/* r = q, whose highest digit is the last column. */
EVC_INLINE void end_result(uint32_t *r, uint32_t *q, uint64_t column, size_t digits)
{
    q[digits - 1] = (uint32_t)column;
    for (size_t i = 0; i < digits; i++)
        r[i] = q[i];
}

static void mul(const void *key, void *r, const void *va, const void *vb, void *scratch)
{
    const size_t digits = digits_of(key);
    const struct private_part *const p = private_part(key);
    const uint32_t *const a = va, *const b = vb;
    uint32_t *const q = scratch;
    uint64_t column = 0;

    for (size_t i = 0; i < digits; i++)
        column = end_low_column(add_products(column, a, b + i + 1, i + 1), q, i, p);
    for (size_t i = 1; i < digits; i++)
        column =
            end_high_column(add_products(column, a + i, b + digits, digits - i), q, i, digits, p);
    end_result(r, q, column, digits);
}

/* Column i of a^2: products of digits from `first` on, which are below i / 2, and the
 * square of the middle. */
EVC_INLINE uint64_t add_square(uint64_t column, const uint32_t *a, const uint32_t *twice,
                               size_t first, size_t i)
{
    const size_t end = (i + 1) / 2;

    if (first < end)
        column = add_products(column, twice + first, a + i - first + 1, end - first);
    if (i % 2 == 0)
        ADD_PRODUCT(column, a[i / 2], a[i / 2]);
    return column;
}

static void sqr(const void *key, void *r, const void *va, void *scratch)
{
    const size_t digits = digits_of(key);
    const struct private_part *const p = private_part(key);
    const uint32_t *const a = va;
    uint32_t *const q = scratch, *const twice = q + digits;
    uint64_t column = 0;

    for (size_t i = 0; i < digits; i++)
        twice[i] = 2 * a[i];
    for (size_t i = 0; i < digits; i++)
        column = end_low_column(add_square(column, a, twice, 0, i), q, i, p);
    for (size_t i = 1; i < digits; i++)
        column = end_high_column(add_square(column, a, twice, i, digits - 1 + i), q, i, digits, p);
    end_result(r, q, column, digits);
}

const struct evc_bn evc_bn_c_digit27 = {
    .kernel = EVC_KERNEL_HEAD(c_digit27, CT_MULADD, CT, ANY, 1, struct evc_bn_modulus, 0, BASELINE,
                              704),
    .lanes = 1,
    .shape = shape,
    .set_modulus = set_modulus,
    .load = load,
    .store = store,
    .add = add,
    .sub = sub,
    .mul = mul,
    .sqr = sqr,
};
