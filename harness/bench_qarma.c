/* SPDX-License-Identifier: MIT */
/*
 * The modes of QARMA for bench. qarma5 and qarma3 are chains: each block waits for the one before,
 * as a pointer that is authenticated waits for its code. Of qarma5-apart and qarma3-apart none
 * waits, but each is a call of its own; qarma5-blocks is many in one call. setkey is one key,
 * whose "bytes" are its own.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "everycore/qarma.h"

#include "must.h"
#include "random.h"

#define MAX_BLOCKS 2048 /* of a message: 16 KiB */

struct work {
    union evc_qarma_key key, made;
    const struct evc_qarma *kernel;
    size_t n_blocks;
    uint64_t w0, k0, chained;
    uint64_t in[MAX_BLOCKS], tweak[MAX_BLOCKS], out[MAX_BLOCKS];
};

/* As a caller does it who has looked its kernel up. */
static void chain(struct work *w)
{
    uint64_t x = w->chained;

    for (size_t i = 0; i < w->n_blocks; i++)
        x = w->kernel->encrypt(&w->key, x, w->tweak[i]);
    w->chained = x;
}

static void apart(struct work *w)
{
    for (size_t i = 0; i < w->n_blocks; i++)
        w->out[i] = w->kernel->encrypt(&w->key, w->in[i], w->tweak[i]);
}

BENCH_LOOPS(one_by_one, chain(w);)
BENCH_LOOPS(each_alone, apart(w);)
BENCH_LOOPS(many, evc_qarma_encrypt_many(&w->key, w->in, w->tweak, w->out, w->n_blocks);)
BENCH_LOOPS(setkey, must(evc_qarma_set_key(&w->made, w->kernel, w->w0, w->k0, w->key.head.sigma,
                                           w->key.head.rounds));)

enum { QARMA5, QARMA3, QARMA5_APART, QARMA3_APART, QARMA5_BLOCKS, SETKEY, N_MODES };
static const struct {
    const char *name;
    unsigned sigma, rounds;
    bench_loop *streamed, *fenced;
} modes[N_MODES] = {
    {"qarma5", EVC_QARMA_SIGMA2, 5, one_by_one, one_by_one_fenced},
    {"qarma3", EVC_QARMA_SIGMA1, 3, one_by_one, one_by_one_fenced},
    {"qarma5-apart", EVC_QARMA_SIGMA2, 5, each_alone, each_alone_fenced},
    {"qarma3-apart", EVC_QARMA_SIGMA1, 3, each_alone, each_alone_fenced},
    {"qarma5-blocks", EVC_QARMA_SIGMA2, 5, many, many_fenced},
    {"setkey", EVC_QARMA_SIGMA2, 5, setkey, setkey_fenced},
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
    return mode == SETKEY                      ? 16
           : setup->len_bytes < 8 * MAX_BLOCKS ? setup->len_bytes
                                               : 8 * MAX_BLOCKS;
}

static bench_loop *loop(size_t mode, bool fenced)
{
    return fenced ? modes[mode].fenced : modes[mode].streamed;
}

static void *prepare(size_t mode, const struct bench_setup *setup, const char **with)
{
    static struct work work;
    struct work *w = &work;
    struct random r = {setup->seed};

    *with = NULL;
    memset(w, 0, sizeof *w);
    w->kernel = evc_qarma_named(setup->kernel);
    w->n_blocks = setup->len_bytes / 8;
    w->w0 = random_next(&r);
    w->k0 = random_next(&r);
    w->chained = random_next(&r);
    for (size_t i = 0; i < w->n_blocks; i++) {
        w->in[i] = random_next(&r);
        w->tweak[i] = random_next(&r);
    }
    if (evc_qarma_set_key(&w->key, w->kernel, w->w0, w->k0, modes[mode].sigma,
                          modes[mode].rounds) != EVC_OK)
        return NULL;
    return w;
}

static uint64_t result(size_t mode, void *vwork)
{
    struct work *w = vwork;
    uint64_t sum = 0;

    modes[mode].streamed(w, 1);
    if (mode == SETKEY)
        w->chained = evc_qarma_encrypt(&w->made, w->chained, w->w0);
    for (size_t i = 0; i < w->n_blocks; i++)
        sum = (sum ^ w->out[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ w->chained;
}

const struct bench_primitive bench_qarma = {
    .name = "qarma",
    .reference = "c_ref",
    .key_bits = 128,
    .unit_bytes = 8,
    .mode_name = mode_name,
    .is_many = is_many,
    .length_used = length_used,
    .prepare = prepare,
    .result = result,
    .loop = loop,
};
