/* SPDX-License-Identifier: MIT */
/* How a loop over calls is timed: samples of a fitting length, with the disturbed ones dropped. */
#ifndef HARNESS_MEASURE_H
#define HARNESS_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/counter.h"

#define MAX_SAMPLES 10000

/* calls calls on independent messages, back to back or with a fence after each. */
typedef void bench_loop(void *work, uint64_t calls);

struct measured {
    struct sample at[MAX_SAMPLES];
    size_t n;
    uint64_t calls, dropped;
    bool (*crowded)(void); /* NULL, or asked after each sample; of those that are, none is one of those wanted */
};

/* want samples of loop(work, calls), m->calls fitted; fewer where budget_ns runs out first, or nearly all are
 * crowded. */
void measure(const struct counter *, bench_loop *loop, void *work, size_t want, uint64_t budget_ns,
             struct measured *m);

/* The median cycles of an empty call with its fence; measured once. */
double fence_cycles(const struct counter *);

/* The members of a line: cycles and ns per call, calls_per_sample, dropped. */
void emit_measured(const struct measured *);

#endif
