/* SPDX-License-Identifier: MIT */
/*
 * X25519 by five limbs of 51 bits, with products of 128 bits.
 *
 * Method:   the Montgomery ladder (ladder_steps.h); product scanning, each column carried as soon
 *           as it is whole; squares with each cross product once. CPUs without a carry flag sum
 *           the halves of products apart.
 * Source:   RFC 7748 section 5; Bernstein, Duif, Lange, Schwabe, Yang: High-speed high-security
 *           signatures, Journal of Cryptographic Engineering 2 (2012), section 3 (the radix).
 * Needs:    CT_MUL128.   Timing: CT (no secret branches or addresses; rests on the multiplier's
 *           constant time).
 * Key form: private.
 */
#define EVC_BY_PRESSURE
#include "common/few_spills.h"

#include "x25519/kernel.h"

#if EVC_BUILT(CT_MUL128)
#include "common/ct.h"

/*
 * An element modulo p = 2^255 - 19. A product, a square or a loaded element has limbs below 2^51,
 * but limb 1, which is below 2^51 + 2^13. A sum of two has one bit more. Limbs of a difference are
 * below 3 2^51, but limb 1, which is below 3 2^51 + 2^13. The column of 2^0 of two differences has
 * five products. Four of them count 19 times (2^255 = 19): below 2^111.5. Others have less.
 */
#define N_LIMBS 5
#define BITS_OF(i) 51

typedef uint64_t limb_t;

struct fe {
    limb_t limb[N_LIMBS];
};

#define MASK (((uint64_t)1 << 51) - 1)
__extension__ typedef unsigned __int128 wide;

static void fe_set(struct fe *out, uint32_t value)
{
    for (int i = 1; i < N_LIMBS; i++)
        out->limb[i] = 0;
    out->limb[0] = value;
}

static void fe_choose(struct fe *out, const struct fe *a, uint32_t mask)
{
    const uint64_t mask64 = evc_mask_highest64((uint64_t)mask << 32);

    for (int i = 0; i < N_LIMBS; i++)
        out->limb[i] ^= (out->limb[i] ^ a->limb[i]) & mask64;
}

static void fe_add(struct fe *out, const struct fe *a, const struct fe *b)
{
    for (int i = 0; i < N_LIMBS; i++)
        out->limb[i] = a->limb[i] + b->limb[i];
}

/* a + 2 p - b */
static void fe_sub(struct fe *out, const struct fe *a, const struct fe *b)
{
    out->limb[0] = a->limb[0] + 2 * (MASK - 18) - b->limb[0];
    for (int i = 1; i < N_LIMBS; i++)
        out->limb[i] = a->limb[i] + 2 * MASK - b->limb[i];
}

/*
 * A column is a sum of products. Without a carry flag the sum of two numbers of 128 bits takes a
 * comparison: there each factor is shifted, 13 bits in all, so that the upper word of a product is
 * what carries out of 51 bits. Lower words, shifted back, and upper ones are summed apart.
 */
#if defined(__riscv) || defined(__mips__) || defined(__loongarch__)
#define COLUMNS_APART
#endif

#if defined(COLUMNS_APART)

struct column {
    uint64_t low, high; /* high counts 2^51 */
};

#define LEFT(f) ((f) << 6)  /* below 2^59 */
#define RIGHT(g) ((g) << 7) /* 19 times a difference: below 2^63.9 */

EVC_INLINE void add_product(struct column *column, uint64_t a, uint64_t b)
{
    const wide product = (wide)a * b;

    column->low += (uint64_t)product >> 13;
    column->high += (uint64_t)(product >> 64);
}

/* The column is whole: its limb stays, and the rest begins the next one. */
EVC_INLINE uint64_t carry_column(struct column *column)
{
    const uint64_t limb = column->low & MASK;

    column->low = column->high + (column->low >> 51);
    column->high = 0;
    return limb;
}

#define REST(column) (column).low

#else

struct column {
    wide sum;
};

#define LEFT(f) (f)
#define RIGHT(g) (g)

EVC_INLINE void add_product(struct column *column, uint64_t a, uint64_t b)
{
    column->sum += (wide)a * b;
}

EVC_INLINE uint64_t carry_column(struct column *column)
{
    const uint64_t limb = (uint64_t)column->sum & MASK;

    column->sum >>= 51;
    return limb;
}

#define REST(column) (uint64_t)(column).sum

#endif

/* The rest of the last column is below 2^57 and counts 19 times; limb 1 gets less than 2^10. */
EVC_INLINE void carry_around(struct fe *out, const struct column *column)
{
    const uint64_t rest = REST(*column) * 19 + out->limb[0];

    out->limb[0] = rest & MASK;
    out->limb[1] += rest >> 51;
}

#define P(a, b) add_product(&column, a, b)
#define CARRY(i) (out->limb[i] = carry_column(&column))

/* out is neither a nor b. */
static void fe_mul(struct fe *restrict out, const struct fe *a, const struct fe *b)
{
    const uint64_t *const f = a->limb, *const g = b->limb;
    const uint64_t f0 = LEFT(f[0]), f1 = LEFT(f[1]), f2 = LEFT(f[2]), f3 = LEFT(f[3]),
                   f4 = LEFT(f[4]);
    const uint64_t g0 = RIGHT(g[0]), g1 = RIGHT(g[1]), g2 = RIGHT(g[2]), g3 = RIGHT(g[3]),
                   g4 = RIGHT(g[4]), h1 = 19 * g1, h2 = 19 * g2, h3 = 19 * g3, h4 = 19 * g4;
    struct column column = {0};

    P(f0, g0), P(f1, h4), P(f2, h3), P(f3, h2), P(f4, h1);
    CARRY(0);
    P(f0, g1), P(f1, g0), P(f2, h4), P(f3, h3), P(f4, h2);
    CARRY(1);
    P(f0, g2), P(f1, g1), P(f2, g0), P(f3, h4), P(f4, h3);
    CARRY(2);
    P(f0, g3), P(f1, g2), P(f2, g1), P(f3, g0), P(f4, h4);
    CARRY(3);
    P(f0, g4), P(f1, g3), P(f2, g2), P(f3, g1), P(f4, g0);
    CARRY(4);
    carry_around(out, &column);
}

/* out is not a. */
static void fe_square(struct fe *restrict out, const struct fe *a)
{
    const uint64_t *const f = a->limb;
    const uint64_t f0 = LEFT(f[0]), f1 = LEFT(f[1]), f2 = LEFT(f[2]), f3 = LEFT(f[3]),
                   f4 = LEFT(f[4]);
    const uint64_t g0 = RIGHT(f[0]), g1 = RIGHT(f[1]), g2 = RIGHT(f[2]), h3 = 19 * RIGHT(f[3]),
                   h4 = 19 * RIGHT(f[4]);
    const uint64_t twice0 = 2 * f0, twice1 = 2 * f1, twice2 = 2 * f2, twice3 = 2 * f3;
    struct column column = {0};

    P(f0, g0), P(twice1, h4), P(twice2, h3);
    CARRY(0);
    P(twice0, g1), P(twice2, h4), P(f3, h3);
    CARRY(1);
    P(twice0, g2), P(f1, g1), P(twice3, h4);
    CARRY(2);
    P(twice0, RIGHT(f[3])), P(twice1, g2), P(f4, h4);
    CARRY(3);
    P(twice0, RIGHT(f[4])), P(twice1, RIGHT(f[3])), P(f2, g2);
    CARRY(4);
    carry_around(out, &column);
}

static void fe_times_121665(struct fe *out, const struct fe *a)
{
    struct column column = {0};

    for (int i = 0; i < N_LIMBS; i++) {
        P(LEFT(a->limb[i]), RIGHT((uint64_t)121665));
        CARRY(i);
    }
    carry_around(out, &column);
}

static void fe_load(struct fe *out, const uint8_t *in)
{
    const uint64_t a = evc_load64_le(in), b = evc_load64_le(in + 8), c = evc_load64_le(in + 16),
                   d = evc_load64_le(in + 24);

    out->limb[0] = a & MASK;
    out->limb[1] = (a >> 51 | b << 13) & MASK;
    out->limb[2] = (b >> 38 | c << 26) & MASK;
    out->limb[3] = (c >> 25 | d << 39) & MASK;
    out->limb[4] = d >> 12 & MASK;
}

/* As limbs_steps.h does it. */
static void fe_store(uint8_t *out, const struct fe *a)
{
    uint64_t least[5], carry = 19;

    for (int i = 0; i < N_LIMBS; i++)
        carry = (a->limb[i] + carry) >> 51;
    carry *= 19;
    for (int i = 0; i < N_LIMBS; i++) {
        carry += a->limb[i];
        least[i] = carry & MASK;
        carry >>= 51;
    }
    evc_store64_le(out, least[0] | least[1] << 51);
    evc_store64_le(out + 8, least[1] >> 13 | least[2] << 38);
    evc_store64_le(out + 16, least[2] >> 26 | least[3] << 25);
    evc_store64_le(out + 24, least[3] >> 39 | least[4] << 12);
}

#include "x25519/ladder_steps.h"

const struct evc_x25519 evc_x25519_c_limb51 = {
    .kernel = EVC_KEYLESS_HEAD(c_limb51, CT_MUL128, CT, ANY, BASELINE, 1536),
    .multiply = multiply,
};
#else
EVC_EMPTY_UNIT
#endif
