/* SPDX-License-Identifier: MIT */
/* Calls a function that is not there. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    void (*volatile function)(void) = (void (*)(void))0x1000000000;

    function();
    return 0;
}
