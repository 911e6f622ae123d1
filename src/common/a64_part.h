/* SPDX-License-Identifier: MIT */
/* Parts of a block to and from vector registers, for a region of A64_NEON or more. */
#ifndef EVC_COMMON_A64_PART_H
#define EVC_COMMON_A64_PART_H

#include "common/bytes.h"

/* Two numbers as a block, bytes from the least significant on. */
EVC_INLINE uint8x16_t evc_a64_block(uint64_t lo, uint64_t hi)
{
    return vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(lo), vcreate_u64(hi)));
}

/* n_bytes 1 to 15 at p as the low bytes of a block, zeros above; reads nothing else: two words that
 * overlap, or three bytes that may be the same. */
EVC_INLINE uint8x16_t evc_a64_load_part(const uint8_t *p, size_t n_bytes)
{
    uint64_t lo, hi = 0;

    if (n_bytes >= 8) {
        lo = evc_load64_le(p);
        hi = evc_load64_le(p + n_bytes - 8) >> 1 >> (127 - 8 * n_bytes);
    } else if (n_bytes >= 4) {
        lo = evc_load32_le(p) | (uint64_t)evc_load32_le(p + n_bytes - 4) << (8 * n_bytes - 32);
    } else {
        lo = (uint64_t)p[0] | (uint64_t)p[n_bytes / 2] << (n_bytes / 2 * 8) |
             (uint64_t)p[n_bytes - 1] << (n_bytes * 8 - 8);
    }
    return evc_a64_block(lo, hi);
}

/* The low n_bytes (1 to 15) of x to p; writes nothing else. */
EVC_INLINE void evc_a64_store_part(uint8_t *p, uint8x16_t x, size_t n_bytes)
{
    const uint64_t lo = vgetq_lane_u64(vreinterpretq_u64_u8(x), 0);
    const uint64_t hi = vgetq_lane_u64(vreinterpretq_u64_u8(x), 1);

    if (n_bytes >= 8) {
        evc_store64_le(p, lo);
        evc_store64_le(p + n_bytes - 8, lo >> (8 * n_bytes - 64) | hi << 1 << (127 - 8 * n_bytes));
    } else if (n_bytes >= 4) {
        evc_store32_le(p, (uint32_t)lo);
        evc_store32_le(p + n_bytes - 4, (uint32_t)(lo >> (8 * n_bytes - 32)));
    } else {
        p[n_bytes / 2] = (uint8_t)(lo >> (n_bytes / 2 * 8));
        p[n_bytes - 1] = (uint8_t)(lo >> (n_bytes * 8 - 8));
        p[0] = (uint8_t)lo;
    }
}

#endif
