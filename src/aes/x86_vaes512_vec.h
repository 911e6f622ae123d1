/* SPDX-License-Identifier: MIT */
/*
 * Vectors of four blocks, for x86_wide_steps.h. Include it inside a region of X86_VAES512 or more.
 */
#ifndef EVC_AES_X86_VAES512_VEC_H
#define EVC_AES_X86_VAES512_VEC_H

#include "aes/x86_aesni_steps.h"
#include "common/x86_mask512.h"

typedef __m512i vec;
#define VEC_BLOCKS 4
#define WIDE 8
#define CTR_KEYS 9 /* GCC 12 puts one on the stack with 10, at -O3 */
#define CBC_KEYS 10 /* GCC 9, with 11 */
#define LONG_KEYS 6 /* clang 14, with 7 */
#define SHORT_KEYS 10 /* those of AES-256 alone are loaded where it is known */
#define CHAINS_WIDE 8 /* and as many blocks that wait */
#define CHAINS_KEYS 10
#define CHAINS_PAIRS 1

#define v_load_part evc_x86_load_bytes512
#define v_store_part evc_x86_store_bytes512
#define v_low _mm512_castsi512_si128
#define v_all _mm512_broadcast_i32x4
#define v_xor _mm512_xor_si512
#define v_add32 _mm512_add_epi32
#define v_shuffle8 _mm512_shuffle_epi8
#define v_enc _mm512_aesenc_epi128
#define v_enc_last _mm512_aesenclast_epi128
#define v_dec _mm512_aesdec_epi128
#define v_dec_last _mm512_aesdeclast_epi128
/* And registers 16 to 31, which the end of a call does not clear: NARROW of common/clear.h. */
#define v_clear_upper_halves()                                                                    \
    do {                                                                                           \
        EVC_CLEAR_HIGH_REGISTERS();                                                                \
        EVC_X86_CLEAR_UPPER_HALVES();                                                              \
    } while (0)
#define REGISTERS ZMM
#define CHAINS_SPILL_BYTES 1152 /* clang 22 uses 1072 */

/* Round keys in registers, as many as fit, because VBROADCASTI32X4 from memory in every step costs
 * up to a tenth. Those that a shorter key does not have are loaded but not used. */
typedef struct {
    vec k[14], last;
    const uint8_t (*rk)[16];
    uint32_t rounds;
    unsigned in_registers;
} v_keys;

EVC_INLINE v_keys v_keys_of(const uint8_t (*rk)[16], uint32_t rounds, unsigned in_registers)
{
    v_keys keys;

    EACH(12, keys.k[i] = v_all(evc_x86_key(rk[i])));
    keys.k[12] = v_all(evc_x86_key(rk[12]));
    keys.k[13] = v_all(evc_x86_key(rk[13]));
    keys.last = v_all(evc_x86_key(rk[rounds]));
    keys.rk = rk;
    keys.rounds = rounds;
    keys.in_registers = in_registers;
    return keys;
}

EVC_INLINE vec v_key(const v_keys *keys, unsigned r)
{
    return r < keys->in_registers ? keys->k[r] : v_all(evc_x86_key(keys->rk[r]));
}

EVC_INLINE vec v_key_last(const v_keys *keys)
{
    return keys->in_registers == 15 ? keys->last : v_all(evc_x86_key(keys->rk[keys->rounds]));
}

EVC_INLINE vec v_load(const uint8_t *p)
{
    return _mm512_loadu_si512((const void *)p);
}

EVC_INLINE void v_store(uint8_t *p, vec v)
{
    _mm512_storeu_si512((void *)p, v);
}

#define v_reaches_next_page evc_x86_reaches_next_page

/* The first n_bytes, 1 to 64, where v_reaches_next_page says no. */
EVC_INLINE vec v_load_end(const uint8_t *p, size_t n_bytes)
{
    return n_bytes == 64 ? v_load(p) : _mm512_maskz_loadu_epi8(evc_x86_first_bytes(n_bytes), p);
}

EVC_INLINE void v_store_end(uint8_t *p, vec v, size_t n_bytes)
{
    if (n_bytes == 64)
        v_store(p, v);
    else
        _mm512_mask_storeu_epi8(p, evc_x86_first_bytes(n_bytes), v);
}

EVC_INLINE __m128i v_block(vec v, size_t n)
{
    const __m128i words = _mm_set_epi64x((long long)(2 * n + 1), (long long)(2 * n));

    return _mm512_castsi512_si128(_mm512_permutexvar_epi64(_mm512_castsi128_si512(words), v));
}

EVC_INLINE vec v_shift_in(__m128i iv, vec v)
{
    return _mm512_alignr_epi64(v, v_all(iv), 6);
}

EVC_INLINE vec v_counter_steps(void)
{
    return _mm512_set_epi32(3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0);
}

EVC_INLINE vec v_xor3(vec a, vec b, vec c)
{
    return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

EVC_INLINE vec v_join(__m128i a, __m128i b, __m128i c, __m128i d)
{
    const __m256i ab = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
    const __m256i cd = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);

    return _mm512_inserti64x4(_mm512_castsi256_si512(ab), cd, 1);
}

EVC_INLINE __m256i v_load_half(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

EVC_INLINE void v_store_half(uint8_t *p, __m256i half)
{
    _mm256_storeu_si256((__m256i *)(void *)p, half);
}

EVC_INLINE vec v_halves(const uint8_t *low, const uint8_t *high)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(v_load_half(low)), v_load_half(high), 1);
}

EVC_INLINE vec v_gather(const struct evc_aes_chain *c, size_t at)
{
    return v_join(evc_x86_load(c[0].in + at), evc_x86_load(c[1].in + at),
                  evc_x86_load(c[2].in + at), evc_x86_load(c[3].in + at));
}

EVC_INLINE void v_scatter(const struct evc_aes_chain *c, size_t at, vec v)
{
    evc_x86_store(c[0].out + at, _mm512_castsi512_si128(v));
    evc_x86_store(c[1].out + at, _mm512_extracti32x4_epi32(v, 1));
    evc_x86_store(c[2].out + at, _mm512_extracti32x4_epi32(v, 2));
    evc_x86_store(c[3].out + at, _mm512_extracti32x4_epi32(v, 3));
}

/* Two blocks of four chains: 4 x 2 blocks are turned into 2 x 4, and back. */
EVC_INLINE void v_gather_2(const struct evc_aes_chain *c, size_t at, vec *a, vec *b)
{
    const vec x = v_halves(c[0].in + at, c[1].in + at), y = v_halves(c[2].in + at, c[3].in + at);

    *a = _mm512_shuffle_i64x2(x, y, 0x88);
    *b = _mm512_shuffle_i64x2(x, y, 0xdd);
}

EVC_INLINE void v_scatter_2(const struct evc_aes_chain *c, size_t at, vec a, vec b)
{
    const vec x = _mm512_mask_alignr_epi64(a, 0xcc, b, b, 6); /* a[0] b[0] a[2] b[2] */
    const vec y = _mm512_mask_alignr_epi64(b, 0x33, a, a, 2); /* a[1] b[1] a[3] b[3] */

    v_store_half(c[0].out + at, _mm512_castsi512_si256(x));
    v_store_half(c[1].out + at, _mm512_castsi512_si256(y));
    v_store_half(c[2].out + at, _mm512_extracti64x4_epi64(x, 1));
    v_store_half(c[3].out + at, _mm512_extracti64x4_epi64(y, 1));
}

EVC_INLINE vec v_gather_iv(const struct evc_aes_chain *c)
{
    return v_join(evc_x86_load(c[0].msg->iv), evc_x86_load(c[1].msg->iv),
                  evc_x86_load(c[2].msg->iv), evc_x86_load(c[3].msg->iv));
}

EVC_INLINE void v_scatter_iv(const struct evc_aes_chain *c, vec v)
{
    evc_x86_store(c[0].msg->iv, _mm512_castsi512_si128(v));
    evc_x86_store(c[1].msg->iv, _mm512_extracti32x4_epi32(v, 1));
    evc_x86_store(c[2].msg->iv, _mm512_extracti32x4_epi32(v, 2));
    evc_x86_store(c[3].msg->iv, _mm512_extracti32x4_epi32(v, 3));
}

/* For x86_wide_tweaks.h. */
#define v_shift_left _mm512_sllv_epi64
#define v_shift_right _mm512_srlv_epi64
#define v_up _mm512_bslli_epi128
#define v_down _mm512_bsrli_epi128
#define v_multiply _mm512_clmulepi64_epi128
#define v_words _mm512_set1_epi64
#define v_words_of_blocks(first, step)                                                             \
    _mm512_set_epi64((long long)(first) + 3 * (step), (long long)(first) + 3 * (step),             \
                     (long long)(first) + 2 * (step), (long long)(first) + 2 * (step),             \
                     (long long)(first) + (step), (long long)(first) + (step), (long long)(first), \
                     (long long)(first))

#endif
