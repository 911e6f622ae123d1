/* SPDX-License-Identifier: MIT */
#include "bn_lanes.h"

#include <string.h>

#include "must.h"

#define LANES 3
#define LEFT_BYTES 128

static long count;
static struct evc_bn lanes;

static size_t exp_many_bytes(const struct evc_bn_shape *shape)
{
    return evc_bn_scratch_bytes(&lanes, 8 * (size_t)shape->form_bytes);
}

static __attribute__((noinline)) void leave_on_stack(const uint8_t *secret)
{
    volatile uint8_t below[LEFT_BYTES];

    for (size_t i = 0; i < sizeof below; i++)
        below[i] = secret[i % 16];
    (void)below;
}

/* The base, or 2 for NULL. */
static const uint8_t *base_of(const struct evc_bn_exp *e)
{
    static uint8_t two[EVC_BN_MAX_BYTES];

    if (e->base)
        return e->base;
    memset(two, 0, sizeof two);
    two[e->n->n_bytes - 1] = 2;
    return two;
}

static void exp_many(const struct evc_bn_exp *exps, size_t n_exps, void *scratch)
{
    for (size_t i = 0; i < n_exps; i++) {
        const struct evc_bn_exp *e = &exps[i];
        const size_t bytes = exp_many_bytes(&e->n->shape);

        if (n_exps < 2 || n_exps > LANES || e->n->kernel != &lanes ||
            e->n->n_bytes != exps[0].n->n_bytes || e->exponent_bytes != exps[0].exponent_bytes ||
            !e->base != !exps[0].base || e->status != EVC_OK)
            count = -1;
        must(evc_bn_exp(e->n, base_of(e), e->exponent, e->exponent_bytes, e->out, scratch, bytes));
        memset(scratch, 0x77, bytes);
        leave_on_stack(base_of(e));
    }
    if (count >= 0)
        count += (long)n_exps;
}

const struct evc_bn *bn_lanes_kernel(void)
{
    lanes = *evc_bn_named("c_ref");
    lanes.lanes = LANES;
    lanes.exp_many = exp_many;
    lanes.exp_many_bytes = exp_many_bytes;
    return &lanes;
}

long bn_lanes_count(void)
{
    return count;
}
