/* SPDX-License-Identifier: MIT */
/*
 * The declarations of UEFI that the drivers of these tests need, after the UEFI Specification
 * 2.10: sections 2.3 (types), 4.3 and 4.4 (tables), 7 (boot services), 9.1 (loaded image), 11.1
 * (driver binding), 14.4 (PciIo).
 */
#ifndef EFI_H
#define EFI_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef u64 status;
typedef void *handle;

#if defined(__x86_64__)
#define EFIAPI __attribute__((ms_abi))
#else
#define EFIAPI
#endif
#define UNUSED __attribute__((unused))
#define ERROR(n) (1ull << 63 | (n))
#define UNSUPPORTED ERROR(3)
#define DEVICE_ERROR ERROR(7)

struct guid {
    u32 a;
    u16 b, c;
    u8 d[8];
};
struct header {
    u64 signature;
    u32 revision, size, crc, reserved;
};

typedef void EFIAPI notify_function(void *event, void *context);

struct boot_services {
    struct header header;
    u64(EFIAPI *raise_tpl)(u64);
    void(EFIAPI *restore_tpl)(u64);
    status(EFIAPI *allocate_pages)(u32 how, u32 type, u64 pages, u64 *address);
    status(EFIAPI *free_pages)(u64 address, u64 pages);
    void *get_memory_map;
    status(EFIAPI *allocate_pool)(u32 type, u64 bytes, void *out);
    status(EFIAPI *free_pool)(void *);
    status(EFIAPI *create_event)(u32 type, u64 tpl, notify_function *, void *context, void *out);
    status(EFIAPI *set_timer)(void *event, u32 type, u64 time);
    void *wait_for_event;
    status(EFIAPI *signal_event)(void *);
    status(EFIAPI *close_event)(void *);
    void *check_event;
    status(EFIAPI *install)(handle *, const struct guid *, u32, void *);
    void *reinstall;
    status(EFIAPI *uninstall)(handle, const struct guid *, void *);
    status(EFIAPI *handle_protocol)(handle, const struct guid *, void *out);
    void *reserved, *register_notify, *locate_handle, *locate_path, *install_table;
    status(EFIAPI *load_image)(u8, handle, void *, void *, u64, handle *);
    void *start_image, *exit, *unload_image, *exit_boot_services, *monotonic;
    status(EFIAPI *stall)(u64 microseconds);
    void *watchdog, *connect, *disconnect;
    status(EFIAPI *open)(handle, const struct guid *, void *out, handle agent, handle controller,
                         u32 how);
    status(EFIAPI *close)(handle, const struct guid *, handle agent, handle controller);
    void *open_information, *per_handle, *locate_handles;
    status(EFIAPI *locate)(const struct guid *, void *, void *out);
};

struct system_table {
    struct header header;
    void *vendor;
    u32 revision;
    handle in_handle;
    void *in;
    handle out_handle;
    void *out;
    handle error_handle;
    void *error, *runtime;
    struct boot_services *boot;
};

struct loaded_image {
    u32 revision;
    handle parent;
    struct system_table *system;
    handle device;
    void *path, *reserved;
    u32 options_bytes;
    void *options, *base;
    u64 bytes;
    u32 code_type, data_type;
    status(EFIAPI *unload)(handle);
};

enum { DEVICE_READS, DEVICE_WRITES, COMMON_BUFFER }; /* of map */
enum { WIDTH_8, WIDTH_16, WIDTH_32, WIDTH_64 };
enum { ATTRIBUTES_ENABLE = 2, ATTRIBUTES_DISABLE = 3 };
/* ATTRIBUTES: memory, bus mastering; LONG_ADDRESSES: DUAL_ADDRESS_CYCLE */
enum { ATTRIBUTES = 0x600, LONG_ADDRESSES = 0x8000 };

struct pci_io {
    void *poll_mem, *poll_io;
    status(EFIAPI *mem_read)(struct pci_io *, u32 width, u8 bar, u64 offset, u64 count, void *);
    status(EFIAPI *mem_write)(struct pci_io *, u32 width, u8 bar, u64 offset, u64 count, void *);
    void *io_read, *io_write;
    status(EFIAPI *pci_read)(struct pci_io *, u32 width, u32 offset, u64 count, void *);
    status(EFIAPI *pci_write)(struct pci_io *, u32 width, u32 offset, u64 count, void *);
    void *copy;
    status(EFIAPI *map)(struct pci_io *, u32 operation, void *host, u64 *bytes, u64 *device,
                        void **mapping);
    status(EFIAPI *unmap)(struct pci_io *, void *mapping);
    status(EFIAPI *allocate_buffer)(struct pci_io *, u32 how, u32 type, u64 pages, void *out,
                                    u64 attributes);
    status(EFIAPI *free_buffer)(struct pci_io *, u64 pages, void *);
    status(EFIAPI *flush)(struct pci_io *);
    void *location;
    status(EFIAPI *attributes)(struct pci_io *, u32 operation, u64 attributes, u64 *out);
    status(EFIAPI *bar_attributes)(struct pci_io *, u8 bar, u64 *supports, void *out);
};

struct driver_binding {
    status(EFIAPI *supported)(struct driver_binding *, handle, void *);
    status(EFIAPI *start)(struct driver_binding *, handle, void *);
    status(EFIAPI *stop)(struct driver_binding *, handle, u64 n_children, handle *children);
    u32 version;
    handle image, agent;
};

enum { BY_DRIVER = 0x10 };
enum { TPL_APPLICATION = 4, TPL_CALLBACK = 8, TPL_NOTIFY = 16, TPL_HIGH = 31 };
enum { BOOT_DATA = 4 };

#endif
