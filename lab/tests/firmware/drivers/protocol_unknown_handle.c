/* SPDX-License-Identifier: MIT */
/* Opens a protocol of a handle that does not exist. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    void *out = 0;

    bs->open((handle)&out, &PCI_IO, &out, image, device, 2);
    return 0;
}
