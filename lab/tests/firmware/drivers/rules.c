/* SPDX-License-Identifier: MIT */
/* Drivers that break one rule of efi check each, which they are named after; and one that keeps
 * all. */
#include "driver.h"

static u32 seen;
static volatile u32 is_taken; /* a path that never is */

/* Keeps all rules: maps, transfers in both directions, a common buffer, a timer, and takes all of
 * it back. */
static void *timer, *common, *common_mapping, *text;

static void EFIAPI tick(void *event, void *context)
{
    (void)event;
    ++*(u32 *)context;
}

START(clean)
{
    static u32 ticks;
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
    return !ticks;
}

STOP(clean)
{
    bs->close_event(timer);
    pci->unmap(pci, common_mapping);
    pci->free_buffer(pci, 1, common);
    bs->free_pool(text);
    return 0;
}

/* ---- PCI */

/* Takes the value of a BAR for an address. */
START(bar_untranslated)
{
    u32 bar = 0;

    pci->pci_read(pci, WIDTH_32, 0x10, 1, &bar);
    seen = *(volatile u32 *)(u64)(bar & ~15u);
    return 0;
}

/* Sizes a BAR itself. */
START(bar_written)
{
    u32 ones = ~0u;

    pci->pci_write(pci, WIDTH_32, 0x10, 1, &ones);
    return 0;
}

/* Reads a register of a device that was not enabled. */
START(pci_not_enabled)
{
    u32 value = 0;

    pci->mem_read(pci, WIDTH_32, 0, 0, 1, &value);
    return 0;
}

/* ---- The contract of drivers: their binding, protocols, events and priority levels */

/* Start takes the device without telling anybody. */
START(binding_not_by_driver)
{
    u32 value = 0;

    pci->mem_read(pci, WIDTH_32, 0, 0, 1, &value);
    return 0;
}

/* Start opens a protocol of the device that Stop does not close. */
START(binding_not_closed)
{
    static const struct guid PATH = {
        0x09576e91, 0x6d3f, 0x11d2, {0x8e, 0x39, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b}};
    void *path = 0;

    bs->open(device, &PATH, &path, image, device, BY_DRIVER);
    return 0;
}

/* The unload function forgets a protocol. */
ENTRY(binding_not_uninstalled)
{
    static handle own;

    bs->install(&own, &PRIVATE, 0, &own);
    return 0;
}

/* Stop fails the first time. */
STOP(binding_stop_failed)
{
    bs->close(device, &PCI_IO, image, device);
    return 1;
}

/* Supported writes to the device. */
SUPPORTED(binding_supported_acts)
{
    u32 value = 1;

    pci->attributes(pci, ATTRIBUTES_ENABLE, ENABLED, 0);
    pci->mem_write(pci, WIDTH_32, 0, 8, 1, &value);
    pci->attributes(pci, ATTRIBUTES_DISABLE, ENABLED, 0);
    return 0;
}

/* Start fails. */
START(run_start_failed)
{
    return 1;
}

/* Closes a protocol for a controller that never had it open. */
START(protocol_close_unopened)
{
    bs->close(device, &PCI_IO, image, image);
    return 0;
}

/* Opens a protocol of a handle that does not exist. */
START(protocol_unknown_handle)
{
    void *out = 0;

    bs->open((handle)&out, &PCI_IO, &out, image, device, 2);
    return 0;
}

/* Calls a service that the model does not have. */
START(service_missing)
{
    handle loaded = 0;

    bs->load_image(0, image, 0, 0, 0, &loaded);
    return 0;
}

/* Gives a service a pointer to nowhere. */
START(call_wrong_pointer)
{
    volatile u64 nowhere = 0x123456789000;

    bs->allocate_pool(BOOT_DATA, 64, (void *)nowhere);
    return 0;
}

/* Stop forgets an event. */
START(event_not_closed)
{
    void *event = 0;

    bs->create_event(0, TPL_CALLBACK, 0, 0, &event);
    return 0;
}

/* Signals an event that it has closed. */
START(event_unknown)
{
    void *event = 0;

    bs->create_event(0, TPL_CALLBACK, 0, 0, &event);
    bs->close_event(event);
    bs->signal_event(event);
    return 0;
}

/* Start does not restore the priority level. */
START(tpl_left_raised)
{
    bs->raise_tpl(TPL_NOTIFY);
    return 0;
}

/* Raises the priority level to a lower one. */
START(tpl_order)
{
    u64 before = bs->raise_tpl(TPL_NOTIFY);

    bs->raise_tpl(TPL_CALLBACK);
    bs->restore_tpl(before);
    return 0;
}

/* Allocates memory at the highest priority level. */
START(tpl_too_high)
{
    u64 before = bs->raise_tpl(TPL_HIGH);
    void *host = pool(64);

    bs->restore_tpl(before);
    bs->free_pool(host);
    return 0;
}

/* ---- What devices do with memory */

/* Leaves a USB host controller (EHCI 1.0, section 2.3) running when its schedule is gone. */
static void poke_word(u64 offset, u32 value)
{
    pci->mem_write(pci, WIDTH_32, 0, offset, 1, &value);
}

START(dma_after_stop)
{
    enum { USBCMD = 0x20, SEGMENT = 0x30, ASYNC = 0x38, RUN_ASYNC = 0x21, TERMINATE = 1 };
    u64 bytes = 4096, address = 0;

    pci->allocate_buffer(pci, 0, BOOT_DATA, 1, &common, 0);
    *(volatile u32 *)common = TERMINATE;
    pci->map(pci, COMMON_BUFFER, common, &bytes, &address, &common_mapping);
    poke_word(SEGMENT, (u32)(address >> 32));
    poke_word(ASYNC, (u32)address);
    poke_word(USBCMD, RUN_ASYNC);
    return 0;
}

STOP(dma_after_stop)
{
    pci->unmap(pci, common_mapping);
    pci->free_buffer(pci, 1, common);
    return 0;
}

/* Maps memory of the pool as a common buffer. */
START(dma_common_buffer)
{
    struct mapped one = map_pool(COMMON_BUFFER, 64);

    transfer(one.address, 64, 0);
    return unmap_and_free(&one);
}

/* Gives the device the CPU's address of memory. Where both are the same, nothing is mapped. */
START(dma_cpu_address)
{
    void *host = pool(64);

    transfer((u64)host, 64, 0);
    bs->free_pool(host);
    return 0;
}

/* Maps memory for reading, and lets the device write. */
START(dma_direction)
{
    struct mapped one = map_pool(DEVICE_READS, 64);

    transfer(one.address, 64, 1);
    return unmap_and_free(&one);
}

/* Does not say that the device has 64-bit addresses. */
START(dma_dual_address_cycle)
{
    void *host = pool(64);

    transfer_mapped(host, 64, 0);
    bs->free_pool(host);
    return 0;
}

/* Frees memory, then unmaps it. */
START(dma_free_mapped)
{
    struct mapped one = map_pool(DEVICE_READS, 64);

    bs->free_pool(one.host);
    pci->unmap(pci, one.mapping);
    return 0;
}

/* Writes to memory that is already mapped for the device to read. */
START(dma_late_write)
{
    struct mapped one = map_pool(DEVICE_READS, 64);

    *(volatile u8 *)one.host = 1;
    transfer(one.address, 64, 0);
    return unmap_and_free(&one);
}

/* Maps more than was allocated. */
START(dma_map_unowned)
{
    u64 bytes = 4096, address = 0;
    void *mapping = 0;
    void *host = pool(64);

    if (!pci->map(pci, DEVICE_READS, host, &bytes, &address, &mapping))
        pci->unmap(pci, mapping);
    bs->free_pool(host);
    return 0;
}

/* Lets the device read after Unmap. */
START(dma_not_mapped)
{
    struct mapped one = map_pool(DEVICE_READS, 64);

    pci->unmap(pci, one.mapping);
    transfer(one.address, 64, 0);
    bs->free_pool(one.host);
    return 0;
}

/* Does not look at how much was mapped. */
START(dma_short_map)
{
    struct mapped one = map_pool(DEVICE_READS, 0x20000);

    transfer(one.address + 0x18000, 64, 0);
    return unmap_and_free(&one);
}

/* Reads what the device wrote before Unmap. */
START(dma_stale_read)
{
    struct mapped one = map_pool(DEVICE_WRITES, 64);

    transfer(one.address, 64, 1);
    seen = *(volatile u8 *)one.host;
    return unmap_and_free(&one);
}

/* Stop forgets a mapping. */
START(dma_unmap_missing)
{
    static u8 host[64];
    u64 bytes = 64, address = 0;
    void *mapping = 0;

    pci->map(pci, DEVICE_READS, host, &bytes, &address, &mapping);
    return 0;
}

/* Unmaps twice. */
START(dma_unmap_unknown)
{
    struct mapped one = map_pool(DEVICE_READS, 64);

    pci->unmap(pci, one.mapping);
    return unmap_and_free(&one);
}

/* ---- What the driver does with memory */

/* Keeps an address in 32 bits. */
START(memory_below_4_gib)
{
    volatile u64 address = 0x12345678;

    seen = *(volatile u32 *)address;
    return 0;
}

/* Writes to a constant. */
START(memory_code_written)
{
    static const volatile u32 constant = 1;

    *(volatile u32 *)&constant = 2;
    return 0;
}

/* Calls a function that is not there. */
START(memory_data_executed)
{
    void (*volatile function)(void) = (void (*)(void))0x1000000000;

    function();
    return 0;
}

/* Asks for pages at a fixed address. */
START(memory_fixed_address)
{
    u64 address = 0x100000;

    if (!bs->allocate_pages(2, BOOT_DATA, 1, &address))
        bs->free_pages(address, 1);
    return 0;
}

/* Frees twice. */
START(memory_free_unknown)
{
    void *host = pool(64);

    bs->free_pool(host);
    bs->free_pool(host);
    return 0;
}

/* Writes to memory that it has freed. */
START(memory_freed)
{
    void *host = pool(64);

    bs->free_pool(host);
    *(volatile u8 *)host = 1;
    return 0;
}

/* Reads at an address above all memory. */
START(memory_no_such_address)
{
    volatile u64 address = 0x123456789000;

    seen = *(volatile u32 *)address;
    return 0;
}

/* Stop forgets memory. */
START(memory_not_freed)
{
    pool(64);
    return 0;
}

/* Writes behind the end of an allocation. */
START(memory_not_owned)
{
    void *host = pool(64);

    ((volatile u8 *)host)[64] = 1;
    bs->free_pool(host);
    return 0;
}

/* Reads through a NULL pointer. */
START(memory_null)
{
    volatile u32 *volatile null = 0;

    seen = null[4];
    return 0;
}

/* Recurses without end. */
UNUSED static __attribute__((noinline)) u64 deeper(u64 value)
{
    static volatile u64 depth;
    volatile u64 room[32];

    room[value & 31] = ++depth;
    return deeper(value + 1) + room[3];
}

START(memory_stack_overflow)
{
    seen = (u32)deeper(is_taken);
    return 0;
}

/* Keeps a large buffer in the image. */
START(pe_memory_size)
{
    static volatile u8 large[4 << 20];

    large[1] = 1;
    return 0;
}

/* ---- Code, and the ends of runs */

/* Takes a random number from the processor, on a path that is not taken. */
START(code_random)
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

/* Waits for the device for ever. */
START(run_endless)
{
    while (!is_taken)
        ;
    return 0;
}

/* Traps. */
START(run_exception)
{
    __builtin_trap();
    return 0;
}

#if defined(__x86_64__)
#include "rules_x86.c"
#endif
#include "binding.h"
