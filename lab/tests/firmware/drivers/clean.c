/* SPDX-License-Identifier: MIT */
/* Keeps all rules: maps, transfers in both directions, a common buffer, a timer, and takes all of it back. */
#include "efi.h"
static int break_start(void);
#define ON_START break_start
static int break_stop(void);
#define ON_STOP break_stop
#include "driver.h"

static void *timer, *common, *common_mapping, *text;

static void EFIAPI tick(void *event, void *context)
{
    (void)event;
    ++*(u32 *)context;
}

static u32 ticks;

static int break_start(void)
{
    u64 bytes = 4096, address = 0;

    text = pool(256);
    for (int i = 0; i < 256; ++i)
        ((volatile u8 *)text)[i] = (u8)i;
    transfer_mapped(text, 256, 0);
    transfer_mapped(text, 256, 1);
    if (((volatile u8 *)text)[77] != 77)
        return 1;
    pci->allocate_buffer(pci, 0, BOOT_DATA, 1, &common, 0);
    *(volatile u64 *)common = 1;
    pci->map(pci, COMMON_BUFFER, common, &bytes, &address, &common_mapping);
    *(volatile u64 *)common = 2;
    transfer(address, 8, 0);
    transfer(address + 8, 8, 1);
    if (((volatile u64 *)common)[1] != 2)
        return 1;
    bs->create_event(0x80000200, TPL_NOTIFY, tick, &ticks, &timer);
    bs->set_timer(timer, 1, 10000);
    bs->stall(5000);
    if (!ticks)
        return 1;
    return 0;
}

static int break_stop(void)
{
    bs->close_event(timer);
    pci->unmap(pci, common_mapping);
    pci->free_buffer(pci, 1, common);
    bs->free_pool(text);
    return 0;
}
