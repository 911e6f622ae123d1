/* SPDX-License-Identifier: MIT */
/*
 * GHASH with clmul and clmulh of RISC-V, 4 blocks with one reduction.
 *
 * Method:   4 blocks times H^4 ... H^1 by Karatsuba, 3 products of 64 bits each, summed before one
 *           reduction of two products; a rest of fewer blocks by the lower powers in the same way.
 *           Words are read with their bytes reversed, so that bit 127 - i is the coefficient of
 *           x^i, and no bits have to be reversed (ctmul_steps.h).
 * Source:   RISC-V Cryptography Extensions vol. I, 1.0.1 (2022); Gueron, Kounavis: Intel Carry-Less
 *           Multiplication Instruction and its Usage for Computing the GCM Mode, 2014; Montgomery:
 *           Modular Multiplication Without Trial Division, 1985.
 * Needs:    RV64_ZBC.   Timing: CT (no tables, no secret branches; rests on Zkt).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/bytes.h"

#if EVC_BUILT(RV64_ZBC)

#include "common/each.h"
#include "common/rv_scalar.h"
#include "ghash/ctmul_steps.h"

#define GROUP 4
#define MANY 20 /* blocks: from here on steps of GROUP blocks pay, for which registers are saved */
#define CHUNK_BLOCKS 16 /* of text that is not aligned */

/* A few aligned blocks leave little on the stack. All else clears its part itself, so that short
 * messages do not pay for it: the frames of GCC are smaller than these. */
#define clear_aligned() EVC_CLEAR_STACK(NONE, 384)
#define clear_moved() EVC_CLEAR_STACK(NONE, 768)

struct power {
    uint64_t lo, hi, sum; /* sum: lo ^ hi */
};

struct key {
    struct evc_ghash_head head;
    EVC_ALIGN(16) struct power powers[GROUP]; /* H^4 ... H^1, times x */
};

/* Products of halves, summed: of the lower, the upper, and the sums of the halves. */
struct products {
    struct evc_ghash_words low, high, sums;
};

EVC_INLINE struct evc_ghash_words load(const uint8_t *block)
{
    return (struct evc_ghash_words){.hi = evc_rv_rev8(evc_rv_load(block)),
                                    .lo = evc_rv_rev8(evc_rv_load(block + 8))};
}

EVC_OUT_OF_LINE struct evc_ghash_words load_bytes(const uint8_t *block)
{
    return (struct evc_ghash_words){.hi = evc_rv_rev8(evc_load64_le(block)),
                                    .lo = evc_rv_rev8(evc_load64_le(block + 8))};
}

/* reversed: a constant, 1 if the bytes of the block are reversed, as POLYVAL has them; then words
 * are numbers of this CPU. block: aligned to 8 */
EVC_INLINE struct evc_ghash_words load_text(const uint8_t *block, int reversed)
{
    if (!reversed)
        return load(block);
    return (struct evc_ghash_words){.hi = evc_rv_load(block + 8), .lo = evc_rv_load(block)};
}

/* block: of any alignment */
EVC_INLINE struct evc_ghash_words load_any(const uint8_t *block)
{
    return evc_rv_is_aligned(block) ? load(block) : load_bytes(block);
}

EVC_INLINE void store(uint8_t *block, struct evc_ghash_words w)
{
    evc_rv_store(block, evc_rv_rev8(w.hi));
    evc_rv_store(block + 8, evc_rv_rev8(w.lo));
}

EVC_INLINE void store_any(uint8_t *block, struct evc_ghash_words w)
{
    if (evc_rv_is_aligned(block)) {
        store(block, w);
    } else {
        evc_store64_le(block, evc_rv_rev8(w.hi));
        evc_store64_le(block + 8, evc_rv_rev8(w.lo));
    }
}

EVC_INLINE struct evc_ghash_words multiply(uint64_t a, uint64_t b)
{
    return (struct evc_ghash_words){.hi = evc_rv_clmulh(a, b), .lo = evc_rv_clmul(a, b)};
}

EVC_INLINE void add(struct evc_ghash_words *sum, struct evc_ghash_words w)
{
    sum->hi ^= w.hi;
    sum->lo ^= w.lo;
}

EVC_INLINE void add_product(struct products *p, struct evc_ghash_words x,
                            const struct power *power)
{
    add(&p->low, multiply(x.lo, power->lo));
    add(&p->high, multiply(x.hi, power->hi));
    add(&p->sums, multiply(x.lo ^ x.hi, power->sum));
}

/* As evc_ghash_reduce: a word times x^63 + x^62 + x^57 is the three shifts to the left there, in
 * the lower word, and those to the right in the upper one. */
EVC_INLINE struct evc_ghash_words reduce(const struct products *p)
{
    const uint64_t modulus = UINT64_C(0xc200000000000000), p0 = p->low.lo;
    const struct evc_ghash_words q0 = multiply(p0, modulus);
    const uint64_t p1 = p->low.hi ^ p->sums.lo ^ p->low.lo ^ p->high.lo ^ q0.lo;
    const struct evc_ghash_words q1 = multiply(p1, modulus);

    return (struct evc_ghash_words){
        .hi = p->high.hi ^ p1 ^ q1.hi,
        .lo = p->high.lo ^ p->sums.hi ^ p->low.hi ^ p->high.hi ^ p0 ^ q0.hi ^ q1.lo,
    };
}

/* (y + the first block) times the first power, plus the other blocks times theirs. in: aligned to
 * 8 */
EVC_INLINE struct evc_ghash_words hash_group(const struct power *powers, struct evc_ghash_words y,
                                             const uint8_t *in, int reversed)
{
    struct products p = {{0, 0}, {0, 0}, {0, 0}};

    add(&y, load_text(in, reversed));
    add_product(&p, y, powers);
    EACH_UP_TO_4(GROUP - 1,
                 add_product(&p, load_text(in + 16 + 16 * i, reversed), powers + 1 + i));
    return reduce(&p);
}

/* The same of fewer blocks. */
EVC_INLINE struct evc_ghash_words hash_rest(const struct power *powers, struct evc_ghash_words y,
                                            const uint8_t *in, size_t n_blocks, int reversed)
{
    struct products p = {{0, 0}, {0, 0}, {0, 0}};

    add(&y, load_text(in, reversed));
    for (;;) {
        add_product(&p, y, powers++);
        if (--n_blocks == 0)
            return reduce(&p);
        in += 16;
        y = load_text(in, reversed);
    }
}

EVC_INLINE struct evc_ghash_words hash_few(const struct key *key, struct evc_ghash_words y,
                                           const uint8_t *in, size_t n_blocks, int reversed)
{
    for (; n_blocks > GROUP; n_blocks -= GROUP, in += 16 * GROUP)
        y = hash_rest(key->powers, y, in, GROUP, reversed);
    return n_blocks ? hash_rest(key->powers + GROUP - n_blocks, y, in, n_blocks, reversed) : y;
}

static void set_key(void *vkey, const uint8_t h[16])
{
    struct key *key = vkey;
    const struct evc_ghash_words first = evc_ghash_times_x(load_any(h));
    struct evc_ghash_words power = first;

    for (unsigned i = GROUP; i-- > 0;) {
        struct products p = {{0, 0}, {0, 0}, {0, 0}};
        key->powers[i] = (struct power){power.lo, power.hi, power.lo ^ power.hi};
        add_product(&p, first, &key->powers[i]);
        power = reduce(&p);
    }
}

/* name##_groups takes a multiple of GROUP blocks, not 0. The text of name##_moved and name##_chunks
 * is not aligned; for name##_few, text and y are. The frame of name##_anywhere has no secrets, so
 * that it can clear what is below. */
#define HASH(name, reversed)                                                                      \
    EVC_OUT_OF_LINE struct evc_ghash_words name##_groups(                                         \
        const struct key *key, struct evc_ghash_words y, const uint8_t *in, size_t n_blocks)      \
    {                                                                                             \
        for (; n_blocks; n_blocks -= GROUP, in += 16 * GROUP)                                     \
            y = hash_group(key->powers, y, in, reversed);                                         \
        return y;                                                                                 \
    }                                                                                             \
    EVC_INLINE struct evc_ghash_words name##_many(                                                \
        const struct key *key, struct evc_ghash_words y, const uint8_t *in, size_t n_blocks)      \
    {                                                                                             \
        const size_t n_rest = n_blocks % GROUP;                                                   \
                                                                                                  \
        y = name##_groups(key, y, in, n_blocks - n_rest);                                         \
        if (n_rest)                                                                               \
            y = hash_rest(key->powers + GROUP - n_rest, y, in + 16 * (n_blocks - n_rest), n_rest, \
                          reversed);                                                              \
        return y;                                                                                 \
    }                                                                                             \
    EVC_OUT_OF_LINE struct evc_ghash_words name##_some(                                           \
        const struct key *key, struct evc_ghash_words y, const uint8_t *in, size_t n_blocks)      \
    {                                                                                             \
        return hash_few(key, y, in, n_blocks, reversed);                                          \
    }                                                                                             \
    EVC_INLINE struct evc_ghash_words name##_text(                                                \
        const struct key *key, struct evc_ghash_words y, const uint8_t *in, size_t n_blocks)      \
    {                                                                                             \
        return n_blocks < MANY ? name##_some(key, y, in, n_blocks)                                \
                               : name##_many(key, y, in, n_blocks);                               \
    }                                                                                             \
    EVC_OUT_OF_LINE struct evc_ghash_words name##_chunks(                                         \
        const struct key *key, struct evc_ghash_words y, const uint8_t *in, size_t n_blocks)      \
    {                                                                                             \
        EVC_ALIGN(8) uint8_t text[16 * CHUNK_BLOCKS];                                             \
                                                                                                  \
        for (size_t n; n_blocks; n_blocks -= n, in += 16 * n) {                                   \
            n = n_blocks < CHUNK_BLOCKS ? n_blocks : CHUNK_BLOCKS;                                \
            evc_rv_gather(text, in, 2 * n);                                                       \
            y = name##_text(key, y, text, n);                                                     \
        }                                                                                         \
        return y;                                                                                 \
    }                                                                                             \
    EVC_OUT_OF_LINE void name##_aligned(const struct key *key, uint8_t y[16], const uint8_t *in,  \
                                        size_t n_blocks)                                          \
    {                                                                                             \
        store_any(y, name##_text(key, load_any(y), in, n_blocks));                                \
    }                                                                                             \
    EVC_OUT_OF_LINE void name##_moved(const struct key *key, uint8_t y[16], const uint8_t *in,    \
                                      size_t n_blocks)                                            \
    {                                                                                             \
        store_any(y, name##_chunks(key, load_any(y), in, n_blocks));                              \
    }                                                                                             \
    EVC_OUT_OF_LINE void name##_anywhere(const struct key *key, uint8_t y[16], const uint8_t *in, \
                                         size_t n_blocks)                                         \
    {                                                                                             \
        if (evc_rv_is_aligned(in)) {                                                              \
            name##_aligned(key, y, in, n_blocks);                                                 \
            clear_aligned();                                                                      \
        } else {                                                                                  \
            name##_moved(key, y, in, n_blocks);                                                   \
            clear_moved();                                                                        \
        }                                                                                         \
    }                                                                                             \
    EVC_OUT_OF_LINE void name##_few(const struct key *key, uint8_t y[16], const uint8_t *in,      \
                                    size_t n_blocks)                                              \
    {                                                                                             \
        store(y, hash_few(key, load(y), in, n_blocks, reversed));                                 \
    }                                                                                             \
    static void name(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)         \
    {                                                                                             \
        const struct key *key = vkey;                                                             \
                                                                                                  \
        if (n_blocks >= MANY || !evc_rv_is_aligned(in) || !evc_rv_is_aligned(y))                  \
            name##_anywhere(key, y, in, n_blocks);                                                \
        else if (n_blocks > GROUP)                                                                \
            name##_few(key, y, in, n_blocks);                                                     \
        else if (n_blocks)                                                                        \
            store(y, hash_rest(key->powers + GROUP - n_blocks, load(y), in, n_blocks, reversed)); \
    }
HASH(blocks, 0)
HASH(reversed_blocks, 1)

const struct evc_ghash evc_ghash_rv64_zbc = {
    .kernel = EVC_KERNEL_HEAD(rv64_zbc, RV64_ZBC, CT, ANY, GROUP, struct key, 0, NONE, 256),
    .set_key = set_key,
    .blocks = blocks,
    .reversed_blocks = reversed_blocks,
};
#else
EVC_EMPTY_UNIT
#endif
