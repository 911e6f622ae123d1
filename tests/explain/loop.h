/* SPDX-License-Identifier: MIT */
/*
 * A loop that runs for some seconds of CPU time, for programs that are sampled.
 */
#ifndef LOOP_H
#define LOOP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static unsigned char key[32], nonce[24], text[16384 + 64], tag[64];

static int more(void)
{
    static const char *seconds;
    if (!seconds && !(seconds = getenv("SECONDS_OF_CPU")))
        seconds = "1";
    return clock() < (clock_t)(atof(seconds) * CLOCKS_PER_SEC);
}

/* Repeats a statement; prints how often it ran. */
#define REPEAT(statement)                                                                                              \
    do {                                                                                                               \
        long n_;                                                                                                       \
        for (n_ = 0; more(); n_++) {                                                                                   \
            statement;                                                                                                 \
        }                                                                                                              \
        printf("%ld\n", n_);                                                                                           \
    } while (0)

#endif
