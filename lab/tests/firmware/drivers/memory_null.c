/* SPDX-License-Identifier: MIT */
/* Reads through a NULL pointer. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static u32 seen;

static int break_start(void)
{
    volatile u32 *volatile null = 0;

    seen = null[4];
    (void)seen;
    return 0;
}
