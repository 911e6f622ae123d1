/* SPDX-License-Identifier: MIT */
/* Supported writes to the device. */
#include "efi.h"
static int break_supported(void);
#define ON_SUPPORTED break_supported
#include "driver.h"

static int break_supported(void)
{
    u32 value = 1;

    pci->attributes(pci, ATTRIBUTES_ENABLE, ENABLED, 0);
    pci->mem_write(pci, WIDTH_32, 0, 8, 1, &value);
    pci->attributes(pci, ATTRIBUTES_DISABLE, ENABLED, 0);
    return 0;
}
