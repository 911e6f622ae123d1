/* SPDX-License-Identifier: MIT */
/*
 * Messages of one or two 512-bit vectors, associated data of at most a block and the lengths among them: what a
 * message costs here is instructions, of which a core overlaps only so many, or one chain from the IV to the tag.
 *
 * Products are reduced by one multiplication instead of two: a = a_lo + a_hi x^64, and a h / x^128 = (a_lo (h / x^64) +
 * a_hi h) / x^64, with h / x^64 kept in the key.
 *
 * Source: as ghash/x86_clmul_steps.h.
 */
#ifndef EVC_GCM_X86_SHORT512_H
#define EVC_GCM_X86_SHORT512_H

#include "common/x86_part.h"

#define SHORT_BLOCKS 6 /* of text */
#define NEAR (2 * VEC_BYTES)

struct key_512 {
    struct key common;
    uint8_t near[NEAR], near_half[NEAR]; /* the last powers as blocks; the same divided by x^64 */
};

/* Counters of the text's and the lengths' places, as words in memory: the lengths', the last, has J_0. Of two vectors
 * there is a row for each place, 0, 1, ..., that the associated data may have. */
#define COUNTER(c) 0, 0, 0, (uint32_t)(c) << 24
static const uint32_t counters_1[16] = {COUNTER(1), COUNTER(2), COUNTER(3), COUNTER(1)};
static const uint32_t counters_2[4][32] = {
    {COUNTER(1), COUNTER(2), COUNTER(3), COUNTER(4), COUNTER(5), COUNTER(6), COUNTER(7), COUNTER(1)},
    {COUNTER(0), COUNTER(1), COUNTER(2), COUNTER(3), COUNTER(4), COUNTER(5), COUNTER(6), COUNTER(1)},
    {COUNTER(0), COUNTER(0), COUNTER(1), COUNTER(2), COUNTER(3), COUNTER(4), COUNTER(5), COUNTER(1)},
    {COUNTER(0), COUNTER(0), COUNTER(0), COUNTER(1), COUNTER(2), COUNTER(3), COUNTER(4), COUNTER(1)},
};

#define BYTES_REVERSED                                                                             \
    _mm512_set4_epi64(0x0001020304050607, 0x08090a0b0c0d0e0f, 0x0001020304050607,                  \
                      0x08090a0b0c0d0e0f)

/* 0 to 16 bytes, zeros behind. A load with a mask waits for stores to any of the 16, like that of the last message's
 * tag beside the associated data; this reads what it takes. */
EVC_INLINE __m128i load_block(const uint8_t *p, size_t n_bytes)
{
    if (n_bytes == 16)
        return load1(p);
    return n_bytes ? evc_x86_load_part(p, n_bytes) : _mm_setzero_si128();
}

/* padded: the text's bytes in whole blocks. */
EVC_INLINE __m128i crypt_short(const struct key_512 *key_512, const uint8_t *iv, const uint8_t *aad,
                               size_t aad_bytes, const uint8_t *in, uint8_t *out, size_t len_bytes,
                               size_t padded, unsigned n, int sealing)
{
    const struct key *const key = &key_512->common;
    const size_t begin = n * VEC_BYTES - 16 - padded; /* of the text; before it is the associated data */
    const uint8_t *const from = evc_in_at(in, 0 - begin);
    uint8_t *const to = evc_out_at(out, 0 - begin);
    const part front = ~first_bytes(begin);
    const part text = n == 1 ? first_bytes(begin + len_bytes) & front
                             : first_bytes(begin + len_bytes - VEC_BYTES);
    const __m128i lengths = _mm_shuffle_epi8(
        _mm_slli_epi64(_mm_set_epi64x((long long)aad_bytes, (long long)len_bytes), 3),
        _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f));
    const vec other = _mm512_maskz_broadcast_i32x4((__mmask16)(0xf << (begin - 16) / 4),
                                                   load_block(aad, aad_bytes));
    const vec ends = _mm512_inserti32x4(v_zero(), lengths, 3), base = v_all(load_iv(iv));
    const uint32_t *const counter = n == 1 ? counters_1 : counters_2[begin / 16 - 1];
    vec s[8], x[2], r[8], lo, mi, last, p[2];

    EACH_UP_TO_8(n, s[i] = v_xor3(base, round_key(key, 0), v_load(counter + 16 * i)));
    middle_rounds(key, s, n);
    last = round_key(key, key->head.rounds);
    p[n - 1] = _mm512_maskz_loadu_epi8(text, evc_in_at(from, 64 * (n - 1)));
    x[n - 1] = v_enc_last(s[n - 1], v_xor(last, p[n - 1]));
    _mm512_mask_storeu_epi8(evc_out_at(to, 64 * (n - 1)), text, x[n - 1]);
    r[n - 1] = _mm512_mask_mov_epi8(n == 1 ? v_xor(ends, other) : ends, text, sealing ? x[n - 1] : p[n - 1]);
    if (n == 2) {
        p[0] = v_load_text(from, front);
        x[0] = v_enc_last(s[0], v_xor(last, p[0]));
        v_store_text(to, front, x[0]);
        r[0] = _mm512_mask_mov_epi8(other, front, sealing ? x[0] : p[0]);
    }
    EACH_UP_TO_8(n, r[i] = v_shuffle8(r[i], BYTES_REVERSED));
#define H(i) v_load(key_512->near + NEAR - 64 * (n - i))
#define G(i) v_load(key_512->near_half + NEAR - 64 * (n - i))
    lo = v_xor(v_clmul(r[0], G(0), 0x00), v_clmul(r[0], H(0), 0x01));
    mi = v_xor(v_clmul(r[0], G(0), 0x10), v_clmul(r[0], H(0), 0x11));
    if (n == 2) {
        lo = v_xor3(lo, v_clmul(r[1], G(1), 0x00), v_clmul(r[1], H(1), 0x01));
        mi = v_xor3(mi, v_clmul(r[1], G(1), 0x10), v_clmul(r[1], H(1), 0x11));
    }
#undef H
#undef G
    return _mm_xor_si128(reverse1(v_fold(v_xor(mi, half_reduced(lo)))), v_last_block(x[n - 1]));
}

/* Plus a times the power that has its place so many bytes from the end; the reduction is one multiplication. */
EVC_INLINE void add_near(__m128i *lo, __m128i *mi, __m128i a, const struct key_512 *key, size_t at)
{
    const __m128i h = load1(key->near + NEAR - at), g = load1(key->near_half + NEAR - at);

    *lo = _mm_ternarylogic_epi64(*lo, _mm_clmulepi64_si128(a, g, 0x00),
                                 _mm_clmulepi64_si128(a, h, 0x01), 0x96);
    *mi = _mm_ternarylogic_epi64(*mi, _mm_clmulepi64_si128(a, g, 0x10),
                                 _mm_clmulepi64_si128(a, h, 0x11), 0x96);
}

#define TWO_ROUNDS(instruction, r) (x = instruction(x, load1(key->rk[r])), y = instruction(y, load1(key->rk[r])))

/* At most one block of text: nothing crosses the places of a wide vector, and only the text is waited for. */
EVC_INLINE __m128i crypt_block(const struct key_512 *key_512, const uint8_t *iv, const uint8_t *aad,
                               size_t aad_bytes, const uint8_t *in, uint8_t *out, size_t len_bytes,
                               size_t padded, int sealing)
{
    const struct key *const key = &key_512->common;
    const __mmask16 text = (__mmask16)first_bytes(len_bytes);
    const __m128i first = load_iv(iv);
    const __m128i poly = _mm_set_epi32(0, 0, (int)0xc2000000, 0);
    const __m128i white = load1(key->rk[0]), p = _mm_maskz_loadu_epi8(text, in);
    const __m128i lengths = _mm_slli_epi64(_mm_set_epi64x((long long)aad_bytes, (long long)len_bytes), 3);
    const __m128i a = reverse1(load_block(aad, aad_bytes));
    __m128i x = _mm_ternarylogic_epi64(first, white, _mm_set_epi32(2 << 24, 0, 0, 0), 0x96);
    __m128i y = _mm_ternarylogic_epi64(first, white, _mm_set_epi32(1 << 24, 0, 0, 0), 0x96);
    __m128i lo = _mm_setzero_si128(), mi = lo;

    TWO_ROUNDS(_mm_aesenc_si128, 1);
    TWO_ROUNDS(_mm_aesenc_si128, 2);
    add_near(&lo, &mi, a, key_512, 32 + padded);
    TWO_ROUNDS(_mm_aesenc_si128, 3);
    TWO_ROUNDS(_mm_aesenc_si128, 4);
    TWO_ROUNDS(_mm_aesenc_si128, 5);
    add_near(&lo, &mi, lengths, key_512, 16);
    TWO_ROUNDS(_mm_aesenc_si128, 6);
    TWO_ROUNDS(_mm_aesenc_si128, 7);
    TWO_ROUNDS(_mm_aesenc_si128, 8);
    TWO_ROUNDS(_mm_aesenc_si128, 9);
    if (key->head.rounds > 10) {
        TWO_ROUNDS(_mm_aesenc_si128, 10);
        TWO_ROUNDS(_mm_aesenc_si128, 11);
        if (key->head.rounds > 12) {
            TWO_ROUNDS(_mm_aesenc_si128, 12);
            TWO_ROUNDS(_mm_aesenc_si128, 13);
        }
    }
    const __m128i last = load1(key->rk[key->head.rounds]);
    x = _mm_aesenclast_si128(x, _mm_xor_si128(p, last));
    y = _mm_aesenclast_si128(y, last);
    _mm_mask_storeu_epi8(out, text, x);
    x = reverse1(sealing ? _mm_maskz_mov_epi8(text, x) : p);
    add_near(&lo, &mi, x, key_512, 32);
    mi = _mm_ternarylogic_epi64(mi, _mm_shuffle_epi32(lo, 0x4e), _mm_clmulepi64_si128(lo, poly, 0x00), 0x96);
    return _mm_xor_si128(reverse1(mi), y);
}

static void set_key_512(void *vkey, const uint8_t *user_key)
{
    struct key_512 *key = vkey;
    const struct pair *last = &key->common.powers.pair[PAIRS - 1];
    vec lo, hi;

    set_key(vkey, user_key);
    lo = v_load(last->lo), hi = v_load(last->hi);
    v_store(key->near, v_low_halves(lo, hi));
    v_store(key->near + VEC_BYTES, v_high_halves(lo, hi));
    v_store(key->near_half, half_reduced(v_low_halves(lo, hi)));
    v_store(key->near_half + VEC_BYTES, half_reduced(v_high_halves(lo, hi)));
    v_clear_upper_halves();
}

static enum evc_status seal_512(ARGUMENTS(uint8_t *))
{
    const size_t padded = (len_bytes + 15) & ~(size_t)15;
    __m128i t;

    if (padded > 16 * SHORT_BLOCKS || aad_bytes > 16)
        return seal(vkey, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes);
    if (padded > 32)
        t = crypt_short(vkey, iv, aad, aad_bytes, in, out, len_bytes, padded, 2, 1);
    else if (padded > 16)
        t = crypt_short(vkey, iv, aad, aad_bytes, in, out, len_bytes, padded, 1, 1);
    else
        t = crypt_block(vkey, iv, aad, aad_bytes, in, out, len_bytes, padded, 1);
    store_tag(tag, t, tag_bytes);
    v_clear_upper_halves();
    EVC_CLEAR_REGISTERS_ZMM();
    return EVC_OK;
}

static enum evc_status open_512(ARGUMENTS(const uint8_t *))
{
    const size_t padded = (len_bytes + 15) & ~(size_t)15;
    enum evc_status status;
    __m128i t;

    if (padded > 16 * SHORT_BLOCKS || aad_bytes > 16)
        return open(vkey, iv, iv_bytes, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes);
    if (padded > 32)
        t = crypt_short(vkey, iv, aad, aad_bytes, in, out, len_bytes, padded, 2, 0);
    else if (padded > 16)
        t = crypt_short(vkey, iv, aad, aad_bytes, in, out, len_bytes, padded, 1, 0);
    else
        t = crypt_block(vkey, iv, aad, aad_bytes, in, out, len_bytes, padded, 0);
    status = compare_tag(tag, t, tag_bytes);
    v_clear_upper_halves();
    EVC_CLEAR_REGISTERS_ZMM();
    return status;
}

#endif
