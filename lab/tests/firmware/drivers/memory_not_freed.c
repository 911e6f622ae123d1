/* SPDX-License-Identifier: MIT */
/* Stop forgets memory. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    pool(64);
    return 0;
}
