/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for AArch64 with umlal: two products of digits by one instruction.
 *
 * Method:   digits of 27 bits, four in a vector, so that the sums of the longest numbers stay below
 *           2^64 and carries wait until the end. Four rows at a time, each a digit of a times b and
 *           a digit of the reduction times n. The four digits of the next reduction follow from the
 *           first columns of these rows: general registers find them while vectors add the other
 *           columns. Squares have each cross product once, doubled. R is above 4n, so that no
 *           product needs a last subtraction: numbers are below 2n until they are stored.
 * Source:   Koc, Acar, Kaliski: Analyzing and Comparing Montgomery Multiplication Algorithms, IEEE
 *           Micro 16 (1996); Gueron, Krasnov: Software implementation of modular exponentiation,
 *           using advanced vector instructions architectures, WAIFI 2012, for redundant digits in
 *           vectors; Walter: Montgomery exponentiation needs no final subtractions, Electronics
 *           Letters 35 (1999), for R above 4n.
 * Needs:    A64_MUL32.   Timing: CT (no secret branches or addresses; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "bn/kernel.h"

#include "common/arm.h"
#include "common/bytes.h"

#if EVC_BUILT(A64_MUL32)
EVC_ISA_BEGIN(A64_MUL32)

#include "bn/digits_steps.h"

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* A number is an array of digits; four are a block. */
#define BLOCK 4
#define BLOCK_BITS (BLOCK * DIGIT_BITS)

/* Behind it the digits of n. */
struct private_part {
    EVC_ALIGN(16) uint32_t n0; /* -1 / n modulo B, B = 2^DIGIT_BITS */
};

static size_t blocks_for(size_t n_bytes)
{
    return (8 * n_bytes + SPARE_BITS + BLOCK_BITS - 1) / BLOCK_BITS;
}

static size_t blocks_of(const void *key)
{
    return blocks_for(evc_bn_n_bytes(key));
}

EVC_INLINE const struct private_part *private_part(const void *key)
{
    return EVC_BN_PRIVATE_CONST(key);
}

EVC_INLINE const uint32_t *modulus_of(const void *key)
{
    return (const uint32_t *)(const void *)(private_part(key) + 1);
}

EVC_INLINE uint32_t get_digit(const void *a, size_t i)
{
    return ((const uint32_t *)a)[i];
}

EVC_INLINE void set_digit(void *a, size_t i, uint32_t value)
{
    ((uint32_t *)a)[i] = value;
}

static size_t digits_of(const void *key)
{
    return BLOCK * blocks_of(key);
}

EVC_INLINE uint32_t modulus_digit(const void *key, size_t i)
{
    return modulus_of(key)[i];
}

static void shape(size_t n_bytes, struct evc_bn_shape *s)
{
    const uint32_t blocks = (uint32_t)blocks_for(n_bytes);

    s->r_bits = BLOCK_BITS * blocks;
    s->loaded_bits = 0;
    s->form_bytes = (uint32_t)(BLOCK * sizeof(uint32_t)) * blocks;
    s->private_bytes = (uint32_t)sizeof(struct private_part) + s->form_bytes;
    s->scratch_bytes = (uint32_t)(BLOCK * sizeof(uint64_t)) * blocks;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Sums of four columns. */
struct columns {
    uint64x2_t low, high;
};

/* The digits by which four rows of the modulus are multiplied, and what they carry to
 * the column above theirs. */
struct multiples {
    uint32x2_t low, high;
    uint64_t carry;
};

EVC_INLINE struct columns load_columns(const uint64_t *t)
{
    struct columns c;

    c.low = vld1q_u64(t);
    c.high = vld1q_u64(t + 2);
    return c;
}

EVC_INLINE void store_columns(uint64_t *t, struct columns c)
{
    vst1q_u64(t, c.low);
    vst1q_u64(t + 2, c.high);
}

EVC_INLINE uint64_t product(uint32_t a, uint32_t b)
{
    return (uint64_t)a * b;
}

/* Adds what four rows have in four columns: the digits of a row times a block of a number; a row
 * further is a digit further down. below: the block below it. */
EVC_INLINE struct columns add_rows(struct columns c, uint32x4_t digits, uint32x4_t block,
                                   uint32x4_t below)
{
    const uint32x4_t by1 = vextq_u32(below, block, 3), by2 = vextq_u32(below, block, 2),
                     by3 = vextq_u32(below, block, 1);

    c.low = vmlal_laneq_u32(c.low, vget_low_u32(block), digits, 0);
    c.high = vmlal_high_laneq_u32(c.high, block, digits, 0);
    c.low = vmlal_laneq_u32(c.low, vget_low_u32(by1), digits, 1);
    c.high = vmlal_high_laneq_u32(c.high, by1, digits, 1);
    c.low = vmlal_laneq_u32(c.low, vget_low_u32(by2), digits, 2);
    c.high = vmlal_high_laneq_u32(c.high, by2, digits, 2);
    c.low = vmlal_laneq_u32(c.low, vget_low_u32(by3), digits, 3);
    c.high = vmlal_high_laneq_u32(c.high, by3, digits, 3);
    return c;
}

/* Block i of a number of so many blocks; zeros behind its end. */
EVC_INLINE uint32x4_t block_at(const uint32_t *a, size_t i, size_t blocks)
{
    return i < blocks ? vld1q_u32(a + BLOCK * i) : vdupq_n_u32(0);
}

/* The digits that make four columns zero: what is in them, and, unless a is NULL, the products of
 * four digits of a and of b, of which the column of each is below four. */
EVC_INLINE struct multiples multiples_of(struct columns c, const uint32_t *a, const uint32_t *b,
                                         const uint32_t *n, uint32_t n0)
{
    uint64_t s0 = vgetq_lane_u64(c.low, 0), s1 = vgetq_lane_u64(c.low, 1),
             s2 = vgetq_lane_u64(c.high, 0), s3 = vgetq_lane_u64(c.high, 1);
    uint32_t q0, q1, q2, q3;
    struct multiples q;

    if (a) {
        s0 += product(a[0], b[0]);
        s1 += product(a[0], b[1]) + product(a[1], b[0]);
        s2 += product(a[0], b[2]) + product(a[1], b[1]) + product(a[2], b[0]);
        s3 += product(a[0], b[3]) + product(a[1], b[2]) + product(a[2], b[1]) + product(a[3], b[0]);
    }
    q0 = (uint32_t)s0 * n0 & DIGIT_MASK;
    s1 += product(q0, n[1]) + ((s0 + product(q0, n[0])) >> DIGIT_BITS);
    q1 = (uint32_t)s1 * n0 & DIGIT_MASK;
    s2 += product(q0, n[2]) + product(q1, n[1]) + ((s1 + product(q1, n[0])) >> DIGIT_BITS);
    q2 = (uint32_t)s2 * n0 & DIGIT_MASK;
    s3 += product(q0, n[3]) + product(q1, n[2]) + product(q2, n[1]) +
          ((s2 + product(q2, n[0])) >> DIGIT_BITS);
    q3 = (uint32_t)s3 * n0 & DIGIT_MASK;
    q.carry = (s3 + product(q3, n[0])) >> DIGIT_BITS;
    q.low = vcreate_u32((uint64_t)q1 << 32 | q0);
    q.high = vcreate_u32((uint64_t)q3 << 32 | q2);
    return q;
}

/* Adds the rows to the columns from block i on, and moves these a block down; the last rows
 * reach one block further. */
EVC_INLINE void add_from(uint64_t *t, uint32x4_t digits, const uint32_t *b, uint32x4_t multiples,
                         const uint32_t *n, size_t i, size_t blocks)
{
    const uint32x4_t zero = vdupq_n_u32(0);
    uint32x4_t b_below = vld1q_u32(b + BLOCK * (i - 1)), n_below = vld1q_u32(n + BLOCK * (i - 1));
    struct columns c;

    for (; i < blocks; i++) {
        const uint32x4_t b_block = vld1q_u32(b + BLOCK * i), n_block = vld1q_u32(n + BLOCK * i);

        c = add_rows(load_columns(t + BLOCK * i), digits, b_block, b_below);
        store_columns(t + BLOCK * (i - 1), add_rows(c, multiples, n_block, n_below));
        b_below = b_block;
        n_below = n_block;
    }
    c.low = c.high = vdupq_n_u64(0);
    c = add_rows(c, digits, zero, b_below);
    store_columns(t + BLOCK * (blocks - 1), add_rows(c, multiples, zero, n_below));
}

/* Adds to the columns of block 1 the rows of the modulus and what is carried to them. The
 * next digits wait for that, so it adds two rows while the digits of the others come, and
 * what is carried last. */
EVC_INLINE struct columns add_first(struct columns c, struct multiples q, const uint32_t *n)
{
    const uint32x4_t below = vld1q_u32(n), block = vld1q_u32(n + BLOCK),
                     by1 = vextq_u32(below, block, 3), by2 = vextq_u32(below, block, 2),
                     by3 = vextq_u32(below, block, 1);

    c.low = vmlal_lane_u32(c.low, vget_low_u32(block), q.low, 0);
    c.high = vmlal_high_lane_u32(c.high, block, q.low, 0);
    c.low = vmlal_lane_u32(c.low, vget_low_u32(by1), q.low, 1);
    c.high = vmlal_high_lane_u32(c.high, by1, q.low, 1);
    c.low = vmlal_lane_u32(c.low, vget_low_u32(by2), q.high, 0);
    c.high = vmlal_high_lane_u32(c.high, by2, q.high, 0);
    c.low = vmlal_lane_u32(c.low, vget_low_u32(by3), q.high, 1);
    c.high = vmlal_high_lane_u32(c.high, by3, q.high, 1);
    c.low = vaddq_u64(c.low, vcombine_u64(vcreate_u64(q.carry), vcreate_u64(0)));
    return c;
}

EVC_INLINE struct columns clear_columns(uint64_t *t, size_t blocks)
{
    struct columns c;

    c.low = c.high = vdupq_n_u64(0);
    for (size_t i = 0; i < blocks; i++)
        store_columns(t + BLOCK * i, c);
    return c;
}

/* r = the digits of sums, which fit. */
static void carry_to(uint32_t *r, const uint64_t *t, size_t blocks)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < BLOCK * blocks; i++) {
        sum += t[i];
        r[i] = (uint32_t)sum & DIGIT_MASK;
        sum >>= DIGIT_BITS;
    }
}

static void mul(const void *key, void *r, const void *va, const void *vb, void *scratch)
{
    const size_t blocks = blocks_of(key);
    const uint32_t *const n = modulus_of(key), n0 = private_part(key)->n0, *a = va, *const b = vb;
    uint64_t *const t = scratch;
    struct columns c = clear_columns(t, blocks);
    struct multiples q = multiples_of(c, a, b, n, n0);

    for (size_t row = 0; row < blocks; row++, a += BLOCK) {
        const uint32x4_t digits = vld1q_u32(a), multiples = vcombine_u32(q.low, q.high);

        c = add_rows(load_columns(t + BLOCK), digits, vld1q_u32(b + BLOCK), vld1q_u32(b));
        c = add_first(c, q, n);
        if (row + 1 < blocks)
            q = multiples_of(c, a + BLOCK, b, n, n0);
        add_from(t, digits, b, multiples, n, 2, blocks);
    }
    store_columns(t, c);
    carry_to(r, t, blocks);
}

/* Adds to the columns of block i what four rows of a square have there: nothing below
 * the diagonal, on it each product of two of the four digits as often as it is there,
 * above it twice the others. */
EVC_INLINE struct columns add_square(struct columns c, const uint32_t *a, uint32x4_t digits,
                                     size_t row, size_t i, size_t blocks)
{
    const uint32x4_t zero = vdupq_n_u32(0), block = block_at(a, i, blocks);

    if (i < row)
        return c;
    if (i == row)
        return add_rows(c, digits, block, zero);
    if (i == row + 1)
        return add_rows(c, digits, vshlq_n_u32(block, 1), vld1q_u32(a + BLOCK * row));
    return add_rows(c, vshlq_n_u32(digits, 1), block, vld1q_u32(a + BLOCK * (i - 1)));
}

static void sqr_long(const void *key, void *r, const void *va, void *scratch)
{
    const size_t blocks = blocks_of(key);
    const uint32_t *const n = modulus_of(key), n0 = private_part(key)->n0, *const a = va;
    uint64_t *const t = scratch;
    struct columns c = clear_columns(t, blocks);
    struct multiples q = multiples_of(c, a, a, n, n0);

    for (size_t row = 0; row < blocks; row++) {
        const uint32x4_t digits = vld1q_u32(a + BLOCK * row),
                         multiples = vcombine_u32(q.low, q.high);
        uint32x4_t n_below = vld1q_u32(n + BLOCK);
        size_t i = 2;

        c = add_first(add_square(load_columns(t + BLOCK), a, digits, row, 1, blocks), q, n);
        if (row + 1 < blocks)
            q = multiples_of(c, NULL, NULL, n, n0);
        for (; i < blocks && i <= row + 1; i++) {
            const uint32x4_t n_block = vld1q_u32(n + BLOCK * i);
            struct columns s = add_rows(load_columns(t + BLOCK * i), multiples, n_block, n_below);

            if (i >= row)
                s = add_square(s, a, digits, row, i, blocks);
            store_columns(t + BLOCK * (i - 1), s);
            n_below = n_block;
        }
        add_from(t, row + 1 < blocks ? vshlq_n_u32(digits, 1) : digits, a, multiples, n, i, blocks);
    }
    store_columns(t, c);
    carry_to(r, t, blocks);
}

/* Numbers that are squared by a product in as few instructions. */
#define SHORT_BLOCKS 5

static void sqr(const void *key, void *r, const void *a, void *scratch)
{
    if (blocks_of(key) <= SHORT_BLOCKS)
        mul(key, r, a, a, scratch);
    else
        sqr_long(key, r, a, scratch);
}

/* ---- The modulus ----------------------------------------------------------------------------- */

static void set_modulus(void *key, const uint8_t *n)
{
    struct private_part *const p = EVC_BN_PRIVATE(key);

    load(key, p + 1, n, evc_bn_n_bytes(key));
    p->n0 = negative_inverse(modulus_of(key)[0]);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void select_entry(const void *key, void *r, const void *table, size_t n_entries,
                         size_t index)
{
    const size_t blocks = blocks_of(key);
    const uint32_t *const entries = table;
    const uint32x4_t wanted = vdupq_n_u32((uint32_t)index);
    uint32_t *const to = r;

    for (size_t i = 0; i < blocks; i++) {
        uint32x4_t found = vdupq_n_u32(0), number = vdupq_n_u32(0);

        for (size_t entry = 0; entry < n_entries; entry++) {
            const uint32x4_t mask = vceqq_u32(number, wanted);

            found = vorrq_u32(found,
                              vandq_u32(mask, vld1q_u32(entries + BLOCK * (entry * blocks + i))));
            number = vaddq_u32(number, vdupq_n_u32(1));
        }
        vst1q_u32(to + BLOCK * i, found);
    }
}

const struct evc_bn evc_bn_a64_neon = {
    .kernel = EVC_KERNEL_HEAD(a64_neon, A64_MUL32, CT, ANY, 1, struct evc_bn_modulus, 0, NEON, 704),
    .lanes = 1,
    .fewest_bits = 257, /* llvm-mca's Neoverse N1: 223 cycles a product, a64_umulh 250
                         * at 256 bits, 370 at 320 */
    .shape = shape,
    .set_modulus = set_modulus,
    .load = load,
    .store = store,
    .add = add,
    .sub = sub,
    .mul = mul,
    .sqr = sqr,
    .select = select_entry,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
