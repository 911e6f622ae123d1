/* SPDX-License-Identifier: MIT */
/*
 * The generic timer of Arm, the virtual count. It ticks at a constant rate, whatever the core does:
 * 19.2 MHz on a Raspberry Pi 3, 54 on a 4, 1 GHz from Armv8.6 on. The chain is long enough for the
 * slowest of them.
 *
 * Source: Arm Architecture Reference Manual DDI 0487K (2024) chapter D12, the Generic
 * Timer in AArch64 state, and G6 in AArch32 state; without an ISB before it the register
 * may be read early. Armv7-A:
 * DDI 0406C (2014) chapter B8.
 */
#include "counter.h"

#include "everycore/isa.h"

#if defined(__GNUC__) && \
    (defined(__aarch64__) || (defined(__ARM_ARCH) && __ARM_ARCH >= 7 && defined(__linux__)))

#include "../port/port.h"

static uint64_t now(void)
{
#if defined(__aarch64__)
    uint64_t count;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(count) : : "memory");
    return count;
#else
    uint32_t lo, hi;

    __asm__ volatile("isb\n\tmrrc p15, 1, %0, %1, c14\n\tisb" : "=r"(lo), "=r"(hi) : : "memory");
    return (uint64_t)hi << 32 | lo;
#endif
}

/* A system may keep it to itself, and 32-bit cores before the Cortex-A7 and A15 have none. */
static void read_twice(void *moved)
{
    uint64_t start = now();

    for (uint64_t end = port_now_ns() + 1000000; port_now_ns() < end && now() == start;)
        ;
    *(bool *)moved = now() != start;
}

static bool open_cntvct(void)
{
    bool moved = false;

    return port_survives(read_twice, &moved) && moved;
}

#else

static uint64_t now(void)
{
    return 0;
}

static bool open_cntvct(void)
{
    return false;
}

#endif

const struct counter counter_cntvct = {
    .name = "cntvct+addchain", .open = open_cntvct, .now = now, .chain_links = 100000};
