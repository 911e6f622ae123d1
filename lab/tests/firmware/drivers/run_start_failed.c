/* SPDX-License-Identifier: MIT */
/* Start fails. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    return 1;
    return 0;
}
