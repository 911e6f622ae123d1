/* SPDX-License-Identifier: MIT */
/* EFI Hash2 (UEFI Specification 2.10, chapter "Secure Technologies", EFI Hash2 Protocols):
 * a service that makes instances, and an instance that hashes one message at a time.
 * Lengths are in bytes. */
#ifndef EVC_TESTS_HASH2_H
#define EVC_TESTS_HASH2_H

#include "efi.h"

struct hash2 {
    efi_status(EFIAPI *hash_size)(const struct hash2 *, const struct efi_guid *algorithm,
                                  uint64_t *size);
    efi_status(EFIAPI *hash)(const struct hash2 *, const struct efi_guid *algorithm,
                             const uint8_t *message, uint64_t length, uint8_t *hash);
    efi_status(EFIAPI *begin)(const struct hash2 *, const struct efi_guid *algorithm);
    efi_status(EFIAPI *update)(const struct hash2 *, const uint8_t *message, uint64_t length);
    efi_status(EFIAPI *end)(const struct hash2 *, uint8_t *hash);
};

/* EFI_SERVICE_BINDING_PROTOCOL: an instance is a protocol on a handle. */
struct service_binding {
    efi_status(EFIAPI *create_child)(struct service_binding *, efi_handle *);
    efi_status(EFIAPI *destroy_child)(struct service_binding *, efi_handle);
};

static const struct efi_guid HASH2_BINDING_GUID = {
    0xda836f8d, 0x217f, 0x4ca0, {0x99, 0xc2, 0x1c, 0xa4, 0xe1, 0x60, 0x77, 0xea}};
static const struct efi_guid HASH2_GUID = {
    0x55b1d734, 0xc5e1, 0x49db, {0x96, 0x47, 0xb1, 0x6a, 0xfb, 0x0e, 0x30, 0x5b}};
static const struct efi_guid SHA256_GUID = {
    0x51aa59de, 0xfdf2, 0x4ea3, {0xbc, 0x63, 0x87, 0x5f, 0xb7, 0x84, 0x2e, 0xe9}};

#endif
