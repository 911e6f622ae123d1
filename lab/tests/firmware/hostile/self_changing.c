/* SPDX-License-Identifier: MIT */
/* Overwrites the instructions that it executes. */
#include "../drivers/efi.h"
static int attack(void);
#define ON_START attack
#include "../drivers/driver.h"

static int attack(void)
{
    for (u32 i = 0; i < 64; ++i)
        ((volatile u8 *)(u64)attack)[i] ^= (u8)(i * 37 + 1);
    return 0;
}
