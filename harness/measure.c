/* SPDX-License-Identifier: MIT */
/* Samples: long enough to be exact, short enough to be undisturbed. Something else on
 * the core is waited for. */
#include "measure.h"

#include <stdlib.h>

#include "emit.h"
#include "fence.h"
#include "port/port.h"
#include "quiet.h"

#define SAMPLE_NS 50000.0   /* a sample is about this long: a scheduler's tick rarely falls in */
#define WARM_UP_NS 500000.0 /* for caches, predictors and the clock of vector units */
#define AGAIN_NS 100000.0   /* the same after a wait, which is for a moment that may be short */
#define TRIES_PER_SAMPLE 20
#define CROWDED_PER_SAMPLE 2 /* with few others among them, the core is another's for now */
#define FEW(want) ((want) / 8)
#define ENOUGH 21 /* samples that are not crowded: the others are left out */

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

void measure_nothing(struct measured *m)
{
    m->n = 0;
    m->calls = m->dropped = 0;
    m->width = 0;
    m->crowded = false;
}

/* One measurement to be made. */
struct task {
    const struct counter *counter;
    bench_loop *loop;
    void *work;
    size_t want;
    uint64_t budget_ns;
};

static size_t count_quiet(const struct measured *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n; i++)
        n += !m->at[i].crowded;
    return n;
}

/* More samples, until want of all are not crowded; fewer where the budget, which began at start_ns,
 * runs out first, or nearly all of these are crowded. */
static void take_samples(const struct task *t, uint64_t start_ns, double warm_up_ns,
                         struct measured *m)
{
    const size_t before = count_quiet(m), want = t->want;
    size_t quiet = before, crowded = 0;

    for (double ns = 0; ns < warm_up_ns && ns < (double)t->budget_ns / 10;)
        ns += run_ns(t->loop, t->work, m->calls);
    quiet_begin(t->counter);
    for (uint64_t tries = 0; quiet < want && m->n < MAX_SAMPLES && tries < TRIES_PER_SAMPLE * want;
         tries++) {
        struct sample s = counter_sample(t->counter, t->loop, t->work, m->calls);
        s.crowded = quiet_is_crowded(t->counter, &s.width);
        if (s.disturbed) {
            m->dropped++;
        } else {
            crowded += s.crowded;
            quiet += !s.crowded;
            m->at[m->n++] = s;
        }
        if (crowded >= CROWDED_PER_SAMPLE * want && quiet - before <= FEW(want))
            break;
        uint64_t ns = port_now_ns() - start_ns;
        if (ns > t->budget_ns && (m->n > 0 || ns > 4 * t->budget_ns))
            break;
    }
}

/* As many as were wanted are enough, and so are all, where there are fewer than ENOUGH. */
static bool has_enough_quiet(const struct measured *m, size_t want)
{
    size_t least = m->n < ENOUGH ? m->n : ENOUGH;

    return count_quiet(m) >= (want < least ? want : least);
}

/* Drops crowded ones among the samples before `first`. */
static void drop_crowded(struct measured *m, size_t first)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n; i++) {
        if (i >= first || !m->at[i].crowded)
            m->at[n++] = m->at[i];
    }
    m->n = n;
}

static float typical_width(const struct measured *m)
{
    static float widths[MAX_SAMPLES];

    for (size_t i = 0; i < m->n; i++)
        widths[i] = m->at[i].width;
    return quiet_typical(widths, m->n);
}

/* Samples may have been taken before one that told what the core does on its own. */
static void judge_again(struct measured *m)
{
    quiet_know(typical_width(m));
    for (size_t i = 0; i < m->n; i++)
        m->at[i].crowded = m->at[i].crowded || quiet_is_narrow(m->at[i].width);
}

static uint64_t may_wait_ns; /* all that this process has measured, and more */

void measure_patiently(void)
{
    may_wait_ns += 100000000;
}

void measure(const struct counter *c, bench_loop *loop, void *work, size_t want, uint64_t budget_ns,
             struct measured *m)
{
    static uint64_t waited_ns; /* by this process */
    const struct task task = {c, loop, work, want, budget_ns};

    quiet_survey(c);
    uint64_t start = port_now_ns();
    measure_nothing(m);
    m->calls = size_sample(loop, work);
    take_samples(&task, start, WARM_UP_NS, m);
    judge_again(m);
    uint64_t took = port_now_ns() - start;
    while (!has_enough_quiet(m, want) && waited_ns < may_wait_ns) {
        start = port_now_ns();
        bool quiet = quiet_wait(c, may_wait_ns - waited_ns);
        size_t before = m->n;
        if (quiet)
            take_samples(&task, port_now_ns(), AGAIN_NS, m);
        if (m->n > before)
            drop_crowded(m, before);
        judge_again(m);
        waited_ns += port_now_ns() - start;
        if (!quiet)
            break;
    }
    may_wait_ns += took;
    m->crowded = !has_enough_quiet(m, want);
    if (!m->crowded)
        drop_crowded(m, m->n);
    m->width = typical_width(m);
    quiet_learn(m->width);
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
    static double known;
    static struct measured m;
    void *word;

    if (!m.n || m.crowded) {
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
    emit_quiet(m->width, m->crowded);
}

void emit_quiet(float width, bool crowded)
{
    if (width > 0)
        emit_unsigned("width", (uint64_t)(1000 * width));
    if (crowded)
        emit_bool("crowded", true);
}
