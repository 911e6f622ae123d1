/* SPDX-License-Identifier: MIT */
/*
 * The slots of both kernels for PA-RISC, over blocks of eight words: BN_HPPA_SLOTS are slots of a
 * descriptor, and `clear` is its clear. A kernel defines what limbs_steps.h and hppa_blocks.h want.
 */
#ifndef EVC_BN_HPPA_STEPS_H
#define EVC_BN_HPPA_STEPS_H

#include "bn/limbs_steps.h"

#include "bn/hppa_blocks.h"

/* r = t / R modulo n, and zeros behind it; r may be what t was made of. */
static void reduce_to(limb *r, bn_sum *t, const struct private_part *p, size_t n_bytes)
{
    const size_t limbs = limbs_of_r(n_bytes), held = limbs_for(n_bytes);

    for (size_t i = limbs; i < held; i++)
        r[i] = 0;
    reduce(r, t, p->n, p->n0, limbs);
}

static void mul(const void *key, void *r, const void *a, const void *b, void *scratch)
{
    const size_t n_bytes = evc_bn_n_bytes(key);

    product(scratch, a, b, limbs_of_r(n_bytes));
    reduce_to(r, scratch, private_part(key), n_bytes);
}

static void sqr(const void *key, void *r, const void *a, void *scratch)
{
    const size_t n_bytes = evc_bn_n_bytes(key);

    square(scratch, a, limbs_of_r(n_bytes));
    reduce_to(r, scratch, private_part(key), n_bytes);
}

#define BN_HPPA_SLOTS BN_LIMBS_SLOTS, .mul = mul, .sqr = sqr

#endif
