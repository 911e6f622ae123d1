/* SPDX-License-Identifier: MIT */
/*
 * The key form "fips197": what kernels with the trait EVC_KEY_FIPS197 share.
 *
 * enc: (rounds + 1) x 16 bytes, the key schedule w[] of FIPS 197 section 5.2
 * as bytes in memory order.
 * dec: (rounds + 1) x 16 bytes, the schedule of the equivalent inverse cipher (section 5.3.5) in
 * the order in which decryption uses it: dec[0] = enc[rounds], dec[i] = InvMixColumns(enc[rounds -
 * i]), dec[rounds] = enc[0]. Only there if head.can_decrypt.
 */
#ifndef EVC_AES_FIPS197_KEY_H
#define EVC_AES_FIPS197_KEY_H

#include "everycore/aes.h"

struct evc_aes_fips197_key {
    struct evc_aes_head head;
    EVC_ALIGN(16) uint8_t enc[EVC_AES_MAX_ROUNDS + 1][16];
    EVC_ALIGN(16) uint8_t dec[EVC_AES_MAX_ROUNDS + 1][16];
};

#endif
