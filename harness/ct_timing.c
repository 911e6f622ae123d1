/* SPDX-License-Identifier: MIT */
/*
 * Is a call slower with some secrets than with others? Two classes of calls in random order, one
 * with secrets that are always the same, one with fresh ones (Reparaz, Balasch, Verbauwhede 2017,
 * "Dude, is my code constant time?"). What is emitted are the moments of their times, from which
 * the lab computes Welch's t: of all calls, and of those below some percentiles, since the slowest
 * calls are those that were disturbed.
 */
#include "ct.h"

#include <stdlib.h>
#include <string.h>

#include "counters/counter.h"
#include "emit.h"
#include "random.h"

enum { FIXED, FRESH, N_CLASSES };

struct timed {
    double ticks;
    int class;
};

static int by_ticks(const void *a, const void *b)
{
    double x = ((const struct timed *)a)->ticks, y = ((const struct timed *)b)->ticks;

    return (x > y) - (x < y);
}

/* Mean and sum of squared distances from it, updated value by value (Welford 1962). */
struct moments {
    double n, mean, squares;
};

static void add(struct moments *m, double x)
{
    double before = x - m->mean;

    m->n++;
    m->mean += before / m->n;
    m->squares += before * (x - m->mean);
}

/* Emits the n fastest of the timed calls. */
static void emit_crop(const struct timed *timed, double kept, size_t n)
{
    struct moments m[N_CLASSES] = {{0, 0, 0}, {0, 0, 0}};

    for (size_t i = 0; i < n; i++)
        add(&m[timed[i].class], timed[i].ticks);
    emit_object_begin(NULL);
    emit_real("kept", kept);
    emit_list_begin("samples");
    for (int i = 0; i < N_CLASSES; i++)
        emit_unsigned(NULL, (uint64_t)m[i].n);
    emit_list_end();
    emit_list_begin("mean");
    for (int i = 0; i < N_CLASSES; i++)
        emit_real(NULL, m[i].mean);
    emit_list_end();
    emit_list_begin("variance");
    for (int i = 0; i < N_CLASSES; i++)
        emit_real(NULL, m[i].n > 1 ? m[i].squares / (m[i].n - 1) : 0);
    emit_list_end();
    emit_object_end();
}

/* The first n bytes of secrets of that class. Those of both are read, so that what is in the caches
 * when the clock starts does not tell them apart. */
static void choose(struct ct_secrets *to, const struct ct_secrets from[N_CLASSES], int class,
                   size_t n)
{
    const uint8_t *fixed = (const uint8_t *)&from[FIXED], *fresh = (const uint8_t *)&from[FRESH];
    const uint8_t mask = (uint8_t)(class == FRESH ? 0xff : 0);
    uint8_t *bytes = (uint8_t *)to;

    for (size_t i = 0; i < n; i++)
        bytes[i] = fixed[i] ^ (mask & (fixed[i] ^ fresh[i]));
}

static double time_one(const struct ct_operation *o, struct ct_call *c,
                       const struct counter *counter)
{
    uint64_t start;

    memcpy(c->iv, c->secret.iv, 16);
    if (o->prepare)
        o->prepare(c);
    memcpy(c->iv, c->secret.iv, 16);
    start = counter->now();
    o->run(c);
    return (double)(counter->now() - start);
}

void ct_time(const struct ct_operation *o, struct ct_call *c, uint64_t seed, size_t samples,
             const struct counter *counter)
{
    static const double kept[] = {1, 0.99, 0.9, 0.75, 0.5, 0.25};
    static struct ct_secrets secrets[N_CLASSES];
    const size_t used = offsetof(struct ct_secrets, in) + c->len_bytes;
    struct timed *timed = malloc(samples * sizeof *timed);
    struct random r = {seed};

    if (!timed) {
        emit_text("why", "no memory for the samples");
        return;
    }
    random_bytes(&r, (uint8_t *)&secrets[FIXED], used);
    for (size_t i = 0; i < samples; i++) {
        timed[i].class = (int)random_below(&r, N_CLASSES);
        random_bytes(&r, (uint8_t *)&secrets[FRESH], used);
        choose(&c->secret, secrets, timed[i].class, used);
        timed[i].ticks = time_one(o, c, counter);
    }
    qsort(timed, samples, sizeof *timed, by_ticks);
    emit_list_begin("crops");
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        emit_crop(timed, kept[i], (size_t)(kept[i] * (double)samples));
    emit_list_end();
    free(timed);
}
