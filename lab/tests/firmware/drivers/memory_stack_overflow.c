/* SPDX-License-Identifier: MIT */
/* Recurses without end. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static volatile u64 depth;

static __attribute__((noinline)) u64 deeper(u64 value)
{
    volatile u64 room[32];

    room[value & 31] = ++depth;
    return deeper(value + 1) + room[3];
}

static int break_start(void)
{
    depth = deeper(depth);
    return 0;
}
