/* SPDX-License-Identifier: MIT */
/* Command lines, and what is said about bad ones. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "harness"
#define MAX_VALID 256
#define MAX_WORD 48 /* characters that the distance looks at */

_Noreturn void usage_error(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    fputs(PROGRAM ": ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    exit(2);
}

/* Levenshtein's distance over the first MAX_WORD characters. */
static size_t distance(const char *a, const char *b)
{
    size_t row[MAX_WORD + 1], a_len = strlen(a), b_len = strlen(b);

    a_len = a_len < MAX_WORD ? a_len : MAX_WORD;
    b_len = b_len < MAX_WORD ? b_len : MAX_WORD;
    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            size_t shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < shorter ? change : shorter;
        }
    }
    return row[b_len];
}

/* One that begins with the word, or contains it, is nearer than any edit of as many letters. */
static size_t farness(const char *word, const char *valid)
{
    const char *found = *word ? strstr(valid, word) : NULL;

    return found ? (found == valid ? 0 : 1) : 2 * distance(word, valid) + 1;
}

_Noreturn void unknown_word(const char *what, const char *word, const char *const *valid, size_t n)
{
    char line[512];
    bool named[MAX_VALID] = {false};
    size_t used = (size_t)snprintf(line, sizeof line, "unknown %s '%.64s'; nearest:", what, word);

    n = n < MAX_VALID ? n : MAX_VALID;
    for (int i = 0; i < 4 && (size_t)i < n; i++) {
        size_t best = n;
        for (size_t j = 0; j < n; j++)
            if (!named[j] && (best == n || farness(word, valid[j]) < farness(word, valid[best])))
                best = j;
        if (best == n)
            break;
        for (size_t j = 0; j < n; j++) /* kernels of several primitives share a name */
            named[j] = named[j] || strcmp(valid[j], valid[best]) == 0;
        if (used < sizeof line)
            used += (size_t)snprintf(line + used, sizeof line - used, "%s %s", i ? "," : "",
                                     valid[best]);
    }
    usage_error("%s", line);
}

size_t known_word(const char *what, const char *word, const char *const *valid, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(valid[i], word) == 0)
            return i;
    unknown_word(what, word, valid, n);
}

uint64_t option_number(const char *what, const char *text)
{
    char *end;
    unsigned long long value = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);

    if (*text < '0' || *text > '9' || *end)
        usage_error("%s wants a number, not '%.64s'", what, text);
    return value;
}

static void add_words(struct words *words, const char *option, char *value)
{
    if (!*value) /* a list of nothing */
        return;
    for (char *next; value; value = next) {
        next = strchr(value, ',');
        if (next)
            *next++ = 0;
        if (!*value)
            usage_error("%s: an empty word in the list", option);
        if (words->n == sizeof words->at / sizeof words->at[0])
            usage_error("%s: more than %zu words", option, words->n);
        words->at[words->n++] = value;
    }
}

void options_read(int argc, char **argv, const struct option *options, size_t n)
{
    const char *names[32];

    for (size_t i = 0; i < n; i++)
        names[i] = options[i].name;
    for (int i = 0; i < argc; i++) {
        char *value = NULL, *equals = strchr(argv[i], '=');
        if (equals) {
            *equals = 0;
            value = equals + 1;
        }
        const struct option *option = &options[known_word("option", argv[i], names, n)];
        if (option->kind == OPTION_FLAG) {
            if (value)
                usage_error("%s takes no value", option->name);
            *(bool *)option->to = true;
            continue;
        }
        if (!value && i + 1 < argc)
            value = argv[++i];
        if (!value)
            usage_error("%s wants a value", option->name);
        if (option->kind == OPTION_WORDS)
            add_words(option->to, option->name, value);
        else if (option->kind == OPTION_NUMBER)
            *(uint64_t *)option->to = option_number(option->name, value);
        else
            *(const char **)option->to = value;
    }
}
