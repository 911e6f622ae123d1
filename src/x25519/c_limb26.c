/* SPDX-License-Identifier: MIT */
/*
 * X25519 by ten limbs of 26 and 25 bits, with products of 64 bits, columns written out.
 *
 * Method:   the Montgomery ladder (ladder_steps.h); product scanning, each column carried as soon
 *           as it is whole; squares with each cross product once.
 * Source:   RFC 7748 section 5; Bernstein: Curve25519: new Diffie-Hellman speed records, PKC 2006.
 * Needs:    CT_MUL32.   Timing: CT (no secret branches or addresses; rests on the multiplier's
 *           constant time).
 * Key form: private.
 */
#include "common/few_spills.h"

#include "x25519/kernel.h"

#include "common/each.h"

#define EACH_LIMB(...)                              \
    EACH_4(0, __VA_ARGS__) EACH_4(4, __VA_ARGS__)   \
    EACH_I(8, __VA_ARGS__) EACH_I(9, __VA_ARGS__)
#include "x25519/limb26_steps.h"

/* out is neither a nor b. */
static void fe_mul(struct fe *restrict out, const struct fe *a, const struct fe *b)
{
    const uint32_t *const f = a->limb, *const g = b->limb;
    uint32_t f2[10], g19[10];
    uint64_t column;

    EACH_LIMB(f2[i] = 2 * f[i])
    EACH_LIMB(g19[i] = 19 * g[i])
    column = P(f[0], g[0]) + P(f2[1], g19[9]) + P(f[2], g19[8]) + P(f2[3], g19[7])
              + P(f[4], g19[6]) + P(f2[5], g19[5]) + P(f[6], g19[4]) + P(f2[7], g19[3])
              + P(f[8], g19[2]) + P(f2[9], g19[1]);
    CARRY(0);
    column += P(f[0], g[1]) + P(f[1], g[0]) + P(f[2], g19[9]) + P(f[3], g19[8])
              + P(f[4], g19[7]) + P(f[5], g19[6]) + P(f[6], g19[5]) + P(f[7], g19[4])
              + P(f[8], g19[3]) + P(f[9], g19[2]);
    CARRY(1);
    column += P(f[0], g[2]) + P(f2[1], g[1]) + P(f[2], g[0]) + P(f2[3], g19[9])
              + P(f[4], g19[8]) + P(f2[5], g19[7]) + P(f[6], g19[6]) + P(f2[7], g19[5])
              + P(f[8], g19[4]) + P(f2[9], g19[3]);
    CARRY(2);
    column += P(f[0], g[3]) + P(f[1], g[2]) + P(f[2], g[1]) + P(f[3], g[0]) + P(f[4], g19[9])
              + P(f[5], g19[8]) + P(f[6], g19[7]) + P(f[7], g19[6]) + P(f[8], g19[5])
              + P(f[9], g19[4]);
    CARRY(3);
    column += P(f[0], g[4]) + P(f2[1], g[3]) + P(f[2], g[2]) + P(f2[3], g[1]) + P(f[4], g[0])
              + P(f2[5], g19[9]) + P(f[6], g19[8]) + P(f2[7], g19[7]) + P(f[8], g19[6])
              + P(f2[9], g19[5]);
    CARRY(4);
    column += P(f[0], g[5]) + P(f[1], g[4]) + P(f[2], g[3]) + P(f[3], g[2]) + P(f[4], g[1])
              + P(f[5], g[0]) + P(f[6], g19[9]) + P(f[7], g19[8]) + P(f[8], g19[7])
              + P(f[9], g19[6]);
    CARRY(5);
    column += P(f[0], g[6]) + P(f2[1], g[5]) + P(f[2], g[4]) + P(f2[3], g[3]) + P(f[4], g[2])
              + P(f2[5], g[1]) + P(f[6], g[0]) + P(f2[7], g19[9]) + P(f[8], g19[8])
              + P(f2[9], g19[7]);
    CARRY(6);
    column += P(f[0], g[7]) + P(f[1], g[6]) + P(f[2], g[5]) + P(f[3], g[4]) + P(f[4], g[3])
              + P(f[5], g[2]) + P(f[6], g[1]) + P(f[7], g[0]) + P(f[8], g19[9])
              + P(f[9], g19[8]);
    CARRY(7);
    column += P(f[0], g[8]) + P(f2[1], g[7]) + P(f[2], g[6]) + P(f2[3], g[5]) + P(f[4], g[4])
              + P(f2[5], g[3]) + P(f[6], g[2]) + P(f2[7], g[1]) + P(f[8], g[0])
              + P(f2[9], g19[9]);
    CARRY(8);
    column += P(f[0], g[9]) + P(f[1], g[8]) + P(f[2], g[7]) + P(f[3], g[6]) + P(f[4], g[5])
              + P(f[5], g[4]) + P(f[6], g[3]) + P(f[7], g[2]) + P(f[8], g[1]) + P(f[9], g[0]);
    CARRY(9);
    carry_around(out, column);
}

/* out is not a. */
static void fe_square(struct fe *restrict out, const struct fe *a)
{
    const uint32_t *const f = a->limb;
    uint32_t f2[10], f19[10], f38[10];
    uint64_t column;

    EACH_LIMB(f2[i] = 2 * f[i])
    EACH_LIMB(f19[i] = 19 * f[i])
    EACH_LIMB(f38[i] = 38 * f[i])
    column = P(f[0], f[0]) + P(f2[1], f38[9]) + P(f2[2], f19[8]) + P(f2[3], f38[7])
              + P(f2[4], f19[6]) + P(f[5], f38[5]);
    CARRY(0);
    column += P(f2[0], f[1]) + P(f2[2], f19[9]) + P(f2[3], f19[8]) + P(f2[4], f19[7])
              + P(f2[5], f19[6]);
    CARRY(1);
    column += P(f2[0], f[2]) + P(f[1], f2[1]) + P(f2[3], f38[9]) + P(f2[4], f19[8])
              + P(f2[5], f38[7]) + P(f[6], f19[6]);
    CARRY(2);
    column += P(f2[0], f[3]) + P(f2[1], f[2]) + P(f2[4], f19[9]) + P(f2[5], f19[8])
              + P(f2[6], f19[7]);
    CARRY(3);
    column += P(f2[0], f[4]) + P(f2[1], f2[3]) + P(f[2], f[2]) + P(f2[5], f38[9])
              + P(f2[6], f19[8]) + P(f[7], f38[7]);
    CARRY(4);
    column += P(f2[0], f[5]) + P(f2[1], f[4]) + P(f2[2], f[3]) + P(f2[6], f19[9])
              + P(f2[7], f19[8]);
    CARRY(5);
    column += P(f2[0], f[6]) + P(f2[1], f2[5]) + P(f2[2], f[4]) + P(f[3], f2[3])
              + P(f2[7], f38[9]) + P(f[8], f19[8]);
    CARRY(6);
    column += P(f2[0], f[7]) + P(f2[1], f[6]) + P(f2[2], f[5]) + P(f2[3], f[4])
              + P(f2[8], f19[9]);
    CARRY(7);
    column += P(f2[0], f[8]) + P(f2[1], f2[7]) + P(f2[2], f[6]) + P(f2[3], f2[5])
              + P(f[4], f[4]) + P(f[9], f38[9]);
    CARRY(8);
    column += P(f2[0], f[9]) + P(f2[1], f[8]) + P(f2[2], f[7]) + P(f2[3], f[6])
              + P(f2[4], f[5]);
    CARRY(9);
    carry_around(out, column);
}

#include "x25519/ladder_steps.h"

const struct evc_x25519 evc_x25519_c_limb26 = {
    .kernel = EVC_KEYLESS_HEAD(c_limb26, CT_MUL32, CT, ANY, BASELINE, 1536),
    .multiply = multiply,
};
