/* SPDX-License-Identifier: MIT */
/*
 * The key schedules of FIPS 197 in constant time, on 32-bit words: for kernels without AES instructions.
 *
 * Words are read little-endian: byte 0 of a word of the standard is bits 0 to 7.
 */
#ifndef EVC_AES_CT_KEYS_H
#define EVC_AES_CT_KEYS_H

#include "common/bytes.h"
#include "everycore/aes.h"

#define EVC_CIRCUIT_WORD uint32_t
#define EVC_CIRCUIT_NAME(function) evc_ct_##function##_32
#include "aes/sbox_circuit.h"

/* SubWord (section 5.2): bit j of the four bytes goes to bits 0, 8, 16, 24 of q[j]; the other bits of q[j]
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

/* xTimes (section 4.2) of four bytes. */
static inline uint32_t evc_ct_times_x(uint32_t w)
{
    uint32_t high = (w >> 7) & UINT32_C(0x01010101);

    return ((w & UINT32_C(0x7f7f7f7f)) << 1) ^ high ^ high << 1 ^ high << 3 ^ high << 4;
}

/* KeyExpansion (algorithm 2). user_key: 4 (rounds - 6) bytes; schedule: 16 (rounds + 1) bytes. */
static inline void evc_ct_expand_key(uint8_t *schedule, const uint8_t *user_key, uint32_t rounds)
{
    const uint32_t nk = rounds - 6;
    uint32_t rcon = 1, w = 0, phase = 0; /* phase: i modulo nk */

    memcpy(schedule, user_key, 4 * nk);
    w = evc_load32_le(user_key + 4 * (nk - 1));
    for (uint32_t i = nk; i < 4 * (rounds + 1); i++) {
        if (phase == 0) {
            w = evc_ct_sub_word(w >> 8 | w << 24) ^ rcon;
            rcon = evc_ct_times_x(rcon);
        } else if (nk > 6 && phase == 4) {
            w = evc_ct_sub_word(w);
        }
        phase = phase + 1 == nk ? 0 : phase + 1;
        w ^= evc_load32_le(schedule + 4 * (i - nk));
        evc_store32_le(schedule + 4 * i, w);
    }
}

/* InvMixColumns (section 5.3.3) of one column: the matrix is that of MixColumns times circ(5, 0, 4, 0). */
static inline uint32_t evc_ct_inv_mix_column(uint32_t w)
{
    uint32_t t = w ^ (w >> 16 | w << 16);

    w ^= evc_ct_times_x(evc_ct_times_x(t));
    t = w ^ (w >> 8 | w << 24);
    return evc_ct_times_x(t) ^ (w >> 8 | w << 24) ^ (t >> 16 | t << 16);
}

/* The schedule of the equivalent inverse cipher (section 5.3.5), in the order of its use: both 16 (rounds
 * + 1) bytes, dec[i] = InvMixColumns(enc[rounds - i]) but for the first and the last. */
static inline void evc_ct_invert_key(uint8_t (*dec)[16], uint8_t (*enc)[16], uint32_t rounds)
{
    memcpy(dec[0], enc[rounds], 16);
    memcpy(dec[rounds], enc[0], 16);
    for (uint32_t r = 1; r < rounds; r++)
        for (uint32_t c = 0; c < 16; c += 4)
            evc_store32_le(dec[r] + c, evc_ct_inv_mix_column(evc_load32_le(enc[rounds - r] + c)));
}

#endif
