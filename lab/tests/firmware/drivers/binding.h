/* SPDX-License-Identifier: MIT */
/* The functions of a driver that firmware calls; they call those that driver.h names. */
#ifndef BINDING_H
#define BINDING_H

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

static status EFIAPI stop(struct driver_binding *this, handle controller, u64 n_children,
                          handle *children)
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
