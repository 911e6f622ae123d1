/* SPDX-License-Identifier: MIT */
/*
 * GHASH by carry-less multiplication, written once for every width of vector: the powers of H, products, and the
 * hash of whole blocks. Kernels of GHASH include x86_clmul_blocks.h, kernels of GCM their own steps, inside the region
 * of the kernel's ISA, after these have been defined:
 *
 *   vec, LANES               a vector of 1, 2 or 4 blocks; block 0 is the lowest and the first in memory
 *   v_load, v_store          a whole vector, no alignment
 *   v_load_part(p, n)        n blocks, fewer than LANES, and zeros
 *   v_xor, v_xor3            the sum of two and of three
 *   v_swap                   the 64-bit halves of each block change places
 *   v_low_halves(a, b)       of each block: the lower half of a's, and above it the lower half of b's
 *   v_clmul(a, b, imm)       of each block: bit 0 of imm chooses the half of a's, bit 4 that of b's
 *   v_reverse(v)             the 16 bytes of each block in reverse order
 *   v_all(block), v_first(block)   one block in all places; in the first, zeros in the others
 *   v_fold(v)                the sum of the blocks of v
 *   v_zero()
 *
 * An element is a byte-reversed block, so bit 127 - i of a register is the coefficient of x^i. The product of two
 * is the reflected product, one bit too low; H carries that bit (it is stored times x), and reduction divides by
 * x^128. All powers of H are kept so: the reduced product of two of them is another.
 *
 * Source: Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage for Computing the GCM Mode,
 * 2014 (reflection, Karatsuba, aggregation). Reduction as Montgomery (1985), modulo x^128 + x^127 + x^126 + x^121 + 1:
 * its lower half is 1, so one multiplication clears 64 bits.
 */
#ifndef EVC_GHASH_X86_CLMUL_STEPS_H
#define EVC_GHASH_X86_CLMUL_STEPS_H

#define GROUP 8               /* vectors with one reduction */
#define BATCH (GROUP * LANES) /* blocks with one reduction */
#define VEC_BYTES (16 * LANES)

/* power: H^BATCH ... H^1, so that the last n blocks of a message meet the last n of them.
 * sum: of the two halves of each power. Vectors 2j and 2j + 1 of power share vector j of sum: the first has the
 * lower halves of its blocks, the second the upper ones. */
struct powers {
    uint8_t power[16 * BATCH], sum[8 * BATCH];
};

EVC_INLINE __m128i reverse1(__m128i block)
{
    return _mm_shuffle_epi8(block, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
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

EVC_INLINE struct product multiply(vec a, vec b)
{
    struct product p;

    p.lo = v_clmul(a, b, 0x00);
    p.mi = v_xor(v_clmul(a, b, 0x01), v_clmul(a, b, 0x10));
    p.hi = v_clmul(a, b, 0x11);
    return p;
}

/* For sums of products by Karatsuba, whose mi lacks lo and hi: the last step adds them. */
EVC_INLINE struct product no_product(void)
{
    struct product p = {v_zero(), v_zero(), v_zero()};

    return p;
}

/* Plus a times any power. */
EVC_INLINE void add_product(struct product *to, vec a, vec h)
{
    to->lo = v_xor(to->lo, v_clmul(a, h, 0x00));
    to->hi = v_xor(to->hi, v_clmul(a, h, 0x11));
    to->mi = v_xor(to->mi, v_clmul(v_xor(a, v_swap(a)), v_xor(h, v_swap(h)), 0x00));
}

/* Plus a times vector GROUP - 1 of the powers, the last. */
EVC_INLINE void add_last(struct product *to, vec a, const struct powers *h)
{
    const vec power = v_load(h->power + (GROUP - 1) * VEC_BYTES);
    const vec sum = v_load(h->sum + (GROUP / 2 - 1) * VEC_BYTES);

    to->lo = v_xor(to->lo, v_clmul(a, power, 0x00));
    to->hi = v_xor(to->hi, v_clmul(a, power, 0x11));
    to->mi = v_xor(to->mi, v_clmul(v_xor(a, v_swap(a)), sum, 0x10));
}

/* Plus a and b times vectors 2j and 2j + 1 of the powers. */
EVC_INLINE void add_pair(struct product *to, vec a, vec b, const struct powers *h, size_t j)
{
    const vec power = v_load(h->power + 2 * j * VEC_BYTES);
    const vec next = v_load(h->power + (2 * j + 1) * VEC_BYTES);
    const vec sum = v_load(h->sum + j * VEC_BYTES);

    to->lo = v_xor3(to->lo, v_clmul(a, power, 0x00), v_clmul(b, next, 0x00));
    to->hi = v_xor3(to->hi, v_clmul(a, power, 0x11), v_clmul(b, next, 0x11));
    to->mi = v_xor3(to->mi, v_clmul(v_xor(a, v_swap(a)), sum, 0x00),
                    v_clmul(v_xor(b, v_swap(b)), sum, 0x10));
}

EVC_INLINE __m128i reduce_sum(struct product p)
{
    p.mi = v_xor3(p.mi, p.lo, p.hi);
    return v_fold(reduce(p));
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

EVC_INLINE void powers_of(struct powers *to, const uint8_t h[16])
{
    uint8_t *const end = to->power + sizeof to->power;

    /* Twice as many from each product with the highest: block by block up to a vector, then by vectors. */
    store1(end - 16, times_x(reverse1(load1(h))));
    for (size_t n = 1; n < LANES; n *= 2)
        for (size_t i = 1; i <= n; i++) {
            const vec a = v_first(load1(end - 16 * i)), b = v_first(load1(end - 16 * n));
            store1(end - 16 * (n + i), v_fold(reduce(multiply(a, b))));
        }
    for (size_t n = LANES; n < BATCH; n *= 2) {
        const vec highest = v_all(load1(end - 16 * n));
        for (size_t i = LANES; i <= n; i += LANES)
            v_store(end - 16 * (n + i), reduce(multiply(v_load(end - 16 * i), highest)));
    }
    for (size_t j = 0; j < GROUP / 2; j++) {
        const vec a = v_load(to->power + 2 * j * VEC_BYTES);
        const vec b = v_load(to->power + (2 * j + 1) * VEC_BYTES);
        v_store(to->sum + j * VEC_BYTES, v_low_halves(v_xor(a, v_swap(a)), v_xor(b, v_swap(b))));
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* BATCH blocks. The first vector waits for y, the hash so far, so it is the last to be multiplied. */
EVC_INLINE __m128i hash_group(const struct powers *h, __m128i y, const uint8_t *in)
{
    struct product p = no_product();
    vec a, b;

#define PAIR(j)                                                                                    \
    (a = v_reverse(v_load(in + (2 * (j)) * VEC_BYTES)),                                            \
     b = v_reverse(v_load(in + (2 * (j) + 1) * VEC_BYTES)))
    PAIR(1);
    add_pair(&p, a, b, h, 1);
    PAIR(2);
    add_pair(&p, a, b, h, 2);
    PAIR(3);
    add_pair(&p, a, b, h, 3);
    PAIR(0);
    add_pair(&p, v_xor(a, v_first(y)), b, h, 0);
#undef PAIR
    return reduce_sum(p);
}

/* Fewer than BATCH blocks, at least one. */
EVC_INLINE __m128i hash_rest(const struct powers *h, __m128i y, const uint8_t *in, size_t n_blocks)
{
    const uint8_t *power = h->power + sizeof h->power - 16 * n_blocks;
    struct product p = no_product();
    vec before = v_first(y);

    for (; n_blocks >= LANES; n_blocks -= LANES, in += VEC_BYTES, power += VEC_BYTES) {
        add_product(&p, v_xor(v_reverse(v_load(in)), before), v_load(power));
        before = v_zero();
    }
#if LANES > 1
    if (n_blocks) /* beyond the last power is what meets the zeros */
        add_product(&p, v_xor(v_reverse(v_load_part(in, n_blocks)), before), v_load(power));
#endif
    return reduce_sum(p);
}

EVC_INLINE void hash_blocks(const struct powers *h, uint8_t y_bytes[16], const uint8_t *in,
                            size_t n_blocks)
{
    __m128i y = reverse1(load1(y_bytes));

    for (; n_blocks >= BATCH; n_blocks -= BATCH, in += 16 * BATCH)
        y = hash_group(h, y, in);
    if (n_blocks)
        y = hash_rest(h, y, in, n_blocks);
    store1(y_bytes, reverse1(y));
}

#endif
