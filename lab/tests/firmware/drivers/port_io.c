/* SPDX-License-Identifier: MIT */
/* Writes to a port. */
#include "efi.h"
#if !defined(__x86_64__)
#error "a rule of x86"
#endif
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    __asm__ volatile("outb %%al, $0x80" ::"a"(0));
    return 0;
}
