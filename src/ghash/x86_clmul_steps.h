/* SPDX-License-Identifier: MIT */
/*
 * GHASH by carry-less multiplication, written once for every width of vector: the powers of H,
 * products, and the hash of whole blocks. Kernels of GHASH include x86_clmul_blocks.h, kernels of
 * GCM their own steps, inside the region of the kernel's ISA, after these have been defined:
 *
 *   GROUP                    vectors with one reduction, a power of two, at least 4
 *   POWER_SUMS               1 if the key keeps the sums of powers for Karatsuba,
 *                            0 if each use makes them
 *   POWERS_IN_A_ROW              1 if powers are blocks in a row, and a product is four of
 *                            halves; else 0, or not defined
 *   ROW_OF_POWERS            1 if the key has half of the powers in a row, too, for GROUP 16; else
 *                            0, or not defined
 *   vec, LANES               a vector of 1, 2 or 4 blocks; block 0 is the
 *                            lowest and the first in memory
 *   v_load, v_store          a whole vector, no alignment
 *   v_load_once(p)           the same for a vector that is used more than
 *                            once: never a memory operand
 *   v_barrier(v)             the compiler does not know what is in v
 *   v_load_back(p, n)        zeros, and then n blocks, fewer than LANES
 *   v_back(block, n)         one block as the first of n that come last, zeros in the others
 *   v_xor, v_xor3            the sum of two and of three
 *   v_swap                   the 64-bit halves of each block change places
 *   v_low_halves, v_high_halves(a, b)   of each block: that half of a's, and
 *                                       above it that half of b's
 *   v_reverse(v)             the bytes of each block reversed
 *   v_lows, v_highs(a, b)    as v_low_halves and v_high_halves, of the blocks byte-reversed
 *   v_clmul(a, b, imm)       of each block: bit 0 of imm chooses the half of a's, bit 4 that of b's
 *   v_all(block), v_first(block)   one block in all places; in the first, zeros in the others
 *   v_all_as_first(v)        the first block in all places
 *   v_alternate(a, b), v_halves(a, b)   blocks of a, b, a, b; half of the blocks of a and
 *                                       half of b's; of 2, and of 4
 *   v_fold(v)                the sum of the blocks of v
 *   v_zero()
 *
 * An element is a byte-reversed block, so bit 127 - i of a register is the coefficient of x^i.
 * The product of two is the reflected product, one bit too low; H carries that bit (it is
 * stored times x), and reduction divides by x^128. All powers of H are kept so: the reduced
 * product of two of them is another.
 *
 * Source: Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage for Computing
 * the GCM Mode, 2014 (reflection, Karatsuba, aggregation). Reduction as Montgomery (1985), modulo
 * x^128 + x^127 + x^126 + x^121 + 1: its lower half is 1, so one multiplication clears 64 bits.
 */
#ifndef EVC_GHASH_X86_CLMUL_STEPS_H
#define EVC_GHASH_X86_CLMUL_STEPS_H

#include "common/each.h"

#define BATCH (GROUP * LANES) /* blocks with one reduction */
#define PAIRS (GROUP / 2)     /* vectors 2j and 2j + 1 are multiplied together */
#define VEC_BYTES (16 * LANES)

#if !defined(POWERS_IN_A_ROW)
#define POWERS_IN_A_ROW 0
#endif
#if !defined(ROW_OF_POWERS)
#define ROW_OF_POWERS 0
#endif

/* H^BATCH ... H^1, so that the last n blocks of a message meet the last n of them. Of each pair
 * of vectors the lower halves, the upper ones, and the sums of the two; in each block first the
 * half of the first vector. */
struct powers {
#if ROW_OF_POWERS
    uint8_t row[(BATCH / 2 + 4) * 16]; /* as POWERS_IN_A_ROW has them, and what may be read */
#endif
    struct pair {
#if POWERS_IN_A_ROW
        uint8_t first[VEC_BYTES], second[VEC_BYTES];
#else
        uint8_t lo[VEC_BYTES], hi[VEC_BYTES];
#if POWER_SUMS
        uint8_t sum[VEC_BYTES];
#endif
#endif
    } pair[PAIRS];
#if POWERS_IN_A_ROW
    uint8_t behind[VEC_BYTES - 16]; /* H^35, H^34, H^33; a load of the last power may reach there */
#endif
};

EVC_INLINE __m128i reverse1(__m128i block)
{
    return _mm_shuffle_epi8(block,
                            _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

EVC_INLINE __m128i load1(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

EVC_INLINE void store1(uint8_t *p, __m128i block)
{
    _mm_storeu_si128((__m128i *)(void *)p, block);
}

/* ---- Products -------------------------------------------------------------------------------- */

/* lo + mi x^64 + hi x^128, of each block, not reduced. */
struct product {
    vec lo, mi, hi;
};

/* Divided by x^128 modulo the polynomial. */
EVC_INLINE vec reduce(struct product p)
{
    const vec poly = v_all(_mm_set_epi32(0, 0, (int)0xc2000000, 0)); /* x^63 + x^62 + x^57 */
    const vec mi = v_xor3(p.mi, v_swap(p.lo), v_clmul(p.lo, poly, 0x00));

    return v_xor3(p.hi, v_swap(mi), v_clmul(mi, poly, 0x00));
}

/* Divided by x^64: the half of a reduction. */
EVC_INLINE vec half_reduced(vec lo)
{
    const vec poly = v_all(_mm_set_epi32(0, 0, (int)0xc2000000, 0));

    return v_xor(v_swap(lo), v_clmul(lo, poly, 0x00));
}

/* For sums of products by Karatsuba, whose mi lacks lo and hi: the last step adds them. */
EVC_INLINE struct product no_product(void)
{
    struct product p = {v_zero(), v_zero(), v_zero()};

    return p;
}

#if POWERS_IN_A_ROW

/* e: elements, thus blocks whose bytes have been reversed; the same in functions "reversed". */
EVC_INLINE void add_vector(struct product *to, vec e, const uint8_t *h)
{
    const vec powers = v_load_once(h);

    to->lo = v_xor(to->lo, v_clmul(e, powers, 0x00));
    to->hi = v_xor(to->hi, v_clmul(e, powers, 0x11));
    to->mi = v_xor3(to->mi, v_clmul(e, powers, 0x01), v_clmul(e, powers, 0x10));
}

EVC_INLINE void add_pair_reversed(struct product *to, vec a, vec b, const struct pair *h)
{
    add_vector(to, a, h->first);
    add_vector(to, b, h->second);
}

EVC_INLINE void add_pair(struct product *to, vec a, vec b, const struct pair *h)
{
    add_vector(to, v_reverse(a), h->first);
    add_vector(to, v_reverse(b), h->second);
}

EVC_INLINE void add_second_reversed(struct product *to, vec b, const struct pair *h)
{
    add_vector(to, b, h->second);
}

EVC_INLINE __m128i reduce_sum(struct product p)
{
    return v_fold(reduce(p));
}

EVC_INLINE void store_pair(struct pair *to, vec a, vec b)
{
    v_store(to->first, a);
    v_store(to->second, b);
}

#else

/* Vectors a and b, as they are in memory, for the product with a pair of powers. */
struct operands {
    vec lo, hi, sum;
};

EVC_INLINE struct operands operands_of(vec a, vec b)
{
    struct operands o;

    o.lo = v_lows(a, b);
    o.hi = v_highs(a, b);
    o.sum = v_xor(o.lo, o.hi);
    return o;
}

/* The same of vectors whose blocks have been byte-reversed. */
EVC_INLINE struct operands operands_of_reversed(vec a, vec b)
{
    struct operands o;

    o.lo = v_low_halves(a, b);
    o.hi = v_high_halves(a, b);
    o.sum = v_xor(o.lo, o.hi);
    return o;
}

/* A pair of powers: of each part, 0 to 2, once in a register. */
EVC_INLINE struct operands powers_at(const struct pair *h)
{
    struct operands p;

    p.lo = v_load_once(h->lo);
    p.hi = v_load_once(h->hi);
#if POWER_SUMS
    p.sum = v_load_once(h->sum);
#else
    p.sum = v_xor(p.lo, p.hi);
#endif
    return p;
}

/* Plus the products of one part with that of a pair of powers. */
EVC_INLINE vec add_part(vec to, vec part, vec h)
{
    return v_xor3(to, v_clmul(part, h, 0x00), v_clmul(part, h, 0x11));
}

EVC_INLINE void add_operands(struct product *to, struct operands o, struct operands h)
{
    to->lo = add_part(to->lo, o.lo, h.lo);
    to->hi = add_part(to->hi, o.hi, h.hi);
    to->mi = add_part(to->mi, o.sum, h.sum);
}

EVC_INLINE void add_pair(struct product *to, vec a, vec b, const struct pair *h)
{
    add_operands(to, operands_of(a, b), powers_at(h));
}

EVC_INLINE void add_pair_reversed(struct product *to, vec a, vec b, const struct pair *h)
{
    add_operands(to, operands_of_reversed(a, b), powers_at(h));
}

/* The same without a first vector: nothing is combined, so four multiplications are the shorter
 * way. The sums lack what Karatsuba's mi has too much. */
EVC_INLINE void add_second_reversed(struct product *to, vec e, const struct pair *h)
{
    const vec h_lo = v_load_once(h->lo), h_hi = v_load_once(h->hi);
    const vec lo = v_clmul(e, h_lo, 0x10), hi = v_clmul(e, h_hi, 0x11);

    to->lo = v_xor(to->lo, lo);
    to->hi = v_xor(to->hi, hi);
    to->mi = v_xor(to->mi, v_xor(v_xor3(lo, v_clmul(e, h_hi, 0x10), v_clmul(e, h_lo, 0x11)), hi));
}

EVC_INLINE __m128i reduce_sum(struct product p)
{
    p.mi = v_xor3(p.mi, p.lo, p.hi);
    return v_fold(reduce(p));
}

EVC_INLINE void store_pair(struct pair *to, vec a, vec b)
{
    const vec lo = v_low_halves(a, b), hi = v_high_halves(a, b);

    v_store(to->lo, lo);
    v_store(to->hi, hi);
#if POWER_SUMS
    v_store(to->sum, v_xor(lo, hi));
#endif
}

#endif

/* A pair of elements in memory, y added to the first. */
EVC_INLINE void add_pair_at(struct product *to, const uint8_t *in, vec y, const struct pair *h)
{
    const vec a = v_xor(v_load(in), y), b = v_load(in + VEC_BYTES);
#if LANES == 1 && !POWERS_IN_A_ROW
    /* A load from 8 bytes behind a block has its upper half below, and one from 8 bytes before it
     * its lower half above. Sums of halves thus take no shuffle, which on Intel's cores shares a
     * port with products. Wider loads would cross lines of the cache too often. */
    const struct operands p = powers_at(h);
    const vec a_sum = v_xor3(a, v_load(in + 8), _mm_srli_si128(y, 8)); /* in the lower half */
    const vec b_sum = v_xor(b, v_load(in + 8));                        /* in the upper half */

    to->lo = v_xor3(to->lo, v_clmul(a, p.lo, 0x00), v_clmul(b, p.lo, 0x10));
    to->hi = v_xor3(to->hi, v_clmul(a, p.hi, 0x01), v_clmul(b, p.hi, 0x11));
    to->mi = v_xor3(to->mi, v_clmul(a_sum, p.sum, 0x00), v_clmul(b_sum, p.sum, 0x11));
#else
    add_pair_reversed(to, a, b, h);
#endif
}

EVC_INLINE void add_second(struct product *to, vec b, const struct pair *h)
{
    add_second_reversed(to, v_reverse(b), h);
}

/* ---- Powers ---------------------------------------------------------------------------------- */

/* a * x: a bit to the left; what falls out comes back as the polynomial. */
EVC_INLINE __m128i times_x(__m128i a)
{
    const __m128i poly = _mm_set_epi32((int)0xc2000000, 0, 0, 1);
    const __m128i carry = _mm_srli_epi64(a, 63); /* of the two halves */
    const __m128i out = _mm_sub_epi32(_mm_setzero_si128(), _mm_shuffle_epi32(carry, 0xaa));

    a = _mm_or_si128(_mm_add_epi64(a, a), _mm_slli_si128(carry, 8));
    return _mm_xor_si128(a, _mm_and_si128(out, poly));
}

/* a b, with b over x^64 too: the lower half of a meets that, so half of the
 * reduction has been done. */
EVC_INLINE vec multiply(vec a, vec b, vec b_over_x64)
{
    const vec lo = v_xor(v_clmul(a, b_over_x64, 0x00), v_clmul(a, b, 0x01));

    return v_xor3(half_reduced(lo), v_clmul(a, b_over_x64, 0x10), v_clmul(a, b, 0x11));
}

/* The cross products are the same, so their sum is 0. */
EVC_INLINE vec square(vec a)
{
    struct product p = {v_clmul(a, a, 0x00), v_zero(), v_clmul(a, a, 0x11)};

    return reduce(p);
}

/* h: an element times x. most: the blocks in a row that the powers have to suffice for; a GROUP of
 * 8 makes no more powers than that takes, other groups make all. Twice as many come from each
 * product with `step`, the highest one. It is a square of the one before, which takes half as long
 * as a product, while the multiplier has time for both; later it is the first block of a
 * product. */
EVC_INLINE void powers_of_element(struct powers *to, __m128i h, size_t most)
{
    enum { HALF = GROUP / 2 };
    /* p: H^(BATCH/2) ... H^1 */
    vec step = v_all(h), over_x64, next, p[HALF];

    p[HALF - 1] = step;
#if LANES > 1
    step = square(step);
    p[HALF - 1] = v_alternate(step, p[HALF - 1]);
#endif
    if (GROUP == 8 && LANES > 1 && most <= 2) {
        store_pair(&to->pair[PAIRS - 1], v_zero(), p[HALF - 1]);
        return;
    }
#if LANES > 2
    p[HALF - 1] = v_halves(multiply(p[HALF - 1], step, half_reduced(step)), p[HALF - 1]);
    if (GROUP == 8 && most <= LANES) {
        store_pair(&to->pair[PAIRS - 1], v_zero(), p[HALF - 1]);
        return;
    }
    step = square(step);
#endif
    over_x64 = half_reduced(step);
    p[HALF - 2] = multiply(p[HALF - 1], step, over_x64);
    if (GROUP == 8 && most <= 2 * LANES) {
        store_pair(&to->pair[PAIRS - 1], p[HALF - 2], p[HALF - 1]);
        return;
    }
    next = square(step);
    over_x64 = half_reduced(next);
    p[HALF - 4] = multiply(p[HALF - 2], next, over_x64);
    p[HALF - 3] = multiply(p[HALF - 1], next, over_x64);
#if GROUP > 8
    step = v_all_as_first(p[HALF - 4]);
    over_x64 = half_reduced(step);
    EACH_UP_TO_4(4, p[i] = multiply(p[HALF - 4 + i], step, over_x64));
#endif
    if (GROUP == 8 && most <= 4 * LANES) {
        EACH_UP_TO_4(PAIRS / 2, store_pair(&to->pair[PAIRS / 2 + i], p[2 * i], p[2 * i + 1]));
        return;
    }
    step = v_all_as_first(p[0]);
    over_x64 = half_reduced(step);
#if POWERS_IN_A_ROW
    next = square(step);
    v_store((uint8_t *)to + sizeof *to - VEC_BYTES,
            multiply(p[HALF - 1], next, half_reduced(next)));
#endif
    EACH_UP_TO_4(PAIRS / 2, const vec a = p[2 * i], b = p[2 * i + 1];
                 store_pair(&to->pair[PAIRS / 2 + i], a, b); store_pair(
                     &to->pair[i], multiply(a, step, over_x64), multiply(b, step, over_x64)));
#if ROW_OF_POWERS
    v_store(to->row + 16 * (BATCH / 2 - 1), multiply(p[HALF - 1], step, over_x64));
    EACH_UP_TO_8(HALF, v_store(to->row + VEC_BYTES * i, p[i]));
    store1(to->row + sizeof to->row - 16, _mm_setzero_si128()); /* never more than read */
#endif
}

EVC_INLINE void powers_of(struct powers *to, const uint8_t h[16])
{
    powers_of_element(to, times_x(reverse1(load1(h))), BATCH);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* reversed: a constant, 1 if the bytes of all blocks in memory are reversed, as POLYVAL has them.
 * y is an element in either case. */
EVC_INLINE void add_two(struct product *to, vec a, vec b, const struct pair *h, int reversed)
{
    if (reversed)
        add_pair_reversed(to, a, b, h);
    else
        add_pair(to, a, b, h);
}

/* y, as a block in memory. */
EVC_INLINE __m128i block_of(__m128i y, int reversed)
{
    return reversed ? y : reverse1(y);
}

/* The compiler does not know what is in the sums: GCC at -O3 would make all products first, and
 * keep them on the stack. */
#define BARRIER(p)                                                                                 \
    do {                                                                                           \
        v_barrier((p).lo);                                                                         \
        v_barrier((p).mi);                                                                         \
        v_barrier((p).hi);                                                                         \
    } while (0)

/* BATCH blocks. The first vector waits for y, the hash so far, so it is the last to be
 * multiplied. */
EVC_INLINE __m128i hash_group_of(const struct powers *h, __m128i y, const uint8_t *in)
{
    struct product p = no_product();

    for (size_t j = 1; j < PAIRS; j++) {
        add_pair(&p, v_load(in + 2 * j * VEC_BYTES), v_load(in + (2 * j + 1) * VEC_BYTES),
                 &h->pair[j]);
        BARRIER(p);
    }
    add_pair(&p, v_xor(v_load(in), v_first(reverse1(y))), v_load(in + VEC_BYTES), &h->pair[0]);
    return reduce_sum(p);
}

EVC_INLINE __m128i hash_group_reversed(const struct powers *h, __m128i y, const uint8_t *in)
{
    struct product p = no_product();

    for (size_t j = 1; j < PAIRS; j++) {
        add_pair_at(&p, in + 2 * j * VEC_BYTES, v_zero(), &h->pair[j]);
        BARRIER(p);
    }
    add_pair_at(&p, in, v_first(y), &h->pair[0]);
    return reduce_sum(p);
}

/* A long group is out of line: GCC at -O3 would load its powers before the loop over groups, and
 * keep them on the stack. */
#if GROUP > 8
EVC_OUT_OF_LINE
#else
EVC_INLINE
#endif
__m128i hash_group(const struct powers *h, __m128i y, const uint8_t *in)
{
    return hash_group_of(h, y, in);
}

/* Fewer than BATCH blocks, at least one: right-aligned, with zeros in front. */
EVC_INLINE __m128i hash_rest(const struct powers *h, __m128i y, const uint8_t *in, size_t n_blocks,
                             int reversed)
{
    const size_t n_first = (n_blocks - 1) % LANES + 1; /* in the first vector */
    const struct pair *pair = h->pair + PAIRS - (n_blocks + 2 * LANES - 1) / (2 * LANES);
    size_t n_vectors = (n_blocks - n_first) / LANES; /* behind the first */
    struct product p = no_product();
    vec a = n_first == LANES ? v_load(in) : v_load_back(in, n_first);

    in += 16 * n_first;
    a = v_xor(a, v_back(block_of(y, reversed), n_first));
    if (n_vectors % 2 == 0) {
        if (reversed)
            add_second_reversed(&p, a, pair++);
        else
            add_second(&p, a, pair++);
    } else {
        add_two(&p, a, v_load(in), pair++, reversed);
        n_vectors--, in += VEC_BYTES;
    }
    for (; n_vectors; n_vectors -= 2, in += 2 * VEC_BYTES)
        add_two(&p, v_load(in), v_load(in + VEC_BYTES), pair++, reversed);
    return reduce_sum(p);
}

/* The hash of n_blocks behind those whose hash is y; y and the result as they are in memory. */
EVC_INLINE __m128i hash_from(const struct powers *h, __m128i y, const uint8_t *in, size_t n_blocks)
{
    y = reverse1(y);
    for (; n_blocks >= BATCH; n_blocks -= BATCH, in += 16 * BATCH)
        y = hash_group(h, y, in);
    if (n_blocks)
        y = hash_rest(h, y, in, n_blocks, 0);
    return reverse1(y);
}

/* The same of blocks whose bytes are reversed, y and the result as elements. */
EVC_INLINE __m128i hash_from_reversed(const struct powers *h, __m128i y, const uint8_t *in,
                                      size_t n_blocks)
{
    for (; n_blocks >= BATCH; n_blocks -= BATCH, in += 16 * BATCH)
        y = hash_group_reversed(h, y, in);
    if (n_blocks)
        y = hash_rest(h, y, in, n_blocks, 1);
    return y;
}

#endif
