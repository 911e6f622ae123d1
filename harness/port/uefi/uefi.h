/* SPDX-License-Identifier: MIT */
/*
 * The part of UEFI that the harness calls, declared for it: UEFI Specification 2.10 (2022),
 * chapters 2.3 (calling conventions), 4 (tables), 7 (boot services), 8.5 (ResetSystem), 9.1 (loaded
 * image), 13.4 and 13.5 (files), 37.7 (memory attributes), appendix D (status codes). Members that
 * are not called have the type of a pointer.
 */
#ifndef HARNESS_UEFI_H
#define HARNESS_UEFI_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#define EFIAPI __attribute__((ms_abi))
#else
#define EFIAPI
#endif

typedef size_t efi_status;
typedef void *efi_handle;
typedef uint16_t efi_char;

#define EFI_ERROR_CODE(n) ((~(SIZE_MAX >> 1)) | (n))
#define EFI_SUCCESS 0
#define EFI_UNSUPPORTED EFI_ERROR_CODE(3)
#define EFI_BUFFER_TOO_SMALL EFI_ERROR_CODE(5)
#define EFI_DEVICE_ERROR EFI_ERROR_CODE(7)
#define EFI_WRITE_PROTECTED EFI_ERROR_CODE(8)
#define EFI_OUT_OF_RESOURCES EFI_ERROR_CODE(9)
#define EFI_VOLUME_CORRUPTED EFI_ERROR_CODE(10)
#define EFI_VOLUME_FULL EFI_ERROR_CODE(11)
#define EFI_NO_MEDIA EFI_ERROR_CODE(12)
#define EFI_MEDIA_CHANGED EFI_ERROR_CODE(13)
#define EFI_NOT_FOUND EFI_ERROR_CODE(14)
#define EFI_ACCESS_DENIED EFI_ERROR_CODE(15)

struct efi_guid {
    uint32_t a;
    uint16_t b, c;
    uint8_t d[8];
};

struct efi_table_header {
    uint64_t signature;
    uint32_t revision, header_bytes, crc32, reserved;
};

struct efi_text_output {
    void *reset;
    efi_status(EFIAPI *output_string)(struct efi_text_output *self, const efi_char *text);
};

enum { EFI_ALLOCATE_ANY_PAGES = 0, EFI_BOOT_SERVICES_DATA = 4, EFI_PAGE_BYTES = 4096 };

struct efi_boot_services {
    struct efi_table_header header;
    void *raise_tpl, *restore_tpl;
    efi_status(EFIAPI *allocate_pages)(int how, int type, size_t n_pages, uint64_t *address);
    efi_status(EFIAPI *free_pages)(uint64_t address, size_t n_pages);
    void *get_memory_map;
    void *allocate_pool, *free_pool;
    void *create_event, *set_timer, *wait_for_event, *signal_event, *close_event, *check_event;
    void *install_protocol, *reinstall_protocol, *uninstall_protocol;
    efi_status(EFIAPI *handle_protocol)(efi_handle handle, const struct efi_guid *protocol,
                                        void **interface);
    void *reserved, *register_protocol_notify, *locate_handle, *locate_device_path,
        *install_configuration_table;
    void *load_image, *start_image, *exit, *unload_image, *exit_boot_services;
    void *get_next_monotonic_count;
    efi_status(EFIAPI *stall)(size_t microseconds);
    efi_status(EFIAPI *set_watchdog_timer)(size_t seconds, uint64_t code, size_t data_bytes,
                                           const efi_char *data);
    void *connect_controller, *disconnect_controller;
    void *open_protocol, *close_protocol, *open_protocol_information;
    void *protocols_per_handle, *locate_handle_buffer;
    efi_status(EFIAPI *locate_protocol)(const struct efi_guid *protocol, void *registration,
                                        void **interface);
};

enum { EFI_RESET_SHUTDOWN = 2 };

struct efi_runtime_services {
    struct efi_table_header header;
    void *get_time, *set_time, *get_wakeup_time, *set_wakeup_time;
    void *set_virtual_address_map, *convert_pointer;
    void *get_variable, *get_next_variable_name, *set_variable;
    void *get_next_high_monotonic_count;
    void(EFIAPI *reset_system)(int how, efi_status status, size_t data_bytes, const void *data);
};

struct efi_system_table {
    struct efi_table_header header;
    const efi_char *firmware_vendor;
    uint32_t firmware_revision;
    efi_handle console_in;
    void *input;
    efi_handle console_out;
    struct efi_text_output *output;
    efi_handle console_error;
    struct efi_text_output *error;
    struct efi_runtime_services *runtime;
    struct efi_boot_services *boot;
    size_t n_tables;
    void *tables;
};

#define EFI_LOADED_IMAGE_GUID \
    {0x5b1b31a1, 0x9562, 0x11d2, {0x8e, 0x3f, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b}}
struct efi_loaded_image {
    uint32_t revision;
    efi_handle parent;
    struct efi_system_table *table;
    efi_handle device;
    void *file_path, *reserved;
    uint32_t options_bytes;
    const efi_char *options;
};

enum { EFI_FILE_READ = 1, EFI_FILE_WRITE = 2 };
#define EFI_FILE_CREATE (UINT64_C(1) << 63)

struct efi_file {
    uint64_t revision;
    efi_status(EFIAPI *open)(struct efi_file *self, struct efi_file **opened, const efi_char *name,
                             uint64_t mode, uint64_t attributes);
    efi_status(EFIAPI *close)(struct efi_file *self);
    void *delete_file;
    efi_status(EFIAPI *read)(struct efi_file *self, size_t *n_bytes, void *to);
    efi_status(EFIAPI *write)(struct efi_file *self, size_t *n_bytes, const void *from);
    void *get_position, *set_position, *get_info, *set_info;
    efi_status(EFIAPI *flush)(struct efi_file *self);
};

#define EFI_SIMPLE_FILE_SYSTEM_GUID \
    {0x964e5b22, 0x6459, 0x11d2, {0x8e, 0x39, 0x00, 0xa0, 0xc9, 0x69, 0x72, 0x3b}}
struct efi_file_system {
    uint64_t revision;
    efi_status(EFIAPI *open_volume)(struct efi_file_system *self, struct efi_file **root);
};

#define EFI_MEMORY_ATTRIBUTE_GUID \
    {0xf4560cf6, 0x40ec, 0x4b4a, {0xa1, 0x92, 0xbf, 0x1d, 0x57, 0xd0, 0xb1, 0x89}}
#define EFI_MEMORY_RP UINT64_C(0x2000) /* reads are refused */
struct efi_memory_attribute {
    void *get;
    efi_status(EFIAPI *set)(struct efi_memory_attribute *self, uint64_t address, uint64_t n_bytes,
                            uint64_t attributes);
    efi_status(EFIAPI *clear)(struct efi_memory_attribute *self, uint64_t address, uint64_t n_bytes,
                              uint64_t attributes);
};

#endif
