/* SPDX-License-Identifier: MIT */
/* Writes behind the end of an allocation. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    void *host = pool(64);

    ((volatile u8 *)host)[64] = 1;
    bs->free_pool(host);
    return 0;
}
