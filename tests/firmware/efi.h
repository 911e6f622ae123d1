/* SPDX-License-Identifier: MIT */
/* The part of UEFI that the programs of firmware_boot.py call: UEFI Specification 2.10, 2022, sections 4.3 to 4.5,
 * 7.3, 8.5 and 12.4. Members that they do not use have no type. */
#ifndef EVC_TESTS_EFI_H
#define EVC_TESTS_EFI_H

#include <stdint.h>

#if defined(__x86_64__)
#define EFIAPI __attribute__((ms_abi))
#define MACHINE 0x8664u
#else
#define EFIAPI
#define MACHINE 0xAA64u
#endif

typedef uint64_t efi_status;
typedef void *efi_handle;

struct efi_guid {
    uint32_t first;
    uint16_t second, third;
    uint8_t rest[8];
};

struct efi_text_output {
    void *reset;
    efi_status(EFIAPI *output_string)(struct efi_text_output *, const uint16_t *);
};

struct efi_boot_services {
    uint8_t header[24];
    void *before_install[13]; /* RaiseTPL to CheckEvent */
    efi_status(EFIAPI *install_protocol)(efi_handle *, const struct efi_guid *, uint32_t, void *);
    void *before_locate[23]; /* ReinstallProtocolInterface to LocateHandleBuffer */
    efi_status(EFIAPI *locate_protocol)(const struct efi_guid *, void *, void **);
};

struct efi_runtime_services {
    uint8_t header[24];
    void *before_reset[10]; /* GetTime to GetNextHighMonotonicCount */
    void(EFIAPI *reset_system)(uint32_t, efi_status, uint64_t, void *);
};

struct efi_system_table {
    uint8_t header[24];
    const uint16_t *vendor;
    uint32_t revision;
    efi_handle input_handle;
    void *input;
    efi_handle output_handle;
    struct efi_text_output *output;
    efi_handle error_handle;
    void *error;
    struct efi_runtime_services *runtime;
    struct efi_boot_services *boot;
};

/* The protocol that the driver installs and the application looks for. */
struct probe {
    uint32_t machine;
};

static const struct efi_guid PROBE_GUID = {
    0x0b8e5d36u, 0x53f6, 0x4c1d, {0x8f, 0x1b, 0x7a, 0x52, 0xd1, 0x64, 0x2e, 0x90}};

efi_status EFIAPI efi_main(efi_handle image, struct efi_system_table *table);

#endif
