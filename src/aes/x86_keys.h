/* SPDX-License-Identifier: MIT */
/*
 * The key schedule of FIPS 197 with AES instructions, for every x86 kernel with the key form
 * fips197. Include it inside a region of X86_AESNI or more.
 *
 * AESENCLAST is SubBytes after ShiftRows, then a round key. On a word that stands in all four
 * columns ShiftRows does nothing, so AESENCLAST(word in every column, Rcon) is SubWord(word) ^
 * Rcon: 4 cycles on cores where AESKEYGENASSIST takes 7 or more. PSHUFB makes the four copies and
 * RotWord in one step. All intermediate values stay in registers.
 */
#ifndef EVC_AES_X86_KEYS_H
#define EVC_AES_X86_KEYS_H

#include "aes/fips197_key.h"
#include "common/bytes.h"

#define EVC_ROT_WORD_3 0x0c0f0e0d /* PSHUFB: RotWord of word 3, in every word */
#define EVC_WORD_3 0x0f0e0d0c
#define EVC_ROT_WORD_1 0x04070605

/* SubWord(the word that `bytes` picks) ^ rcon, in every word. */
EVC_INLINE __m128i evc_x86_sub_word(__m128i w, int bytes, uint32_t rcon)
{
    return _mm_aesenclast_si128(_mm_shuffle_epi8(w, _mm_set1_epi32(bytes)),
                                _mm_set1_epi32((int)rcon));
}

/* Word j of the result is the sum of words 0 to j. */
EVC_INLINE __m128i evc_x86_sum_words(__m128i w)
{
    w = _mm_xor_si128(w, _mm_slli_si128(w, 4));
    return _mm_xor_si128(w, _mm_slli_si128(w, 8));
}

/* Rcon: times x in GF(2^8) (FIPS 197 section 5.2). */
EVC_INLINE uint32_t evc_x86_next_rcon(uint32_t rcon)
{
    return (rcon << 1) ^ ((0u - (rcon >> 7)) & 0x11b);
}

/* enc: 11 x 16 bytes */
EVC_INLINE void evc_x86_expand_128(uint8_t *enc, const uint8_t *user_key)
{
    __m128i w = _mm_loadu_si128((const __m128i *)user_key);
    uint32_t rcon = 1;

    _mm_store_si128((__m128i *)enc, w);
    for (unsigned r = 1; r <= 10; r++, rcon = evc_x86_next_rcon(rcon)) {
        w = _mm_xor_si128(evc_x86_sum_words(w), evc_x86_sub_word(w, EVC_ROT_WORD_3, rcon));
        _mm_store_si128((__m128i *)(enc + 16 * r), w);
    }
}

/* enc: 13 x 16 bytes = 52 words = 8 x 6 + 4 */
EVC_INLINE void evc_x86_expand_192(uint8_t *enc, const uint8_t *user_key)
{
    __m128i w = _mm_loadu_si128((const __m128i *)user_key);        /* words 0 to 3 of six */
    __m128i v = _mm_loadl_epi64((const __m128i *)(user_key + 16)); /* words 4 and 5 */
    uint32_t rcon = 1;

    for (unsigned i = 0;; i++, rcon = evc_x86_next_rcon(rcon)) {
        _mm_storeu_si128((__m128i *)(enc + 24 * i), w);
        if (i == 8)
            break;
        _mm_storel_epi64((__m128i *)(enc + 24 * i + 16), v);
        w = _mm_xor_si128(evc_x86_sum_words(w), evc_x86_sub_word(v, EVC_ROT_WORD_1, rcon));
        v = _mm_xor_si128(v, _mm_slli_si128(v, 4));
        v = _mm_xor_si128(v, _mm_shuffle_epi32(w, 0xff));
    }
}

/* enc: 15 x 16 bytes */
EVC_INLINE void evc_x86_expand_256(uint8_t *enc, const uint8_t *user_key)
{
    __m128i w = _mm_loadu_si128((const __m128i *)user_key);
    __m128i v = _mm_loadu_si128((const __m128i *)(user_key + 16));
    uint32_t rcon = 1;

    for (unsigned r = 0;; r += 2, rcon <<= 1) { /* Rcon ends at 0x40: no reduction */
        _mm_store_si128((__m128i *)(enc + 16 * r), w);
        if (r == 14)
            break;
        _mm_store_si128((__m128i *)(enc + 16 * r + 16), v);
        w = _mm_xor_si128(evc_x86_sum_words(w), evc_x86_sub_word(v, EVC_ROT_WORD_3, rcon));
        v = _mm_xor_si128(evc_x86_sum_words(v), evc_x86_sub_word(w, EVC_WORD_3, 0));
    }
}

/* enc: (rounds + 1) x 16 bytes, aligned to 16 */
EVC_INLINE void evc_x86_expand(uint8_t *enc, uint32_t rounds, const uint8_t *user_key)
{
    if (rounds == 10)
        evc_x86_expand_128(enc, user_key);
    else if (rounds == 12)
        evc_x86_expand_192(enc, user_key);
    else
        evc_x86_expand_256(enc, user_key);
}

/* The slot set_key of all AES kernels that use this header. */
static inline void evc_x86_set_key(void *vkey, const uint8_t *user_key)
{
    struct evc_aes_fips197_key *key = vkey;
    const uint32_t rounds = key->head.rounds;

    evc_x86_expand(key->enc[0], rounds, user_key);
    if (!key->head.can_decrypt)
        return;
    /* The equivalent inverse cipher, section 5.3.5. */
    memcpy(key->dec[0], key->enc[rounds], 16);
    for (uint32_t r = 1; r < rounds; r++)
        _mm_store_si128((__m128i *)key->dec[r],
                        _mm_aesimc_si128(_mm_load_si128((const __m128i *)key->enc[rounds - r])));
    memcpy(key->dec[rounds], key->enc[0], 16);
}

#endif
