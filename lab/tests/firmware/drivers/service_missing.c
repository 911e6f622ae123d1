/* SPDX-License-Identifier: MIT */
/* Calls a service that the model does not have. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    handle loaded = 0;

    bs->load_image(0, image, 0, 0, 0, &loaded);
    return 0;
}
