/* SPDX-License-Identifier: MIT */
/* Keeps an address in 32 bits. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static u32 seen;

static int break_start(void)
{
    volatile u64 address = 0x12345678;

    seen = *(volatile u32 *)address;
    (void)seen;
    return 0;
}
