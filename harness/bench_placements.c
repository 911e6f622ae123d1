/* SPDX-License-Identifier: MIT */
/* Times messages at the edges of pages, beside pages without access. */
#include "bench.h"

#include <stdlib.h>

#include "counters/counter.h"

#define SAMPLE_CYCLES 20000.0
#define ROUNDS 9
#define MOST_ROUNDS 40 /* where samples were disturbed */
enum { N_PLACES = 4 };

static uint64_t fitting_calls(const struct counter *c, bench_loop *loop, void *work)
{
    double least = SAMPLE_CYCLES;

    for (int i = 0; i < 5; i++) {
        const struct sample s = counter_sample(c, loop, work, 1);
        if (!s.disturbed && s.cycles < least)
            least = s.cycles;
    }
    return (uint64_t)(SAMPLE_CYCLES / (least > 20 ? least : 20)) + 1;
}

struct samples {
    double cycles[MOST_ROUNDS]; /* of a call */
    int n;
};

static void sample_place(const struct counter *c, bench_loop *loop, void *work, uint64_t calls,
                         struct samples *all)
{
    struct sample s;

    loop(work, 2);
    s = counter_sample(c, loop, work, calls);
    if (!s.disturbed)
        all->cycles[all->n++] = s.cycles / (double)calls;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(struct samples *all)
{
    qsort(all->cycles, (size_t)all->n, sizeof all->cycles[0], by_size);
    return all->n ? all->cycles[all->n / 2] : 0;
}

bool bench_placements(const struct counter *c, const struct bench_primitive *primitive, size_t mode,
                      const struct bench_setup *setup, bool fenced, uint64_t expected,
                      struct bench_placed *placed)
{
    static const enum bench_place places[N_PLACES] = {PLACE_INSIDE, PLACE_START, PLACE_INSIDE,
                                                      PLACE_END};
    double *const cycles[N_PLACES] = {&placed->inside_start, &placed->start, &placed->inside_end,
                                      &placed->end};
    bench_loop *loop = primitive->loop(mode, fenced);
    const size_t before_end = (64 - setup->len_bytes % 64) % 64;
    struct samples samples[N_PLACES] = {{{0}, 0}};
    uint64_t calls = 0;
    bool enough = false;

    *placed = (struct bench_placed){.same_result = true};
    for (int round = 0; round < MOST_ROUNDS && !enough; round++) {
        enough = true;
        for (int i = 0; i < N_PLACES; i++) {
            struct bench_setup here = *setup;
            const char *with;
            here.place = places[i];
            here.aligned = i == 2 ? before_end : 0;
            void *work = primitive->prepare(mode, &here, &with);
            if (!work)
                return false;
            if (round == 0) {
                placed->same_result =
                    placed->same_result && primitive->result(mode, work) == expected;
                continue;
            }
            calls = calls ? calls : fitting_calls(c, loop, work);
            sample_place(c, loop, work, calls, &samples[i]);
            enough = enough && samples[i].n >= ROUNDS;
        }
        enough = enough && round > 0;
    }
    for (int i = 0; i < N_PLACES; i++)
        *cycles[i] = median(&samples[i]);
    return true;
}
