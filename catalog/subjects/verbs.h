/* SPDX-License-Identifier: MIT */
/* The verbs of the driver: a verb is a file of its own, with one function. */
#ifndef SUBJECT_VERBS_H
#define SUBJECT_VERBS_H

#include "job.h"

/* words: those after the verb and the function. Returns the exit code of the program: 0, 1 (an
 * answer is wrong) or 2. */
typedef int verb(const struct function *function, int n_words, char **words);

#define VERBS \
    VERB(check, "KEY_BITS BYTES...") \
    VERB(sweep, "KEY_BITS MULTIPLE_OF FEWEST MOST BUDGET_MS LIMIT_S") \
    VERB(ct, "KEY_BITS SECRET,SECRET... BYTES...") \
    VERB(bench, "KEY_BITS BYTES SAMPLES BUDGET_MS CPU WIDTH")

#define VERB(name, words) verb verb_##name;
VERBS
#undef VERB

#endif
