/* SPDX-License-Identifier: MIT */
/* Start does not restore the priority level. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    bs->raise_tpl(TPL_NOTIFY);
    return 0;
}
