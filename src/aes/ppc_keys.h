/* SPDX-License-Identifier: MIT */
/*
 * The key schedule of FIPS 197 with the AES instructions of POWER8. Include it inside a region of
 * PPC_VCRYPTO or more, behind common/ppc.h.
 *
 * SubWord is vsbox, of a word that stands in all four columns. All intermediate values stay in
 * vector registers. Round keys are stored so that their raw vectors are in order: calls do not turn
 * them.
 */
#ifndef EVC_AES_PPC_KEYS_H
#define EVC_AES_PPC_KEYS_H

#include "common/ppc.h"

/* SubWord(RotWord(w)) ^ rcon, of a word w in all columns. */
EVC_INLINE evc_ppc_vec evc_ppc_rot_sub_word(evc_ppc_vec w, uint32_t rcon)
{
    const evc_ppc_words rotated = (evc_ppc_words)w << 8 | (evc_ppc_words)w >> 24;
    const uint32_t first = rcon << 24;

    return evc_ppc_vsbox((evc_ppc_vec)rotated) ^
           (evc_ppc_vec)(evc_ppc_words){first, first, first, first};
}

/* Word j of the result is the sum of words 0 to j. */
EVC_INLINE evc_ppc_vec evc_ppc_sum_words(evc_ppc_vec w)
{
    const evc_ppc_vec zero = {0};
    evc_ppc_vec earlier;

    EVC_PPC_SHIFT(earlier, zero, w, 12);
    w ^= earlier;
    EVC_PPC_SHIFT(earlier, zero, w, 8);
    return w ^ earlier;
}

/* Rcon: times x in GF(2^8) (FIPS 197 section 5.2). */
EVC_INLINE uint32_t evc_ppc_next_rcon(uint32_t rcon)
{
    return (rcon << 1) ^ ((0u - (rcon >> 7)) & 0x11b);
}

/* enc: 11 x 16 bytes */
EVC_INLINE void evc_ppc_expand_128(uint8_t *enc, const uint8_t *user_key)
{
    evc_ppc_vec w = evc_ppc_load(user_key), last;
    uint32_t rcon = 1;

    evc_ppc_store_raw(enc, w);
    for (unsigned r = 1; r <= 10; r++, rcon = evc_ppc_next_rcon(rcon)) {
        EVC_PPC_SPLAT(last, w, 3);
        w = evc_ppc_sum_words(w) ^ evc_ppc_rot_sub_word(last, rcon);
        evc_ppc_store_raw(enc + 16 * r, w);
    }
}

/* enc: 13 x 16 bytes = 52 words = 8 x 6 + 4 */
EVC_INLINE void evc_ppc_expand_192(uint8_t *enc, const uint8_t *user_key)
{
    const evc_ppc_vec zero = {0};
    evc_ppc_vec w = evc_ppc_load(user_key);                          /* words 0 to 3 of six */
    evc_ppc_vec v = evc_ppc_block(evc_load64_be(user_key + 16), 0); /* words 4 and 5, above */
    evc_ppc_vec last;
    uint32_t rcon = 1;

    for (unsigned i = 0;; i++, rcon = evc_ppc_next_rcon(rcon)) {
        evc_ppc_store_raw(enc + 24 * i, w);
        if (i == 8)
            break;
        evc_store64_ne(enc + 24 * i + 16, evc_ppc_upper(v));
        EVC_PPC_SPLAT(last, v, 1);
        w = evc_ppc_sum_words(w) ^ evc_ppc_rot_sub_word(last, rcon);
        EVC_PPC_SHIFT(last, zero, v, 12);
        v ^= last;
        EVC_PPC_SPLAT(last, w, 3);
        v ^= last;
    }
}

/* enc: 15 x 16 bytes */
EVC_INLINE void evc_ppc_expand_256(uint8_t *enc, const uint8_t *user_key)
{
    evc_ppc_vec w = evc_ppc_load(user_key), v = evc_ppc_load(user_key + 16), last;
    uint32_t rcon = 1;

    for (unsigned r = 0;; r += 2, rcon <<= 1) { /* Rcon ends at 0x40: no reduction */
        evc_ppc_store_raw(enc + 16 * r, w);
        if (r == 14)
            break;
        evc_ppc_store_raw(enc + 16 * r + 16, v);
        EVC_PPC_SPLAT(last, v, 3);
        w = evc_ppc_sum_words(w) ^ evc_ppc_rot_sub_word(last, rcon);
        EVC_PPC_SPLAT(last, w, 3);
        v = evc_ppc_sum_words(v) ^ evc_ppc_vsbox(last);
    }
}

/* enc: (rounds + 1) x 16 bytes */
EVC_INLINE void evc_ppc_expand(uint8_t *enc, uint32_t rounds, const uint8_t *user_key)
{
    if (rounds == 10)
        evc_ppc_expand_128(enc, user_key);
    else if (rounds == 12)
        evc_ppc_expand_192(enc, user_key);
    else
        evc_ppc_expand_256(enc, user_key);
}

#endif
