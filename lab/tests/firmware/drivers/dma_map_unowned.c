/* SPDX-License-Identifier: MIT */
/* Maps more than was allocated. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    u64 bytes = 4096, address = 0;
    void *mapping = 0;
    void *host = pool(64);

    if (!pci->map(pci, DEVICE_READS, host, &bytes, &address, &mapping))
        pci->unmap(pci, mapping);
    bs->free_pool(host);
    return 0;
}
