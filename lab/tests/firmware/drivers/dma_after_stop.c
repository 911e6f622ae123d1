/* SPDX-License-Identifier: MIT */
/* Leaves a USB host controller (EHCI 1.0, section 2.3) running when its schedule is gone. */
#include "efi.h"
#define VENDOR 0x8086
#define DEVICE 0x24cd
#define LEFT_ON 0x400 /* bus mastering */
static int break_start(void);
static int break_stop(void);
#define ON_START break_start
#define ON_STOP break_stop
#include "driver.h"

enum { USBCMD = 0x20, SEGMENT = 0x30, ASYNC = 0x38, RUN_ASYNC = 0x21, TERMINATE = 1 };

static void *common, *mapping;

static void poke_word(u64 offset, u32 value)
{
    pci->mem_write(pci, WIDTH_32, 0, offset, 1, &value);
}

static int break_start(void)
{
    u64 bytes = 4096, address = 0;

    pci->allocate_buffer(pci, 0, BOOT_DATA, 1, &common, 0);
    *(volatile u32 *)common = TERMINATE;
    pci->map(pci, COMMON_BUFFER, common, &bytes, &address, &mapping);
    poke_word(SEGMENT, (u32)(address >> 32));
    poke_word(ASYNC, (u32)address);
    poke_word(USBCMD, RUN_ASYNC);
    return 0;
}

static int break_stop(void)
{
    pci->unmap(pci, mapping);
    pci->free_buffer(pci, 1, common);
    return 0;
}
