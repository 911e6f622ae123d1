/* SPDX-License-Identifier: MIT */
/*
 * The key schedule of FIPS 197 with AES instructions, for every x86 kernel with the key form
 * fips197. Include it inside a region of X86_AESNI or more.
 *
 * AESENCLAST is SubBytes after ShiftRows, then a round key. On a word that stands in all four
 * columns ShiftRows does nothing, so AESENCLAST(word in every column, Rcon) is SubWord(word) ^
 * Rcon: 3 to 4 cycles on cores where AESKEYGENASSIST takes 7 or more.
 *
 * For 128 and 256 bits the chain of dependent instructions has nothing else. Of the four words of
 * step t, w_3(t) = w_3(t-1) + w_2(t), w_2(t) = w_2(t-1) + w_1(t), w_1(t) = w_1(t-1) + w_0(t), and
 * w_0(t) is w_0(t-1) plus what SubWord gives for this step. In characteristic 2 this is
 *
 *     w_3(t) = w_3(t-4) + the same of SubWord
 *
 * so AESENCLAST adds the last word of four steps before as its round key,
 * and is the next last word.
 * The steps before the first are what the same equations give: w_3(-1) = w_2 + w_3,
 * w_3(-2) = w_1 + w_3, w_3(-3) = w_0 + w_1 + w_2 + w_3 of step 0. RotWord commutes with SubWord, so
 * no step rotates: each last word is kept rotated by one byte less than the one before, which is
 * the same four steps later.
 *
 * The round keys follow the chain. They are used as they appear, to encrypt a
 * block of zeros: GCM's H.
 */
#ifndef EVC_AES_X86_KEYS_H
#define EVC_AES_X86_KEYS_H

#include "aes/fips197_key.h"
#include "common/bytes.h"
#include "common/each.h"
#include "common/x86_part.h"

#define EVC_ROT_WORD_1 0x04070605 /* PSHUFB: RotWord of word 1, in every word */

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

/* Word 3, in every word and rotated by n_bytes, which is 0 to 3. */
EVC_INLINE __m128i evc_x86_last_word(__m128i w, unsigned n_bytes)
{
    const uint64_t twice = UINT64_C(0x0f0e0d0c0f0e0d0c);

    return _mm_shuffle_epi8(w, _mm_set1_epi32((int)(uint32_t)(twice >> 8 * n_bytes)));
}

/* The last word of step t - 4, rotated by 5 - t bytes. first: the words of step 0; the next ones
 * are stride bytes apart. */
EVC_INLINE __m128i evc_x86_four_steps_before(const uint8_t *first, size_t stride, unsigned t)
{
    const size_t at = t < 4 ? 0 : (t - 4) * stride;
    const __m128i w = evc_x86_load_aligned(first + at);

    if (t == 1)
        return evc_x86_last_word(evc_x86_sum_words(w), 0);
    if (t == 2)
        return evc_x86_last_word(_mm_xor_si128(w, _mm_slli_si128(w, 8)), 3);
    if (t == 3)
        return evc_x86_last_word(_mm_xor_si128(w, _mm_slli_si128(w, 4)), 2);
    return evc_x86_last_word(w, (13 - t) % 4);
}

/* The words of step t, from 1, are stored behind those of step t - 1, which are `now`. chain: the
 * word that SubWord takes, which becomes the last of them. */
EVC_INLINE __m128i evc_x86_next_words(uint8_t *first, size_t stride, __m128i now, __m128i *chain,
                                      unsigned t, uint32_t rcon)
{
    const uint64_t twice = UINT64_C(0x0302010003020100);
    const __m128i before = evc_x86_four_steps_before(first, stride, t);
    const __m128i back = _mm_set1_epi32((int)(uint32_t)(twice >> 8 * ((t + 3) % 4)));
    const __m128i rotated_rcon = _mm_set1_epi32((int)(rcon << 8 * ((t + 3) % 4)));

    *chain = _mm_aesenclast_si128(*chain, _mm_xor_si128(before, rotated_rcon));
    now = _mm_xor_si128(evc_x86_sum_words(now),
                        _mm_shuffle_epi8(_mm_xor_si128(*chain, before), back));
    evc_x86_store_aligned(first + t * stride, now);
    /* Step by step, and by loads of what is stored: all at once are more than 16 registers. */
    __asm__ volatile("" : "+x"(*chain), "+x"(now) : : "memory");
    return now;
}

/* w: the user's key. enc: 11 x 16 bytes. Returns the encrypted block of zeros. */
EVC_INLINE __m128i evc_x86_expand_128(uint8_t *enc, __m128i w)
{
    __m128i chain = evc_x86_last_word(w, 1), zeros = w;

    evc_x86_store_aligned(enc, w); /* step 0 */
    EACH_UP_TO_8(8, w = evc_x86_next_words(enc, 16, w, &chain, i + 1, 1u << i);
                 zeros = _mm_aesenc_si128(zeros, w));
    w = evc_x86_next_words(enc, 16, w, &chain, 9, 0x1b);
    zeros = _mm_aesenc_si128(zeros, w);
    return _mm_aesenclast_si128(zeros, evc_x86_next_words(enc, 16, w, &chain, 10, 0x36));
}

/* The encrypted block of zeros. */
EVC_INLINE __m128i evc_x86_encrypt_zeros(const uint8_t *enc, uint32_t rounds)
{
    __m128i zeros = evc_x86_load_aligned(enc);

    for (uint32_t r = 1; r < rounds; r++)
        zeros = _mm_aesenc_si128(zeros, evc_x86_load_aligned(enc + 16 * r));
    return _mm_aesenclast_si128(zeros, evc_x86_load_aligned(enc + 16 * rounds));
}

/* enc: 13 x 16 bytes = 52 words = 8 x 6 + 4 */
EVC_INLINE __m128i evc_x86_expand_192(uint8_t *enc, const uint8_t *user_key)
{
    __m128i w = evc_x86_load(user_key); /* words 0 to 3 of six */
    __m128i v = _mm_loadl_epi64((const __m128i *)(const void *)(user_key + 16)); /* 4 and 5 */
    uint32_t rcon = 1;

    for (unsigned i = 0;; i++, rcon = evc_x86_next_rcon(rcon)) {
        evc_x86_store(enc + 24 * i, w);
        if (i == 8)
            return evc_x86_encrypt_zeros(enc, 12);
        _mm_storel_epi64((__m128i *)(void *)(enc + 24 * i + 16), v);
        w = _mm_xor_si128(evc_x86_sum_words(w), evc_x86_sub_word(v, EVC_ROT_WORD_1, rcon));
        v = _mm_xor_si128(v, _mm_slli_si128(v, 4));
        v = _mm_xor_si128(v, _mm_shuffle_epi32(w, 0xff));
    }
}

/* w, v: the user's key; then w has the even round keys, v the odd ones. enc: 15 x 16 bytes. */
EVC_INLINE __m128i evc_x86_expand_256(uint8_t *enc, __m128i w, __m128i v)
{
    __m128i chain = evc_x86_last_word(v, 1), zeros = w;

    evc_x86_store_aligned(enc, w); /* step 0 */
    evc_x86_store_aligned(enc + 16, v);
    EACH_UP_TO_8(
        7, zeros = _mm_aesenc_si128(zeros, v);
        w = evc_x86_next_words(enc, 32, w, &chain, i + 1, 1u << i); if (i < 6) {
            zeros = _mm_aesenc_si128(zeros, w);
            v = evc_x86_next_words(enc + 16, 32, v, &chain, i + 1, 0);
        });
    return _mm_aesenclast_si128(zeros, w);
}

/* enc: (rounds + 1) x 16 bytes, aligned to 16. Returns the encrypted block of zeros. */
EVC_INLINE __m128i evc_x86_expand(uint8_t *enc, uint32_t rounds, const uint8_t *user_key)
{
    if (rounds == 10)
        return evc_x86_expand_128(enc, evc_x86_load(user_key));
    return rounds == 12 ? evc_x86_expand_192(enc, user_key)
                        : evc_x86_expand_256(enc, evc_x86_load(user_key),
                                             evc_x86_load(user_key + 16));
}

/* The slot set_key of all AES kernels that use this header. */
static inline void evc_x86_set_key(void *vkey, const uint8_t *user_key)
{
    struct evc_aes_fips197_key *key = vkey;
    const uint32_t rounds = key->head.rounds;

    (void)evc_x86_expand(key->enc[0], rounds, user_key);
    if (!key->head.can_decrypt)
        return;
    /* The equivalent inverse cipher, section 5.3.5. */
    memcpy(key->dec[0], key->enc[rounds], 16);
    for (uint32_t r = 1; r < rounds; r++)
        evc_x86_store_aligned(key->dec[r],
                              _mm_aesimc_si128(evc_x86_load_aligned(key->enc[rounds - r])));
    memcpy(key->dec[rounds], key->enc[0], 16);
}

#endif
