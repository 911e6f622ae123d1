/* SPDX-License-Identifier: MIT */
/* Calls a service with the stack aligned to 8 bytes. */
#include "efi.h"
#if !defined(__x86_64__)
#error "a rule of x86"
#endif
static int break_start(void);
#define ON_START break_start
#include "driver.h"

static int break_start(void)
{
    __asm__ volatile("subq $40, %%rsp\n\tmovq $1, %%rcx\n\tcall *%0\n\taddq $40, %%rsp" ::"r"(bs->stall)
                     : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
    return 0;
}
