/* SPDX-License-Identifier: MIT */
/* GHASH keys, and hashing by the key's kernel. */
#include "everycore/ghash.h"

#include "common/bytes.h"
#include "common/calls.h"
#include "common/clear.h"
#include "ghash/ops.h"

/* Composed operations work through a buffer of this many blocks on the stack. */
#define CHUNK_BLOCKS 32

enum evc_status evc_ghash_set_key_in(void *memory, size_t memory_bytes,
                                     const struct evc_ghash *kernel, const uint8_t *h)
{
    struct evc_ghash_head *head = memory;
    const enum evc_status status =
        !kernel || kernel->kernel.key_align > 16
            ? EVC_ERR_KERNEL
            : evc_check_key_memory(memory, memory_bytes, kernel->kernel.key_bytes, h, 16);

    evc_wipe(memory, memory_bytes);
    if (status != EVC_OK)
        return status;
    head->kernel = kernel;
    kernel->set_key(memory, h);
    evc_clear(&kernel->kernel);
    return EVC_OK;
}

enum evc_status evc_ghash_set_key(union evc_ghash_key *key, const struct evc_ghash *kernel,
                                  const uint8_t *h)
{
    return evc_ghash_set_key_in(key, sizeof *key, kernel, h);
}

void evc_ghash_blocks(const void *key, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct evc_ghash_head *head = key;

    if (!EVC_TAKES_KEY(ghash_blocks, key)) {
        memset(y, 0, 16);
        return;
    }
    head->kernel->blocks(key, y, in, n_blocks);
    evc_clear(&head->kernel->kernel);
}

void evc_ghash_reversed_blocks(const void *key, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct evc_ghash_head *head = key;

    if (!EVC_TAKES_KEY(ghash_reversed_blocks, key)) {
        memset(y, 0, 16);
        return;
    }
    evc_ghash_op_reversed_blocks(key, y, in, n_blocks);
    evc_clear(&head->kernel->kernel);
}

void evc_ghash_padded(const void *key, uint8_t y[16], const uint8_t *in, size_t len_bytes)
{
    const struct evc_ghash_head *head = key;

    if (!EVC_TAKES_KEY(ghash_padded, key)) {
        memset(y, 0, 16);
        return;
    }
    evc_ghash_op_padded(key, y, in, len_bytes);
    evc_clear(&head->kernel->kernel);
}

void evc_ghash_compose_reversed_blocks(const void *key, uint8_t y[16], const uint8_t *in,
                                       size_t n_blocks)
{
    const struct evc_ghash_head *head = key;
    uint8_t chunk[16 * CHUNK_BLOCKS];

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n) {
        n = n_blocks < CHUNK_BLOCKS ? n_blocks : CHUNK_BLOCKS;
        for (size_t at = 0; at < 16 * n; at += 16) {
            evc_store64_be(chunk + at, evc_load64_le(in + at + 8));
            evc_store64_be(chunk + at + 8, evc_load64_le(in + at));
        }
        head->kernel->blocks(key, y, chunk, n);
    }
    evc_wipe(chunk, sizeof chunk);
    evc_clear(&head->kernel->kernel);
}
