/* SPDX-License-Identifier: MIT */
/* Blocks and tweaks of QARMA-64 as the words that table_words.h explains: what kernels with tables
 * define their tables with, before they include table_steps.h. */
#ifndef EVC_QARMA_TABLE_BLOCKS_H
#define EVC_QARMA_TABLE_BLOCKS_H

#include "common/bytes.h"
#include "qarma/schedule.h"

/* Bytes 0, 2, 4, 6 into the first word, 1, 3, 5, 7 into the second. */
EVC_INLINE uint64_t words_of(uint64_t x)
{
    uint64_t other = (x ^ x >> 8) & UINT64_C(0x0000ff000000ff00);

    x ^= other ^ other << 8;
    other = (x ^ x >> 16) & UINT64_C(0x00000000ffff0000);
    return x ^ other ^ other << 16;
}

/* Columns 0 and 1, 2 and 3 in the words; or 0 and 2, 1 and 3. */
EVC_INLINE uint64_t turned(uint64_t words)
{
    const uint64_t other = (words >> 32 ^ words >> 4) & 0x0f0f0f0f;

    return words ^ other << 4 ^ other << 32;
}

/* The cells of mask, from so many bits further down, round the end. */
#define MOVED(n_bits, mask) (evc_qarma_left(x, n_bits) & UINT64_C(mask))

EVC_INLINE uint64_t tau(uint64_t x)
{
    return (x & UINT64_C(0xf000000f00000000)) | MOVED(12, 0x000000000000f00f) |
           MOVED(16, 0x00f0000000000000) | MOVED(20, 0x000000000f000000) |
           MOVED(24, 0x0000f0f000000000) | MOVED(28, 0x0000000000000f00) |
           MOVED(36, 0x0000000000f00000) | MOVED(40, 0x0f0f000000000000) |
           MOVED(44, 0x00000000000000f0) | MOVED(48, 0x00000f0000000000) |
           MOVED(52, 0x00000000f00f0000);
}

/* Words that k_i or t_i adds: in the first half, and in the second. */
struct added {
    EVC_ALIGN(16) uint64_t there;
    uint64_t back;
};

EVC_INLINE struct added added_by(uint64_t x)
{
    const uint64_t moved = tau(x);
    const struct added added = {words_of(evc_qarma_mix(moved)), turned(words_of(moved))};

    return added;
}

/* An address of which the compiler knows nothing. One that is a constant and an offset, it
 * would add to every index. */
EVC_INLINE const void *hide_pointer(const void *p)
{
#if EVC_GNU_C
    __asm__("" : "+r"(p));
#endif
    return p;
}

#endif
