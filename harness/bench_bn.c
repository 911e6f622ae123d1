/* SPDX-License-Identifier: MIT */
/*
 * The modes of bn for bench; "bytes" are the length of the modulus, and a call is one operation.
 * mont-mul and mont-sqr are Montgomery products, in a chain. exp is a power with a secret exponent
 * as long as the modulus, exp-public one with 65537, exp-small one of 2 as exp, exp-batch eight
 * powers in one call. inverse needs no kernel; setkey is one modulus.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "everycore/bn.h"

#include "must.h"
#include "random.h"

#define MOST EVC_BN_MAX_BYTES
#define MANY 8
#define MEMORY_BYTES 24576
#define SCRATCH_BYTES (1u << 20)

struct work {
    const struct evc_bn *kernel;
    size_t n_bytes;
    uint8_t n[MOST], a[MOST], b[MOST], out[MANY][MOST];
    EVC_ALIGN(64) uint8_t key[MEMORY_BYTES];
    EVC_ALIGN(64) uint8_t x[2 * MOST], y[2 * MOST]; /* in the kernel's form */
    EVC_ALIGN(64) uint8_t scratch[SCRATCH_BYTES];
};

static const uint8_t e65537[] = {1, 0, 1};

static const struct evc_bn_modulus *modulus(const struct work *w)
{
    return (const void *)w->key;
}

static void exp_many(struct work *w)
{
    struct evc_bn_exp exps[MANY];

    for (size_t i = 0; i < MANY; i++)
        exps[i] = (struct evc_bn_exp){modulus(w), w->a, w->b, w->out[i], w->n_bytes, EVC_OK};
    must(evc_bn_exp_many(exps, MANY, w->scratch, sizeof w->scratch));
}

BENCH_LOOPS(mont_mul, w->kernel->mul(w->key, w->x, w->x, w->y, w->scratch);)
BENCH_LOOPS(mont_sqr, w->kernel->sqr(w->key, w->x, w->x, w->scratch);)
BENCH_LOOPS(exp_secret, must(evc_bn_exp(modulus(w), w->a, w->b, w->n_bytes, w->out[0], w->scratch,
                                        sizeof w->scratch));)
BENCH_LOOPS(exp_public, must(evc_bn_exp_public(modulus(w), w->a, e65537, 3, w->out[0], w->scratch,
                                               sizeof w->scratch));)
BENCH_LOOPS(exp_small, must(evc_bn_exp_small(modulus(w), 2, w->b, w->n_bytes, w->out[0], w->scratch,
                                             sizeof w->scratch));)
BENCH_LOOPS(many, exp_many(w);)
BENCH_LOOPS(inverse,
            must(evc_bn_inverse(w->a, w->n, w->n_bytes, w->out[0], w->scratch, sizeof w->scratch));)
BENCH_LOOPS(setkey,
            must(evc_bn_set_modulus_in(w->key, sizeof w->key, w->kernel, w->n, w->n_bytes));)

enum { MONT_MUL, MONT_SQR, EXP, EXP_PUBLIC, EXP_SMALL, EXP_MANY, INVERSE, SETKEY, N_MODES };
static const struct {
    const char *name;
    bench_loop *streamed, *fenced;
} modes[N_MODES] = {
    {"mont-mul", mont_mul, mont_mul_fenced}, {"mont-sqr", mont_sqr, mont_sqr_fenced},
    {"exp", exp_secret, exp_secret_fenced},  {"exp-public", exp_public, exp_public_fenced},
    {"exp-small", exp_small, exp_small_fenced}, {"exp-batch", many, many_fenced},
    {"inverse", inverse, inverse_fenced},     {"setkey", setkey, setkey_fenced},
};

static const char *mode_name(size_t mode)
{
    return mode < N_MODES ? modes[mode].name : NULL;
}

static bool is_many(size_t mode)
{
    (void)mode;
    return false;
}

static size_t length_used(size_t mode, const struct bench_setup *setup)
{
    (void)mode;
    return setup->len_bytes >= EVC_BN_MIN_BITS / 8 && setup->len_bytes <= MOST ? setup->len_bytes
                                                                               : 0;
}

static bench_loop *loop(size_t mode, bool fenced)
{
    return fenced ? modes[mode].fenced : modes[mode].streamed;
}

/* A modulus for which 2 has an inverse, as for any, and so has the power of 2 that a is. */
static void *prepare(size_t mode, const struct bench_setup *setup, const char **with)
{
    static struct work work;
    struct work *w = &work;
    struct random r = {setup->seed};
    const size_t n_bytes = setup->len_bytes;

    *with = NULL;
    memset(w, 0, sizeof *w);
    w->kernel = evc_bn_named(setup->kernel);
    w->n_bytes = n_bytes;
    random_bytes(&r, w->n, n_bytes);
    random_bytes(&r, w->a, n_bytes);
    random_bytes(&r, w->b, n_bytes);
    w->n[0] |= 0x80;
    w->n[n_bytes - 1] |= 1;
    w->a[0] &= 0x7f;
    w->b[0] &= 0x7f;
    if (mode == INVERSE) {
        memset(w->a, 0, n_bytes);
        w->a[1] = 0x40;
    }
    if (evc_bn_modulus_bytes(w->kernel, 8 * n_bytes) > sizeof w->key ||
        evc_bn_exp_many_scratch_bytes(w->kernel, 8 * n_bytes) > sizeof w->scratch ||
        evc_bn_set_modulus_in(w->key, sizeof w->key, w->kernel, w->n, n_bytes) != EVC_OK)
        return NULL;
    w->kernel->load(w->key, w->x, w->a, n_bytes);
    w->kernel->load(w->key, w->y, w->b, n_bytes);
    return w;
}

/* Products by the public call: those of kernels differ by their R. */
static uint64_t result(size_t mode, void *vwork)
{
    struct work *w = vwork;
    uint64_t sum = 0;

    if (mode == MONT_MUL || mode == SETKEY)
        must(evc_bn_mod_mul(modulus(w), w->a, w->b, w->out[0], w->scratch, sizeof w->scratch));
    else if (mode == MONT_SQR)
        must(evc_bn_mod_sqr(modulus(w), w->a, w->out[0], w->scratch, sizeof w->scratch));
    else
        modes[mode].streamed(w, 1);
    for (size_t i = 0; i < MANY; i++)
        for (size_t j = 0; j < w->n_bytes; j++)
            sum = (sum ^ w->out[i][j]) * UINT64_C(0x9e3779b97f4a7c15);
    return sum;
}

/* The reference is c_limb32, which other tests hold against c_ref: that takes
 * minutes for a long power. */
const struct bench_primitive bench_bn = {
    .name = "bn",
    .reference = "c_limb32",
    .key_bits = 128,
    .mode_name = mode_name,
    .is_many = is_many,
    .length_used = length_used,
    .prepare = prepare,
    .result = result,
    .loop = loop,
};
