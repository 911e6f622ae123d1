/* SPDX-License-Identifier: MIT */
/*
 * The modes of word primitives for bench: each operation on a number of so many bytes. The combas
 * and div_words have a length of their own; mod-word and mod-word16 take the remainder by a word,
 * and by one of 16 bits, prepared before; mod-word16-once prepares it in each call; trial takes the
 * remainders by 64 primes above 8192.
 */
#include "bench.h"

#include <string.h>

#include "everycore/bn_words.h"

#include "must.h"
#include "random.h"

typedef evc_bn_word word;

#define MAX_WORDS 2048 /* of a number */
#define N_PRIMES 64

struct work {
    const struct evc_bn_words *kernel;
    size_t n_words, n_groups;
    struct evc_bn_divisor divisor;
    struct evc_bn_trial trial[N_PRIMES];
    uint32_t remainders[N_PRIMES];
    word w, returned;
    EVC_ALIGN(64) word r[2 * MAX_WORDS];
    EVC_ALIGN(64) word a[MAX_WORDS];
    EVC_ALIGN(64) word b[MAX_WORDS];
};

BENCH_LOOPS(add, w->returned = w->kernel->add_words(w->r, w->a, w->b, w->n_words);)
BENCH_LOOPS(sub, w->returned = w->kernel->sub_words(w->r, w->a, w->b, w->n_words);)
BENCH_LOOPS(mul, w->returned = w->kernel->mul_words(w->r, w->a, w->n_words, w->w);)
BENCH_LOOPS(mul_add, w->returned = w->kernel->mul_add_words(w->r, w->a, w->n_words, w->w);)
BENCH_LOOPS(sqr, w->kernel->sqr_words(w->r, w->a, w->n_words);)
BENCH_LOOPS(mul4, w->kernel->mul_comba4(w->r, w->a, w->b);)
BENCH_LOOPS(mul8, w->kernel->mul_comba8(w->r, w->a, w->b);)
BENCH_LOOPS(sqr4, w->kernel->sqr_comba4(w->r, w->a);)
BENCH_LOOPS(sqr8, w->kernel->sqr_comba8(w->r, w->a);)
BENCH_LOOPS(divide, w->returned = w->kernel->div_words(w->a[0] >> 1, w->a[1], w->w);)
BENCH_LOOPS(mod, w->returned = w->kernel->mod_words(w->a, w->n_words, &w->divisor);)
BENCH_LOOPS(mod_once, w->returned = evc_bn_mod_word(w->kernel, w->a, w->n_words, w->divisor.word);)
BENCH_LOOPS(trial_mod,
            evc_bn_trial_mod(w->kernel, w->trial, w->n_groups, w->a, w->n_words, w->remainders);)

static const struct {
    const char *name;
    size_t words; /* of a number; 0: as asked for */
    bench_loop *streamed, *fenced;
} modes[] = {
    {"add-words", 0, add, add_fenced},
    {"sub-words", 0, sub, sub_fenced},
    {"mul-words", 0, mul, mul_fenced},
    {"mul-add-words", 0, mul_add, mul_add_fenced},
    {"sqr-words", 0, sqr, sqr_fenced},
    {"mul-comba4", 4, mul4, mul4_fenced},
    {"mul-comba8", 8, mul8, mul8_fenced},
    {"sqr-comba4", 4, sqr4, sqr4_fenced},
    {"sqr-comba8", 8, sqr8, sqr8_fenced},
    {"div-words", 2, divide, divide_fenced},
    {"mod-word", 0, mod, mod_fenced},
    {"mod-word16", 0, mod, mod_fenced},
    {"mod-word16-once", 0, mod_once, mod_once_fenced},
    {"trial", 0, trial_mod, trial_mod_fenced},
};
#define N_MODES (sizeof modes / sizeof modes[0])

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
    const size_t most = sizeof(word) * MAX_WORDS;

    if (modes[mode].words)
        return modes[mode].words * sizeof(word);
    return setup->len_bytes < most ? setup->len_bytes : most;
}

static bench_loop *loop(size_t mode, bool fenced)
{
    return fenced ? modes[mode].fenced : modes[mode].streamed;
}

static bool is_prime(uint32_t n)
{
    for (uint32_t i = 2; i * i <= n; i++)
        if (n % i == 0)
            return false;
    return true;
}

static void prepare_trial(struct work *w)
{
    uint32_t primes[N_PRIMES], next = 8193;

    for (size_t i = 0; i < N_PRIMES; next += 2)
        if (is_prime(next))
            primes[i++] = next;
    w->n_groups = evc_bn_trial_groups(primes, N_PRIMES);
    must(evc_bn_trial_set(w->trial, w->n_groups, primes, N_PRIMES));
}

static void *prepare(size_t mode, const struct bench_setup *setup, const char **with)
{
    static struct work work;
    struct work *w = &work;
    struct random r = {setup->seed};

    *with = NULL;
    memset(w, 0, sizeof *w);
    w->kernel = evc_bn_words_named(setup->kernel);
    w->n_words = setup->len_bytes / sizeof(word);
    w->w = (word)random_next(&r) | (word)1 << (EVC_BN_WORD_BITS - 1);
    random_bytes(&r, (uint8_t *)w->a, sizeof w->a);
    random_bytes(&r, (uint8_t *)w->b, sizeof w->b);
    must(evc_bn_divisor_set(&w->divisor, strcmp(modes[mode].name, "mod-word") == 0 ? w->w : 65521));
    if (strcmp(modes[mode].name, "trial") == 0)
        prepare_trial(w);
    return w;
}

static uint64_t result(size_t mode, void *vwork)
{
    struct work *w = vwork;
    uint64_t sum = 0;

    modes[mode].streamed(w, 1);
    for (size_t i = 0; i < 2 * w->n_words; i++)
        sum = (sum ^ w->r[i]) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < N_PRIMES; i++)
        sum = (sum ^ w->remainders[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ w->returned;
}

const struct bench_primitive bench_bn_words = {
    .name = "bn_words",
    .reference = "c_ref",
    .key_bits = 128,
    .unit_bytes = sizeof(word),
    .mode_name = mode_name,
    .is_many = is_many,
    .length_used = length_used,
    .prepare = prepare,
    .result = result,
    .loop = loop,
};
