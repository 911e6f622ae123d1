/* SPDX-License-Identifier: MIT */
/* The choice of a counter, and one sample with it. */
#include "counter.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../options.h"
#include "../port/port.h"

static const struct counter *const counters[] = {&counter_core, &counter_perf, &counter_tsc,
                                                 &counter_cntvct, &counter_clock};
#define N_COUNTERS (sizeof counters / sizeof counters[0])

bool counts_believably(uint64_t (*now)(void))
{
    const uint32_t links = 100000;
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < 10; i++) {
        uint64_t start = now();
        if (!add_chain(links)) {
            for (volatile uint32_t n = 0; n < links; n++)
                ;
            return now() - start > links;
        }
        uint64_t count = now() - start;
        best = count < best ? count : best;
    }
    return best > links - links / 100 && best < links + links / 20;
}

static bool works(const struct counter *c)
{
    return (c->counts_cycles || add_chain(100)) && c->open();
}

const struct counter *counter_choose(const char *name)
{
    const char *names[N_COUNTERS + 1];

    if (!name) {
        for (size_t i = 0; i < N_COUNTERS && !port_emulated(); i++)
            if (works(counters[i]))
                return counters[i];
        return NULL;
    }
    for (size_t i = 0; i < N_COUNTERS; i++)
        names[i] = counters[i]->name;
    names[N_COUNTERS] = "none";
    size_t at = known_word("counter", name, names, N_COUNTERS + 1);
    if (at == N_COUNTERS)
        return NULL;
    if (!works(counters[at]))
        usage_error("counter '%s' does not work here", name);
    return counters[at];
}

const char *counter_name(const struct counter *c)
{
    return c ? c->name : "none";
}

static double ticks_of_chain(const struct counter *c, uint32_t n_links)
{
    uint64_t start = c->now();

    add_chain(n_links);
    return (double)(c->now() - start);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

#define N_TRIES 501

/* The mean of the middle half: steady against interrupts, finer than the step of the counter. */
static double typical_ticks(const struct counter *c, uint32_t n_links)
{
    double ticks[N_TRIES], sum = 0;

    for (int i = 0; i < N_TRIES; i++)
        ticks[i] = ticks_of_chain(c, n_links);
    qsort(ticks, N_TRIES, sizeof ticks[0], by_value);
    for (int i = N_TRIES / 4; i < N_TRIES * 3 / 4; i++)
        sum += ticks[i];
    return sum / (N_TRIES * 3 / 4 - N_TRIES / 4);
}

/* Ticks of every interval that are not of its work: the readings themselves, and of a chain the end
 * of its loop. */
struct overhead {
    double reading, chain;
};

static const struct overhead *overhead_of(const struct counter *c)
{
    static struct overhead known;
    static const struct counter *known_for;

    if (c != known_for) {
        const uint32_t few = c->chain_links / 20, many = few * 3;
        double slope = (typical_ticks(c, many) - typical_ticks(c, few)) / (many - few);
        known.reading = typical_ticks(c, 0);
        known.chain = typical_ticks(c, few) - slope * few;
        known_for = c;
    }
    return &known;
}

static double chain_ticks(const struct counter *c)
{
    return ticks_of_chain(c, c->chain_links) - overhead_of(c)->chain;
}

struct sample counter_sample(const struct counter *c, void (*run)(void *, uint64_t), void *arg,
                             uint64_t calls)
{
    struct sample s;
    uint64_t preempted = port_preemptions();
    double before = chain_ticks(c);
    uint64_t start_ns = port_now_ns(), start = c->now();

    run(arg, calls);

    double ticks = (double)(c->now() - start) - overhead_of(c)->reading;
    s.ns = (double)(port_now_ns() - start_ns);
    double after = chain_ticks(c), less = before < after ? before : after,
           more = before < after ? after : before;
    s.cycles = c->counts_cycles ? ticks : ticks * 2 * c->chain_links / (before + after);
    s.crowded = false;
    s.width = 0;
    s.disturbed = more > less * 1.01 || port_preemptions() != preempted || s.cycles <= 0;
    return s;
}
