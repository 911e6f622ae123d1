/* SPDX-License-Identifier: MIT
 *
 * Speaks like a harness, and measures nothing: figures of four kernels with some noise, of which
 * "changed" takes FACTOR times as long as it should.
 *
 * The noise of a process follows from how many there were before: the file
 * that COUNTING_HARNESS_RUNS names grows by a byte with each. So a test has
 * the same noise whenever it runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FACTOR
#define FACTOR 1.0
#endif
#ifndef CHANGED
#define CHANGED "changed"
#endif

static unsigned long long state;

static unsigned long long count_run(void)
{
    const char *path = getenv("COUNTING_HARNESS_RUNS");
    FILE *runs = path ? fopen(path, "a") : NULL;
    long n;

    if (!runs) {
        fprintf(stderr, "COUNTING_HARNESS_RUNS names no file\n");
        exit(2);
    }
    fputc('.', runs);
    n = ftell(runs);
    fclose(runs);
    return (unsigned long long)n;
}

/* From -1 to 1. */
static double noise(void)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(long long)(state >> 11) / (double)(1LL << 52) - 1;
}

static void bench(const char *kernel, double cycles)
{
    const double process = 1 + 0.004 * noise();
    int i;

    printf("{\"type\":\"bench\",\"primitive\":\"aes\",\"kernel\":\"%s\",\"mode\":\"ctr\",\"key_"
           "bits\":256,"
           "\"bytes\":1500,\"messages\":1,\"style\":\"streamed\",\"counter\":\"tsc\",\"cycles\":[",
           kernel);
    for (i = 0; i < 11; i++)
        printf("%s%.3f", i ? "," : "", cycles * process * (1 + 0.001 * noise()));
    printf("]}\n");
}

int main(int argc, char **argv)
{
    int i, only_look = 0;

    state = count_run() * 0x9e3779b97f4a7c15ULL;
    noise();
    noise();
    for (i = 1; i < argc; i++)
        only_look |= strcmp(argv[i], "--dry-run") == 0;
    printf("{\"type\":\"harness\",\"version\":1,\"command\":\"bench\",\"arch\":\"x86\","
           "\"features\":[],"
           "\"compiler\":\"cc\",\"word_bits\":64,\"big_endian\":false,\"counter\":\"tsc\","
           "\"library\":\"0.1.0\"}\n");
    if (only_look)
        return 0;
    bench("one", 100);
    bench("two", 2000);
    bench(CHANGED, 500 * FACTOR);
    bench("three", 10);
#ifdef BROKEN
    printf("{\"type\":\"error\",\"kernel\":\"three\",\"mode\":\"ctr\","
           "\"detail\":\"byte 5 differs\"}\n");
    return 1;
#endif
    return 0;
}
