/* SPDX-License-Identifier: MIT */
/*
 * GHASH by PMULL and PMULL2 of 64 bits: the powers of H, products, and the hash of whole blocks.
 * Include it inside the region of the kernel's ISA, after GROUP, the blocks with one reduction (4
 * or 8), and v_xor3(a, b, c) are defined.
 *
 * An element is a block whose halves are byte-reversed (REV64): lane 0 has the coefficients of x^0
 * to x^63, the first in its top bit, lane 1 the others. PMULL takes the lanes 0, PMULL2 the lanes
 * 1. A product is the reflected one, one bit too low; H carries that bit (it is divided by x), and
 * so do all powers of H: the reduced product of two of them is another. In memory an element is
 * two little-endian words.
 *
 * Source: Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage for Computing
 * the GCM Mode, 2014 (reflection, Karatsuba, aggregation); Montgomery: Modular Multiplication
 * Without Trial Division, 1985: modulo x^128 + x^127 + x^126 + x^121 + 1 in reflected bits, whose
 * lower half is 1, one multiplication clears 64 bits.
 */
#ifndef EVC_GHASH_A64_PMULL_STEPS_H
#define EVC_GHASH_A64_PMULL_STEPS_H

#define PAIRS (GROUP / 2) /* blocks 2j and 2j + 1 are multiplied together */

/* H^GROUP ... H^1, so that the last n blocks of a message meet the last n of them. sum: the sums of
 * the two lanes, that of the first power in lane 0. */
struct powers {
    struct pair {
        uint8_t first[16], second[16], sum[16];
    } pair[PAIRS];
};

typedef uint8x16_t block; /* as it is in memory */
typedef uint64x2_t element;

EVC_INLINE block load1(const uint8_t *p)
{
    return vld1q_u8(p);
}

EVC_INLINE void store1(uint8_t *p, block v)
{
    vst1q_u8(p, v);
}

EVC_INLINE element element_of(block v)
{
    return evc_u64_of_be_bytes(v);
}

EVC_INLINE block block_of(element v)
{
    return evc_be_bytes_of_u64(v);
}

EVC_INLINE element get(const uint8_t *p)
{
    return vreinterpretq_u64_u8(vld1q_u8(p));
}

EVC_INLINE void put(uint8_t *p, element v)
{
    vst1q_u8(p, vreinterpretq_u8_u64(v));
}

/* ---- Products -------------------------------------------------------------------------------- */

EVC_INLINE element swap(element v)
{
    return vextq_u64(v, v, 1);
}

/* The element of a block in memory. reversed: a constant, 1 if the bytes of all blocks there are
 * reversed, as POLYVAL has them. */
EVC_INLINE element element_at(const uint8_t *p, int reversed)
{
    return reversed ? swap(get(p)) : element_of(load1(p));
}

#define pmull evc_pmull_low
#define pmull2 evc_pmull_high

/* lo + (mi + lo + hi) x^64 + hi x^128 in reflected bits: 128-bit numbers, not reduced. */
struct product {
    element lo, mi, hi;
};

EVC_INLINE struct product no_product(void)
{
    const element zero = vdupq_n_u64(0);
    const struct product p = {zero, zero, zero};

    return p;
}

EVC_INLINE element reduce(struct product p)
{
    const element poly = vdupq_n_u64(UINT64_C(0xc200000000000000)); /* x^63 + x^62 + x^57 */
    const element mi = v_xor3(v_xor3(p.mi, p.lo, p.hi), swap(p.lo), pmull(p.lo, poly));

    return veorq_u64(mi, swap(veorq_u64(p.hi, pmull(mi, poly))));
}

EVC_INLINE element sum_of_lanes(element v)
{
    return veorq_u64(v, swap(v));
}

EVC_INLINE element multiply(element a, element b)
{
    struct product p;

    p.lo = pmull2(a, b);
    p.mi = pmull(sum_of_lanes(a), sum_of_lanes(b));
    p.hi = pmull(a, b);
    return reduce(p);
}

/* Plus the products of two elements with a pair of powers. */
EVC_INLINE void add_elements(struct product *to, element a, element b, const struct pair *h)
{
    const element ha = get(h->first), hb = get(h->second), hs = get(h->sum);
    const element s = veorq_u64(vtrn1q_u64(a, b), vtrn2q_u64(a, b));

    to->lo = v_xor3(to->lo, pmull2(a, ha), pmull2(b, hb));
    to->hi = v_xor3(to->hi, pmull(a, ha), pmull(b, hb));
    to->mi = v_xor3(to->mi, pmull(s, hs), pmull2(s, hs));
}

/* Blocks as they are in memory. */
EVC_INLINE void add_pair(struct product *to, block a, block b, const struct pair *h)
{
    add_elements(to, element_of(a), element_of(b), h);
}

/* The same without a first block. */
EVC_INLINE void add_second(struct product *to, block v, const struct pair *h)
{
    const element b = element_of(v), hb = get(h->second);

    to->lo = veorq_u64(to->lo, pmull2(b, hb));
    to->hi = veorq_u64(to->hi, pmull(b, hb));
    to->mi = veorq_u64(to->mi, pmull2(sum_of_lanes(b), get(h->sum)));
}

/* ---- Powers ---------------------------------------------------------------------------------- */

/* h divided by x: a bit to the left; what falls out comes back as the polynomial. */
EVC_INLINE void put_first_power(uint8_t to[16], const uint8_t h[16])
{
    const uint64_t hi = evc_load64_be(h), lo = evc_load64_be(h + 8), out = UINT64_C(0) - (hi >> 63);

    evc_store64_le(to, (hi << 1 | lo >> 63) ^ (out & UINT64_C(0xc200000000000000)));
    evc_store64_le(to + 8, lo << 1 ^ (out & 1));
}

EVC_INLINE void powers_of(struct powers *to, const uint8_t h[16])
{
    uint8_t *const plain = (uint8_t *)to; /* the last pair first: what it covers has been read */
    uint8_t *const end = plain + 16 * GROUP;

    put_first_power(end - 16, h);
    for (size_t n = 1; n < GROUP; n *= 2)
        for (size_t i = 1; i <= n; i++)
            put(end - 16 * (n + i), multiply(get(end - 16 * i), get(end - 16 * n)));
    for (size_t j = PAIRS; j-- > 0;) {
        const element a = get(plain + 32 * j), b = get(plain + 32 * j + 16);
        put(to->pair[j].first, a);
        put(to->pair[j].second, b);
        put(to->pair[j].sum, veorq_u64(vtrn1q_u64(a, b), vtrn2q_u64(a, b)));
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* GROUP blocks. The first waits for y, the hash so far, so it is the last to be multiplied. */
EVC_INLINE element hash_group(const struct powers *h, element y, const uint8_t *in, int reversed)
{
    struct product p = no_product();

#define AT(n) element_at(in + 16 * (n), reversed)
#define ADD_PAIR(j) add_elements(&p, AT(2 * (j)), AT(2 * (j) + 1), &h->pair[j])
    if (PAIRS > 2) {
        ADD_PAIR(PAIRS - 1);
        ADD_PAIR(PAIRS - 2);
    }
    ADD_PAIR(1);
    add_elements(&p, veorq_u64(y, AT(0)), AT(1), &h->pair[0]);
#undef ADD_PAIR
#undef AT
    return reduce(p);
}

/* Fewer than GROUP blocks, at least one: they meet the last powers. */
EVC_INLINE element hash_rest(const struct powers *h, element y, const uint8_t *in, size_t n_blocks,
                             int reversed)
{
    const struct pair *pair = h->pair + PAIRS - (n_blocks + 1) / 2;
    struct product p = no_product();

    y = veorq_u64(y, element_at(in, reversed));
    if (n_blocks % 2)
        add_second(&p, block_of(y), pair);
    else
        add_elements(&p, y, element_at(in + 16, reversed), pair);
    in += n_blocks % 2 ? 16 : 32;
    for (n_blocks = (n_blocks - 1) / 2; n_blocks; n_blocks--, in += 32)
        add_elements(&p, element_at(in, reversed), element_at(in + 16, reversed), ++pair);
    return reduce(p);
}

/* The hash of n_blocks behind those whose hash is `before`, whose bytes are not reversed. */
EVC_INLINE block hash_from_order(const struct powers *h, block before, const uint8_t *in,
                                 size_t n_blocks, int reversed)
{
    element y = element_of(before);

    for (; n_blocks >= GROUP; n_blocks -= GROUP, in += 16 * GROUP) {
        y = hash_group(h, y, in, reversed);
#if EVC_GNU_C && GROUP > 4
        /* Without this, GCC loads the powers once, and keeps those on the stack
         * that have no register. */
        __asm__("" : "+r"(h));
#endif
    }
    if (n_blocks)
        y = hash_rest(h, y, in, n_blocks, reversed);
    return block_of(y);
}

EVC_INLINE block hash_from(const struct powers *h, block before, const uint8_t *in, size_t n_blocks)
{
    return hash_from_order(h, before, in, n_blocks, 0);
}

#endif
