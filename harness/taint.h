/* SPDX-License-Identifier: MIT */
/*
 * The taint checker, valgrind's memcheck, seen from inside: a branch or an address made from a
 * secret is an error that it counts. Only a harness built with -DEVC_TAINT can ask it
 * (src/common/ct.h has the marks).
 */
#ifndef HARNESS_TAINT_H
#define HARNESS_TAINT_H

#include <stdbool.h>

#include "common/ct.h"

#if defined(EVC_TAINT)
#define taint_watches() (RUNNING_ON_VALGRIND != 0)
#define taint_errors() ((unsigned)VALGRIND_COUNT_ERRORS)
/* A line between the errors of memcheck's own report. */
#define taint_say(...) ((void)VALGRIND_PRINTF(__VA_ARGS__))
#else
#define taint_watches() false
#define taint_errors() (unsigned)0
#define taint_say(...) ((void)0)
#endif

/* A branch on a secret byte is noticed. If not, no count of errors means anything. */
static inline bool taint_works(void)
{
    static volatile int branches;
    volatile uint8_t secret = 1;
    unsigned before = taint_errors();

    evc_secret((void *)(uintptr_t)&secret, sizeof secret);
    if (secret) /* the volatile access inside keeps it a branch */
        branches = branches + 1;
    return taint_errors() != before;
}

#endif
