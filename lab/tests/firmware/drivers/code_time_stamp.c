/* SPDX-License-Identifier: MIT */
/* Reads the time stamp counter. */
#include "efi.h"
#if !defined(__x86_64__)
#error "a rule of x86"
#endif
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    u32 a, d;

    __asm__ volatile("rdtsc" : "=a"(a), "=d"(d));
    (void)a;
    (void)d;
    return 0;
}
