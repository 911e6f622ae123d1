/* SPDX-License-Identifier: MIT */
/*
 * Keys of QARMA-64 for both directions. Decryption is encryption under another key: w0 and w1
 * exchanged, alpha added to k0, and M k0 in the reflector (Avanzi: The QARMA Block Cipher Family,
 * ToSC 2017, issue 1, section 2).
 */
#ifndef EVC_QARMA_SCHEDULE_H
#define EVC_QARMA_SCHEDULE_H

#include "everycore/qarma.h"

#include "qarma/spec.h"

/* Words of one direction. */
struct evc_qarma_words {
    uint64_t w0, w1, k0, k1;
};

/* Each cell rotated to the left by one. */
EVC_INLINE uint64_t evc_qarma_rho(uint64_t x)
{
    return (x << 1 & UINT64_C(0xeeeeeeeeeeeeeeee)) | (x >> 3 & UINT64_C(0x1111111111111111));
}

EVC_INLINE uint64_t evc_qarma_rho2(uint64_t x)
{
    return (x << 2 & UINT64_C(0xcccccccccccccccc)) | (x >> 2 & UINT64_C(0x3333333333333333));
}

EVC_INLINE uint64_t evc_qarma_left(uint64_t x, unsigned n_bits)
{
    return x << n_bits | x >> (64 - n_bits);
}

/* M = circ(0, rho, rho^2, rho) on columns: cells of a column are 16 bits apart. */
EVC_INLINE uint64_t evc_qarma_mix(uint64_t x)
{
    return evc_qarma_rho(evc_qarma_left(x, 16) ^ evc_qarma_left(x, 48)) ^
           evc_qarma_rho2(evc_qarma_left(x, 32));
}

/* h, then omega: cells that move by the same distance go together. */
EVC_INLINE uint64_t evc_qarma_next_tweak(uint64_t t)
{
    const uint64_t low = UINT64_C(0x1101100010010100); /* bit 0 of the cells that omega steps */

    t = (t << 48 & UINT64_C(0x00ff000000000000)) | (t >> 16 & UINT64_C(0x0000ffff0000ffff)) |
        (t << 12 & UINT64_C(0x000000000ff00000)) | (t << 16 & UINT64_C(0x0f00000000000000)) |
        (t << 24 & UINT64_C(0xf000000000000000)) | (t >> 28 & UINT64_C(0x00000000000f0000)) |
        (t >> 4 & UINT64_C(0x00000000f0000000));
    return (t & ~(low * 15)) | (t >> 1 & low * 7) | ((t ^ t >> 1) & low) << 3;
}

EVC_INLINE struct evc_qarma_words evc_qarma_forward(uint64_t w0, uint64_t k0)
{
    const struct evc_qarma_words words = {w0, evc_qarma_w1(w0), k0, k0};

    return words;
}

EVC_INLINE struct evc_qarma_words evc_qarma_backward(uint64_t w0, uint64_t k0)
{
    const struct evc_qarma_words words = {evc_qarma_w1(w0), w0, k0 ^ QARMA_ALPHA,
                                          evc_qarma_mix(k0)};

    return words;
}

#endif
