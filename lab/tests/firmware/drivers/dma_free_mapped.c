/* SPDX-License-Identifier: MIT */
/* Frees memory, then unmaps it. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    u64 bytes = 64, address = 0;
    void *mapping = 0;
    void *host = pool(64);

    pci->map(pci, DEVICE_READS, host, &bytes, &address, &mapping);
    bs->free_pool(host);
    pci->unmap(pci, mapping);
    return 0;
}
