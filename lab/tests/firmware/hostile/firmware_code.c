/* SPDX-License-Identifier: MIT */
/* Overwrites the code behind a service. */
#include "../drivers/efi.h"
static int attack(void);
#define ON_START attack
#include "../drivers/driver.h"

static int attack(void)
{
    *(volatile u32 *)(u64)bs->stall = 0;
    return 0;
}
