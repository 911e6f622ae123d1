/* SPDX-License-Identifier: MIT */
/* Prints the features of an IBM Z. Before it asks, the stack below is ones, which are no
 * facilities: STFLE stores fewer words than are asked for where the CPU has fewer. */
#include <stdio.h>

#include "everycore/cpu.h"

__attribute__((noinline)) static void fill_stack(void)
{
    volatile unsigned char bytes[4096];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0xff;
}

int main(void)
{
    uint64_t features;

    fill_stack();
    features = evc_cpu_features();
#define HAS(name) ((features & EVC_CPU(S390X_##name)) != 0)
    printf("msa4 %d, msa8 %d, sha2 %d, vx %d\n", HAS(MSA4), HAS(MSA8), HAS(SHA2), HAS(VX));
    return 0;
}
