/* SPDX-License-Identifier: MIT */
/*
 * The modes of the layers on bn for bench; "bytes" are the length of n or p, and a call is one
 * operation, or one of eight operations side by side. RSA: 128 to 1024 bytes, with a key that is
 * made by the seed. Diffie-Hellman: the group of RFC 7919 of this length, with its short secrets.
 * prime-test is one round of Miller and Rabin for a secret prime of half of the length, prime-check
 * the public test of the same prime (BPSW).
 */
#include "bench.h"

#include <string.h>

#include "everycore/cpu.h"
#include "everycore/dh.h"
#include "everycore/rsa.h"

#include "must.h"
#include "random.h"

#define MOST EVC_BN_MAX_BYTES
#define LEAST 128
#define MANY 8
#define KEY_BYTES 65536
#define SCRATCH_BYTES (1u << 20)

struct work {
    const struct evc_bn *kernel;
    size_t n_bytes;
    struct random random;
    struct evc_random source;
    struct evc_rsa_numbers numbers;
    uint8_t memory[6 * MOST], in[MOST], x[MOST], out[MANY][MOST];
    EVC_ALIGN(64) uint8_t key[KEY_BYTES];
    EVC_ALIGN(64) uint8_t scratch[SCRATCH_BYTES];
};

static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    random_bytes(context, out, n_bytes);
    return 0;
}

static const struct evc_rsa_private *rsa_key(const struct work *w)
{
    return (const void *)w->key;
}

static void private_many(struct work *w)
{
    struct evc_rsa_operation operations[MANY];

    for (size_t i = 0; i < MANY; i++)
        operations[i] =
            (struct evc_rsa_operation){.key = rsa_key(w), .in = w->in, .out = w->out[i]};
    must(evc_rsa_private_many(operations, MANY, &w->source, w->scratch, sizeof w->scratch));
}

BENCH_LOOPS(rsa_private, must(evc_rsa_private(rsa_key(w), w->in, w->out[0], &w->source, w->scratch,
                                              sizeof w->scratch));)
BENCH_LOOPS(rsa_private_many, private_many(w);)
BENCH_LOOPS(rsa_public, must(evc_rsa_public(evc_rsa_public_of(rsa_key(w)), w->in, w->out[0],
                                            w->scratch, sizeof w->scratch));)
BENCH_LOOPS(dh_public, must(evc_dh_public((const void *)w->key, w->x, w->out[0], w->scratch,
                                          sizeof w->scratch));)
BENCH_LOOPS(prime_check, must(evc_prime_test_public(w->kernel, w->numbers.p, w->numbers.p_bytes,
                                                    w->scratch, sizeof w->scratch));)
BENCH_LOOPS(prime_test, must(evc_prime_test_secret(w->kernel, w->numbers.p, w->numbers.p_bytes, 1,
                                                   &w->source, w->scratch, sizeof w->scratch));)

enum { RSA_PRIVATE, RSA_PRIVATE_MANY, RSA_PUBLIC, DH_PUBLIC, PRIME_TEST, PRIME_CHECK, N_MODES };
static const struct {
    const char *name;
    bench_loop *streamed, *fenced;
} modes[N_MODES] = {
    {"rsa-private", rsa_private, rsa_private_fenced},
    {"rsa-private-batch", rsa_private_many, rsa_private_many_fenced},
    {"rsa-public", rsa_public, rsa_public_fenced},
    {"dh-public", dh_public, dh_public_fenced},
    {"prime-test", prime_test, prime_test_fenced},
    {"prime-check", prime_check, prime_check_fenced},
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

static const struct evc_dh_params *group_of(size_t n_bytes)
{
    static const char *const names[] = {"ffdhe2048", "ffdhe3072", "ffdhe4096", "ffdhe6144",
                                        "ffdhe8192"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct evc_dh_params *const params = evc_dh_params_named(names[i]);
        if (params->p_bytes == n_bytes)
            return params;
    }
    return NULL;
}

static size_t length_used(size_t mode, const struct bench_setup *setup)
{
    const size_t n_bytes = setup->len_bytes;

    if (mode == DH_PUBLIC)
        return group_of(n_bytes) ? n_bytes : 0;
    return n_bytes >= LEAST && n_bytes <= MOST && n_bytes % 2 == 0 ? n_bytes : 0;
}

static bench_loop *loop(size_t mode, bool fenced)
{
    return fenced ? modes[mode].fenced : modes[mode].streamed;
}

static bool set_group(struct work *w)
{
    const struct evc_dh_group *const group = (const void *)w->key;

    return evc_dh_group_bytes(w->kernel, 8 * w->n_bytes) <= sizeof w->key &&
           evc_dh_set_group_in(w->key, sizeof w->key, w->kernel, group_of(w->n_bytes), 0) ==
               EVC_OK &&
           evc_dh_make_secret(group, &w->source, w->x) == EVC_OK;
}

/* The key is the same for every kernel: one kernel, the fastest, makes it. */
static bool set_key(struct work *w)
{
    static const uint8_t e65537[] = {1, 0, 1};
    const size_t n_bits = 8 * w->n_bytes;
    const struct evc_prime_search search = {
        evc_bn_select_for(evc_cpu_features(), EVC_ALLOW_VARTIME, EVC_USE_PARALLEL, n_bits / 2),
        evc_bn_words_select(evc_cpu_features(), EVC_ALLOW_VARTIME), w->source, NULL, NULL};

    return evc_rsa_generate_scratch_bytes(search.kernel, n_bits) <= sizeof w->scratch &&
           evc_rsa_private_bytes(w->kernel, n_bits) <= sizeof w->key &&
           evc_rsa_many_scratch_bytes(w->kernel, n_bits) <= sizeof w->scratch &&
           evc_rsa_generate(&search, n_bits, e65537, sizeof e65537, w->memory, sizeof w->memory,
                            &w->numbers, w->scratch, sizeof w->scratch) == EVC_OK &&
           evc_rsa_set_private_in(w->key, sizeof w->key, w->kernel, &w->numbers, n_bits, w->scratch,
                                  sizeof w->scratch) == EVC_OK;
}

static void *prepare(size_t mode, const struct bench_setup *setup, const char **with)
{
    static struct work work;
    struct work *const w = &work;

    *with = NULL;
    memset(w, 0, sizeof *w);
    w->kernel = evc_bn_named(setup->kernel);
    w->n_bytes = setup->len_bytes;
    w->random = (struct random){setup->seed};
    w->source = (struct evc_random){fill, &w->random};
    if (!(mode == DH_PUBLIC ? set_group(w) : set_key(w)))
        return NULL;
    random_bytes(&w->random, w->in, w->n_bytes);
    w->in[0] = 0; /* below n */
    return w;
}

static uint64_t result(size_t mode, void *vwork)
{
    struct work *const w = vwork;
    uint64_t sum = 0;

    modes[mode].streamed(w, 1);
    for (size_t i = 0; i < MANY; i++)
        for (size_t j = 0; j < w->n_bytes; j++)
            sum = (sum ^ w->out[i][j]) * UINT64_C(0x9e3779b97f4a7c15);
    return sum;
}

/* As with bn, c_ref would take minutes. */
const struct bench_primitive bench_layers = {
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
