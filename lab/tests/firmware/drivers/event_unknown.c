/* SPDX-License-Identifier: MIT */
/* Signals an event that it has closed. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    void *event = 0;

    bs->create_event(0, TPL_CALLBACK, 0, 0, &event);
    bs->close_event(event);
    bs->signal_event(event);
    return 0;
}
