/* SPDX-License-Identifier: MIT */
/* The part of UEFI that the programs of test_firmware_boot.py call: UEFI Specification 2.10, 2022,
 * sections 4.3 to 4.5, 7.2, 7.3, 8.5, 9.1 and 12.4. Members that they do not use have no type. */
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

#define EFI_ERROR_CODE(n) (UINT64_C(1) << 63 | (n))
#define EFI_SUCCESS 0
#define EFI_INVALID_PARAMETER EFI_ERROR_CODE(2)
#define EFI_UNSUPPORTED EFI_ERROR_CODE(3)
#define EFI_NOT_READY EFI_ERROR_CODE(6)
#define EFI_OUT_OF_RESOURCES EFI_ERROR_CODE(9)
#define EFI_ACCESS_DENIED EFI_ERROR_CODE(15)
#define EFI_ALREADY_STARTED EFI_ERROR_CODE(20)
enum { EFI_BOOT_SERVICES_DATA = 4 };

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
    void *before_allocate[5]; /* RaiseTPL to GetMemoryMap */
    efi_status(EFIAPI *allocate_pool)(uint32_t type, uint64_t n_bytes, void **);
    efi_status(EFIAPI *free_pool)(void *);
    void *before_install[6]; /* CreateEvent to CheckEvent */
    efi_status(EFIAPI *install_protocol)(efi_handle *, const struct efi_guid *, uint32_t, void *);
    void *reinstall_protocol;
    efi_status(EFIAPI *uninstall_protocol)(efi_handle, const struct efi_guid *, void *);
    efi_status(EFIAPI *handle_protocol)(efi_handle, const struct efi_guid *, void **);
    void *before_locate[20]; /* a reserved member to LocateHandleBuffer */
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

struct efi_loaded_image {
    uint8_t before_unload[88];
    efi_status(EFIAPI *unload)(efi_handle);
};

static const struct efi_guid LOADED_IMAGE_GUID = {
    0x5b1b31a1, 0x9562, 0x11d2, {0x8e, 0x3f, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b}};

/* The protocol by which the application finds this driver, for firmware may have one
 * for the same service. */
struct probe {
    uint32_t machine;
    struct service_binding *service;
    efi_handle handle;
};

static const struct efi_guid PROBE_GUID = {
    0x0b8e5d36u, 0x53f6, 0x4c1d, {0x8f, 0x1b, 0x7a, 0x52, 0xd1, 0x64, 0x2e, 0x90}};

efi_status EFIAPI efi_main(efi_handle image, struct efi_system_table *table);

#endif
