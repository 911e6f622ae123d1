/* SPDX-License-Identifier: MIT */
/*
 * GHASH with clmul and clmulh of RISC-V, 32 bits, 4 blocks with one reduction.
 *
 * Method:   4 blocks times H^4 ... H^1: each product by Karatsuba from three of 64 bits, which are
 *           four of 32 bits each; summed before one reduction, a word of 32 bits at a time. A rest
 *           of fewer blocks by the lower powers in the same way. Words are read with their bytes
 *           reversed, so that bit 127 - i is the coefficient of x^i, and no bits have to be
 *           reversed (ctmul_steps.h).
 * Source:   RISC-V Cryptography Extensions vol. I, 1.0.1 (2022); Gueron, Kounavis: Intel Carry-Less
 *           Multiplication Instruction and its Usage for Computing the GCM Mode, 2014; Montgomery:
 *           Modular Multiplication Without Trial Division, 1985.
 * Needs:    RV32_ZBC.   Timing: CT (no tables, no secret branches; rests on Zkt).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/bytes.h"

#if EVC_BUILT(RV32_ZBC)

#include "common/ct.h"
#include "common/each.h"
#include "common/rv_scalar.h"

#define GROUP 4
#define CHUNK_BLOCKS 16 /* of text that is not aligned */

/* The frames of GCC are smaller than these. */
#define clear_aligned() EVC_CLEAR_STACK(NONE, 448)
#define clear_moved() EVC_CLEAR_STACK(NONE, 768)

/* An element: bit 127 - i of the words d:c:b:a is the coefficient of x^i. */
struct words {
    uint32_t a, b, c, d;
};

struct power {
    uint32_t a, b, c, d, ac, bd; /* ac: a ^ c; bd: b ^ d */
};

struct key {
    struct evc_ghash_head head;
    EVC_ALIGN(16) struct power powers[GROUP]; /* H^4 ... H^1, times x */
};

/* Products of halves, summed: of the lower, the upper, and the sums of the halves. */
struct products {
    struct words low, high, sums;
};

/* block: aligned to 4 */
EVC_INLINE struct words load(const uint8_t *block)
{
    return (struct words){.d = evc_rv_rev8(evc_rv_load(block)),
                          .c = evc_rv_rev8(evc_rv_load(block + 4)),
                          .b = evc_rv_rev8(evc_rv_load(block + 8)),
                          .a = evc_rv_rev8(evc_rv_load(block + 12))};
}

/* reversed: a constant, 1 if the bytes of the block are reversed, as POLYVAL has them; then words
 * are numbers of this CPU. block: aligned to 4 */
EVC_INLINE struct words load_text(const uint8_t *block, int reversed)
{
    if (!reversed)
        return load(block);
    return (struct words){.d = evc_rv_load(block + 12),
                          .c = evc_rv_load(block + 8),
                          .b = evc_rv_load(block + 4),
                          .a = evc_rv_load(block)};
}

EVC_OUT_OF_LINE struct words load_bytes(const uint8_t *block)
{
    return (struct words){.d = evc_load32_be(block),
                          .c = evc_load32_be(block + 4),
                          .b = evc_load32_be(block + 8),
                          .a = evc_load32_be(block + 12)};
}

EVC_INLINE struct words load_any(const uint8_t *block)
{
    return evc_rv_is_aligned(block) ? load(block) : load_bytes(block);
}

EVC_INLINE void store(uint8_t *block, struct words w)
{
    evc_rv_store(block, evc_rv_rev8(w.d));
    evc_rv_store(block + 4, evc_rv_rev8(w.c));
    evc_rv_store(block + 8, evc_rv_rev8(w.b));
    evc_rv_store(block + 12, evc_rv_rev8(w.a));
}

EVC_INLINE void store_any(uint8_t *block, struct words w)
{
    if (evc_rv_is_aligned(block)) {
        store(block, w);
    } else {
        evc_store32_be(block, w.d);
        evc_store32_be(block + 4, w.c);
        evc_store32_be(block + 8, w.b);
        evc_store32_be(block + 12, w.a);
    }
}

/* sum += (x1:x0) * (y1:y0), by four products of 32 bits */
EVC_INLINE void add_half(struct words *sum, uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1)
{
    sum->a ^= evc_rv_clmul(x0, y0);
    sum->b ^= evc_rv_clmulh(x0, y0);
    sum->b ^= evc_rv_clmul(x0, y1);
    sum->c ^= evc_rv_clmulh(x0, y1);
    sum->b ^= evc_rv_clmul(x1, y0);
    sum->c ^= evc_rv_clmulh(x1, y0);
    sum->c ^= evc_rv_clmul(x1, y1);
    sum->d ^= evc_rv_clmulh(x1, y1);
}

EVC_INLINE void add_product(struct products *p, struct words x, const struct power *power)
{
    add_half(&p->low, x.a, x.b, power->a, power->b);
    add_half(&p->high, x.c, x.d, power->c, power->d);
    add_half(&p->sums, x.a ^ x.c, x.b ^ x.d, power->ac, power->bd);
}

/* The sum of products divided by x^128 modulo x^128 + x^127 + x^126 + x^121 + 1, as
 * evc_ghash_reduce: a word is added times the modulus, 32 bits at a time, and vanishes. Times
 * x^31 + x^30 + x^25, it gives the parts of the modulus three and four words above. */
EVC_INLINE struct words reduce(const struct products *p)
{
    const uint32_t modulus = UINT32_C(0xc2000000);
    const struct words low = p->low, high = p->high;
    const uint32_t p0 = low.a, p1 = low.b;
    const uint32_t p2 = low.c ^ p->sums.a ^ low.a ^ high.a;
    const uint32_t p3 = low.d ^ p->sums.b ^ low.b ^ high.b ^ evc_rv_clmul(p0, modulus);

    return (struct words){
        .a = high.a ^ p->sums.c ^ low.c ^ high.c ^ p0 ^ evc_rv_clmulh(p0, modulus) ^
             evc_rv_clmul(p1, modulus),
        .b = high.b ^ p->sums.d ^ low.d ^ high.d ^ p1 ^ evc_rv_clmulh(p1, modulus) ^
             evc_rv_clmul(p2, modulus),
        .c = high.c ^ p2 ^ evc_rv_clmulh(p2, modulus) ^ evc_rv_clmul(p3, modulus),
        .d = high.d ^ p3 ^ evc_rv_clmulh(p3, modulus),
    };
}

EVC_INLINE struct words xor(struct words x, struct words y)
{
    return (struct words){x.a ^ y.a, x.b ^ y.b, x.c ^ y.c, x.d ^ y.d};
}

/* (y + the first block) times the first power, plus the other blocks times theirs. in: aligned;
 * n_blocks: 1 to GROUP */
EVC_INLINE struct words hash_rest(const struct power *powers, struct words y, const uint8_t *in,
                                  size_t n_blocks, int reversed)
{
    struct products p = {{0}, {0}, {0}};

    y = xor(y, load_text(in, reversed));
    for (;;) {
        add_product(&p, y, powers++);
        if (--n_blocks == 0)
            return reduce(&p);
        in += 16;
        y = load_text(in, reversed);
    }
}

EVC_INLINE struct words hash_group(const struct power *powers, struct words y, const uint8_t *in,
                                   int reversed)
{
    struct products p = {{0}, {0}, {0}};

    add_product(&p, xor(y, load_text(in, reversed)), powers);
    EACH_UP_TO_4(GROUP - 1,
                 add_product(&p, load_text(in + 16 + 16 * i, reversed), powers + 1 + i));
    return reduce(&p);
}

/* in: aligned */
EVC_INLINE struct words hash_blocks(const struct key *key, struct words y, const uint8_t *in,
                                    size_t n_blocks, int reversed)
{
    for (; n_blocks >= GROUP; n_blocks -= GROUP, in += 16 * GROUP)
        y = hash_group(key->powers, y, in, reversed);
    return n_blocks ? hash_rest(key->powers + GROUP - n_blocks, y, in, n_blocks, reversed) : y;
}

/* w times x */
EVC_INLINE struct words times_x(struct words w)
{
    const uint32_t out = evc_barrier32((uint32_t)0 - (w.d >> 31));

    return (struct words){.d = (w.d << 1 | w.c >> 31) ^ (out & UINT32_C(0xc2000000)),
                          .c = w.c << 1 | w.b >> 31,
                          .b = w.b << 1 | w.a >> 31,
                          .a = w.a << 1 ^ (out & 1)};
}

static void set_key(void *vkey, const uint8_t h[16])
{
    struct key *key = vkey;
    const struct words first = times_x(load_any(h));
    struct words w = first;

    for (unsigned i = GROUP; i-- > 0;) {
        struct products p = {{0}, {0}, {0}};
        key->powers[i] = (struct power){w.a, w.b, w.c, w.d, w.a ^ w.c, w.b ^ w.d};
        add_product(&p, first, &key->powers[i]);
        w = reduce(&p);
    }
}

/* The text of name##_moved is not aligned. The frame of name has no secrets, so that it can clear
 * what is below. */
#define HASH(name, reversed)                                                                     \
    EVC_OUT_OF_LINE void name##_aligned(const struct key *key, uint8_t y[16], const uint8_t *in, \
                                        size_t n_blocks)                                         \
    {                                                                                            \
        store_any(y, hash_blocks(key, load_any(y), in, n_blocks, reversed));                     \
    }                                                                                            \
    EVC_OUT_OF_LINE void name##_moved(const struct key *key, uint8_t y[16], const uint8_t *in,   \
                                      size_t n_blocks)                                           \
    {                                                                                            \
        EVC_ALIGN(4) uint8_t text[16 * CHUNK_BLOCKS];                                            \
                                                                                                 \
        for (size_t n; n_blocks; n_blocks -= n, in += 16 * n) {                                  \
            n = n_blocks < CHUNK_BLOCKS ? n_blocks : CHUNK_BLOCKS;                               \
            evc_rv_gather(text, in, 4 * n);                                                      \
            name##_aligned(key, y, text, n);                                                     \
        }                                                                                        \
    }                                                                                            \
    static void name(const void *key, uint8_t y[16], const uint8_t *in, size_t n_blocks)         \
    {                                                                                            \
        if (!n_blocks)                                                                           \
            return;                                                                              \
        if (evc_rv_is_aligned(in)) {                                                             \
            name##_aligned(key, y, in, n_blocks);                                                \
            clear_aligned();                                                                     \
        } else {                                                                                 \
            name##_moved(key, y, in, n_blocks);                                                  \
            clear_moved();                                                                       \
        }                                                                                        \
    }
HASH(blocks, 0)
HASH(reversed_blocks, 1)

const struct evc_ghash evc_ghash_rv32_zbc = {
    .kernel = EVC_KERNEL_HEAD(rv32_zbc, RV32_ZBC, CT, ANY, GROUP, struct key, 0, NONE, 256),
    .set_key = set_key,
    .blocks = blocks,
    .reversed_blocks = reversed_blocks,
};
#else
EVC_EMPTY_UNIT
#endif
