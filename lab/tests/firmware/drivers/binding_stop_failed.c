/* SPDX-License-Identifier: MIT */
/* Stop fails the first time. */
#include "efi.h"
static int break_stop(void);
#define ON_STOP break_stop
#include "driver.h"

static int break_stop(void)
{
    bs->close(device, &PCI_IO, image, device);
    return 1;
    return 0;
}
