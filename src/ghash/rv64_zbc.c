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
#include "common/rv64.h"
#include "ghash/ctmul_steps.h"

#define GROUP 4
#define CHUNK_BLOCKS 16 /* of text that is not aligned */

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
    return (struct evc_ghash_words){.hi = evc_rv64_rev8(evc_rv64_load(block)),
                                    .lo = evc_rv64_rev8(evc_rv64_load(block + 8))};
}

EVC_OUT_OF_LINE struct evc_ghash_words load_bytes(const uint8_t *block)
{
    return (struct evc_ghash_words){.hi = evc_rv64_rev8(evc_load64_le(block)),
                                    .lo = evc_rv64_rev8(evc_load64_le(block + 8))};
}

/* block: of any alignment */
EVC_INLINE struct evc_ghash_words load_any(const uint8_t *block)
{
    return evc_rv64_is_aligned(block) ? load(block) : load_bytes(block);
}

EVC_INLINE void store_any(uint8_t *block, struct evc_ghash_words w)
{
    const uint64_t first = evc_rv64_rev8(w.hi), second = evc_rv64_rev8(w.lo);

    if (evc_rv64_is_aligned(block)) {
        evc_rv64_store(block, first);
        evc_rv64_store(block + 8, second);
    } else {
        evc_store64_le(block, first);
        evc_store64_le(block + 8, second);
    }
}

EVC_INLINE struct evc_ghash_words multiply(uint64_t a, uint64_t b)
{
    return (struct evc_ghash_words){.hi = evc_rv64_clmulh(a, b), .lo = evc_rv64_clmul(a, b)};
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
                                             const uint8_t *in)
{
    struct products p = {{0, 0}, {0, 0}, {0, 0}};

    add(&y, load(in));
    add_product(&p, y, powers);
    EACH_UP_TO_4(GROUP - 1, add_product(&p, load(in + 16 + 16 * i), powers + 1 + i));
    return reduce(&p);
}

/* The same of fewer blocks. */
EVC_INLINE struct evc_ghash_words hash_rest(const struct power *powers, struct evc_ghash_words y,
                                            const uint8_t *in, size_t n_blocks)
{
    struct products p = {{0, 0}, {0, 0}, {0, 0}};

    add(&y, load(in));
    for (;;) {
        add_product(&p, y, powers++);
        if (--n_blocks == 0)
            return reduce(&p);
        in += 16;
        y = load(in);
    }
}

EVC_INLINE struct evc_ghash_words hash_blocks(const struct key *key, struct evc_ghash_words y,
                                              const uint8_t *in, size_t n_blocks)
{
    for (; n_blocks >= GROUP; n_blocks -= GROUP, in += 16 * GROUP)
        y = hash_group(key->powers, y, in);
    if (n_blocks)
        y = hash_rest(key->powers + GROUP - n_blocks, y, in, n_blocks);
    return y;
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

/* Text that is not aligned. */
EVC_OUT_OF_LINE struct evc_ghash_words hash_moved(const struct key *key, struct evc_ghash_words y,
                                                  const uint8_t *in, size_t n_blocks)
{
    EVC_ALIGN(8) uint8_t text[16 * CHUNK_BLOCKS];

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n) {
        n = n_blocks < CHUNK_BLOCKS ? n_blocks : CHUNK_BLOCKS;
        evc_rv64_gather(text, in, 2 * n);
        y = hash_blocks(key, y, text, n);
    }
    return y;
}

static void blocks(const void *vkey, uint8_t y_bytes[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;
    struct evc_ghash_words y = load_any(y_bytes);

    if (evc_rv64_is_aligned(in))
        y = hash_blocks(key, y, in, n_blocks);
    else
        y = hash_moved(key, y, in, n_blocks);
    store_any(y_bytes, y);
}

const struct evc_ghash evc_ghash_rv64_zbc = {
    .kernel = EVC_KERNEL_HEAD(rv64_zbc, RV64_ZBC, CT, ANY, GROUP, struct key, 0, NONE, 320),
    .set_key = set_key,
    .blocks = blocks,
};
#else
EVC_EMPTY_UNIT
#endif
