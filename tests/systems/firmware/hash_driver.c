/* SPDX-License-Identifier: MIT */
/*
 * An EFI driver as it stands in an option ROM: it offers SHA-256 by the protocol EFI Hash2, and can
 * be unloaded. An example: it needs no header but efi.h and hash2.h, no library, and no device.
 *
 * Source: FIPS 180-4 (2015), sections 4.2.2, 5.1.1, 5.3.3, 6.2; UEFI Specification 2.10 (2022): EFI
 *         Hash2 Protocols, EFI Services Binding, EFI Loaded Image Protocol.
 */
#include "hash2.h"

#include <stddef.h>

enum { BLOCK_BYTES = 64, HASH_BYTES = 32, LENGTH_AT = 56 };
enum { IDLE, BEGUN, UPDATED }; /* of an instance */

struct sha256 {
    uint32_t h[8];
    uint64_t length; /* bytes so far */
    uint8_t block[BLOCK_BYTES];
};

static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static void take_block(struct sha256 *s)
{
    uint32_t w[64], v[8];

    for (size_t i = 0; i < 16; i++) {
        const uint8_t *at = s->block + 4 * i;
        w[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
    for (size_t i = 16; i < 64; i++) {
        const uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    for (size_t i = 0; i < 8; i++)
        v[i] = s->h[i];
    for (size_t i = 0; i < 64; i++) {
        const uint32_t e = v[4], a = v[0];
        const uint32_t t1 = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                            ((e & v[5]) ^ (~e & v[6])) + rounds[i] + w[i];
        const uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                            ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        for (size_t j = 7; j > 0; j--)
            v[j] = v[j - 1];
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (size_t i = 0; i < 8; i++)
        s->h[i] += v[i];
}

static void begin(struct sha256 *s)
{
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

    for (size_t i = 0; i < 8; i++)
        s->h[i] = first[i];
    s->length = 0;
}

static void update(struct sha256 *s, const uint8_t *message, uint64_t length)
{
    for (uint64_t i = 0; i < length; i++) {
        s->block[s->length++ % BLOCK_BYTES] = message[i];
        if (s->length % BLOCK_BYTES == 0)
            take_block(s);
    }
}

static void end(struct sha256 *s, uint8_t *hash)
{
    static const uint8_t padding[2] = {0x80, 0};
    const uint64_t bits = 8 * s->length;
    uint8_t length[8];

    for (unsigned i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    update(s, padding, 1);
    while (s->length % BLOCK_BYTES != LENGTH_AT)
        update(s, padding + 1, 1);
    update(s, length, 8);
    for (unsigned i = 0; i < HASH_BYTES; i++)
        hash[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

/* ---- Instances ------------------------------------------------------------------------------- */

struct instance {
    struct hash2 calls; /* the first member: the protocol is the instance */
    struct sha256 sha256;
    int state;
};

static struct instance *instance_of(const struct hash2 *self)
{
    return (struct instance *)(uintptr_t)self;
}

static int is_sha256(const struct efi_guid *algorithm)
{
    const uint8_t *given = (const uint8_t *)algorithm, *own = (const uint8_t *)&SHA256_GUID;

    for (size_t i = 0; algorithm && i < sizeof SHA256_GUID; i++)
        if (given[i] != own[i])
            return 0;
    return algorithm != NULL;
}

static efi_status EFIAPI hash_size(const struct hash2 *self, const struct efi_guid *algorithm,
                                   uint64_t *size)
{
    if (!self || !size)
        return EFI_INVALID_PARAMETER;
    if (!is_sha256(algorithm))
        return EFI_UNSUPPORTED;
    *size = HASH_BYTES;
    return EFI_SUCCESS;
}

static efi_status EFIAPI hash_all(const struct hash2 *self, const struct efi_guid *algorithm,
                                  const uint8_t *message, uint64_t length, uint8_t *hash)
{
    struct instance *one = instance_of(self);

    if (!self || !hash || (!message && length))
        return EFI_INVALID_PARAMETER;
    if (!is_sha256(algorithm))
        return EFI_UNSUPPORTED;
    one->state = IDLE;
    begin(&one->sha256);
    update(&one->sha256, message, length);
    end(&one->sha256, hash);
    return EFI_SUCCESS;
}

static efi_status EFIAPI hash_begin(const struct hash2 *self, const struct efi_guid *algorithm)
{
    struct instance *one = instance_of(self);

    if (!self)
        return EFI_INVALID_PARAMETER;
    if (!is_sha256(algorithm))
        return EFI_UNSUPPORTED;
    if (one->state != IDLE)
        return EFI_ALREADY_STARTED;
    one->state = BEGUN;
    begin(&one->sha256);
    return EFI_SUCCESS;
}

static efi_status EFIAPI hash_update(const struct hash2 *self, const uint8_t *message,
                                     uint64_t length)
{
    struct instance *one = instance_of(self);

    if (!self || (!message && length))
        return EFI_INVALID_PARAMETER;
    if (one->state == IDLE)
        return EFI_NOT_READY;
    one->state = UPDATED;
    update(&one->sha256, message, length);
    return EFI_SUCCESS;
}

static efi_status EFIAPI hash_end(const struct hash2 *self, uint8_t *hash)
{
    struct instance *one = instance_of(self);

    if (!self || !hash)
        return EFI_INVALID_PARAMETER;
    if (one->state != UPDATED)
        return EFI_NOT_READY;
    one->state = IDLE;
    end(&one->sha256, hash);
    return EFI_SUCCESS;
}

/* ---- The service ----------------------------------------------------------------------------- */

static struct efi_boot_services *boot;
static uint64_t n_instances;

static efi_status EFIAPI create_child(struct service_binding *self, efi_handle *handle)
{
    void *memory = NULL;

    if (!self || !handle)
        return EFI_INVALID_PARAMETER;
    if (boot->allocate_pool(EFI_BOOT_SERVICES_DATA, sizeof(struct instance), &memory))
        return EFI_OUT_OF_RESOURCES;
    struct instance *one = memory;
    one->calls.hash_size = hash_size;
    one->calls.hash = hash_all;
    one->calls.begin = hash_begin;
    one->calls.update = hash_update;
    one->calls.end = hash_end;
    one->state = IDLE;
    const efi_status status = boot->install_protocol(handle, &HASH2_GUID, 0, one);
    if (status)
        boot->free_pool(one);
    else
        n_instances++;
    return status;
}

static efi_status EFIAPI destroy_child(struct service_binding *self, efi_handle handle)
{
    void *found = NULL;

    if (!self || !handle)
        return EFI_INVALID_PARAMETER;
    if (boot->handle_protocol(handle, &HASH2_GUID, &found) ||
        ((struct hash2 *)found)->hash != hash_all)
        return EFI_UNSUPPORTED;
    const efi_status status = boot->uninstall_protocol(handle, &HASH2_GUID, found);
    if (status)
        return status;
    n_instances--;
    boot->free_pool(found);
    return EFI_SUCCESS;
}

static struct service_binding service = {create_child, destroy_child};
static struct probe probe = {MACHINE, &service, NULL};

static efi_status EFIAPI unload(efi_handle image)
{
    (void)image;
    if (n_instances)
        return EFI_ACCESS_DENIED;
    boot->uninstall_protocol(probe.handle, &PROBE_GUID, &probe);
    return boot->uninstall_protocol(probe.handle, &HASH2_BINDING_GUID, &service);
}

efi_status EFIAPI efi_main(efi_handle image, struct efi_system_table *table)
{
    void *loaded = NULL;

    boot = table->boot;
    efi_status status = boot->handle_protocol(image, &LOADED_IMAGE_GUID, &loaded);
    if (!status)
        status = boot->install_protocol(&probe.handle, &HASH2_BINDING_GUID, 0, &service);
    if (status)
        return status;
    status = boot->install_protocol(&probe.handle, &PROBE_GUID, 0, &probe);
    if (status)
        boot->uninstall_protocol(probe.handle, &HASH2_BINDING_GUID, &service);
    else
        ((struct efi_loaded_image *)loaded)->unload = unload;
    return status;
}
