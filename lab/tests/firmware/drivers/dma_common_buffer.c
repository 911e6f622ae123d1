/* SPDX-License-Identifier: MIT */
/* Maps memory of the pool as a common buffer. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    u64 bytes = 64, address = 0;
    void *mapping = 0;
    void *host = pool(64);

    pci->map(pci, COMMON_BUFFER, host, &bytes, &address, &mapping);
    transfer(address, 64, 0);
    pci->unmap(pci, mapping);
    bs->free_pool(host);
    return 0;
}
