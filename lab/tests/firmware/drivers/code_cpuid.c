/* SPDX-License-Identifier: MIT */
/* Identifies the processor. */
#include "efi.h"
#if !defined(__x86_64__)
#error "a rule of x86"
#endif
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    u32 a = 0, b, c = 0, d;

    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return 0;
}
