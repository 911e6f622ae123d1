/* SPDX-License-Identifier: MIT */
/* Frees twice. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    void *host = pool(64);

    bs->free_pool(host);
    bs->free_pool(host);
    return 0;
}
