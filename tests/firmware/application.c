/* SPDX-License-Identifier: MIT */
/* The application that is booted: it says whether the driver of the option ROM is there, and ends the machine. */
#include "efi.h"

static void print(struct efi_system_table *table, const char *text)
{
    uint16_t line[2] = {0, 0};

    for (; *text; text++) {
        line[0] = (uint16_t)*text;
        table->output->output_string(table->output, line);
    }
}

efi_status EFIAPI efi_main(efi_handle image, struct efi_system_table *table)
{
    void *found = 0;
    efi_status status = table->boot->locate_protocol(&PROBE_GUID, 0, &found);

    (void)image;
    print(table, "\r\nEVERYCORE: the driver is ");
    if (status)
        print(table, "absent\r\n");
    else
        print(table, ((struct probe *)found)->machine == MACHINE ? "present\r\n" : "of another machine\r\n");
    table->runtime->reset_system(2, 0, 0, 0); /* EfiResetShutdown */
    return 0;
}
