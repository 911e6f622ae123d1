/* SPDX-License-Identifier: MIT */
/* A program for UEFI without a C library: it is linked, not run. */
#include "everycore/cpu.h"
#include "everycore/gcm.h"

extern const struct evc_gcm evc_gcm_x86_aesni;
extern const struct evc_aes evc_aes_c_fixslice32;
extern const struct evc_ghash evc_ghash_c_ctmul32;

void *memcpy(void *to, const void *from, size_t n_bytes);
void *memmove(void *to, const void *from, size_t n_bytes);
void *memset(void *to, int value, size_t n_bytes);
uint64_t efi_main(void *image, void *system);

void *memmove(void *to, const void *from, size_t n_bytes)
{
    volatile uint8_t *const out = to;
    const volatile uint8_t *const in = from;

    if ((uintptr_t)out < (uintptr_t)in)
        for (size_t i = 0; i < n_bytes; i++)
            out[i] = in[i];
    else
        while (n_bytes--)
            out[n_bytes] = in[n_bytes];
    return to;
}

void *memcpy(void *to, const void *from, size_t n_bytes)
{
    return memmove(to, from, n_bytes);
}

void *memset(void *to, int value, size_t n_bytes)
{
    volatile uint8_t *const out = to;

    for (size_t i = 0; i < n_bytes; i++)
        out[i] = (uint8_t)value;
    return to;
}

EVC_ALIGN(16) static union evc_gcm_key key;

uint64_t efi_main(void *image, void *system)
{
    static const uint8_t user_key[16], iv[12];
    uint8_t text[40] = {0}, tag[16];
    enum evc_status status = evc_gcm_set_key(&key, &evc_gcm_x86_aesni, user_key, 128);

    (void)image, (void)system;
    if (status != EVC_OK || !(evc_cpu_features() & EVC_CPU(X86_AES)))
        status = evc_gcm_set_pair(&key, &evc_aes_c_fixslice32, &evc_ghash_c_ctmul32, user_key, 128);
    if (status == EVC_OK)
        status = evc_gcm_seal(&key, iv, 12, NULL, 0, text, text, sizeof text, tag, 16);
    return status;
}
