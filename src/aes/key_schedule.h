/* SPDX-License-Identifier: MIT */
/*
 * The key schedule of FIPS 197 with 32-bit words, for kernels that bring their own SubWord.
 */
#ifndef EVC_AES_KEY_SCHEDULE_H
#define EVC_AES_KEY_SCHEDULE_H

#include "aes/columns.h"
#include "common/bytes.h"

/*
 * KeyExpansion (section 5.2). enc: (rounds + 1) x 16 bytes, written; user_key: 16, 24 or 32;
 * sub_word: the S-box on the four bytes of a column; a constant, so that it is inlined.
 */
EVC_INLINE void evc_aes_expand_key(uint8_t enc[][16], const uint8_t *user_key, uint32_t rounds,
                                   uint32_t (*sub_word)(uint32_t column))
{
    const uint32_t nk = rounds - 6;
    uint8_t *w = enc[0];                /* word i - nk of the schedule, when word i is made */
    uint32_t last, phase = 0, rcon = 1; /* phase: i modulo nk */

    evc_copy_secret(w, user_key, 4 * nk);
    last = evc_load32_ne(w + 4 * (nk - 1));
    for (uint32_t n = 4 * (rounds + 1) - nk; n; n--, w += 4) {
        if (phase == 0) {
            last = sub_word(evc_rows_up(last, 1)) ^ EVC_IN_ROW(rcon, 0);
            rcon = EVC_TIMES2(rcon);
        } else if (nk == 8 && phase == 4) {
            last = sub_word(last);
        }
        last ^= evc_load32_ne(w);
        evc_store32_ne(w + 4 * nk, last);
        phase = phase + 1 == nk ? 0 : phase + 1;
    }
}

/* The schedule of the equivalent inverse cipher (section 5.3.5) in the order of its use. */
EVC_INLINE void evc_aes_invert_keys(uint8_t dec[][16], uint8_t enc[][16], uint32_t rounds)
{
    memcpy(dec[0], enc[rounds], 16);
    for (uint32_t r = 1; r < rounds; r++)
        for (uint32_t at = 0; at < 16; at += 4)
            evc_store32_ne(dec[r] + at,
                           evc_inv_mix_column(evc_load32_ne(enc[rounds - r] + at)));
    memcpy(dec[rounds], enc[0], 16);
}

#endif
