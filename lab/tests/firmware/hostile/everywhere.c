/* SPDX-License-Identifier: MIT */
/* Writes to a thousand pages that are not there. */
#include "../drivers/efi.h"
static int attack(void);
#define ON_START attack
#include "../drivers/driver.h"

static int attack(void)
{
    for (u64 i = 1; i < 1000; ++i)
        *(volatile u32 *)(i << 33) = 1;
    return 0;
}
