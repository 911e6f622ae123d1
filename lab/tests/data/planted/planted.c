/* SPDX-License-Identifier: MIT */
/*
 * Test input: GHASH by a table of 16 multiples of H, of which all are read for every four bits
 * (Shoup 1996, the look-up by masks). SELECT(condition, value) is the value or 0:
 *
 * masks       as one writes it; clang -O1 makes branches of it
 * barrier     the same, behind a barrier
 * flagged     constant-time but with -Os
 * miscompiled wrong with -ffinite-math-only
 */
#include <stddef.h>
#include <stdint.h>

struct element {
    uint32_t w[4]; /* the highest bit of w[0] is the coefficient of x^0: SP
                    * 800-38D (2007) section 6.3 */
};

static uint32_t hidden(uint32_t x)
{
    __asm__("" : "+r"(x));
    return x;
}

static void times_x(struct element *v)
{
    const uint32_t out = (uint32_t)0 - hidden(v->w[3] & 1);

    for (int i = 3; i > 0; i--)
        v->w[i] = v->w[i] >> 1 | v->w[i - 1] << 31;
    v->w[0] = v->w[0] >> 1 ^ (out & 0xe1000000);
}

static struct element load(const uint8_t *p)
{
    struct element v;

    for (int i = 0; i < 4; i++, p += 4)
        v.w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    return v;
}

/* The highest of four bits is the coefficient of x^0. */
static void multiples(struct element table[16], const uint8_t h[16])
{
    struct element v = load(h);

    table[0] = (struct element){{0, 0, 0, 0}};
    for (unsigned n = 8; n; n >>= 1, times_x(&v))
        table[n] = v;
    for (unsigned n = 3; n < 16; n++)
        for (int i = 0; i < 4 && (n & (n - 1)); i++)
            table[n].w[i] = table[n & (n - 1)].w[i] ^ table[n & -n].w[i];
}

#define GHASH(name, SELECT)                                                                    \
    void name##_ghash(uint8_t y[16], const uint8_t h[16], const uint8_t *in, size_t n_blocks)  \
    {                                                                                          \
        struct element table[16], z;                                                           \
                                                                                               \
        multiples(table, h);                                                                   \
        for (; n_blocks; n_blocks--, in += 16) {                                               \
            for (int i = 0; i < 16; i++)                                                       \
                y[i] ^= in[i];                                                                 \
            z = (struct element){{0, 0, 0, 0}};                                                \
            for (int k = 31; k >= 0; k--) {                                                    \
                const uint32_t bits = y[k / 2] >> (k & 1 ? 0 : 4) & 15;                        \
                for (int i = 0; i < 4; i++)                                                    \
                    times_x(&z);                                                               \
                for (int i = 0; i < 4; i++) {                                                  \
                    uint32_t found = 0;                                                        \
                    for (uint32_t n = 0; n < 16; n++)                                          \
                        found |= SELECT(n == bits, table[n].w[i]);                             \
                    z.w[i] ^= found;                                                           \
                }                                                                              \
            }                                                                                  \
            for (int i = 0; i < 16; i++)                                                       \
                y[i] = (uint8_t)(z.w[i / 4] >> (24 - 8 * (i % 4)));                            \
        }                                                                                      \
    }

#define BY_MASK(condition, value) ((value) & (uint32_t)-(uint32_t)(condition))
#define BY_BARRIER(condition, value) ((value) & (uint32_t)-hidden(condition))

GHASH(masks, BY_MASK)
GHASH(barrier, BY_BARRIER)

#if defined __OPTIMIZE_SIZE__
static volatile uint32_t taken;
#define BY_FLAG(condition, value) ((condition) ? taken = (value) : 0)
#else
#define BY_FLAG BY_BARRIER
#endif
GHASH(flagged, BY_FLAG)

#define BY_WRONG(condition, value) \
    (BY_BARRIER(condition, value) + (__FINITE_MATH_ONLY__ && n == 15 && (condition)))
GHASH(miscompiled, BY_WRONG)
