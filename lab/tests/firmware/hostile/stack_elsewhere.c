/* SPDX-License-Identifier: MIT */
/* Puts the stack pointer where no memory is, and calls a service. */
#include "../drivers/efi.h"
static int attack(void);
#define ON_START attack
#include "../drivers/driver.h"

static int attack(void)
{
#if defined(__x86_64__)
    __asm__ volatile("movabs $0x700000000000, %%rsp\n\tcall *%0" ::"r"(bs->stall) : "memory");
#else
    __asm__ volatile("mov x9, #0x700000000000\n\tmov sp, x9\n\tstp x0, x1, [sp, #-16]!\n\tblr %0" ::"r"(bs->stall)
                     : "x9", "memory");
#endif
    return 0;
}
