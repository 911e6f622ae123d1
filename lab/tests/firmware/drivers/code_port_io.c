/* SPDX-License-Identifier: MIT */
/* Has port I/O on a path that is not taken. */
#include "efi.h"
#if !defined(__x86_64__)
#error "a rule of x86"
#endif
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static volatile u32 is_taken;

static int break_start(void)
{
    if (is_taken)
        __asm__ volatile("outb %%al, $0x80" ::"a"(0));
    return 0;
}
