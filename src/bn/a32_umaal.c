/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication for ARMv6 and later in assembly: a product and two words more in one instruction.
 *
 * Method:   the product first, then its reduction, both in strips of four limbs whose sums stay in registers: for a
 *           product of limbs, one umaal. Squares have each cross product once. Limbs that fill no strip make a narrower
 *           one, so no length of numbers pays for a longer one.
 * Source:   Arm DDI 0406 (2018), UMAAL in chapter A8; Koc, Acar, Kaliski: Analyzing and Comparing Montgomery
 *           Multiplication Algorithms, IEEE Micro 16 (1996), method SOS.
 * Needs:    A32_UMAAL.   Timing: CT (no secret branches or addresses; rests on the multiplier's constant time).
 * Key form: private.
 */
#include "everycore/isa.h"

#if EVC_BUILT(A32_UMAAL)
#define LIMB_BITS 32
#include "bn/limbs_steps.h"

#include "common/clear.h"

void evc_bn_a32_umaal_product(limb *t, const limb *a, const limb *b, size_t limbs);
void evc_bn_a32_umaal_square(limb *t, const limb *a, size_t limbs);
void evc_bn_a32_umaal_reduce(limb *r, limb *t, const limb *n, size_t limbs, limb n0);

static void mul(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const size_t limbs = limbs_for(evc_bn_n_bytes(key));
    const struct private_part *p = private_part(key);

    evc_bn_a32_umaal_product(scratch, a, b, limbs);
    evc_bn_a32_umaal_reduce(r, scratch, p->n, limbs, p->n0);
}

static void sqr(const void *key, void *r, const void *a, void *scratch)
{
    const size_t limbs = limbs_for(evc_bn_n_bytes(key));
    const struct private_part *p = private_part(key);

    evc_bn_a32_umaal_square(scratch, a, limbs);
    evc_bn_a32_umaal_reduce(r, scratch, p->n, limbs, p->n0);
}

EVC_DEFINE_CLEAR_STACK(clear, BASELINE, 512)

const struct evc_bn evc_bn_a32_umaal = {
    .kernel = EVC_KERNEL_HEAD(a32_umaal, A32_UMAAL, CT, ANY, 1, struct evc_bn_modulus, 0, clear),
    BN_LIMBS_SLOTS,
    .mul = mul,
    .sqr = sqr,
};
#else
EVC_EMPTY_UNIT
#endif
