/* SPDX-License-Identifier: MIT */
/* Keeps a large buffer in the image. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static volatile u8 large[4 << 20];

static int break_start(void)
{
    large[1] = 1;
    return 0;
}
