/* SPDX-License-Identifier: MIT */
/*
 * A driver for the device "edu" of QEMU (docs/specs/edu.rst there) that keeps all rules. A test driver includes efi.h,
 * defines functions for ON_ENTRY, ON_SUPPORTED, ON_START, ON_STOP or ON_UNLOAD, and then includes this file.
 */
#ifndef DRIVER_H
#define DRIVER_H

#include "efi.h"

static struct boot_services *bs;
static struct pci_io *pci;
static handle image;
static handle device;

static const struct guid PCI_IO = {0x4cf5b200, 0x68b8, 0x4ca5, {0x9e, 0xec, 0xb2, 0x3e, 0x3f, 0x50, 0x02, 0x9a}};
static const struct guid BINDING = {0x18a031ab, 0xb443, 0x4d1a, {0xa5, 0xc0, 0x0c, 0x09, 0x26, 0x1e, 0x9f, 0x71}};
static const struct guid LOADED = {0x5b1b31a1, 0x9562, 0x11d2, {0x8e, 0x3f, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b}};
UNUSED static const struct guid PRIVATE = {0x6f0c1d52, 0x3b7e, 0x4c19, {0xa4, 0x2d, 0x11, 0x5e, 0x90, 0x73, 0xc8, 0x66}};

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
#ifndef ON_UNLOAD
#define ON_UNLOAD() 0
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

static status EFIAPI supported(struct driver_binding *this, handle controller, void *rest)
{
    u16 ids[2] = {0, 0};

    (void)rest;
    if (bs->open(controller, &PCI_IO, &pci, this->agent, controller, BY_DRIVER))
        return UNSUPPORTED;
    pci->pci_read(pci, WIDTH_16, 0, 2, ids);
    if (ids[0] == VENDOR && ids[1] == DEVICE)
        (void)ON_SUPPORTED();
    bs->close(controller, &PCI_IO, this->agent, controller);
    return ids[0] == VENDOR && ids[1] == DEVICE ? 0 : UNSUPPORTED;
}

static status EFIAPI start(struct driver_binding *this, handle controller, void *rest)
{
    status failed = bs->open(controller, &PCI_IO, &pci, this->agent, controller, HOW);

    (void)rest;
    if (failed)
        return failed;
    device = controller;
    pci->attributes(pci, ATTRIBUTES_ENABLE, ENABLED, 0);
    failed = ON_START() ? DEVICE_ERROR : 0;
    if (!failed)
        return 0;
    bs->close(controller, &PCI_IO, this->agent, controller);
    return failed;
}

static status EFIAPI stop(struct driver_binding *this, handle controller, u64 n_children, handle *children)
{
    (void)n_children;
    (void)children;
    if (ON_STOP())
        return DEVICE_ERROR;
    pci->attributes(pci, ATTRIBUTES_DISABLE, ENABLED & ~(u64)LEFT_ON, 0);
    return bs->close(controller, &PCI_IO, this->agent, controller);
}

static struct driver_binding binding = {supported, start, stop, 16, 0, 0};

static status EFIAPI unload(handle self)
{
    (void)ON_UNLOAD();
    return bs->uninstall(self, &BINDING, &binding);
}

status EFIAPI efi_main(handle self, struct system_table *system)
{
    struct loaded_image *loaded = 0;

    bs = system->boot;
    image = self;
    binding.image = binding.agent = self;
    if (bs->handle_protocol(self, &LOADED, &loaded))
        return DEVICE_ERROR;
    loaded->unload = unload;
    if (ON_ENTRY())
        return DEVICE_ERROR;
    return bs->install(&binding.agent, &BINDING, 0, &binding);
}

#endif
