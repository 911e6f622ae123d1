/* SPDX-License-Identifier: MIT */
/* The unload function forgets a protocol. */
#include "efi.h"
static int break_entry(void);
#define ON_ENTRY break_entry
#include "driver.h"

static handle own;

static int break_entry(void)
{
    bs->install(&own, &PRIVATE, 0, &own);
    return 0;
}
