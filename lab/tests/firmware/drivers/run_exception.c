/* SPDX-License-Identifier: MIT */
/* Traps. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    __builtin_trap();
    return 0;
}
