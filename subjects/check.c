/* SPDX-License-Identifier: MIT */
/* check FUNCTION KEY_BITS BYTES...: one call for each length, each compared, each between the marks of a tracer. */
#include <stdio.h>
#include <stdlib.h>

#include "verbs.h"

SUBJECT_GLUE static void run_marked(struct call *call)
{
    region_begin();
    call_run(call);
    region_end();
}

static bool is_right(const struct function *function, unsigned key_bits, size_t n_bytes)
{
    static struct call call;

    call_prepare(&call, function, key_bits, n_bytes);
    run_marked(&call);
    const char *wrong = call_wrong(&call);
    if (wrong)
        printf("%s: %s\n", call_title(&call), wrong);
    call_free(&call);
    return !wrong;
}

int verb_check(const struct function *function, int n_words, char **words)
{
    bool right = true;

    for (int i = 1; i < n_words; i++)
        right &= is_right(function, (unsigned)atoi(words[0]), (size_t)atol(words[i]));
    return right ? 0 : 1;
}
