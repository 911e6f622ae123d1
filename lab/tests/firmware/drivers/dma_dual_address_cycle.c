/* SPDX-License-Identifier: MIT */
/* Does not say that the device has 64-bit addresses. */
#include "efi.h"
#define ENABLED ATTRIBUTES
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    void *host = pool(64);

    transfer_mapped(host, 64, 0);
    bs->free_pool(host);
    return 0;
}
