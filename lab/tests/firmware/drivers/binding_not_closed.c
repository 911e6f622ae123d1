/* SPDX-License-Identifier: MIT */
/* Start opens a protocol of the device that Stop does not close. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static const struct guid PATH = {0x09576e91, 0x6d3f, 0x11d2, {0x8e, 0x39, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b}};

static int break_start(void)
{
    void *path = 0;

    bs->open(device, &PATH, &path, image, device, BY_DRIVER);
    return 0;
}
