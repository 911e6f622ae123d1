/* SPDX-License-Identifier: MIT */
/*
 * The x86 time-stamp counter. It ticks at a constant rate, whatever the core does.
 *
 * Source: Intel SDM (2024) vol. 2B, RDTSC: LFENCE before it waits for all that is older, LFENCE
 * after it holds back what is younger; AMD APM vol. 3 says the same of processors with serialising
 * LFENCE.
 */
#include "counter.h"

#include "everycore/cpu.h"

#if EVC_X86

static uint64_t now(void)
{
    uint32_t lo, hi;

    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(lo), "=d"(hi) : : "memory");
    return (uint64_t)hi << 32 | lo;
}

static bool open_tsc(void)
{
    return (evc_cpu_features() & EVC_CPU(X86_SSE2)) != 0; /* LFENCE came with SSE2 */
}

#else

static uint64_t now(void)
{
    return 0;
}

static bool open_tsc(void)
{
    return false;
}

#endif

const struct counter counter_tsc = {
    .name = "tsc+addchain", .open = open_tsc, .now = now, .chain_links = 20000};
