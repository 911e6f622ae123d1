/* SPDX-License-Identifier: MIT */
/*
 * Cells of QARMA-64 in vectors of POWER, for look_steps.h: a byte for each, the most significant
 * one first in the register, in both byte orders. Include it inside the ISA region.
 *
 * Source: Power ISA 2.07 B (2018), section 6.8: vperm counts bytes from the most significant one.
 */
#ifndef EVC_QARMA_PPC_LOOK_H
#define EVC_QARMA_PPC_LOOK_H

#include "common/bytes.h"

typedef uint8_t vec __attribute__((vector_size(16)));
typedef uint16_t vec_16 __attribute__((vector_size(16)));
typedef uint64_t vec_64 __attribute__((vector_size(16)));

/* Element 0 of a vector is the most significant one of the register on big-endian systems alone. */
#if EVC_BIG_ENDIAN
#define UPPER 0
#define TABLE(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) \
    {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p}
#define CELLS(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) \
    TABLE(p, o, n, m, l, k, j, i, h, g, f, e, d, c, b, a)
#else
#define UPPER 1
#define CELLS(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) \
    {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p}
#define TABLE(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) \
    CELLS(p, o, n, m, l, k, j, i, h, g, f, e, d, c, b, a)
#endif
#define PLACES(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                                  \
    CELLS(15 - a, 15 - b, 15 - c, 15 - d, 15 - e, 15 - f, 15 - g, 15 - h, 15 - i, 15 - j, 15 - k, \
          15 - l, 15 - m, 15 - n, 15 - o, 15 - p)

/* POWER8 has an instruction that looks up by both halves of a byte, and adds. Programs for it alone
 * use it: it takes the place of three in each of the steps of M. */
#if defined(__CRYPTO__)
struct gather {
    vec one_and_three, two;
};
#define WITHOUT_PARENTHESES(...) __VA_ARGS__
#define PAIRS_OF(...) PAIRS_OF_(__VA_ARGS__)
#define PAIRS_OF_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, A, B, C, D, E, F, G, H, I, J, K, \
                  L, M, N, O, P)                                                                   \
    PLACES(PAIR(a, A), PAIR(b, B), PAIR(c, C), PAIR(d, D), PAIR(e, E), PAIR(f, F), PAIR(g, G),     \
           PAIR(h, H), PAIR(i, I), PAIR(j, J), PAIR(k, K), PAIR(l, L), PAIR(m, M), PAIR(n, N),     \
           PAIR(o, O), PAIR(p, P))
#define PAIR(a, A) (15 - (16 * (15 - (a)) + 15 - (A))) /* PLACES takes it from 15 */
#define GATHER(one, two, three)                                                              \
    {                                                                                        \
        PAIRS_OF(WITHOUT_PARENTHESES one, WITHOUT_PARENTHESES three), PLACES two             \
    }
EVC_INLINE vec v_look_twice(vec v, const struct gather *g)
{
    vec to;

    __asm__("vpermxor %0, %1, %1, %2" : "=v"(to) : "v"(v), "v"(g->one_and_three));
    return to;
}
#endif

/* Numbers become vectors by way of memory before POWER8. */
#if defined(__POWER8_VECTOR__)
#define STACK_BYTES 512
#else
#define STACK_BYTES 768
#endif

#define PPC_OF_TWO(function, instruction)                               \
    EVC_INLINE vec function(vec a, vec b)                               \
    {                                                                   \
        vec to;                                                         \
        __asm__(instruction " %0, %1, %2" : "=v"(to) : "v"(a), "v"(b)); \
        return to;                                                      \
    }
PPC_OF_TWO(merged, "vmrghb")  /* the upper 8 bytes of a and b by turns */
PPC_OF_TWO(packed, "vpkuhum") /* the lower bytes of 16 halves of words */

/* Bytes of low, or of high where bit 4 of i is set, by the low 4 bits of i. */
EVC_INLINE vec look_32(vec low, vec high, vec i)
{
    vec to;

    __asm__("vperm %0, %1, %2, %3" : "=v"(to) : "v"(low), "v"(high), "v"(i));
    return to;
}

#define v_look(table, i) look_32(table, table, i)

EVC_INLINE vec v_cells(uint64_t number)
{
#if defined(__POWER8_VECTOR__) /* the other half is not looked at */
    vec v;

    __asm__("mtvsrd %x0, %1" : "=v"(v) : "r"(number));
#else
    const vec v = (vec)(vec_64){number, 0}; /* big-endian */
#endif
    return merged(v >> 4, v) & 15;
}

EVC_INLINE uint64_t v_number(vec v)
{
    const vec in_lower_bytes = v | (vec)((vec_16)v >> 4);

    return ((vec_64)packed(in_lower_bytes, in_lower_bytes))[UPPER];
}

/* 16 for the cells that omega steps, whose bytes are looked up in the second table. */
#define OMEGA TABLE(0, 8, 9, 1, 2, 10, 11, 3, 4, 12, 13, 5, 6, 14, 15, 7)
#define STEPPED CELLS(0, 0, 16, 0, 16, 0, 0, 16, 0, 0, 0, 16, 16, 0, 16, 16)

EVC_INLINE vec v_omega(vec omega, vec stepped, vec moved)
{
    vec same; /* 0 to 15 */

    __asm__("lvsl %0, 0, %1" : "=v"(same) : "r"((size_t)0));
    return look_32(same, omega, moved ^ stepped);
}

#endif
