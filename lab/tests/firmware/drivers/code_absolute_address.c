/* SPDX-License-Identifier: MIT */
/* Reads the BIOS data area, on a path that is not taken. */
#include "efi.h"
#if !defined(__x86_64__)
#error "a rule of x86"
#endif
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static volatile u32 is_taken;
static u32 seen;

static int break_start(void)
{
    if (is_taken)
        __asm__ volatile("movl 0x12340, %0" : "=r"(seen));
    (void)seen;
    return 0;
}
