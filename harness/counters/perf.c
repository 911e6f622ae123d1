/* SPDX-License-Identifier: MIT */
/*
 * Linux perf_event: the core's own cycle counter, user code only.
 *
 * Source: perf_event_open(2). Virtual machines often have none, or one that stands still: it is
 * held against the add chain before it is believed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "counter.h"

#if defined(__linux__)

#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int file = -1;

static uint64_t now(void)
{
    uint64_t count = 0;

    return read(file, &count, sizeof count) == (ssize_t)sizeof count ? count : 0;
}

/* The chain takes its links, and a little for its loop and the system calls; none to compare with:
 * that it counts at all. */
static bool believable(void)
{
    const uint32_t links = 100000;
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < 10; i++) {
        uint64_t start = now();
        if (!add_chain(links)) {
            for (volatile uint32_t n = 0; n < links; n++)
                ;
            return now() - start > links;
        }
        uint64_t count = now() - start;
        best = count < best ? count : best;
    }
    return best > links - links / 100 && best < links + links / 20;
}

static bool open_perf(void)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.type = PERF_TYPE_HARDWARE;
    attr.size = sizeof attr;
    attr.config = PERF_COUNT_HW_CPU_CYCLES;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    file = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
    if (file < 0)
        return false;
    if (believable())
        return true;
    close(file);
    file = -1;
    return false;
}

#else

static uint64_t now(void)
{
    return 0;
}

static bool open_perf(void)
{
    return false;
}

#endif

const struct counter counter_perf = {.name = "perf:cycles",
                                     .open = open_perf,
                                     .now = now,
                                     .chain_links = 20000,
                                     .counts_cycles = true};
