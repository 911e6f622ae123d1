/* SPDX-License-Identifier: MIT */
/* The operations of a GHASH key's kernel, for the code of GCM: as those of everycore/ghash.h, but
 * nothing is cleared after them and the key is not checked. */
#ifndef EVC_GHASH_OPS_H
#define EVC_GHASH_OPS_H

#include "everycore/ghash.h"

#include "common/bytes.h"

EVC_INLINE void evc_ghash_op_blocks(const void *key, uint8_t y[16], const uint8_t *in,
                                    size_t n_blocks)
{
    const struct evc_ghash_head *head = key;

    head->kernel->blocks(key, y, in, n_blocks);
}

EVC_INLINE void evc_ghash_op_padded(const void *key, uint8_t y[16], const uint8_t *in,
                                    size_t len_bytes)
{
    const size_t whole = len_bytes & ~(size_t)15;
    uint8_t last[16] = {0};

    if (whole)
        evc_ghash_op_blocks(key, y, in, whole / 16);
    if (len_bytes == whole)
        return;
    evc_copy_secret(last, in + whole, len_bytes - whole);
    evc_ghash_op_blocks(key, y, last, 1);
    evc_wipe(last, sizeof last);
}

/* Made of blocks, for kernels whose slot is empty: src/ghash/ghash.c. It ends with evc_clear()
 * itself, since a buffer lies between its caller and the kernel. */
void evc_ghash_compose_reversed_blocks(const void *key, uint8_t y[16], const uint8_t *in,
                                       size_t n_blocks);

EVC_INLINE void evc_ghash_op_reversed_blocks(const void *key, uint8_t y[16], const uint8_t *in,
                                             size_t n_blocks)
{
    const struct evc_ghash_head *head = key;

    if (head->kernel->reversed_blocks)
        head->kernel->reversed_blocks(key, y, in, n_blocks);
    else
        evc_ghash_compose_reversed_blocks(key, y, in, n_blocks);
}

#endif
