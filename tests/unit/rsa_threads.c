/* SPDX-License-Identifier: MIT */
/*
 * Threads that share keys of RSA: each signs batches under several of them, in which one key is not
 * set up, one number is out of range, and one thread's randomness fails now and then. Every result
 * is held against that of one operation alone.
 */
#include <pthread.h>

#include "everycore/rsa.h"

#include "tap.h"

#define N_KEYS 4
#define N_INPUTS 6
#define N_THREADS 4
#define N_BATCHES 60
#define MOST_BYTES 160

static const size_t lengths[N_KEYS] = {1024, 1024, 1280, 1024}; /* bits; the last one
                                                                 * is not set up */
static const struct evc_bn *kernel;
static EVC_ALIGN(16) uint8_t keys[N_KEYS][1u << 14];
static uint8_t in[N_KEYS][N_INPUTS][MOST_BYTES], expected[N_KEYS][N_INPUTS][MOST_BYTES];

struct thread {
    pthread_t id;
    uint64_t state;
    int calls_left; /* of the randomness; below 0: any */
    unsigned n_wrong, n_good, n_failed;
    uint8_t scratch[1u << 18];
};

static struct thread threads[N_THREADS];

/* Xorshift of 64 bits. */
static uint64_t next(struct thread *t)
{
    t->state ^= t->state << 13;
    t->state ^= t->state >> 7;
    t->state ^= t->state << 17;
    return t->state;
}

static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    struct thread *const t = context;

    if (t->calls_left == 0)
        return -1;
    t->calls_left -= t->calls_left > 0;
    for (size_t i = 0; i < n_bytes; i++)
        out[i] = (uint8_t)(next(t) >> 24);
    return 0;
}

static const struct evc_rsa_private *key_at(size_t i)
{
    return (const void *)keys[i];
}

static int make_key(struct thread *t, size_t i)
{
    static const uint8_t e[] = {1, 0, 1};
    static uint8_t memory[5 * MOST_BYTES];
    const struct evc_random random = {fill, t};
    const struct evc_prime_search search = {kernel, evc_bn_words_select(evc_cpu_features(), 0),
                                            random, NULL, NULL};
    struct evc_rsa_numbers numbers;
    enum evc_status status =
        evc_rsa_generate(&search, lengths[i], e, sizeof e, memory, sizeof memory, &numbers,
                         t->scratch, sizeof t->scratch);

    if (status == EVC_OK)
        status = evc_rsa_set_private_in(keys[i], sizeof keys[i], kernel, &numbers, 1024, t->scratch,
                                        sizeof t->scratch);
    for (size_t j = 0; j < N_INPUTS && status == EVC_OK; j++) {
        must(fill(t, in[i][j], MOST_BYTES) ? EVC_ERR_RANDOM : EVC_OK);
        in[i][j][0] = 0; /* below n */
        status = evc_rsa_private(key_at(i), in[i][j], expected[i][j], &random, t->scratch,
                                 sizeof t->scratch);
    }
    return status == EVC_OK;
}

/* Count an operation of a batch, and whether it is wrong. pick: its key and its input. */
static void judge(struct thread *t, const struct evc_rsa_operation *o, const uint8_t pick[2],
                  int is_refused)
{
    const size_t n_bytes = lengths[pick[0]] / 8;
    int good;

    if (pick[0] == N_KEYS - 1)
        good = o->status == EVC_ERR_KERNEL && all_are(o->out, 0xa5, n_bytes);
    else if (is_refused)
        good = o->status == EVC_ERR_RANGE && all_are(o->out, 0, n_bytes);
    else if (o->status == EVC_ERR_RANDOM)
        good = t->calls_left == 0 && all_are(o->out, 0, n_bytes);
    else
        good = o->status == EVC_OK && same(o->out, expected[pick[0]][pick[1]], n_bytes);
    t->n_wrong += !good;
    t->n_good += o->status == EVC_OK;
    t->n_failed += o->status == EVC_ERR_RANDOM;
}

static void one_batch(struct thread *t)
{
    static const uint8_t zeros[MOST_BYTES];
    const struct evc_random random = {fill, t};
    struct evc_rsa_operation o[8];
    uint8_t out[8][MOST_BYTES], pick[8][2];
    const size_t n = 1 + next(t) % 8, refused = next(t) % 8;

    memset(out, 0xa5, sizeof out);
    for (size_t i = 0; i < n; i++) {
        pick[i][0] = (uint8_t)(next(t) % 16 ? next(t) % (N_KEYS - 1) : N_KEYS - 1);
        pick[i][1] = (uint8_t)(next(t) % N_INPUTS);
        o[i] = (struct evc_rsa_operation){.key = key_at(pick[i][0]), .out = out[i]};
        o[i].in = i == refused ? zeros : in[pick[i][0]][pick[i][1]];
    }
    t->calls_left = t == threads && next(t) % 4 == 0 ? (int)(next(t) % 32) : -1;
    (void)!evc_rsa_private_many(o, n, &random, t->scratch, sizeof t->scratch);
    for (size_t i = 0; i < n; i++)
        judge(t, &o[i], pick[i], i == refused);
}

static void *work(void *argument)
{
    for (int i = 0; i < N_BATCHES; i++)
        one_batch(argument);
    return NULL;
}

static void threads_share_keys(void)
{
    unsigned n_good = 0, n_failed = 0;

    for (size_t i = 0; i < N_THREADS; i++)
        EXPECT(pthread_create(&threads[i].id, NULL, work, &threads[i]) == 0);
    for (size_t i = 0; i < N_THREADS; i++) {
        EXPECT(pthread_join(threads[i].id, NULL) == 0);
        EXPECT(threads[i].n_wrong == 0);
        n_good += threads[i].n_good;
        n_failed += threads[i].n_failed;
    }
    EXPECT(n_good > 2 * N_THREADS * N_BATCHES && n_failed > 0);
}

int main(void)
{
    int made = 1;

    kernel = evc_bn_select_for(evc_cpu_features(), 0, EVC_USE_PARALLEL, 512);
    printf("# %s\n", kernel ? evc_bn_kernel(kernel)->name : "no kernel");
    EXPECT(kernel != NULL);
    for (size_t i = 0; i < N_THREADS; i++) {
        threads[i].state = 0x9e3779b97f4a7c15 * (i + 1);
        threads[i].calls_left = -1;
    }
    for (size_t i = 0; i < N_KEYS - 1 && kernel; i++)
        made &= make_key(&threads[0], i);
    EXPECT(made);
    if (kernel && made)
        RUN(threads_share_keys);
    return tap_done();
}
