/* SPDX-License-Identifier: MIT */
/* Drivers that attack the checker. */
#include "driver.h"

/* Takes all memory, of all kinds. */
START(all_memory)
{
    for (u64 size = 1ull << 40; size >= 4096; size >>= 1) {
        void *found = 0;
        u64 address = 0;

        while (!bs->allocate_pool(BOOT_DATA, size, &found))
            ;
        while (!bs->allocate_pages(0, BOOT_DATA, size >> 12, &address))
            ;
        while (!pci->allocate_buffer(pci, 0, BOOT_DATA, size >> 12, &found, 0))
            ;
    }
    return 0;
}

/* Calls itself through the firmware. */
static void EFIAPI call_again(void *event, void *context)
{
    void *inner = 0;
    status (EFIAPI *check_event)(void *) = (status(EFIAPI *)(void *))bs->check_event;

    (void)event;
    (void)context;
    bs->create_event(0x100, TPL_CALLBACK, call_again, 0, &inner);
    check_event(inner);
}

START(deep_calls)
{
    void *event = 0;

    bs->create_event(0x100, TPL_CALLBACK, call_again, 0, &event);
    call_again(event, 0);
    return 0;
}

/* Polls a register for ever, without a service. */
START(endless_devices)
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

/* Stalls for ever. */
START(endless_services)
{
    for (;;)
        bs->stall(1);
    return 0;
}

/* Writes to a thousand pages that are not there. */
START(everywhere)
{
    for (u64 i = 1; i < 1000; ++i)
        *(volatile u32 *)(i << 33) = 1;
    return 0;
}

/* Overwrites the code behind a service. */
START(firmware_code)
{
    *(volatile u32 *)(u64)bs->stall = 0;
    return 0;
}

/* Makes handles for ever. */
START(many_handles)
{
    for (;;) {
        handle new = 0;

        bs->install(&new, &PRIVATE, 0, &new);
    }
    return 0;
}

/* Overwrites the instructions that it executes. */
START(self_changing)
{
    for (u32 i = 0; i < 64; ++i)
        ((volatile u8 *)(u64)self_changing_start)[i] ^= (u8)(i * 37 + 1);
    return 0;
}

/* Has a notification that signals its own event. */
static void *own;

static void EFIAPI signal_again(void *event, void *context)
{
    (void)context;
    bs->signal_event(event);
}

START(signals_itself)
{
    bs->create_event(0x200, TPL_CALLBACK, signal_again, 0, &own);
    bs->signal_event(own);
    return 0;
}

/* Puts the stack pointer where no memory is, and calls a service. */
START(stack_elsewhere)
{
#if defined(__x86_64__)
    __asm__ volatile("movabs $0x700000000000, %%rsp\n\tcall *%0" ::"r"(bs->stall) : "memory");
#else
    __asm__ volatile(
        "mov x9, #0x700000000000\n\tmov sp, x9\n\tstp x0, x1, [sp, #-16]!\n\tblr %0" ::"r"(
            bs->stall)
        : "x9", "memory");
#endif
    return 0;
}

/* Gives services all kinds of numbers. */
START(strange_arguments)
{
    static const u64 strange[] = {0,     1,      0x7fffffffffffffff, 0x8000000000000000,
                                  ~0ull, 0x1000, 0x8000000001,       0xfffffffffffff000};
    enum { N = sizeof strange / sizeof strange[0] };

    for (u32 n = 2; n < 44; ++n) {
        u64(EFIAPI * service)(u64, u64, u64, u64, u64, u64) =
            ((u64(EFIAPI **)(u64, u64, u64, u64, u64, u64))(&bs->raise_tpl))[n];

        for (u32 i = 0; i < N * N; ++i)
            service(strange[i % N], strange[i / N], strange[(i + 1) % N], strange[(i + 3) % N],
                    strange[(i + 5) % N], strange[i % N]);
    }
    for (u32 n = 0; n < 18; ++n) {
        u64(EFIAPI * service)(void *, u64, u64, u64, u64, u64) =
            ((u64(EFIAPI **)(void *, u64, u64, u64, u64, u64))pci)[n];

        for (u32 i = 0; i < N * N; ++i)
            service(pci, strange[i % N], strange[i / N], strange[(i + 1) % N], strange[(i + 3) % N],
                    strange[(i + 5) % N]);
    }
    return 0;
}

/* Reads across the end of the address space. */
START(top_of_memory)
{
    volatile u64 top = ~0ull - 2;

    top = *(volatile u64 *)top;
    return 0;
}

#include "binding.h"
