/* SPDX-License-Identifier: MIT */
/* Reads a register of a device that was not enabled. */
#include "efi.h"
#define ENABLED LONG_ADDRESSES
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    u32 seen = 0;

    pci->mem_read(pci, WIDTH_32, 0, 0, 1, &seen);
    return 0;
}
