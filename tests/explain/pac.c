/* SPDX-License-Identifier: MIT */
/* For qemu-aarch64: signs and authenticates a pointer again and again. */
#include "loop.h"

int main(void)
{
    unsigned long pointer = 0x1000, modifier = 1;
    REPEAT(for (int i = 0; i < 1000; i++)
               __asm__ volatile(".arch armv8.3-a\n\tpacia %0, %1\n\tautia %0, %1" : "+r"(pointer) : "r"(modifier)));
    return 0;
}
