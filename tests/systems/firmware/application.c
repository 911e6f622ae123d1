/* SPDX-License-Identifier: MIT */
/* The application that is booted: it says whether the driver of the option ROM is there and hashes
 * rightly, and ends the machine. */
#include "hash2.h"

static void print(struct efi_system_table *table, const char *text)
{
    uint16_t line[2] = {0, 0};

    for (; *text; text++) {
        line[0] = (uint16_t)*text;
        table->output->output_string(table->output, line);
    }
}

static int is_right(const uint8_t *hash)
{
    /* SHA-256 of "abc": FIPS 180-2 (2002), appendix B.1. */
    static const uint8_t right[32] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea,
                                      0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
                                      0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c,
                                      0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
    uint8_t differences = 0;

    for (int i = 0; i < 32; i++)
        differences |= hash[i] ^ right[i];
    return differences == 0;
}

/* Use the driver's service as any program of firmware would; what it is, in a word. */
static const char *judge(struct efi_boot_services *boot, struct probe *probe)
{
    static const uint8_t message[3] = {'a', 'b', 'c'};
    uint8_t hash[32];
    void *found = 0, *hash2 = 0;
    efi_handle child = 0;

    if (probe->machine != MACHINE)
        return "of another machine";
    if (boot->handle_protocol(probe->handle, &HASH2_BINDING_GUID, &found) ||
        found != probe->service)
        return "without its service";
    if (probe->service->create_child(found, &child) ||
        boot->handle_protocol(child, &HASH2_GUID, &hash2))
        return "without instances";
    const struct hash2 *one = hash2;
    if (one->hash(one, &SHA256_GUID, message, 3, hash) || !is_right(hash))
        return "wrong";
    if (one->end(one, hash) != EFI_NOT_READY || one->begin(one, &SHA256_GUID) ||
        one->update(one, message, 1) || one->update(one, message + 1, 2) || one->end(one, hash) ||
        !is_right(hash))
        return "wrong in pieces";
    if (probe->service->destroy_child(found, child))
        return "unable to end an instance";
    return "present";
}

efi_status EFIAPI efi_main(efi_handle image, struct efi_system_table *table)
{
    void *found = 0;
    const efi_status status = table->boot->locate_protocol(&PROBE_GUID, 0, &found);

    (void)image;
    print(table, "\r\nEVERYCORE: the driver is ");
    print(table, status ? "absent" : judge(table->boot, found));
    print(table, "\r\n");
    table->runtime->reset_system(2, 0, 0, 0); /* EfiResetShutdown */
    return 0;
}
