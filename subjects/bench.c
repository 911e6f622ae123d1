/* SPDX-License-Identifier: MIT */
/*
 * bench FUNCTION KEY_BITS BYTES SAMPLES BUDGET_MS CPU WIDTH: core cycles of a call, a line of JSON.
 *
 * The first call's answer is compared; of a function that is wrong there is no time. CPU -1: the one where this starts.
 *
 * WIDTH: thousandths of independent additions that the core did in a cycle when nothing else used it, 0: not known. Samples
 * beside which it did fewer are left out, if enough others are there; if not, the line says "crowded".
 */
#include <stdio.h>
#include <stdlib.h>

#include "../harness/emit.h"
#include "../harness/measure.h"
#include "../harness/port/port.h"
#include "verbs.h"

extern unsigned long sanitizer_hits; /* so far: sanitizer.c */

static void run_calls(void *work, uint64_t calls)
{
    for (; calls; calls--)
        call_run(work);
}

static uint64_t fnv1a(const uint8_t *bytes, size_t n_bytes, uint64_t hash) /* of Fowler, Noll and Vo */
{
    for (size_t i = 0; i < n_bytes; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#define ENOUGH 21 /* samples */
#define FIRST_LOOKS 15
#define TOLERATED 0.95 /* of the width of a core of one's own */

static const struct counter *counter;
static double own_width; /* the widest that is known */
static double widths[MAX_SAMPLES];
static size_t n_widths;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static bool is_crowded(void)
{
    static bool was_narrow;
    double width = add_width(counter);
    bool narrow = width < TOLERATED * own_width, crowded = narrow || was_narrow;

    if (n_widths < MAX_SAMPLES)
        widths[n_widths++] = width;
    was_narrow = narrow;
    return crowded;
}

/* The middle of the upper half: neither an interrupted look nor a crowded one. */
static double typical_width(void)
{
    qsort(widths, n_widths, sizeof widths[0], by_value);
    return n_widths ? widths[n_widths * 3 / 4] : 0;
}

static void look_around(double known_width)
{
    for (int i = 0; i < FIRST_LOOKS; i++)
        widths[n_widths++] = add_width(counter);
    double here = typical_width();
    own_width = here > known_width ? here : known_width;
    n_widths = 0;
}

/* Leaves out the crowded samples. False: there are too few others, and all stay. */
static bool keep_quiet(struct measured *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n; i++)
        n += !m->at[i].crowded;
    if (n < (m->n < ENOUGH ? m->n : ENOUGH))
        return false;
    n = 0;
    for (size_t i = 0; i < m->n; i++) {
        if (!m->at[i].crowded)
            m->at[n++] = m->at[i];
    }
    m->n = n;
    return true;
}

int verb_bench(const struct function *function, int n_words, char **words)
{
    static struct call call;
    static struct measured measured;
    char digest[17];

    if (n_words != 6 || !port_pin(atoi(words[4]))) {
        fprintf(stderr, n_words != 6 ? "bench takes six words\n" : "cannot run on CPU %s\n", words[4]);
        return 2;
    }
    call_prepare(&call, function, (unsigned)atoi(words[0]), (size_t)atol(words[1]));
    unsigned long before = sanitizer_hits;
    call_run(&call);
    unsigned long in_one_call = sanitizer_hits - before;
    uint64_t output = fnv1a(call.out, call.n_out, UINT64_C(0xcbf29ce484222325));
    output = fnv1a(call.tag, sizeof call.tag, output);
    const char *wrong = call_wrong(&call);
    if (wrong) {
        printf("%s: %s\n", function->name, wrong);
        return 1;
    }
    counter = counter_choose(NULL);
    bool quiet = true;
    if (counter) {
        look_around(atof(words[5]) / 1000);
        measured.crowded = own_width > 0 ? is_crowded : NULL;
        measure(counter, run_calls, &call, (size_t)atol(words[2]), (uint64_t)atol(words[3]) * 1000000, &measured);
        quiet = keep_quiet(&measured);
    }
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)output);
    emit_begin("bench");
    emit_text("counter", counter_name(counter));
    emit_unsigned("sanitizer_hits", in_one_call);
    emit_text("output", digest);
    if (counter) {
        emit_unsigned("width", (uint64_t)(1000 * typical_width()));
        emit_bool("crowded", !quiet);
        emit_measured(&measured);
    }
    emit_end();
    call_free(&call);
    return 0;
}
