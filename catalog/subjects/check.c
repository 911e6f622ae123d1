/* SPDX-License-Identifier: MIT */
/* check FUNCTION KEY_BITS BYTES...: one call for each length, each compared, each between
 * the marks of a tracer. */
#include <stdio.h>
#include <stdlib.h>

#include "verbs.h"

SUBJECT_GLUE static void run_marked(struct call *call)
{
    region_begin();
    call_run(call);
    region_end();
}

enum answer { RIGHT, WRONG, WRONG_VECTOR };

static enum answer answer_of(const struct function *function, unsigned key_bits, size_t n_bytes)
{
    static struct call call;

    call_prepare(&call, function, key_bits, n_bytes);
    run_marked(&call);
    const char *wrong = call_wrong(&call);
    if (wrong)
        printf("%s: %s\n", call_title(&call), wrong);
    call_free(&call);
    return !wrong ? RIGHT : call.wrong_vector ? WRONG_VECTOR : WRONG;
}

int verb_check(const struct function *function, int n_words, char **words)
{
    enum answer worst = RIGHT;

    /* the vectors are the same at each length */
    for (int i = 1; i < n_words && worst != WRONG_VECTOR; i++) {
        const enum answer answer =
            answer_of(function, (unsigned)atoi(words[0]), (size_t)atol(words[i]));
        worst = answer > worst ? answer : worst;
    }
    return worst == RIGHT ? 0 : 1;
}
