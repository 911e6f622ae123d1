/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication of kernels whose assembly makes the product first, then its reduction
 * (method SOS). A kernel defines, and includes this then:
 *
 *   LIMB_BITS            64 or 32
 *   STRIPS(name)         the name of a function of its assembly: product, square, reduce
 *   SQUARE_FROM          the fewest limbs of which a square is faster than a product
 *
 * BN_STRIPS_SLOTS are the slots of its descriptor, and `clear` is its clear.
 */
#ifndef EVC_BN_STRIPS_STEPS_H
#define EVC_BN_STRIPS_STEPS_H

#include "bn/limbs_steps.h"

/* t = a b, or a^2: 2 limbs limbs. */
void STRIPS(product)(limb *t, const limb *a, const limb *b, size_t limbs);
void STRIPS(square)(limb *t, const limb *a, size_t limbs);

/* r = t / R modulo n; t is lost. */
void STRIPS(reduce)(limb *r, limb *t, const limb *n, size_t limbs, limb n0);

static void mul(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const size_t limbs = limbs_for(evc_bn_n_bytes(key));
    const struct private_part *p = private_part(key);

    STRIPS(product)(scratch, a, b, limbs);
    STRIPS(reduce)(r, scratch, p->n, limbs, p->n0);
}

static void sqr(const void *key, void *r, const void *a, void *scratch)
{
    const size_t limbs = limbs_for(evc_bn_n_bytes(key));
    const struct private_part *p = private_part(key);

    if (limbs < SQUARE_FROM)
        STRIPS(product)(scratch, a, a, limbs);
    else
        STRIPS(square)(scratch, a, limbs);
    STRIPS(reduce)(r, scratch, p->n, limbs, p->n0);
}

#define BN_STRIPS_SLOTS BN_LIMBS_SLOTS, .mul = mul, .sqr = sqr

#endif
