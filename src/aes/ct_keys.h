/* SPDX-License-Identifier: MIT */
/*
 * The key schedule of FIPS 197 in constant time: key_schedule.h with SubWord by the circuit of the
 * S-box. For kernels without AES instructions.
 */
#ifndef EVC_AES_CT_KEYS_H
#define EVC_AES_CT_KEYS_H

#include "aes/key_schedule.h"

#define EVC_CIRCUIT_WORD uint32_t
#define EVC_CIRCUIT_NAME(function) evc_ct_##function##_32
#include "aes/sbox_circuit.h"

/* SubWord (section 5.2): bit j of the four bytes goes to bits 0, 8, 16, 24 of q[j]; its other bits
 * hold something else and are dropped afterwards. */
static inline uint32_t evc_ct_sub_word(uint32_t w)
{
    const uint32_t lanes = UINT32_C(0x01010101);
    uint32_t q[8] = {w, w >> 1, w >> 2, w >> 3, w >> 4, w >> 5, w >> 6, w >> 7};

    evc_ct_sub_bytes_32(q);
    return EVC_CIRCUIT_KEY_XOR * lanes ^
           ((q[0] & lanes) | (q[1] & lanes) << 1 | (q[2] & lanes) << 2 | (q[3] & lanes) << 3 |
            (q[4] & lanes) << 4 | (q[5] & lanes) << 5 | (q[6] & lanes) << 6 | (q[7] & lanes) << 7);
}

/* KeyExpansion (algorithm 2). enc: (rounds + 1) x 16 bytes; user_key: 4 (rounds - 6) bytes. */
static inline void evc_ct_expand_key(uint8_t enc[][16], const uint8_t *user_key, uint32_t rounds)
{
    evc_aes_expand_key(enc, user_key, rounds, evc_ct_sub_word);
}

#endif
