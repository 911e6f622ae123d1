/* SPDX-License-Identifier: MIT */
/* Reads across the end of the address space. */
#include "../drivers/efi.h"
static int attack(void);
#define ON_START attack
#include "../drivers/driver.h"

static int attack(void)
{
    volatile u64 top = ~0ull - 2;

    top = *(volatile u64 *)top;
    return 0;
}
