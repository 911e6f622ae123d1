/* SPDX-License-Identifier: MIT */
/* Gives the device the CPU's address of memory. Where both are the same, nothing is mapped. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    void *host = pool(64);

    transfer((u64)host, 64, 0);
    bs->free_pool(host);
    return 0;
}
