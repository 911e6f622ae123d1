/* SPDX-License-Identifier: MIT */
/*
 * A driver for the device "edu" of QEMU (docs/specs/edu.rst there) that keeps all rules, as far as
 * ON_ENTRY, ON_SUPPORTED, ON_START and ON_STOP do: driver_builds.py sets them to functions of a
 * file that includes this one at its begin and binding.h at its end. START(name) begins the
 * function that the driver `name` has for ON_START.
 */
#ifndef DRIVER_H
#define DRIVER_H

#include "efi.h"

static struct boot_services *bs;
static struct pci_io *pci;
static handle image;
static handle device;

static const struct guid PCI_IO = {
    0x4cf5b200, 0x68b8, 0x4ca5, {0x9e, 0xec, 0xb2, 0x3e, 0x3f, 0x50, 0x02, 0x9a}};
static const struct guid BINDING = {
    0x18a031ab, 0xb443, 0x4d1a, {0xa5, 0xc0, 0x0c, 0x09, 0x26, 0x1e, 0x9f, 0x71}};
static const struct guid LOADED = {
    0x5b1b31a1, 0x9562, 0x11d2, {0x8e, 0x3f, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b}};
UNUSED static const struct guid PRIVATE = {
    0x6f0c1d52, 0x3b7e, 0x4c19, {0xa4, 0x2d, 0x11, 0x5e, 0x90, 0x73, 0xc8, 0x66}};

#define ENTRY(name) UNUSED static int name##_entry(void)
#define SUPPORTED(name) UNUSED static int name##_supported(void)
#define START(name) UNUSED static int name##_start(void)
#define STOP(name) UNUSED static int name##_stop(void)

static void poke(u64 offset, u64 value)
{
    pci->mem_write(pci, WIDTH_64, 0, offset, 1, &value);
}

/* Let the device read (to_memory: write) some bytes of memory at a device address. */
UNUSED static void transfer(u64 address, u64 bytes, int to_memory)
{
    poke(0x80, to_memory ? 0x40000 : address);
    poke(0x88, to_memory ? address : 0x40000);
    poke(0x90, bytes);
    poke(0x98, to_memory ? 3 : 1);
}

UNUSED static void *pool(u64 bytes)
{
    void *found = 0;

    return bs->allocate_pool(BOOT_DATA, bytes, &found) ? 0 : found;
}

/* One transfer as it should be. */
UNUSED static void transfer_mapped(void *host, u64 bytes, int to_memory)
{
    u64 address = 0, mapped = bytes;
    void *mapping = 0;

    if (pci->map(pci, to_memory ? DEVICE_WRITES : DEVICE_READS, host, &mapped, &address, &mapping))
        return;
    if (mapped == bytes)
        transfer(address, bytes, to_memory);
    pci->unmap(pci, mapping);
}

/* Memory of the pool that is mapped for the device, to read or to write. */
struct mapped {
    u64 bytes, address;
    void *host, *mapping;
};

UNUSED static struct mapped map_pool(u32 operation, u64 bytes)
{
    struct mapped one = {bytes, 0, pool(bytes), 0};

    pci->map(pci, operation, one.host, &one.bytes, &one.address, &one.mapping);
    return one;
}

UNUSED static int unmap_and_free(const struct mapped *one)
{
    pci->unmap(pci, one->mapping);
    bs->free_pool(one->host);
    return 0;
}

#ifndef ON_ENTRY
#define ON_ENTRY() 0
#endif
#ifndef ON_SUPPORTED
#define ON_SUPPORTED() 0
#endif
#ifndef ON_START
#define ON_START() 0
#endif
#ifndef ON_STOP
#define ON_STOP() 0
#endif
#ifndef VENDOR
#define VENDOR 0x1234
#endif
#ifndef DEVICE
#define DEVICE 0x11e8
#endif
#ifndef ENABLED
#define ENABLED (ATTRIBUTES | LONG_ADDRESSES)
#endif
#ifndef LEFT_ON
#define LEFT_ON 0 /* attributes that Stop does not take back */
#endif
#ifndef HOW
#define HOW BY_DRIVER
#endif

#endif
