/* SPDX-License-Identifier: MIT */
/* Asks for pages at a fixed address. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    u64 address = 0x100000;

    if (!bs->allocate_pages(2, BOOT_DATA, 1, &address))
        bs->free_pages(address, 1);
    return 0;
}
