/* SPDX-License-Identifier: MIT */
/* Samples: long enough to be exact, short enough to be undisturbed. */
#include "measure.h"

#include <stdlib.h>

#include "emit.h"
#include "fence.h"
#include "port/port.h"

#define SAMPLE_NS 50000.0   /* a sample is about this long: a scheduler's tick rarely falls in */
#define WARM_UP_NS 500000.0 /* for caches, predictors and the clock of vector units */
#define TRIES_PER_SAMPLE 20
#define CROWDED_PER_SAMPLE 2 /* with few others among them, the core is another's for now */
#define FEW(want) ((want) / 8)

static double run_ns(bench_loop *loop, void *work, uint64_t calls)
{
    uint64_t start = port_now_ns();

    loop(work, calls);
    return (double)(port_now_ns() - start);
}

/* So many calls that a sample takes about SAMPLE_NS. */
static uint64_t size_sample(bench_loop *loop, void *work)
{
    uint64_t calls = 1;
    double ns = run_ns(loop, work, 1);

    while (ns < SAMPLE_NS / 8 && calls < UINT64_C(1) << 30) {
        calls *= 2;
        ns = run_ns(loop, work, calls);
    }
    double best = ns;
    for (int i = 0; i < 3 && ns < SAMPLE_NS; i++) {
        ns = run_ns(loop, work, calls);
        best = ns < best ? ns : best;
    }
    double fitting = (double)calls * SAMPLE_NS / (best > 1 ? best : 1);
    return fitting < 1 ? 1 : (uint64_t)fitting;
}

void measure(const struct counter *c, bench_loop *loop, void *work, size_t want, uint64_t budget_ns,
             struct measured *m)
{
    uint64_t start = port_now_ns();

    m->n = 0;
    m->dropped = 0;
    m->calls = size_sample(loop, work);
    for (double ns = 0; ns < WARM_UP_NS && ns < (double)budget_ns / 10;)
        ns += run_ns(loop, work, m->calls);
    size_t crowded = 0;
    for (uint64_t tries = 0; m->n - crowded < want && m->n < MAX_SAMPLES && tries < TRIES_PER_SAMPLE * want; tries++) {
        struct sample s = counter_sample(c, loop, work, m->calls);
        s.crowded = m->crowded && m->crowded();
        if (s.disturbed) {
            m->dropped++;
        } else {
            crowded += s.crowded;
            m->at[m->n++] = s;
        }
        if (crowded >= CROWDED_PER_SAMPLE * want && m->n - crowded <= FEW(want))
            break;
        if (port_now_ns() - start > budget_ns &&
            (m->n > 0 || port_now_ns() - start > 4 * budget_ns))
            break;
    }
}

#if defined(__GNUC__)
__attribute__((noinline))
#endif
static void empty_call(void *work)
{
    *(void *volatile *)work = work;
}

static void fenced_empty_loop(void *work, uint64_t calls)
{
    FENCE();
    for (; calls; calls--) {
        empty_call(work);
        FENCE();
    }
}

static int by_cycles(const void *a, const void *b)
{
    double x = ((const struct sample *)a)->cycles, y = ((const struct sample *)b)->cycles;

    return (x > y) - (x < y);
}

double fence_cycles(const struct counter *c)
{
    static double known = -1;
    static struct measured m;
    void *word;

    if (known < 0) {
        measure(c, fenced_empty_loop, &word, 31, 20000000, &m);
        qsort(m.at, m.n, sizeof m.at[0], by_cycles);
        known = m.n ? m.at[m.n / 2].cycles / (double)m.calls : 0;
    }
    return known;
}

static void emit_samples(const char *name, const struct measured *m, bool cycles)
{
    emit_list_begin(name);
    for (size_t i = 0; i < m->n; i++)
        emit_real(NULL, (cycles ? m->at[i].cycles : m->at[i].ns) / (double)m->calls);
    emit_list_end();
}

void emit_measured(const struct measured *m)
{
    emit_samples("cycles", m, true);
    emit_samples("ns", m, false);
    emit_unsigned("calls_per_sample", m->calls);
    emit_unsigned("dropped", m->dropped);
}
