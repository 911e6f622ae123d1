/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for AArch64, in assembly.
 *
 * Method:   the product first, then its reduction, both in strips of eight limbs whose sums stay in registers: mul,
 *           umulh and two additions with carry for a product of limbs. Squares have each cross product once. Limbs that
 *           fill no strip make a narrower one, so no length of numbers pays for a longer one.
 * Source:   Koc, Acar, Kaliski: Analyzing and Comparing Montgomery Multiplication Algorithms, IEEE Micro 16 (1996),
 *           method SOS.
 * Needs:    A64_CT_MUL.   Timing: CT (no secret branches or addresses; rests on the multiplier's constant time).
 * Key form: private.
 */
#include "everycore/isa.h"

#if EVC_BUILT(A64_CT_MUL)
#define LIMB_BITS 64
#include "bn/limbs_steps.h"

#include "common/clear.h"

void evc_bn_a64_umulh_product(limb *t, const limb *a, const limb *b, size_t limbs);
void evc_bn_a64_umulh_square(limb *t, const limb *a, size_t limbs);
void evc_bn_a64_umulh_reduce(limb *r, limb *t, const limb *n, size_t limbs, limb n0);

static void mul(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const size_t limbs = limbs_for(evc_bn_n_bytes(key));
    const struct private_part *p = private_part(key);

    evc_bn_a64_umulh_product(scratch, a, b, limbs);
    evc_bn_a64_umulh_reduce(r, scratch, p->n, limbs, p->n0);
}

/* A product is faster for fewer limbs than a strip has. */
static void sqr(const void *key, void *r, const void *a, void *scratch)
{
    const size_t limbs = limbs_for(evc_bn_n_bytes(key));
    const struct private_part *p = private_part(key);

    if (limbs < 8)
        evc_bn_a64_umulh_product(scratch, a, a, limbs);
    else
        evc_bn_a64_umulh_square(scratch, a, limbs);
    evc_bn_a64_umulh_reduce(r, scratch, p->n, limbs, p->n0);
}

EVC_DEFINE_CLEAR_STACK(clear, BASELINE, 704)

const struct evc_bn evc_bn_a64_umulh = {
    .kernel = EVC_KERNEL_HEAD(a64_umulh, A64_CT_MUL, CT, ANY, 1, struct evc_bn_modulus, 0, clear),
    BN_LIMBS_SLOTS,
    .mul = mul,
    .sqr = sqr,
};
#else
EVC_EMPTY_UNIT
#endif
