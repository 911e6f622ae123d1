/* SPDX-License-Identifier: MIT */
/*
 * Answers questions about primes, for prime_against_python.py. A line on stdin; numbers in
 * hexadecimal of whole bytes, "-" for none:
 *
 *     KERNEL public N            is N prime, by evc_prime_test_public?
 *     KERNEL bases N BASES       does N pass strong tests to these bases, one behind the other?
 *     KERNEL secret N SEED       does N pass tests to random bases?
 *     KERNEL find BITS E SEED    a secret prime
 *     KERNEL safe BITS SEED      a safe prime
 *
 * The answer on stdout is "prime", a status in words, or a prime in hexadecimal with the
 * counts of its search: windows, tests, seconds, rounds. Randomness is that of a seed:
 * splitmix64, as in harness/random.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everycore/cpu.h"
#include "everycore/prime.h"

#define MOST_BYTES (64u * 1024)

struct number {
    uint8_t bytes[MOST_BYTES];
    size_t n;
};

static struct number first, second;
static struct evc_prime_progress last;

static int read_number(struct number *to, const char *hex)
{
    to->n = strcmp(hex, "-") ? strlen(hex) / 2 : 0;
    for (size_t i = 0; i < to->n && i < MOST_BYTES; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
            return 0;
        to->bytes[i] = (uint8_t)byte;
    }
    return to->n <= MOST_BYTES;
}

static int fill(void *context, uint8_t *out, size_t n_bytes)
{
    uint64_t *state = context, z = 0;

    for (size_t i = 0; i < n_bytes; i++, z >>= 8) {
        if (i % 8 == 0) {
            z = *state += UINT64_C(0x9e3779b97f4a7c15);
            z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
            z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
            z ^= z >> 31;
        }
        out[i] = (uint8_t)z;
    }
    return 0;
}

static int report(void *context, const struct evc_prime_progress *progress)
{
    (void)context;
    last = *progress;
    return 0;
}

static void print(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%02x", bytes[i]);
    printf(" %u %u %u %u\n", (unsigned)last.sieves, (unsigned)last.tests, (unsigned)last.seconds,
           (unsigned)last.rounds);
}

static void search(const struct evc_bn *kernel, int is_safe, size_t bits, uint64_t seed)
{
    const struct evc_prime_search with = {
        .kernel = kernel,
        .words = evc_bn_words_select(evc_cpu_features(), 0),
        .random = {fill, &seed},
        .report = report,
    };
    const size_t scratch_bytes = is_safe ? evc_prime_safe_scratch_bytes(kernel, bits)
                                         : evc_prime_search_scratch_bytes(kernel, bits);
    uint8_t *scratch = malloc(scratch_bytes ? scratch_bytes : 1), p[EVC_BN_MAX_BYTES];
    enum evc_status status;

    memset(&last, 0, sizeof last);
    if (!scratch) {
        puts("no memory");
        return;
    }
    if (is_safe)
        status = evc_prime_find_safe(&with, bits, p, scratch, scratch_bytes);
    else
        status = evc_prime_find(&with, bits, second.bytes, second.n, p, scratch, scratch_bytes);
    free(scratch);
    if (status == EVC_OK)
        print(p, bits / 8);
    else
        puts(evc_status_text(status));
}

static enum evc_status test(const struct evc_bn *kernel, const char *question, uint64_t seed)
{
    static uint8_t scratch[1u << 20];
    const struct evc_random random = {fill, &seed};

    if (strcmp(question, "public") == 0)
        return evc_prime_test_public(kernel, first.bytes, first.n, scratch, sizeof scratch);
    if (strcmp(question, "bases") == 0)
        return evc_prime_test_bases(kernel, first.bytes, first.n, second.bytes,
                                    first.n ? second.n / first.n : 0, scratch, sizeof scratch);
    return evc_prime_test_secret(kernel, first.bytes, first.n, 20, &random, scratch,
                                 sizeof scratch);
}

int main(void)
{
    static char line[4 * MOST_BYTES + 256], kernel_name[64], question[64],
        words[3][2 * MOST_BYTES + 3];

    while (fgets(line, sizeof line, stdin)) {
        const int n = sscanf(line, "%63s %63s %131074s %131074s %131074s", kernel_name, question,
                             words[0], words[1], words[2]);
        const struct evc_bn *kernel = n >= 3 ? evc_bn_named(kernel_name) : NULL;
        enum evc_status status;

        if (!evc_kernel_runs(evc_bn_kernel(kernel), evc_cpu_features() | EVC_CPU(CT_MUL))) {
            puts("not here");
            fflush(stdout); /* somebody waits for each answer */
            continue;
        }
        if (strcmp(question, "find") == 0 && n == 5 && read_number(&second, words[1])) {
            search(kernel, 0, (size_t)strtoul(words[0], NULL, 10), strtoull(words[2], NULL, 10));
        } else if (strcmp(question, "safe") == 0 && n == 4) {
            search(kernel, 1, (size_t)strtoul(words[0], NULL, 10), strtoull(words[1], NULL, 10));
        } else if (read_number(&first, words[0]) &&
                   read_number(&second, n >= 4 && question[0] == 'b' ? words[1] : "-")) {
            status = test(kernel, question, n >= 4 ? strtoull(words[1], NULL, 10) : 1);
            puts(status == EVC_OK ? "prime" : evc_status_text(status));
        } else {
            fprintf(stderr, "no question: %s", line);
            return 2;
        }
        fflush(stdout);
    }
    return 0;
}
