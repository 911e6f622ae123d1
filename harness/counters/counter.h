/* SPDX-License-Identifier: MIT */
/*
 * Core cycles. A counter ticks; what a tick is worth is learnt from a chain of dependent additions,
 * one core cycle each, that is timed before and after every sample. Only counters of cycles need no
 * such rate, but they too are held against the chain.
 */
#ifndef HARNESS_COUNTER_H
#define HARNESS_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

struct counter {
    const char *name;
    bool (*open)(void);    /* false: not to be had here */
    uint64_t (*now)(void); /* all work before it is done, no work after it has begun */
    uint32_t chain_links;  /* long enough that the counter's step is below 0.3 % of it */
    bool counts_cycles;    /* a tick is a core cycle */
};

extern const struct counter counter_core;   /* the core's cycle counter, read in
                                             * firmware: aperf or pmccntr */
extern const struct counter counter_perf;   /* Linux perf_event: hardware cycles of user code */
extern const struct counter counter_tsc;    /* x86 time-stamp counter */
extern const struct counter counter_cntvct; /* the generic timer of Arm */
extern const struct counter counter_clock;  /* the system's clock */

/* The best one that works here, or the one of that name ("none": NULL); NULL where there is none.
 * An unknown name, or one that does not work here, is bad usage: exit 2. */
const struct counter *counter_choose(const char *name);
const char *counter_name(const struct counter *);

/* n_links dependent additions of registers, n_links a multiple of 100. Register and register: newer
 * cores remove additions of constants before they execute. False where the architecture has no
 * known chain. */
bool add_chain(uint32_t n_links);

/* Whether a counter of cycles says of the chain what that takes: its links, and a little for its
 * loop and the readings. Where there is no chain: whether it counts. */
bool counts_believably(uint64_t (*now)(void));

/* Independent additions in a cycle, now; 0 where that is not known. */
double add_width(const struct counter *);

/* One timed run of something. */
struct sample {
    double cycles, ns;
    bool disturbed; /* the rate changed by more than 1 % around it, or another program ran */
    bool crowded;   /* something else used the core meanwhile, as far as that was asked */
    float width;    /* additions in a cycle beside it, as far as that was asked */
};

/* Time run(arg, calls); cycles and ns are of all calls together. */
struct sample counter_sample(const struct counter *, void (*run)(void *, uint64_t), void *arg,
                             uint64_t calls);

#endif
