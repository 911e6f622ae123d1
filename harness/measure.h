/* SPDX-License-Identifier: MIT */
/* How a loop over calls is timed: samples of a fitting length, with the disturbed ones dropped. */
#ifndef HARNESS_MEASURE_H
#define HARNESS_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/counter.h"

#define MAX_SAMPLES 10000

/* PBKDF2 has so many. All else of a call costs less than 2 % beside them, and 4 % with lanes; with
 * more, calls of slow kernels take longer than a shared core is quiet. */
#define BENCH_ITERATIONS 128

/* calls calls on independent messages, back to back or with a fence after each. */
typedef void bench_loop(void *work, uint64_t calls);

struct measured {
    struct sample at[MAX_SAMPLES];
    size_t n;
    uint64_t calls, dropped;
    float width;  /* additions that the core did in a cycle beside them; 0: not known */
    bool crowded; /* something else used the core too: quiet.h */
};

/* No samples, of nothing. */
void measure_nothing(struct measured *);

/* want samples of loop(work, calls), m->calls fitted; fewer where budget_ns runs out first, or
 * nearly all are crowded. Crowded ones are left out if at least 21 others are there; of fewer than
 * 21, none may be crowded. Else it waits until the core is quiet, and takes others for them. A
 * process waits no longer than it has measured before. */
void measure(const struct counter *, bench_loop *loop, void *work, size_t want, uint64_t budget_ns,
             struct measured *m);

/* From now on it may wait for 100 ms more: for who measures little. */
void measure_patiently(void);

/* The median cycles of an empty call with its fence; measured once, or until the core is quiet. */
double fence_cycles(const struct counter *);

/* The members of a line: cycles and ns per call, calls_per_sample, dropped,
 * and those of emit_quiet. */
void emit_measured(const struct measured *);

/* width in thousandths, if it is known; crowded, if it is true. */
void emit_quiet(float width, bool crowded);

#endif
