/* SPDX-License-Identifier: MIT */
/* Has a barrier of 32-bit code. */
#include "efi.h"
#if !defined(__x86_64__)
#error "a rule of x86"
#endif
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    __asm__ volatile("lock addl $0, (%%esp)" ::: "memory");
    return 0;
}
