/* SPDX-License-Identifier: MIT */
/* Gives a service a pointer to nowhere. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    volatile u64 nowhere = 0x123456789000;

    bs->allocate_pool(BOOT_DATA, 64, (void *)nowhere);
    return 0;
}
