/* SPDX-License-Identifier: MIT */
/* Raises the priority level to a lower one. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    u64 before = bs->raise_tpl(TPL_NOTIFY);

    bs->raise_tpl(TPL_CALLBACK);
    bs->restore_tpl(before);
    return 0;
}
