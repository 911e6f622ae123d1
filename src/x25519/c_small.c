/* SPDX-License-Identifier: MIT */
/*
 * X25519 in as little code as is still fast: for firmware and small programs.
 *
 * Method:   the Montgomery ladder (ladder_steps.h); ten limbs of 26 and 25 bits; product scanning,
 *           a loop over pairs of columns; a square is a product.
 * Source:   RFC 7748 section 5; Bernstein: Curve25519: new Diffie-Hellman speed records, PKC 2006.
 * Needs:    CT_MUL32.   Timing: CT (no secret branches or addresses; rests on the multiplier's
 *           constant time).
 * Key form: private.
 */
#include "x25519/kernel.h"

#include "x25519/limb26_steps.h"

/* Limbs of b stand 19 times as large, and behind them as they are: so each column has its ten in a
 * row. Columns of even limbs have products of odd ones twice. out is neither a nor b. */
EVC_OUT_OF_LINE void fe_mul(struct fe *restrict out, const struct fe *a, const struct fe *b)
{
    const uint32_t *const f = a->limb;
    uint32_t f2[N_LIMBS], g[2 * N_LIMBS];
    uint64_t column = 0;

    for (int i = 0; i < N_LIMBS; i++) {
        g[i] = 19 * b->limb[i];
        g[i + N_LIMBS] = b->limb[i];
        f2[i] = 2 * f[i];
    }
    for (int k = 0; k < N_LIMBS; k += 2) {
        const uint32_t *const h = g + N_LIMBS + k;
        column += P(f[0], h[0]) + P(f2[1], h[-1]) + P(f[2], h[-2]) + P(f2[3], h[-3]) +
                  P(f[4], h[-4]) + P(f2[5], h[-5]) + P(f[6], h[-6]) + P(f2[7], h[-7]) +
                  P(f[8], h[-8]) + P(f2[9], h[-9]);
        CARRY(k);
        column += P(f[0], h[1]) + P(f[1], h[0]) + P(f[2], h[-1]) + P(f[3], h[-2]) +
                  P(f[4], h[-3]) + P(f[5], h[-4]) + P(f[6], h[-5]) + P(f[7], h[-6]) +
                  P(f[8], h[-7]) + P(f[9], h[-8]);
        CARRY(k + 1);
    }
    carry_around(out, column);
}

#define fe_square(out, a) fe_mul(out, a, a)
#define LITTLE_CODE
#include "x25519/ladder_steps.h"

const struct evc_x25519 evc_x25519_c_small = {
    .kernel = EVC_KEYLESS_HEAD(c_small, CT_MUL32, CT, ANY, BASELINE, 1536),
    .multiply = multiply,
};
