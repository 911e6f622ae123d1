/* SPDX-License-Identifier: MIT */
/*
 * GHASH by PMULL of 8 bits, three levels of Karatsuba, by intrinsics: the sums of products, and the
 * slots. Include it inside a region of A64_NEON, or of A32_NEON behind common/a32_neon.h.
 */
#ifndef EVC_GHASH_A64_P8X8_BLOCKS_H
#define EVC_GHASH_A64_P8X8_BLOCKS_H

#include "ghash/a64_p8x8_steps.h"

/* Sums of products: [0] by vectors as they are, [1] by those with swapped bytes. Lanes of 32 bits
 * are parts, of which a, cross, all hold the two of a word; the others as in the operands. */
struct products {
    uint8x16_t hi[2], lo[2], cross[2], beside[2], halves[2], cross_sums[2], beside_sums[2], all[2],
        last;
};

/* ---- Products -------------------------------------------------------------------------------- */

EVC_INLINE uint8x16_t multiply_low(uint8x16_t a, uint8x16_t b)
{
    return vreinterpretq_u8_p16(
        vmull_p8(vreinterpret_p8_u8(vget_low_u8(a)), vreinterpret_p8_u8(vget_low_u8(b))));
}

EVC_INLINE uint8x16_t multiply_high(uint8x16_t a, uint8x16_t b)
{
    return vreinterpretq_u8_p16(vmull_high_p8(vreinterpretq_p8_u8(a), vreinterpretq_p8_u8(b)));
}

EVC_INLINE void add_products(struct products *p, uint8x16_t a, uint8x16_t b, const struct table *t,
                             size_t pair)
{
    const struct operands o = operands_of(a, b);

#define H(part) vld1q_u8(t->pair[pair].part)
#define EACH_ORDER(statement)                                                                      \
    do {                                                                                           \
        EACH_I(0, statement);                                                                      \
        EACH_I(1, statement);                                                                      \
    } while (0)
#define ADD_LOW(sum, v, part) sum = add(sum, multiply_low(o.v, H(part)))
#define ADD_HIGH(sum, v, part) sum = add(sum, multiply_high(o.v, H(part)))
#define ADD_BOTH(sum, v, part) \
    sum = add(sum, add(multiply_low(o.v, H(part)), multiply_high(o.v, H(part))))
    EACH_ORDER(ADD_LOW(p->hi[i], a, a[i]));
    EACH_ORDER(ADD_HIGH(p->lo[i], a, a[i]));
    EACH_ORDER(ADD_LOW(p->hi[i], b, b[i]));
    EACH_ORDER(ADD_HIGH(p->lo[i], b, b[i]));
    EACH_ORDER(ADD_BOTH(p->cross[i], cross, cross[i]));
    EACH_ORDER(ADD_BOTH(p->beside[i], beside, beside[i]));
    EACH_ORDER(ADD_BOTH(p->halves[i], halves, halves[i]));
    EACH_ORDER(ADD_LOW(p->cross_sums[i], sums, sums[i]));
    EACH_ORDER(ADD_HIGH(p->beside_sums[i], sums, sums[i]));
    ADD_LOW(p->all[0], all, all);
    ADD_HIGH(p->all[1], all, all);
    ADD_LOW(p->last, last, last);
#undef H
}

/* ---- Adding up, and the reduction ------------------------------------------------------------ */

EVC_INLINE uint8x16_t widen_low(uint8x16_t v) /* 16 bits times x^8 to 32 */
{
    return vreinterpretq_u8_u32(vshll_n_u16(vget_low_u16(U16(v)), 8));
}

EVC_INLINE uint8x16_t widen_high(uint8x16_t v)
{
    return vreinterpretq_u8_u32(vshll_high_n_u16(U16(v), 8));
}

EVC_INLINE uint8x16_t widen2_low(uint8x16_t v) /* 32 bits times x^16 to 64 */
{
    return vreinterpretq_u8_u64(vshll_n_u32(vget_low_u32(U32(v)), 16));
}

EVC_INLINE uint8x16_t widen2_high(uint8x16_t v)
{
    return vreinterpretq_u8_u64(vshll_high_n_u32(U32(v), 16));
}

/* The products with swapped bytes go between the two others, of 4 parts in a and in b. */
EVC_INLINE void join_bytes(uint8x16_t *a, uint8x16_t *b, uint8x16_t a_swapped, uint8x16_t b_swapped)
{
    const uint8x16_t mi = add_16(a_swapped, b_swapped);

    *a = add(*a, widen_low(mi));
    *b = add(*b, widen_high(mi));
}

/* Products of 2 words in a and in b, from those of their halves and of the sums of halves. */
EVC_INLINE void join_halves(uint8x16_t *a, uint8x16_t *b, uint8x16_t sums)
{
    const uint8x16_t mi = add(add_32(*a, *b), sums);

    *a = add(*a, widen2_low(mi));
    *b = add(*b, widen2_high(mi));
}

EVC_INLINE uint8x16_t rev64_32(uint8x16_t v)
{
    return vreinterpretq_u8_u32(vrev64q_u32(U32(v)));
}

EVC_INLINE uint8x16_t sum_of(const struct products *p)
{
    const uint8x16_t zero = vdupq_n_u8(0);
    uint8x16_t hi = p->hi[0], lo = p->lo[0], cross = p->cross[0], beside = p->beside[0];
    uint8x16_t halves = p->halves[0], sums = add_64(p->cross_sums[0], p->beside_sums[0]);
    uint8x16_t all = p->all[0], last = p->last, mi, between, above;

    join_bytes(&hi, &lo, p->hi[1], p->lo[1]);
    join_bytes(&cross, &beside, p->cross[1], p->beside[1]);
    join_bytes(&halves, &sums, p->halves[1], add_64(p->cross_sums[1], p->beside_sums[1]));
    join_halves(&hi, &lo, halves);
    join_halves(&cross, &beside, sums);
    /* all: of a and b, each its two halves; last: the sums of a and b, then
     * those with swapped bytes */
    mi = add_16(p->all[1], last);
    all = add(all, widen_low(mi));
    last = add(last, vextq_u8(widen_high(mi), zero, 8));
    all = add(all, vextq_u8(all, all, 8));
    mi = add(add(all, rev64_32(all)), add(last, rev64_32(last)));
    all = add(all, widen2_low(mi)); /* the same in both lanes */
    /* now words by 64 bits: beside has what goes between those of hi, of lo; all that of cross */
    beside = add(beside, add_64(hi, lo));
    all = add(all, add(cross, vextq_u8(cross, cross, 8)));
    all = add(add(all, beside), vextq_u8(beside, beside, 8));
    /* mi goes between lo and hi, and between is 32 bits higher than all of these */
    mi = add(cross, add(hi, lo));
    lo = add(lo, vextq_u8(zero, mi, 8));
    hi = add(hi, vextq_u8(mi, zero, 8));
    between = vreinterpretq_u8_u64(vtrn2q_u64(U64(beside), U64(all)));
    above = vreinterpretq_u8_u64(vtrn1q_u64(U64(beside), U64(zero)));
    lo = add(lo, vextq_u8(zero, between, 12));
    hi = add(hi, vextq_u8(between, above, 12));
    return reduce(lo, hi);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

EVC_INLINE uint8x16_t load(const uint8_t *p)
{
    return vrev64q_u8(vld1q_u8(p));
}

static void blocks(const void *vkey, uint8_t y_bytes[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;
    uint8x16_t y = load(y_bytes), zero = vdupq_n_u8(0);

    while (n_blocks) {
        const size_t n = (n_blocks - 1) % GROUP + 1;
        size_t pair = PAIRS - (n + 1) / 2;
        struct products p = {{zero, zero}, {zero, zero}, {zero, zero}, {zero, zero}, {zero, zero},
                             {zero, zero}, {zero, zero}, {zero, zero}, zero};
        if (n % 2) {
            add_products(&p, zero, add(y, load(in)), &key->table, pair++);
            in += 16;
        } else {
            add_products(&p, add(y, load(in)), load(in + 16), &key->table, pair++);
            in += 32;
        }
        for (; pair < PAIRS; pair++, in += 32)
            add_products(&p, load(in), load(in + 16), &key->table, pair);
        y = sum_of(&p);
        n_blocks -= n;
    }
    vst1q_u8(y_bytes, vrev64q_u8(y));
}

static void set_key(void *key, const uint8_t h[16])
{
    make_key(key, h, blocks);
}

#endif
