/* SPDX-License-Identifier: MIT */
/*
 * Linux perf_event: the core's own cycle counter, user code only.
 *
 * Source: perf_event_open(2). Virtual machines often have none, or one that stands still: it is
 * held against the add chain before it is believed. A reading is a system call, whose own share is
 * known and taken off; where Linux lets user code read the register (kernel.perf_user_access),
 * nothing more exact would come of it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "counter.h"

#if defined(__linux__)

#include <dirent.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int file = -1;

static uint64_t now(void)
{
    uint64_t count = 0;

    return read(file, &count, sizeof count) == (ssize_t)sizeof count ? count : 0;
}

static bool open_event(uint32_t type, uint64_t config)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.type = type;
    attr.size = sizeof attr;
    attr.config = config;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    file = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
    if (file < 0)
        return false;
    if (counts_believably(now))
        return true;
    close(file);
    file = -1;
    return false;
}

#if defined(__aarch64__) || defined(__arm__)

#define DEVICES "/sys/bus/event_source/devices"
#define ARM_CPU_CYCLES 0x11 /* Arm ARM DDI 0487K (2024) D13.11, common event CPU_CYCLES */

static bool read_text(const char *device, const char *name, char text[256])
{
    char path[320];

    snprintf(path, sizeof path, DEVICES "/%.64s/%s", device, name);
    FILE *f = fopen(path, "r");
    bool got = f && fgets(text, 256, f);
    if (f)
        fclose(f);
    return got;
}

/* list: "0-3,6" */
static bool has_cpu(const char *list, long cpu)
{
    while (*list >= '0' && *list <= '9') {
        char *end;
        long first = strtol(list, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        if (first <= cpu && cpu <= last)
            return true;
        list = *end == ',' ? end + 1 : "";
    }
    return false;
}

/* On a machine with cores of several kinds, each kind has a counter, and the general event
 * stands for one of them. */
static bool open_event_of_this_core(void)
{
    char text[256];
    DIR *devices = opendir(DEVICES);
    bool opened = false;

    for (struct dirent *d; devices && !opened && (d = readdir(devices)) != NULL;)
        if (strncmp(d->d_name, "armv", 4) == 0 && read_text(d->d_name, "cpus", text) &&
            has_cpu(text, sched_getcpu()) && read_text(d->d_name, "type", text))
            opened = open_event((uint32_t)strtoul(text, NULL, 10), ARM_CPU_CYCLES);
    if (devices)
        closedir(devices);
    return opened;
}

#else

static bool open_event_of_this_core(void)
{
    return false;
}

#endif

static bool open_perf(void)
{
    return open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) || open_event_of_this_core();
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
