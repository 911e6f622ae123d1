/* SPDX-License-Identifier: MIT */
/* Blocks of GCM that are made of less than a block: of lengths, and of the end of some bytes. */
#ifndef EVC_GCM_BLOCKS_H
#define EVC_GCM_BLOCKS_H

#include "common/bytes.h"

static void store_lengths(uint8_t block[16], uint64_t first_bytes, uint64_t second_bytes)
{
    evc_store64x2_be(block, 8 * first_bytes, 8 * second_bytes);
}

/* n bytes, 1 to 8, and zeros. */
EVC_INLINE uint64_t load_short(const uint8_t *from, size_t n)
{
    if (n >= 4)
        return evc_load32_le(from) | (uint64_t)evc_load32_le(from + n - 4) << 8 * (n - 4);
    return from[0] | (uint64_t)from[n / 2] << 8 * (n / 2) | (uint64_t)from[n - 1] << 8 * (n - 1);
}

/* n bytes, at most 16, filled up with zeros: in one store, since a kernel soon
 * reads the block whole. */
EVC_INLINE void store_short_block(uint8_t block[16], const uint8_t *from, size_t n)
{
    uint64_t first = 0, second = 0;

    if (n >= 8) {
        const size_t half = 4 * (16 - n); /* of a shift, which may be by all 64 bits */
        first = evc_load64_le(from);
        second = evc_load64_le(from + n - 8) >> half >> half;
    } else if (n) {
        first = load_short(from, n);
    }
    evc_store64x2_le(block, first, second);
}

#endif
