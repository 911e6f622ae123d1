/* SPDX-License-Identifier: MIT */
/*
 * The core's own cycle counter, which firmware may read: on x86 APERF, on A64 PMCCNTR at EL1 and
 * EL2. It is held against the add chain before it is believed: virtual machines have none, or one
 * that counts something else.
 *
 * Source: Intel SDM (2024) vol. 3B, IA32_APERF counts at the rate of the core while it is not
 *         halted; CPUID leaf 6, ECX bit 0; AMD APM vol. 2 (2024) says the same. Arm DDI 0487
 *         (2024), D13: the cycle counter.
 */
#include "counter.h"

#if defined(HARNESS_UEFI) && defined(__x86_64__)
#define NAME "aperf"

#include "../port/port.h"

static uint64_t now(void)
{
    uint32_t low, high;

    __asm__ volatile("lfence\n\trdmsr\n\tlfence" : "=a"(low), "=d"(high) : "c"(0xe8) : "memory");
    return (uint64_t)high << 32 | low;
}

static bool is_there(void)
{
    uint32_t a = 0, b, c = 0, d;

    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    if (a < 6)
        return false;
    a = 6;
    c = 0;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return (c & 1) != 0;
}

#elif defined(HARNESS_UEFI) && defined(__aarch64__)
#define NAME "pmccntr"

#include "../port/port.h"

static uint64_t now(void)
{
    uint64_t count;

    __asm__ volatile("isb\n\tmrs %0, pmccntr_el0\n\tisb" : "=r"(count) : : "memory");
    return count;
}

static bool is_there(void)
{
    uint64_t features;

    __asm__ volatile("mrs %0, id_aa64dfr0_el1" : "=r"(features));
    features = features >> 8 & 15; /* PMUVer: 0 none, 15 one of another kind */
    return features != 0 && features != 15;
}

#else
#define NAME "core"
#define NOT_IN_FIRMWARE

static uint64_t now(void)
{
    return 0;
}

static bool open_core(void)
{
    return false;
}
#endif

#if !defined(NOT_IN_FIRMWARE)
static void ask(void *answer)
{
    *(bool *)answer = counts_believably(now);
}

static bool open_core(void)
{
    bool believable = false;

    return is_there() && port_survives(ask, &believable) && believable;
}
#endif

const struct counter counter_core = {
    .name = NAME, .open = open_core, .now = now, .chain_links = 20000, .counts_cycles = true};
