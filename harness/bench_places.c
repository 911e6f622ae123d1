/* SPDX-License-Identifier: MIT */
/* What a message costs at the edges of pages, beside pages without access. */
#include "bench.h"

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

/* The least cycles of a call so far. */
static void sample_place(const struct counter *c, bench_loop *loop, void *work, uint64_t calls, double *least, int *good)
{
    struct sample s;

    loop(work, 2);
    s = counter_sample(c, loop, work, calls);
    if (s.disturbed)
        return;
    ++*good;
    if (*least == 0 || s.cycles / (double)calls < *least)
        *least = s.cycles / (double)calls;
}

bool bench_places(const struct counter *c, const struct bench_primitive *primitive, size_t mode,
                  const struct bench_setup *setup, bool fenced, uint64_t expected, struct bench_placed *placed)
{
    static const enum bench_place places[N_PLACES] = {PLACE_INSIDE, PLACE_START, PLACE_INSIDE, PLACE_END};
    double *const least[N_PLACES] = {&placed->inside_start, &placed->start, &placed->inside_end, &placed->end};
    bench_loop *loop = primitive->loop(mode, fenced);
    const size_t before_end = (64 - setup->len_bytes % 64) % 64;
    int good[N_PLACES] = {0};
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
                placed->same_result = placed->same_result && primitive->result(mode, work) == expected;
                continue;
            }
            calls = calls ? calls : fitting_calls(c, loop, work);
            sample_place(c, loop, work, calls, least[i], &good[i]);
            enough = enough && good[i] >= ROUNDS;
        }
        enough = enough && round > 0;
    }
    return true;
}
