/* SPDX-License-Identifier: MIT OR GPL-2.0-or-later */
#ifndef TARGET_ARM_TCG_PAUTH_AES_H
#define TARGET_ARM_TCG_PAUTH_AES_H

/*
 * AES-128 as an implementation defined algorithm: the block is @data and
 * then @modifier, the key is @hi and then @lo, all with the most significant
 * byte first (FIPS 197); the code is the first half of the result.
 */
uint64_t arm_pauth_aes128(uint64_t data, uint64_t modifier,
                          uint64_t hi, uint64_t lo);

#endif
