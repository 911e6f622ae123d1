/* SPDX-License-Identifier: MIT */
/* Sizes a BAR itself. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    u32 ones = ~0u;

    pci->pci_write(pci, WIDTH_32, 0x10, 1, &ones);
    return 0;
}
