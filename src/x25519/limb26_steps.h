/* SPDX-License-Identifier: MIT */
/*
 * Columns of ten limbs that have 26 and 25 bits in turn: limb number i counts 2^ceil(25.5 i).
 *
 * A product, a square or a loaded element has limbs below 2^26 and 2^25, but limb 1, which is below
 * 2^25 + 2^13. A sum of two has one bit more. Limbs of a difference are below 3 2^26 and 3 2^25,
 * but limb 1, which is below 3 2^25 + 2^13. The column of 2^0 of two differences has one product
 * of limbs 0, four of other even limbs, which count 19 times (2^255 = 19), and five of odd limbs,
 * which count 38 times (limbs 1 and 9 count 2^26 and 2^230, 2^256 together): below 2^62.2. Others
 * have less.
 *
 * Source: Bernstein: Curve25519: new Diffie-Hellman speed records, PKC 2006, section 4 (the radix).
 */
#define N_LIMBS 10
#define BITS_OF(i) (26 - ((i) & 1))
#include "x25519/limbs_steps.h"

#define P(a, b) ((uint64_t)(a) * (b))

/* A column is whole: its limb stays, the rest goes to the next one. */
#define CARRY(i) (out->limb[i] = (uint32_t)column & MASK_OF(i), column >>= BITS_OF(i))

/* The rest of the last column is below 2^33 and counts 19 times; limb 1 gets less than 2^11. */
EVC_INLINE void carry_around(struct fe *out, uint64_t column)
{
    column = column * 19 + out->limb[0];
    CARRY(0);
    out->limb[1] += (uint32_t)column;
}

static void fe_times_121665(struct fe *out, const struct fe *a)
{
    uint64_t column = 0;

    EACH_LIMB(column += P(a->limb[i], 121665); CARRY(i))
    carry_around(out, column);
}
