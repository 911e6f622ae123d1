/* SPDX-License-Identifier: MIT */
/* Stalls for ever. */
#include "../drivers/efi.h"
static int attack(void);
#define ON_START attack
#include "../drivers/driver.h"

static int attack(void)
{
    for (;;)
        bs->stall(1);
    return 0;
}
