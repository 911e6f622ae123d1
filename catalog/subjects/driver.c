/* SPDX-License-Identifier: MIT */
/*
 * subject VERB FUNCTION WORDS...
 *
 * Calls a function of a subject, in the ways of verbs.h. Exit codes: 0, 1 where an answer
 * is wrong, 2 where the words are, 3 where this CPU cannot run the function, 4 where a
 * call of a sweep never ends.
 */
#include <stdio.h>
#include <string.h>

#include "verbs.h"

#define VERB(name, words) {#name, words, verb_##name},
static const struct {
    const char *name, *words;
    verb *run;
} verbs[] = {VERBS};

int main(int argc, char **argv)
{
    const struct function *function = argc > 3 ? find_function(argv[2]) : NULL;

    for (size_t i = 0; function && i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(argv[1], verbs[i].name) == 0)
            return verbs[i].run(function, argc - 3, argv + 3);
    }
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        fprintf(stderr, "usage: subject %s FUNCTION %s\n", verbs[i].name, verbs[i].words);
    return 2;
}
