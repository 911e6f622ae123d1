/* SPDX-License-Identifier: MIT */
/* Allocates memory at the highest priority level. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    u64 before = bs->raise_tpl(TPL_HIGH);
    void *host = pool(64);

    bs->restore_tpl(before);
    bs->free_pool(host);
    return 0;
}
