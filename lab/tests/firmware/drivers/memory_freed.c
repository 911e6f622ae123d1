/* SPDX-License-Identifier: MIT */
/* Writes to memory that it has freed. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    void *host = pool(64);

    bs->free_pool(host);
    *(volatile u8 *)host = 1;
    return 0;
}
