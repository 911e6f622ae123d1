/* SPDX-License-Identifier: MIT */
/* The choice of a counter, and one sample with it. */
#include "counter.h"

#include <stddef.h>
#include <string.h>

#include "../options.h"
#include "../port/port.h"

static const struct counter *const counters[] = {&counter_perf, &counter_tsc, &counter_clock};
#define N_COUNTERS (sizeof counters / sizeof counters[0])

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

/* Ticks between two readings with nothing in between: in every interval, and in none of the work. */
static uint64_t empty_ticks(const struct counter *c)
{
    static const struct counter *known;
    static uint64_t least;

    if (c != known) {
        least = UINT64_MAX;
        for (int i = 0; i < 2000; i++) {
            uint64_t start = c->now(), ticks = c->now() - start;
            least = ticks < least ? ticks : least;
        }
        known = c;
    }
    return least;
}

static double ticks_since(const struct counter *c, uint64_t start)
{
    uint64_t ticks = c->now() - start, empty = empty_ticks(c);

    return ticks > empty ? (double)(ticks - empty) : 0;
}

static double chain_ticks(const struct counter *c)
{
    uint64_t start = c->now();

    add_chain(c->chain_links);
    return ticks_since(c, start);
}

struct sample counter_sample(const struct counter *c, void (*run)(void *, uint64_t), void *arg,
                             uint64_t calls)
{
    struct sample s;
    uint64_t preempted = port_preemptions();
    double before = chain_ticks(c);
    uint64_t start_ns = port_now_ns(), start = c->now();

    run(arg, calls);

    double ticks = ticks_since(c, start);
    s.ns = (double)(port_now_ns() - start_ns);
    double after = chain_ticks(c), less = before < after ? before : after,
           more = before < after ? after : before;
    s.cycles = c->counts_cycles ? ticks : ticks * 2 * c->chain_links / (before + after);
    s.disturbed = more > less * 1.01 || port_preemptions() != preempted || s.cycles <= 0;
    return s;
}
