/* SPDX-License-Identifier: MIT */
/* The tweaks of XTS as numbers: doubling one takes no vector instruction. Include it inside a
 * region of A64_NEON or more. */
#ifndef EVC_AES_A64_TWEAK_H
#define EVC_AES_A64_TWEAK_H

#include "common/a64_part.h"
#include "common/bytes.h"

struct evc_a64_tweak {
    uint64_t lo, hi;
};

EVC_INLINE struct evc_a64_tweak evc_a64_load_tweak(const uint8_t p[16])
{
    return (struct evc_a64_tweak){evc_load64_le(p), evc_load64_le(p + 8)};
}

EVC_INLINE void evc_a64_store_tweak(uint8_t p[16], struct evc_a64_tweak t)
{
    evc_store64_le(p, t.lo);
    evc_store64_le(p + 8, t.hi);
}

/* t * x, x^128 = x^7 + x^2 + x + 1 (IEEE 1619-2018 section 5.2) */
EVC_INLINE struct evc_a64_tweak evc_a64_next_tweak(struct evc_a64_tweak t)
{
    const uint64_t lost = ((uint64_t)0 - (t.hi >> 63)) & 0x87;

    return (struct evc_a64_tweak){t.lo << 1 ^ lost, t.hi << 1 | t.lo >> 63};
}

#endif
