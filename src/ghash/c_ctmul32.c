/* SPDX-License-Identifier: MIT */
/*
 * GHASH by multiplications of 32-bit integers with holes, in constant time where they are.
 *
 * Method:   words split into four with their bits 4 apart, so that carries fall into holes; 32 x 32
 *           to 64 bits gives the whole product. Karatsuba twice: 9 times 16 multiplications a
 *           block. 4 blocks with one reduction; the powers of H are kept split.
 * Source:   Pornin: BearSSL, Constant-Time Crypto (2016), section GHASH; Gueron,
 *           Kounavis 2014 (aggregation).
 * Needs:    CT_MUL32.   Timing: CT (no tables, no secret branches; rests on the
 *           multiplier's constant time).
 * Key form: private.
 */
#include "common/few_spills.h"

#include "ghash/kernel.h"

#include "common/bytes.h"
#include "ghash/ctmul_steps.h"

#define BATCH 4
#define OPERANDS 9 /* of three numbers of 64 bits (lower half, upper half, their
                    * sum): the same three of 32 */
#define HOLES UINT32_C(0x11111111)
#define HOLES64 UINT64_C(0x1111111111111111)

typedef uint32_t word;

struct key {
    struct evc_ghash_head head;
    EVC_ALIGN(16) uint32_t power[BATCH][OPERANDS][4]; /* H^4 ... H^1; bits 0, 1, 2, 3 modulo 4 */
};

EVC_INLINE void operands(uint32_t o[OPERANDS], struct evc_ghash_words w)
{
    o[0] = (uint32_t)w.lo;
    o[1] = (uint32_t)(w.lo >> 32);
    o[3] = (uint32_t)w.hi;
    o[4] = (uint32_t)(w.hi >> 32);
    o[6] = o[0] ^ o[3];
    o[7] = o[1] ^ o[4];
    o[2] = o[0] ^ o[1];
    o[5] = o[3] ^ o[4];
    o[8] = o[6] ^ o[7];
}

EVC_INLINE uint64_t mul(uint32_t a, uint32_t b)
{
    return (uint64_t)a * b;
}

/* The sum of the n products of operand o of the blocks and of the last n powers: at most
 * 8 pairs of bits meet. */
EVC_INLINE uint64_t multiply(const struct key *key, uint32_t x[][OPERANDS], size_t n, int o)
{
    uint64_t z0 = 0, z1 = 0, z2 = 0, z3 = 0;

    for (size_t i = 0; i < n; i++) {
        const uint32_t *k = key->power[BATCH - n + i][o];
        const uint32_t x0 = x[i][o] & HOLES, x1 = x[i][o] & (HOLES << 1),
                       x2 = x[i][o] & (HOLES << 2), x3 = x[i][o] & (HOLES << 3);
        z0 = evc_scalar64(z0 ^ mul(x0, k[0]) ^ mul(x1, k[3]) ^ mul(x2, k[2]) ^ mul(x3, k[1]));
        z1 = evc_scalar64(z1 ^ mul(x0, k[1]) ^ mul(x1, k[0]) ^ mul(x2, k[3]) ^ mul(x3, k[2]));
        z2 = evc_scalar64(z2 ^ mul(x0, k[2]) ^ mul(x1, k[1]) ^ mul(x2, k[0]) ^ mul(x3, k[3]));
        z3 = evc_scalar64(z3 ^ mul(x0, k[3]) ^ mul(x1, k[2]) ^ mul(x2, k[1]) ^ mul(x3, k[0]));
    }
    return (z0 & HOLES64) | (z1 & (HOLES64 << 1)) | (z2 & (HOLES64 << 2)) | (z3 & (HOLES64 << 3));
}

/* The sum of n blocks times the last n powers. */
EVC_INLINE struct evc_ghash_words hash(const struct key *key, uint32_t x[][OPERANDS], size_t n)
{
    struct evc_ghash_words part[3]; /* of lower halves, upper halves, sums */

    for (int i = 0; i < 3; i++) {
        const uint64_t low = multiply(key, x, n, 3 * i), high = multiply(key, x, n, 3 * i + 1),
                       middle = multiply(key, x, n, 3 * i + 2) ^ low ^ high;
        part[i].lo = low ^ (middle << 32);
        part[i].hi = high ^ (middle >> 32);
    }
    return evc_ghash_reduce(part[0], part[1], part[2]);
}

#include "ghash/ctmul_blocks.h"

const struct evc_ghash evc_ghash_c_ctmul32 = {
    .kernel = EVC_KERNEL_HEAD(c_ctmul32, CT_MUL32, CT, ANY, BATCH, struct key, 0, BASELINE, 832),
    .set_key = set_key,
    .blocks = blocks,
    .reversed_blocks = reversed_blocks,
};
