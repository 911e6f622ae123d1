/* SPDX-License-Identifier: MIT */
/*
 * The key schedule of FIPS 197 with the AES instructions of A64, for every kernel there with the
 * key form fips197. Include it inside a region of A64_CE or more.
 *
 * AESE is AddRoundKey, ShiftRows, SubBytes. On a word that stands in all four columns ShiftRows
 * does nothing, so AESE with a key of zero is SubWord. TBL makes the four copies and RotWord in one
 * step. All intermediate values stay in vector registers.
 */
#ifndef EVC_AES_A64_KEYS_H
#define EVC_AES_A64_KEYS_H

#include "aes/fips197_key.h"
#include "common/bytes.h"

#define EVC_A64_ROT_WORD_3 UINT32_C(0x0c0f0e0d) /* TBL: RotWord of word 3, in every word */
#define EVC_A64_WORD_3 UINT32_C(0x0f0e0d0c)
#define EVC_A64_ROT_WORD_1 UINT32_C(0x04070605)

/* SubWord(the word that `bytes` picks) ^ rcon, in every word. */
EVC_INLINE uint8x16_t evc_a64_sub_word(uint8x16_t w, uint32_t bytes, uint32_t rcon)
{
    const uint8x16_t picked = vqtbl1q_u8(w, vreinterpretq_u8_u32(vdupq_n_u32(bytes)));

    return veorq_u8(vaeseq_u8(picked, vdupq_n_u8(0)), vreinterpretq_u8_u32(vdupq_n_u32(rcon)));
}

/* Word j of the result is the sum of words 0 to j. */
EVC_INLINE uint8x16_t evc_a64_sum_words(uint8x16_t w)
{
    const uint8x16_t zero = vdupq_n_u8(0);

    w = veorq_u8(w, vextq_u8(zero, w, 12));
    return veorq_u8(w, vextq_u8(zero, w, 8));
}

/* Rcon: times x in GF(2^8) (FIPS 197 section 5.2). */
EVC_INLINE uint32_t evc_a64_next_rcon(uint32_t rcon)
{
    return (rcon << 1) ^ ((0u - (rcon >> 7)) & 0x11b);
}

/* enc: 11 x 16 bytes */
EVC_INLINE void evc_a64_expand_128(uint8_t *enc, const uint8_t *user_key)
{
    uint8x16_t w = vld1q_u8(user_key);
    uint32_t rcon = 1;

    vst1q_u8(enc, w);
    for (unsigned r = 1; r <= 10; r++, rcon = evc_a64_next_rcon(rcon)) {
        w = veorq_u8(evc_a64_sum_words(w), evc_a64_sub_word(w, EVC_A64_ROT_WORD_3, rcon));
        vst1q_u8(enc + 16 * r, w);
    }
}

/* enc: 13 x 16 bytes = 52 words = 8 x 6 + 4 */
EVC_INLINE void evc_a64_expand_192(uint8_t *enc, const uint8_t *user_key)
{
    const uint8x16_t zero = vdupq_n_u8(0);
    uint8x16_t w = vld1q_u8(user_key);                                  /* words 0 to 3 of six */
    uint8x16_t v = vcombine_u8(vld1_u8(user_key + 16), vdup_n_u8(0)); /* words 4 and 5 */
    uint32_t rcon = 1;

    for (unsigned i = 0;; i++, rcon = evc_a64_next_rcon(rcon)) {
        vst1q_u8(enc + 24 * i, w);
        if (i == 8)
            break;
        vst1_u8(enc + 24 * i + 16, vget_low_u8(v));
        w = veorq_u8(evc_a64_sum_words(w), evc_a64_sub_word(v, EVC_A64_ROT_WORD_1, rcon));
        v = veorq_u8(v, vextq_u8(zero, v, 12));
        v = veorq_u8(v, vreinterpretq_u8_u32(vdupq_laneq_u32(vreinterpretq_u32_u8(w), 3)));
    }
}

/* enc: 15 x 16 bytes */
EVC_INLINE void evc_a64_expand_256(uint8_t *enc, const uint8_t *user_key)
{
    uint8x16_t w = vld1q_u8(user_key), v = vld1q_u8(user_key + 16);
    uint32_t rcon = 1;

    for (unsigned r = 0;; r += 2, rcon <<= 1) { /* Rcon ends at 0x40: no reduction */
        vst1q_u8(enc + 16 * r, w);
        if (r == 14)
            break;
        vst1q_u8(enc + 16 * r + 16, v);
        w = veorq_u8(evc_a64_sum_words(w), evc_a64_sub_word(v, EVC_A64_ROT_WORD_3, rcon));
        v = veorq_u8(evc_a64_sum_words(v), evc_a64_sub_word(w, EVC_A64_WORD_3, 0));
    }
}

/* enc: (rounds + 1) x 16 bytes */
EVC_INLINE void evc_a64_expand(uint8_t *enc, uint32_t rounds, const uint8_t *user_key)
{
    if (rounds == 10)
        evc_a64_expand_128(enc, user_key);
    else if (rounds == 12)
        evc_a64_expand_192(enc, user_key);
    else
        evc_a64_expand_256(enc, user_key);
}

/* The slot set_key of all AES kernels that use this header. */
static inline void evc_a64_set_key(void *vkey, const uint8_t *user_key)
{
    struct evc_aes_fips197_key *key = vkey;
    const uint32_t rounds = key->head.rounds;

    evc_a64_expand(key->enc[0], rounds, user_key);
    if (!key->head.can_decrypt)
        return;
    /* The equivalent inverse cipher, section 5.3.5. */
    vst1q_u8(key->dec[0], vld1q_u8(key->enc[rounds]));
    for (uint32_t r = 1; r < rounds; r++)
        vst1q_u8(key->dec[r], vaesimcq_u8(vld1q_u8(key->enc[rounds - r])));
    vst1q_u8(key->dec[rounds], vld1q_u8(key->enc[0]));
}

#endif
