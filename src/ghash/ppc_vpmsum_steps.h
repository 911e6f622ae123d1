/* SPDX-License-Identifier: MIT */
/*
 * GHASH by vpmsumd: the powers of H, products, and the hash of whole blocks. Include it inside a
 * region of PPC_VCRYPTO or more.
 *
 * An element is a block in order (common/ppc.h): bit 127 - i of a register is the coefficient of
 * x^i. vpmsumd multiplies the upper halves and the lower halves of two registers, and adds the two
 * products. So the blocks of a pair are taken apart first, into a register of upper halves and one
 * of lower ones: then each part of Karatsuba's method takes one vpmsumd for two blocks.
 *
 * The product of two elements is the reflected product, one bit too low; H carries that bit (it is
 * stored times x), and reduction divides by x^128. All powers of H are kept so: the reduced product
 * of two of them is another.
 *
 * Source: Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage for Computing
 * the GCM Mode, 2014 (reflection, Karatsuba, aggregation). Reduction as Montgomery (1985), modulo
 * x^128 + x^127 + x^126 + x^121 + 1: its lower half is 1, so one multiplication clears 64 bits.
 */
#ifndef EVC_GHASH_PPC_VPMSUM_STEPS_H
#define EVC_GHASH_PPC_VPMSUM_STEPS_H

#include "common/ct.h"
#include "common/each.h"
#include "common/ppc.h"

#define GROUP 8 /* blocks with one reduction */
#define PAIRS (GROUP / 2)

typedef evc_ppc_vec vec;

/* H^GROUP ... H^1, so that the last n blocks of a message meet the last n of them. Of each pair the
 * upper halves, the lower ones, and the sums of the two; the half of the first power is the upper
 * one. Registers are stored as stxvd2x does it. */
struct powers {
    struct pair {
        uint8_t hi[16], lo[16], sum[16];
    } pair[PAIRS];
};

/* lo + mi x^64 + hi x^128, not reduced. In sums of products by Karatsuba mi lacks lo and hi. */
struct product {
    vec lo, mi, hi;
};

EVC_INLINE vec swap(vec a)
{
    EVC_PPC_HALVES(a, a, a, 2);
    return a;
}

/* a with its halves exchanged, plus b. */
EVC_INLINE vec swap_xor(vec a, vec b)
{
    return evc_ppc_vpermxor(a, b,
                            EVC_PPC_BYTES(0x80, 0x91, 0xa2, 0xb3, 0xc4, 0xd5, 0xe6, 0xf7, 0x08,
                                          0x19, 0x2a, 0x3b, 0x4c, 0x5d, 0x6e, 0x7f));
}

/* The product of the lower half and x^63 + x^62 + x^57. */
EVC_INLINE vec times_poly(vec a)
{
    return evc_ppc_vpmsumd(a, EVC_PPC_BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0xc2, 0, 0, 0, 0, 0, 0, 0));
}

/* Divided by x^128 modulo the polynomial. */
EVC_INLINE vec reduce(struct product p)
{
    const vec mi = swap_xor(p.lo, p.mi) ^ times_poly(p.lo);

    return swap_xor(mi, p.hi) ^ times_poly(mi);
}

EVC_INLINE vec reduce_sum(struct product p)
{
    p.mi ^= p.lo ^ p.hi;
    return reduce(p);
}

/* ---- Products with powers -------------------------------------------------------------------- */

/* A pair of blocks, or of powers. */
struct operands {
    vec hi, lo, sum;
};

/* Blocks a and b, raw. */
EVC_INLINE struct operands operands_of(vec a, vec b)
{
    struct operands o;

    o.hi = evc_ppc_upper_halves(a, b);
    o.lo = evc_ppc_lower_halves(a, b);
    o.sum = o.hi ^ o.lo;
    return o;
}

/* reversed: a constant, 1 if the bytes of all blocks in memory are reversed, as POLYVAL has them;
 * those of y are not. */
EVC_INLINE struct operands operands_in(vec a, vec b, int reversed)
{
    struct operands o;

    if (!reversed)
        return operands_of(a, b);
    o.hi = evc_ppc_reversed_upper_halves(a, b);
    o.lo = evc_ppc_reversed_lower_halves(a, b);
    o.sum = o.hi ^ o.lo;
    return o;
}

/* A raw block with y added. */
EVC_INLINE vec plus(vec y, vec a, int reversed)
{
    return reversed ? evc_ppc_reverse_xor(y, a) : evc_ppc_turn_xor(y, a);
}

EVC_INLINE struct operands powers_at(const struct pair *h)
{
    struct operands p;

    p.hi = evc_ppc_load_ith(h->hi, 0);
    p.lo = evc_ppc_load_ith(h->hi, 1);
    p.sum = evc_ppc_load_ith(h->hi, 2);
    return p;
}

EVC_INLINE struct product multiply_pair(struct operands o, struct operands h)
{
    struct product p;

    p.lo = evc_ppc_vpmsumd(o.lo, h.lo);
    p.mi = evc_ppc_vpmsumd(o.sum, h.sum);
    p.hi = evc_ppc_vpmsumd(o.hi, h.hi);
    return p;
}

EVC_INLINE void add_operands(struct product *to, struct operands o, struct operands h)
{
    const struct product p = multiply_pair(o, h);

    to->lo ^= p.lo;
    to->mi ^= p.mi;
    to->hi ^= p.hi;
}

/* ---- Powers ---------------------------------------------------------------------------------- */

/* h times x: a bit to the left; what falls out comes back as the polynomial. */
EVC_INLINE vec first_power(const uint8_t h[16])
{
    const uint64_t hi = evc_load64_be(h), lo = evc_load64_be(h + 8), out = evc_mask_highest64(hi);

    return evc_ppc_block((hi << 1 | lo >> 63) ^ (out & UINT64_C(0xc200000000000000)),
                         lo << 1 ^ (out & 1));
}

/* The cross products are one vpmsumd. */
EVC_INLINE vec multiply(vec a, vec b)
{
    const vec zero = {0};
    struct product p;
    vec upper, lower;

    EVC_PPC_HALVES(upper, b, zero, 0);
    EVC_PPC_HALVES(lower, zero, b, 1);
    p.lo = evc_ppc_vpmsumd(a, lower);
    p.mi = evc_ppc_vpmsumd(a, swap(b));
    p.hi = evc_ppc_vpmsumd(a, upper);
    return reduce(p);
}

EVC_INLINE void store_pair(struct pair *to, vec a, vec b)
{
    vec hi, lo;

    EVC_PPC_HALVES(hi, a, b, 0);
    EVC_PPC_HALVES(lo, a, b, 3);
    evc_ppc_store_raw(to->hi, hi);
    evc_ppc_store_raw(to->lo, lo);
    evc_ppc_store_raw(to->sum, hi ^ lo);
}

EVC_INLINE void powers_of(struct powers *to, const uint8_t h[16])
{
    const vec h1 = first_power(h), h2 = multiply(h1, h1), h3 = multiply(h2, h1);
    const vec h4 = multiply(h2, h2);

    store_pair(&to->pair[3], h2, h1);
    store_pair(&to->pair[2], h4, h3);
    store_pair(&to->pair[1], multiply(h4, h2), multiply(h4, h1));
    store_pair(&to->pair[0], multiply(h4, h4), multiply(h4, h3));
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* GROUP blocks. The first waits for y, the hash so far, so it is the last to be multiplied. */
EVC_INLINE vec hash_group(const struct operands *h, vec y, const uint8_t *in, int reversed)
{
    struct product p;

#define LOAD(i) evc_ppc_load_ith(in, i)
    p = multiply_pair(operands_in(LOAD(2), LOAD(3), reversed), h[1]);
    add_operands(&p, operands_in(LOAD(4), LOAD(5), reversed), h[2]);
    add_operands(&p, operands_in(LOAD(6), LOAD(7), reversed), h[3]);
    add_operands(&p, operands_in(plus(y, LOAD(0), reversed), LOAD(1), reversed), h[0]);
#undef LOAD
    return reduce_sum(p);
}

/* Fewer than GROUP blocks, at least one: they meet the last powers. An odd number of
 * blocks has one of zeros in front. */
EVC_INLINE vec hash_rest(const struct powers *h, vec y, const uint8_t *in, size_t n_blocks,
                         int reversed)
{
    const struct pair *pair = h->pair + PAIRS - (n_blocks + 1) / 2;
    const vec first = plus(y, evc_ppc_load_raw(in), reversed);
    struct product p;

    if (n_blocks % 2) {
        p = multiply_pair(operands_in((vec){0}, first, reversed), powers_at(pair));
        in += 16;
    } else {
        p = multiply_pair(operands_in(first, evc_ppc_load_raw(in + 16), reversed),
                          powers_at(pair));
        in += 32;
    }
    for (n_blocks = (n_blocks - 1) / 2; n_blocks; n_blocks--, in += 32)
        add_operands(&p, operands_in(evc_ppc_load_raw(in), evc_ppc_load_raw(in + 16), reversed),
                     powers_at(++pair));
    return reduce_sum(p);
}

/* n_blocks: a multiple of GROUP, not 0. The powers stay in registers. */
EVC_INLINE vec hash_groups_of(const struct powers *powers, vec y, const uint8_t *in,
                              size_t n_blocks, int reversed)
{
    struct operands h[PAIRS];

    EACH_UP_TO_4(PAIRS, h[i] = powers_at(&powers->pair[i]));
    for (; n_blocks; n_blocks -= GROUP, in += 16 * GROUP)
        y = hash_group(h, y, in, reversed);
    return y;
}

EVC_OUT_OF_LINE vec hash_groups(const struct powers *powers, vec y, const uint8_t *in,
                                size_t n_blocks)
{
    return hash_groups_of(powers, y, in, n_blocks, 0);
}

EVC_OUT_OF_LINE vec hash_groups_reversed(const struct powers *powers, vec y, const uint8_t *in,
                                         size_t n_blocks)
{
    return hash_groups_of(powers, y, in, n_blocks, 1);
}

/* The hash of whole blocks behind those whose hash is y. */
EVC_INLINE vec hash_behind(const struct powers *powers, vec y, const uint8_t *in, size_t n_blocks)
{
    const size_t n_grouped = n_blocks - n_blocks % GROUP;

    if (n_grouped)
        y = hash_groups(powers, y, in, n_grouped);
    if (n_blocks != n_grouped)
        y = hash_rest(powers, y, in + 16 * n_grouped, n_blocks - n_grouped, 0);
    return y;
}

EVC_INLINE vec hash_behind_reversed(const struct powers *powers, vec y, const uint8_t *in,
                                    size_t n_blocks)
{
    const size_t n_grouped = n_blocks - n_blocks % GROUP;

    if (n_grouped)
        y = hash_groups_reversed(powers, y, in, n_grouped);
    if (n_blocks != n_grouped)
        y = hash_rest(powers, y, in + 16 * n_grouped, n_blocks - n_grouped, 1);
    return y;
}

#endif
