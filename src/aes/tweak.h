/* SPDX-License-Identifier: MIT */
/* The step from one XTS tweak to the next, for composed operations and for ciphertext stealing. */
#ifndef EVC_AES_TWEAK_H
#define EVC_AES_TWEAK_H

#include "common/bytes.h"
#include "common/ct.h"

/* tweak = tweak * x in GF(2^128), byte 0 least significant, x^128 = x^7 + x^2 + x + 1 (IEEE
 * 1619-2018 section 5.2). */
static inline void evc_aes_next_tweak(uint8_t tweak[16])
{
    uint64_t lo = evc_load64_le(tweak), hi = evc_load64_le(tweak + 8);
    uint64_t carry = evc_mask_highest64(hi);

    hi = (hi << 1) | (lo >> 63);
    lo = (lo << 1) ^ (carry & 0x87);
    evc_store64x2_le(tweak, lo, hi);
}

#endif
