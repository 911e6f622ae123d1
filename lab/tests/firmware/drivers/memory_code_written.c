/* SPDX-License-Identifier: MIT */
/* Writes to a constant. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static const volatile u32 constant = 1;

static int break_start(void)
{
    *(volatile u32 *)&constant = 2;
    return 0;
}
