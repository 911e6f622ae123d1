/* SPDX-License-Identifier: MIT */
/*
 * GHASH by vector permute: every product is looked up in tables of 16 bytes by PSHUFB, which has no
 * address to leak. Include it inside the region of the kernel's ISA, after these have been defined:
 *
 *   vec, LANES                 a vector of 1 or 2 times 16 bytes
 *   v_zero, v_xor, v_and, v_shuffle (PSHUFB), v_shift4 (16-bit fields to the right by 4)
 *   v_all(x)                   16 bytes in all lanes
 *   v_get(p), v_put(p, v)      16 bytes at p, and of two lanes those at p + 128
 *   v_up(v), v_down(v)         of two lanes: the lower one moved up, the upper one
 *                              down, zeros in its place
 *   v_low(v)                   of two lanes: the lower one
 *
 * An element is a block as it stands in memory: byte i has the coefficients of x^(8i) to
 * x^(8i + 7), the first in its top bit (SP 800-38D section 6.3). The table of an element has in row
 * i, at 32i + n, byte i of its product by the upper nibble n of a byte, and at 32i + 16 + n that by
 * the lower one. These products are reduced, 16 bytes; that by byte j of a block is moved by j
 * bytes, so the product by a whole block has 31, of which the last 15 are reduced.
 *
 * Few blocks: one look-up takes the 16 bytes of a block. Many: 16 blocks are transposed, so that
 * vector j has their bytes j; one look-up takes a byte of each, and nothing needs to be moved. The
 * 16 are multiplied by H^16 and the next 16 added, which is Horner's rule on 16 messages side by
 * side; at the end they are transposed back and are few.
 *
 * Source: Hamburg: Accelerating AES with Vector Permute Instructions, CHES 2009 (look-ups by
 * PSHUFB); Shoup: On Fast and Provably Secure Message Authentication Based on Universal Hashing,
 * CRYPTO 1996 (tables of nibbles); Plank, Greenan, Miller: Screaming Fast Galois Field
 * Arithmetic Using Intel SIMD Instructions, FAST 2013 (both together, on elements whose bytes
 * stand in vectors of their own).
 */
#ifndef EVC_GHASH_X86_VPERM_STEPS_H
#define EVC_GHASH_X86_VPERM_STEPS_H

#include "common/bytes.h"
#include "ghash/table_steps.h"

#define COLUMNS 16 /* blocks side by side */
#define ROWS (16 / LANES)

struct key {
    struct evc_ghash_head head;
    EVC_ALIGN(16) uint8_t h[512]; /* table of H */
    uint8_t h2[256]; /* H^2: half_table's, to be expanded when it is used */
    uint8_t h16[16]; /* H^16 */
};

/* ---- 16 bytes -------------------------------------------------------------------------------- */

EVC_INLINE __m128i load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

EVC_INLINE __m128i get(const uint8_t *p) /* aligned */
{
    return _mm_load_si128((const __m128i *)(const void *)p);
}

EVC_INLINE void put(uint8_t *p, __m128i x)
{
    _mm_store_si128((__m128i *)(void *)p, x);
}

EVC_INLINE __m128i xor(__m128i a, __m128i b)
{
    return _mm_xor_si128(a, b);
}

EVC_INLINE __m128i upper(__m128i x)
{
    return _mm_and_si128(_mm_srli_epi16(x, 4), _mm_set1_epi8(15));
}

EVC_INLINE __m128i lower(__m128i x)
{
    return _mm_and_si128(x, _mm_set1_epi8(15));
}

/* A row of a table, looked up by upper and lower nibbles. */
EVC_INLINE __m128i look_up(const uint8_t *row, __m128i up, __m128i low)
{
    return xor(_mm_shuffle_epi8(get(row), up), _mm_shuffle_epi8(get(row + 16), low));
}

/* Rows 0 and 1 of the table of x^128, the others are zero: what byte 16 is when it is reduced. */
#define EACH(f)                                                                                    \
    f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11), f(12), f(13), f(14), \
        f(15)
#define UPPER_TO_0(n) (uint8_t)(EVC_GHASH_BACK(n, 4) >> 8)
#define LOWER_TO_0(n) (uint8_t)(EVC_GHASH_BACK(n, 8) >> 8)
#define UPPER_TO_1(n) (uint8_t)EVC_GHASH_BACK(n, 4)
#define LOWER_TO_1(n) (uint8_t)EVC_GHASH_BACK(n, 8)
static const EVC_ALIGN(16) uint8_t back[64] = {EACH(UPPER_TO_0), EACH(LOWER_TO_0),
                                               EACH(UPPER_TO_1), EACH(LOWER_TO_1)};

/* ---- Tables ---------------------------------------------------------------------------------- */

/* The rows for upper nibbles of the table of h: the multiple by n is the sum of those by the bits
 * of n, of which byte i is looked up for each n that has the bit, and zero (PSHUFB's for indices
 * from 128) for the others. */
#define UNLESS_0(n) (n) & 1 ? 0 : 128
#define UNLESS_1(n) (n) & 2 ? 0 : 128
#define UNLESS_2(n) (n) & 4 ? 0 : 128
#define UNLESS_3(n) (n) & 8 ? 0 : 128
EVC_OUT_OF_LINE void half_table(uint8_t half[256], const uint8_t h[16])
{
    static const EVC_ALIGN(16) uint8_t unless[4][16] = {
        {EACH(UNLESS_0)}, {EACH(UNLESS_1)}, {EACH(UNLESS_2)}, {EACH(UNLESS_3)}};
    struct evc_ghash_element multiple[16];
    __m128i byte = _mm_setzero_si128(), by[4];

    evc_ghash_multiples(multiple, 16, h);
    for (int b = 0; b < 4; b++)
        by[b] = _mm_set_epi64x((int64_t)evc_bswap64(multiple[1 << b].lo),
                               (int64_t)evc_bswap64(multiple[1 << b].hi));
#define BIT(b) _mm_shuffle_epi8(by[b], _mm_or_si128(byte, get(unless[b])))
    for (int i = 0; i < 16; i++, byte = _mm_add_epi8(byte, _mm_set1_epi8(1)))
        put(half + 16 * i, xor(xor(BIT(0), BIT(1)), xor(BIT(2), BIT(3))));
#undef BIT
}

/* The whole table from half_table's, which may lie in its second half. The product by a lower
 * nibble is that by an upper one times x^4. */
EVC_INLINE void expand(uint8_t t[512], const uint8_t half[256])
{
    const __m128i out = lower(get(half + 240));
    __m128i before = _mm_shuffle_epi8(get(back), out), to_1 = _mm_shuffle_epi8(get(back + 32), out);

    for (int i = 0; i < 16; i++) {
        const __m128i row = get(half + 16 * i);
        put(t + 32 * i, row);
        put(t + 32 * i + 16, xor(upper(row), before));
        before = xor(_mm_slli_epi16(lower(row), 4), to_1);
        to_1 = _mm_setzero_si128();
    }
}

EVC_OUT_OF_LINE void whole_table(uint8_t t[512], const uint8_t h[16])
{
    half_table(t + 256, h);
    expand(t, t + 256);
}

/* ---- Few blocks ------------------------------------------------------------------------------ */

/* A sum of products, not reduced. Rows 4g + k have been looked up for the block rotated by 4g
 * bytes: all[k] is their sum, still to be moved by k bytes, and low[k] that sum without the bytes
 * that were rotated round the end. */
struct product {
    __m128i all[4], low[4];
};

EVC_INLINE void add_row(struct product *p, int k, const uint8_t *row, __m128i up, __m128i low,
                        __m128i mask)
{
    const __m128i v = look_up(row, up, low);

    p->all[k] = xor(p->all[k], v);
    p->low[k] = xor(p->low[k], _mm_and_si128(v, mask));
}

/* A table as if at an address unknown to the compiler: else it moves the rows, before a
 * loop, onto the stack. */
EVC_INLINE const uint8_t *in_memory(const uint8_t *t)
{
#if EVC_GNU_C
    __asm__ volatile("" : "+r"(t));
#endif
    return t;
}

EVC_INLINE void add_product(struct product *p, const uint8_t t[512], __m128i x)
{
    static const uint8_t from_16[32] = {[16] = 255, 255, 255, 255, 255, 255, 255, 255,
                                        255, 255, 255, 255, 255, 255, 255, 255};
    __m128i up = upper(x), low = lower(x);

/* At -O3 compilers would keep all masks, and parts of the hash, on the stack. */
#if defined(__clang__)
#pragma clang loop unroll(disable)
#elif EVC_GNU_C
#pragma GCC unroll 1
#endif
    for (int i = 0; i < 16; i += 4, t += 128) {
        const __m128i mask = load(from_16 + 16 - i); /* bytes from i on */
        t = in_memory(t);
        add_row(p, 0, t, up, low, mask);
        add_row(p, 1, t + 32, up, low, mask);
        add_row(p, 2, t + 64, up, low, mask);
        add_row(p, 3, t + 96, up, low, mask);
        up = _mm_shuffle_epi32(up, 0x93); /* rotated by 4 bytes */
        low = _mm_shuffle_epi32(low, 0x93);
    }
}

EVC_INLINE struct product nothing(void)
{
    const __m128i zero = _mm_setzero_si128();

    return (struct product){{zero, zero, zero, zero}, {zero, zero, zero, zero}};
}

EVC_INLINE __m128i reduce(struct product p)
{
#define HIGH(k) xor(p.all[k], p.low[k])
    const __m128i low = xor(xor(p.low[0], _mm_slli_si128(p.low[1], 1)),
                            xor(_mm_slli_si128(p.low[2], 2), _mm_slli_si128(p.low[3], 3)));
    const __m128i high = xor(xor(HIGH(0), _mm_alignr_epi8(HIGH(1), p.low[1], 15)),
                             xor(_mm_alignr_epi8(HIGH(2), p.low[2], 14),
                                 _mm_alignr_epi8(HIGH(3), p.low[3], 13)));
    const __m128i u = upper(high), l = lower(high);
#undef HIGH
    /* Byte 15 of high is zero, so nothing falls out again. */
    return xor(xor(low, look_up(back, u, l)), _mm_slli_si128(look_up(back + 32, u, l), 1));
}

/* Two blocks at a time, by H^2 and by H: only the first waits for y. */
EVC_OUT_OF_LINE __m128i hash_pairs(const uint8_t h2[512], const uint8_t h[512], __m128i y,
                                   const uint8_t *in, size_t n_pairs)
{
    for (; n_pairs; n_pairs--, in += 32) {
        struct product p = nothing();
        add_product(&p, h, load(in + 16));
        add_product(&p, h2, xor(y, load(in)));
        y = reduce(p);
    }
    return y;
}

EVC_OUT_OF_LINE __m128i hash_few(const struct key *key, __m128i y, const uint8_t *in,
                                 size_t n_blocks)
{
    EVC_ALIGN(16) uint8_t h2[512];

    if (n_blocks % 2) {
        struct product p = nothing();
        add_product(&p, key->h, xor(y, load(in)));
        y = reduce(p);
        in += 16;
    }
    if (n_blocks < 2)
        return y;
    expand(h2, key->h2);
    y = hash_pairs(h2, key->h, y, in, n_blocks / 2);
    return y;
}

/* ---- Many blocks ----------------------------------------------------------------------------- */

/* A vector for upper nibbles and one for lower ones: these themselves, or a row of a table. */
struct v_pair {
    vec upper, lower;
};

EVC_INLINE struct v_pair v_nibbles(vec x)
{
    const vec mask = v_all(_mm_set1_epi8(15));

    return (struct v_pair){v_and(v_shift4(x), mask), v_and(x, mask)};
}

EVC_INLINE struct v_pair v_row(const uint8_t *row)
{
    return (struct v_pair){v_all(get(row)), v_all(get(row + 16))};
}

EVC_INLINE vec v_look_up(struct v_pair row, struct v_pair x)
{
    return v_xor(v_shuffle(row.upper, x.upper), v_shuffle(row.lower, x.lower));
}

EVC_INLINE void put_sum(uint8_t *p, __m128i x, int add)
{
    put(p, add ? xor(x, get(p)) : x);
}

/* Two of the four rounds that transpose 16 x 16 bytes: each interleaves rows r and r + 8. */
EVC_INLINE void interleave_twice(uint8_t *to, const uint8_t *from, int add)
{
    for (int r = 0; r < 4; r++, from += 16, to += 64) {
        const __m128i a = load(from), b = load(from + 64);
        const __m128i c = load(from + 128), d = load(from + 192);
        const __m128i ac_low = _mm_unpacklo_epi8(a, c), ac_high = _mm_unpackhi_epi8(a, c);
        const __m128i bd_low = _mm_unpacklo_epi8(b, d), bd_high = _mm_unpackhi_epi8(b, d);
        put_sum(to, _mm_unpacklo_epi8(ac_low, bd_low), add);
        put_sum(to + 16, _mm_unpackhi_epi8(ac_low, bd_low), add);
        put_sum(to + 32, _mm_unpacklo_epi8(ac_high, bd_high), add);
        put_sum(to + 48, _mm_unpackhi_epi8(ac_high, bd_high), add);
    }
}

/* x += the transpose of 16 blocks. room: 256 bytes. */
EVC_OUT_OF_LINE void add_transposed(uint8_t x[256], const uint8_t *in, uint8_t *room)
{
    interleave_twice(room, in, 0);
    interleave_twice(x, room, 1);
}

/* w += four vectors at x times the table: w[i + j] takes vector j by row i. w[15] and up is new,
 * and if all is new, the rest is, too. s0, s1, s2: the sums for w[i], w[i + 1], w[i + 2] so far. */
EVC_INLINE void multiply_four(vec *w, const uint8_t t[512], const uint8_t *x, int all_new)
{
    const struct v_pair x0 = v_nibbles(v_get(x)), x1 = v_nibbles(v_get(x + 16)),
                        x2 = v_nibbles(v_get(x + 32)), x3 = v_nibbles(v_get(x + 48));
    vec s0 = v_zero(), s1 = v_zero(), s2 = v_zero();

    w[15] = v_zero();
    for (int i = 0; i < 16; i++) {
        const struct v_pair row = v_row(t + 32 * i);
        const vec sum = v_xor(s0, v_look_up(row, x0));
        w[i] = all_new ? sum : v_xor(w[i], sum);
        s0 = v_xor(s1, v_look_up(row, x1));
        s1 = v_xor(s2, v_look_up(row, x2));
        s2 = v_look_up(row, x3);
    }
    w[16] = s0;
    w[17] = s1;
    w[18] = s2;
}

/* x = w reduced. w[k] has byte k of the products; of two lanes, byte k of those by bytes 0 to 7 of
 * the blocks and, in the upper lane, byte k + 8 of those by bytes 8 to 15. */
EVC_INLINE void reduce_columns(uint8_t x[256], const vec *w)
{
    const struct v_pair to_0 = v_row(back), to_1 = v_row(back + 32);
    vec before = v_zero();

    for (int j = 0; j < ROWS; j++) {
        vec low = w[j], high = w[16 + j];
        struct v_pair nibbles;
#if LANES == 2
        low = v_xor(low, v_up(w[8 + j]));
        high = v_xor(high, v_down(w[8 + j]));
#endif
        nibbles = v_nibbles(high);
        v_put(x + 16 * j, v_xor(v_xor(low, before), v_look_up(to_0, nibbles)));
        before = v_look_up(to_1, nibbles);
    }
#if LANES == 2
    put(x + 128, xor(get(x + 128), v_low(before)));
#endif
}

/* x = x * H^16 + the next 16 blocks, n_groups times. t: the table of H^16. */
EVC_OUT_OF_LINE void multiply_groups(uint8_t x[256], const uint8_t t[512], const uint8_t *in,
                                     size_t n_groups)
{
    vec w[16 + ROWS];

    for (; n_groups; n_groups--, in += 16 * COLUMNS) {
        multiply_four(w, t, x, 1);
        for (int j = 4; j < ROWS; j += 4)
            multiply_four(w + j, t, x + 16 * j, 0);
        w[15 + ROWS] = v_zero();
        reduce_columns(x, w);
        add_transposed(x, in, (uint8_t *)w);
    }
    evc_wipe(w, sizeof w);
}

EVC_OUT_OF_LINE __m128i hash_groups(const struct key *key, const uint8_t y[16], const uint8_t *in,
                                    size_t n_groups)
{
    EVC_ALIGN(16) uint8_t t[512], x[256];
    __m128i result;

    memset(x, 0, sizeof x);
    for (int j = 0; j < 16; j++)
        x[16 * j] = y[j];
    add_transposed(x, in, t);
    whole_table(t, key->h16);
    multiply_groups(x, t, in + 16 * COLUMNS, n_groups - 1);
    memset(t, 0, 256);
    add_transposed(t, x, t + 256);
    result = hash_few(key, _mm_setzero_si128(), t, COLUMNS);
    return result;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static void set_key(void *vkey, const uint8_t h[16])
{
    static const uint8_t zeros[15 * 16];
    struct key *key = vkey;
    struct product p = nothing();

    whole_table(key->h, h);
    add_product(&p, key->h, load(h));
    put(key->h16, reduce(p));
    half_table(key->h2, key->h16);
    put(key->h16, hash_few(key, load(h), zeros, 15));
}

static void blocks(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;
    const size_t few = n_blocks < 2 * COLUMNS ? n_blocks : n_blocks % COLUMNS;

    if (few)
        _mm_storeu_si128((__m128i *)(void *)y, hash_few(key, load(y), in, few));
    if (n_blocks != few)
        _mm_storeu_si128((__m128i *)(void *)y,
                         hash_groups(key, y, in + 16 * few, (n_blocks - few) / COLUMNS));
    v_clear_upper_halves();
}

#endif
