/* SPDX-License-Identifier: MIT */
/* GHASH keys, and hashing by the key's kernel. */
#include "everycore/ghash.h"

#include "common/bytes.h"

enum evc_status evc_ghash_set_key_in(void *key, size_t room_bytes, const struct evc_ghash *kernel,
                                     const uint8_t *h)
{
    struct evc_ghash_head *head = key;

    if (!kernel || kernel->kernel.key_bytes > room_bytes)
        return EVC_ERR_KERNEL;
    head->kernel = kernel;
    kernel->set_key(key, h);
    return EVC_OK;
}

enum evc_status evc_ghash_set_key(union evc_ghash_key *key, const struct evc_ghash *kernel,
                                  const uint8_t *h)
{
    if (!kernel || kernel->kernel.key_align > 16)
        return EVC_ERR_KERNEL;
    return evc_ghash_set_key_in(key, sizeof *key, kernel, h);
}

void evc_ghash_blocks(const void *key, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct evc_ghash_head *head = key;

    head->kernel->blocks(key, y, in, n_blocks);
}

void evc_ghash_padded(const void *key, uint8_t y[16], const uint8_t *in, size_t len_bytes)
{
    const struct evc_ghash_head *head = key;
    const size_t whole = len_bytes & ~(size_t)15;
    uint8_t last[16] = {0};

    if (whole)
        head->kernel->blocks(key, y, in, whole / 16);
    if (len_bytes == whole)
        return;
    memcpy(last, in + whole, len_bytes - whole);
    head->kernel->blocks(key, y, last, 1);
}
