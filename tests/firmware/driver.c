/* SPDX-License-Identifier: MIT */
/* The driver of an option ROM: it installs a protocol that says for which machine it is. */
#include "efi.h"

static struct probe probe = {MACHINE};
/* The address of a variable, which gives the image a relocation as drivers have them. */
static struct probe *volatile place = &probe;

efi_status EFIAPI efi_main(efi_handle image, struct efi_system_table *table)
{
    efi_handle handle = 0;

    (void)image;
    return table->boot->install_protocol(&handle, &PROBE_GUID, 0, place);
}
