/* SPDX-License-Identifier: MIT */
/* Takes a random number from the processor, on a path that is not taken. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static volatile u32 is_taken;

static int break_start(void)
{
    u64 value = 0;

    if (is_taken)
#if defined(__x86_64__)
        __asm__ volatile("rdrand %0" : "=r"(value));
#else
        __asm__ volatile("mrs %0, s3_3_c2_c4_0" : "=r"(value));
#endif
    (void)value;
    return 0;
}
