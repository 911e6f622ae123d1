/* SPDX-License-Identifier: MIT */
/* Polls a register for ever, without a service. */
#include "../drivers/efi.h"
static int attack(void);
#define ON_START attack
#include "../drivers/driver.h"

static int attack(void)
{
    u64 bar = 0;
    volatile u32 *registers;
    u32 low = 0;

    pci->pci_read(pci, WIDTH_32, 0x10, 1, &low);
    bar = low & ~15u;
    registers = (volatile u32 *)bar;
    while (registers[0] != 1)
        ;
    return 0;
}
