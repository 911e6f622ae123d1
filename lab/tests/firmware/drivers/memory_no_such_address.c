/* SPDX-License-Identifier: MIT */
/* Reads at an address above all memory. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static u32 seen;

static int break_start(void)
{
    volatile u64 address = 0x123456789000;

    seen = *(volatile u32 *)address;
    (void)seen;
    return 0;
}
