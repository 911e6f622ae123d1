/* SPDX-License-Identifier: MIT */
/*
 * Command lines: long options whose values may be comma lists and may be repeated. Bad usage is one
 * line on stderr that names the bad word and the nearest valid ones, and exit code 2.
 */
#ifndef HARNESS_OPTIONS_H
#define HARNESS_OPTIONS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/port.h"

/* Words collected from one option; n 0: not given. */
struct words {
    const char *at[256];
    size_t n;
};

enum option_kind {
    OPTION_FLAG,  /* bool: no value */
    OPTION_WORDS, /* struct words: comma list, may be repeated */
    OPTION_TEXT,  /* const char *: one value */
    OPTION_NUMBER /* uint64_t: decimal, or hexadecimal after 0x */
};

struct option {
    const char *name; /* "--kernel" */
    enum option_kind kind;
    void *to;
};

/* Reads argv[0 .. argc - 1] into the options' places; n of them. The strings of argv are cut at
 * commas. */
void options_read(int argc, char **argv, const struct option *options, size_t n);

uint64_t option_number(const char *what, const char *text);

/* Bad usage: "<what>"; exit 2. */
_Noreturn void usage_error(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(PORT_PRINTF, 1, 2)))
#endif
    ;

/* Bad usage: unknown <what> '<word>', nearest of valid[0 .. n - 1]; exit 2. */
_Noreturn void unknown_word(const char *what, const char *word, const char *const *valid, size_t n);

/* The index of word among valid[0 .. n - 1]; unknown: exit 2. */
size_t known_word(const char *what, const char *word, const char *const *valid, size_t n);

#endif
