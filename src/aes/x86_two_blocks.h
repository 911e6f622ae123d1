/* SPDX-License-Identifier: MIT */
/*
 * The modes for messages of one or two blocks, for kernels with wide vectors. Include it inside a
 * region of X86_VAES256 at most.
 *
 * A core works on several short messages at once, so these cost what their instructions cost.
 * Blocks in xmm registers need no copies of round keys in wide ones, no masks and no VZEROUPPER,
 * and no registers that AVX-512 alone has: those need not be cleared.
 */
#ifndef EVC_AES_X86_TWO_BLOCKS_H
#define EVC_AES_X86_TWO_BLOCKS_H

#include "aes/x86_aesni_steps.h"

/*
 * EVC_X86_MIDDLE_ROUNDS for two states. rk and rk_2 have the same value, but the compiler does not
 * know it: then each round key is an operand of both instructions, and no instruction loads it.
 */
#define TWO_MIDDLE_ROUNDS(instruction, x, y, rk, rk_2, rounds) \
    do {                                                       \
        TWO_ROUNDS(instruction, x, y, rk, rk_2, 1);            \
        TWO_ROUNDS(instruction, x, y, rk, rk_2, 3);            \
        TWO_ROUNDS(instruction, x, y, rk, rk_2, 5);            \
        TWO_ROUNDS(instruction, x, y, rk, rk_2, 7);            \
        x = instruction(x, evc_x86_key((rk)[9]));              \
        y = instruction(y, evc_x86_key((rk_2)[9]));            \
        if ((rounds) > 10) {                                   \
            TWO_ROUNDS(instruction, x, y, rk, rk_2, 10);       \
            if ((rounds) > 12)                                 \
                TWO_ROUNDS(instruction, x, y, rk, rk_2, 12);   \
        }                                                      \
    } while (0)
#define TWO_ROUNDS(instruction, x, y, rk, rk_2, r)        \
    do {                                                  \
        x = instruction(x, evc_x86_key((rk)[r]));         \
        y = instruction(y, evc_x86_key((rk_2)[r]));       \
        x = instruction(x, evc_x86_key((rk)[(r) + 1]));   \
        y = instruction(y, evc_x86_key((rk_2)[(r) + 1])); \
    } while (0)

EVC_INLINE void two_encrypt(const uint8_t (*rk)[16], uint32_t rounds, __m128i *x, __m128i *y)
{
    const uint8_t(*rk_2)[16] = rk;

    EVC_KEEP(rk_2);
    TWO_MIDDLE_ROUNDS(_mm_aesenc_si128, *x, *y, rk, rk_2, rounds);
}

EVC_INLINE void two_decrypt(const uint8_t (*rk)[16], uint32_t rounds, __m128i *x, __m128i *y)
{
    const uint8_t(*rk_2)[16] = rk;

    EVC_KEEP(rk_2);
    TWO_MIDDLE_ROUNDS(_mm_aesdec_si128, *x, *y, rk, rk_2, rounds);
}

EVC_INLINE __m128i two_counter(__m128i number, int n)
{
    return _mm_shuffle_epi8(_mm_add_epi32(number, _mm_set_epi32(n, 0, 0, 0)), COUNTER_ORDER);
}

/* XORs the key stream of a block, before the last round, to n_bytes of text, 1 to 16. */
EVC_INLINE void two_ctr_last(__m128i x, __m128i last, const uint8_t *in, uint8_t *out,
                             size_t n_bytes)
{
    if (n_bytes == 16)
        evc_x86_store(out, _mm_aesenclast_si128(x, _mm_xor_si128(last, evc_x86_load(in))));
    else
        evc_x86_store_part(
            out, _mm_aesenclast_si128(x, _mm_xor_si128(last, evc_x86_load_part(in, n_bytes))),
            n_bytes);
}

/* len_bytes: 0 to 16 */
EVC_OUT_OF_LINE void one_ctr(const struct evc_aes_fips197_key *key, uint8_t counter[16],
                             const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    const uint32_t rounds = key->head.rounds;
    const __m128i count = evc_x86_load(counter);
    __m128i x = _mm_xor_si128(count, evc_x86_key(key->enc[0]));

    if (!len_bytes)
        return;
    EVC_X86_MIDDLE_ROUNDS(_mm_aesenc_si128, x, key->enc, rounds);
    evc_x86_store(counter, two_counter(_mm_shuffle_epi8(count, COUNTER_ORDER), 1));
    two_ctr_last(x, evc_x86_key(key->enc[rounds]), in, out, len_bytes);
}

/* len_bytes: 17 to 32 */
EVC_OUT_OF_LINE void two_ctr(const struct evc_aes_fips197_key *key, uint8_t counter[16],
                             const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    const uint32_t rounds = key->head.rounds;
    const __m128i first = evc_x86_key(key->enc[0]), last = evc_x86_key(key->enc[rounds]);
    const __m128i count = evc_x86_load(counter), number = _mm_shuffle_epi8(count, COUNTER_ORDER);
    __m128i x = _mm_xor_si128(count, first), y = _mm_xor_si128(two_counter(number, 1), first);

    two_encrypt(key->enc, rounds, &x, &y);
    evc_x86_store(counter, two_counter(number, 2));
    two_ctr_last(x, last, in, out, 16);
    two_ctr_last(y, last, in + 16, out + 16, len_bytes - 16);
}

EVC_OUT_OF_LINE void one_cbc_decrypt(const struct evc_aes_fips197_key *key, uint8_t iv[16],
                                     const uint8_t *in, uint8_t *out)
{
    const uint32_t rounds = key->head.rounds;
    const __m128i before = evc_x86_load(iv), text = evc_x86_load(in);
    __m128i x = _mm_xor_si128(text, evc_x86_key(key->dec[0]));

    EVC_X86_MIDDLE_ROUNDS(_mm_aesdec_si128, x, key->dec, rounds);
    evc_x86_store(iv, text);
    evc_x86_store(out,
                  _mm_aesdeclast_si128(x, _mm_xor_si128(before, evc_x86_key(key->dec[rounds]))));
}

EVC_OUT_OF_LINE void two_cbc_decrypt(const struct evc_aes_fips197_key *key, uint8_t iv[16],
                                     const uint8_t *in, uint8_t *out)
{
    const uint32_t rounds = key->head.rounds;
    const __m128i first = evc_x86_key(key->dec[0]), last = evc_x86_key(key->dec[rounds]);
    const __m128i before = _mm_xor_si128(last, evc_x86_load(iv));
    const __m128i text = evc_x86_load(in), text_2 = evc_x86_load(in + 16);
    __m128i x = _mm_xor_si128(text, first), y = _mm_xor_si128(text_2, first);

    two_decrypt(key->dec, rounds, &x, &y);
    evc_x86_store(iv, text_2);
    evc_x86_store(out, _mm_aesdeclast_si128(x, before));
    evc_x86_store(out + 16, _mm_aesdeclast_si128(y, _mm_xor_si128(last, text)));
}

EVC_INLINE void two_xts(const struct evc_aes_fips197_key *key, uint8_t tweak_bytes[16],
                        const uint8_t *in, uint8_t *out, int decrypting)
{
    const uint32_t rounds = key->head.rounds;
    const uint8_t(*rk)[16] = decrypting ? key->dec : key->enc;
    const __m128i first = evc_x86_key(rk[0]), last = evc_x86_key(rk[rounds]);
    const __m128i tweak = evc_x86_load(tweak_bytes), tweak_2 = evc_x86_next_tweak(tweak);
    __m128i x = _mm_xor_si128(evc_x86_load(in), _mm_xor_si128(tweak, first));
    __m128i y = _mm_xor_si128(evc_x86_load(in + 16), _mm_xor_si128(tweak_2, first));

    evc_x86_store(tweak_bytes, evc_x86_next_tweak(tweak_2));
    if (decrypting) {
        two_decrypt(rk, rounds, &x, &y);
        x = _mm_aesdeclast_si128(x, _mm_xor_si128(tweak, last));
        y = _mm_aesdeclast_si128(y, _mm_xor_si128(tweak_2, last));
    } else {
        two_encrypt(rk, rounds, &x, &y);
        x = _mm_aesenclast_si128(x, _mm_xor_si128(tweak, last));
        y = _mm_aesenclast_si128(y, _mm_xor_si128(tweak_2, last));
    }
    evc_x86_store(out, x);
    evc_x86_store(out + 16, y);
}

EVC_OUT_OF_LINE void one_xts_encrypt(const struct evc_aes_fips197_key *key, uint8_t tweak[16],
                                     const uint8_t *in, uint8_t *out)
{
    evc_x86_one_xts(key, tweak, in, out, 0);
}

EVC_OUT_OF_LINE void one_xts_decrypt(const struct evc_aes_fips197_key *key, uint8_t tweak[16],
                                     const uint8_t *in, uint8_t *out)
{
    evc_x86_one_xts(key, tweak, in, out, 1);
}

EVC_OUT_OF_LINE void two_xts_encrypt(const struct evc_aes_fips197_key *key, uint8_t tweak[16],
                                     const uint8_t *in, uint8_t *out)
{
    two_xts(key, tweak, in, out, 0);
}

EVC_OUT_OF_LINE void two_xts_decrypt(const struct evc_aes_fips197_key *key, uint8_t tweak[16],
                                     const uint8_t *in, uint8_t *out)
{
    two_xts(key, tweak, in, out, 1);
}

#endif
