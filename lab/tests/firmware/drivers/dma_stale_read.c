/* SPDX-License-Identifier: MIT */
/* Reads what the device wrote before Unmap. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static u8 seen;

static int break_start(void)
{
    u64 bytes = 64, address = 0;
    void *mapping = 0;
    void *host = pool(64);

    pci->map(pci, DEVICE_WRITES, host, &bytes, &address, &mapping);
    transfer(address, 64, 1);
    seen = *(volatile u8 *)host;
    pci->unmap(pci, mapping);
    (void)seen;
    bs->free_pool(host);
    return 0;
}
