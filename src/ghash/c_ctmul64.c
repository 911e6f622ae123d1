/* SPDX-License-Identifier: MIT */
/*
 * GHASH by multiplications of 64-bit integers with holes, in constant time where they are.
 *
 * Method:   words split into four with their bits 4 apart, so that carries fall into holes; the
 *           upper half of each product is the lower half of the product of the reversed words.
 *           Karatsuba: 6 times 16 multiplications a block. 4 blocks with one reduction; the
 *           powers of H are kept split.
 * Source:   Pornin: BearSSL, Constant-Time Crypto (2016), section GHASH; Gueron,
 *           Kounavis 2014 (aggregation).
 * Needs:    CT_MUL64.   Timing: CT (no tables, no secret branches; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "common/few_spills.h"

#include "ghash/kernel.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "ghash/ctmul_steps.h"

#define BATCH 4
#define OPERANDS 6 /* lower half, upper half, their sum; the same three reversed */
#define HOLES UINT64_C(0x1111111111111111)

typedef uint64_t word;

struct key {
    struct evc_ghash_head head;
    EVC_ALIGN(16) uint64_t power[BATCH][OPERANDS][4]; /* H^4 ... H^1; bits 0, 1, 2, 3 modulo 4 */
};

#define SWAP(x, n, mask) ((((x) >> (n)) & (mask)) | (((x) & (mask)) << (n)))

EVC_INLINE uint64_t reverse_bits(uint64_t x)
{
    x = SWAP(x, 1, UINT64_C(0x5555555555555555));
    x = SWAP(x, 2, UINT64_C(0x3333333333333333));
    x = SWAP(x, 4, UINT64_C(0x0f0f0f0f0f0f0f0f));
    return evc_bswap64(x);
}

EVC_INLINE void operands(uint64_t o[OPERANDS], struct evc_ghash_words w)
{
    o[0] = w.lo;
    o[1] = w.hi;
    o[2] = w.lo ^ w.hi;
    o[3] = reverse_bits(w.lo);
    o[4] = reverse_bits(w.hi);
    o[5] = o[3] ^ o[4];
}

/* Modulo 2^64. */
EVC_INLINE uint64_t mul(uint64_t a, uint64_t b)
{
    return evc_scalar64(a * b);
}

/* The sum of the n products of operand o of the blocks and of the last n powers, its lower 64 bits.
 * A field of 4 has at most 15 pairs of bits, but for the highest, whose carry leaves the word. */
EVC_INLINE uint64_t multiply(const struct key *key, uint64_t x[][OPERANDS], size_t n, int o)
{
    uint64_t z0 = 0, z1 = 0, z2 = 0, z3 = 0;

    for (size_t i = 0; i < n; i++) {
        const uint64_t *k = key->power[BATCH - n + i][o];
        const uint64_t x0 = x[i][o] & HOLES, x1 = x[i][o] & (HOLES << 1),
                       x2 = x[i][o] & (HOLES << 2), x3 = x[i][o] & (HOLES << 3);
        z0 ^= mul(x0, k[0]) ^ mul(x1, k[3]) ^ mul(x2, k[2]) ^ mul(x3, k[1]);
        z1 ^= mul(x0, k[1]) ^ mul(x1, k[0]) ^ mul(x2, k[3]) ^ mul(x3, k[2]);
        z2 ^= mul(x0, k[2]) ^ mul(x1, k[1]) ^ mul(x2, k[0]) ^ mul(x3, k[3]);
        z3 ^= mul(x0, k[3]) ^ mul(x1, k[2]) ^ mul(x2, k[1]) ^ mul(x3, k[0]);
    }
    return (z0 & HOLES) | (z1 & (HOLES << 1)) | (z2 & (HOLES << 2)) | (z3 & (HOLES << 3));
}

/* The sum of n blocks times the last n powers. */
EVC_INLINE struct evc_ghash_words hash(const struct key *key, uint64_t x[][OPERANDS], size_t n)
{
    /* part: of lower halves, upper halves, sums; a pair would be a vector for GCC 11 -O3 */
    struct evc_ghash_words part[3];

    for (int o = 0; o < 3; o++) {
        part[o].lo = evc_scalar64(multiply(key, x, n, o));
        part[o].hi = evc_scalar64(reverse_bits(multiply(key, x, n, o + 3)) >> 1);
    }
    return evc_ghash_reduce(part[0], part[1], part[2]);
}

#include "ghash/ctmul_blocks.h"

const struct evc_ghash evc_ghash_c_ctmul64 = {
    .kernel = EVC_KERNEL_HEAD(c_ctmul64, CT_MUL64, CT, ANY, BATCH, struct key, 0, BASELINE,
                              EVC_DEEP(448)),
    .set_key = set_key,
    .blocks = blocks,
    .reversed_blocks = reversed_blocks,
};
