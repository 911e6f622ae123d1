/* SPDX-License-Identifier: MIT */
/*
 * bench FUNCTION KEY_BITS BYTES SAMPLES BUDGET_MS CPU WIDTH: core cycles of a call, a line of JSON.
 *
 * The first call's answer is compared; of a function that is wrong there is no time. CPU -1:
 * the one where this starts.
 *
 * WIDTH: thousandths of independent additions that the core did in a cycle when nothing else used
 * it, 0: not known (harness/quiet.h).
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../harness/emit.h"
#include "../../harness/measure.h"
#include "../../harness/port/port.h"
#include "../../harness/quiet.h"
#include "fnv1a.h"
#include "verbs.h"

extern unsigned long sanitizer_hits; /* so far: sanitizer.c */

static void run_calls(void *work, uint64_t calls)
{
    for (; calls; calls--)
        call_run(work);
}

int verb_bench(const struct function *function, int n_words, char **words)
{
    static struct call call;
    static struct measured measured;
    char digest[17];

    if (n_words != 6 || !port_pin(atoi(words[4]))) {
        fprintf(stderr, n_words != 6 ? "bench takes six words\n" : "cannot run on CPU %s\n",
                words[4]);
        return 2;
    }
    call_prepare(&call, function, (unsigned)atoi(words[0]), (size_t)atol(words[1]));
    unsigned long before = sanitizer_hits;
    call_run(&call);
    unsigned long in_one_call = sanitizer_hits - before;
    uint64_t output = fnv1a(call.out, call.n_out, FNV1A_BEGIN);
    output = fnv1a(call.tag, sizeof call.tag, output);
    const char *wrong = call_wrong(&call);
    if (wrong) {
        printf("%s: %s\n", function->name, wrong);
        return 1;
    }
    const struct counter *counter = counter_choose(NULL);
    quiet_expect((uint64_t)atol(words[5]));
    if (counter)
        measure(counter, run_calls, &call, (size_t)atol(words[2]),
                (uint64_t)atol(words[3]) * 1000000, &measured);
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)output);
    emit_begin("bench");
    emit_text("counter", counter_name(counter));
    emit_unsigned("sanitizer_hits", in_one_call);
    emit_text("output", digest);
    if (counter)
        emit_measured(&measured);
    emit_end();
    call_free(&call);
    return 0;
}
