/* SPDX-License-Identifier: MIT */
/*
 * Whether this process has its core for itself. A thread of another program, or of another virtual
 * machine, may run on the same core (SMT). It takes its share of the additions that the core does
 * in a cycle: counters/width.c. Where that is not known, every core looks quiet.
 */
#ifndef HARNESS_QUIET_H
#define HARNESS_QUIET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/counter.h"

/* Thousandths of additions in a cycle that a core does which nothing else uses, where
 * the caller knows them. */
void quiet_expect(uint64_t width);

/* Many looks, some 30 ms, where nothing is expected; of a process the first call alone does so. */
void quiet_survey(const struct counter *);

/* A measurement begins: some looks tell what the core does now. */
void quiet_begin(const struct counter *);

/* A look beside a sample; *width: additions in a cycle. True: this one or the look before saw
 * something else there. */
bool quiet_is_crowded(const struct counter *, float *width);

/* A typical width of this measurement: the core does so much on its own, or more. */
void quiet_know(float typical);

/* By what is known now. */
bool quiet_is_narrow(float width);

/* The width that an undisturbed look sees; 0: nothing is known. Sorts them. */
float quiet_typical(float *widths, size_t n);

/* A measurement had this typical width. */
void quiet_learn(float width);

/* Looks until nothing else is there, at most for most_ns. False: something still is. */
bool quiet_wait(const struct counter *, uint64_t most_ns);

#endif
