/* SPDX-License-Identifier: MIT */
/*
 * Vectors of two blocks, for x86_wide_steps.h. Include it inside a region of X86_VAES256 or more,
 * after WIDE has been defined.
 */
#ifndef EVC_AES_X86_VAES256_VEC_H
#define EVC_AES_X86_VAES256_VEC_H

#include "aes/x86_aesni_steps.h"

typedef __m256i vec;
#define VEC_BLOCKS 2

#define v_low _mm256_castsi256_si128
#define v_all _mm256_broadcastsi128_si256
#define v_xor _mm256_xor_si256
#define v_add32 _mm256_add_epi32
#define v_shuffle8 _mm256_shuffle_epi8
#define v_enc _mm256_aesenc_epi128
#define v_enc_last _mm256_aesenclast_epi128
#define v_dec _mm256_aesdec_epi128
#define v_dec_last _mm256_aesdeclast_epi128
#define v_clear_upper_halves() EVC_X86_CLEAR_UPPER_HALVES()
#define REGISTERS YMM
#define CHAINS_SPILL_BYTES 704 /* GCC 14 uses 640 at -O3 */

#include "aes/x86_few_registers.h"

EVC_INLINE vec v_join(__m128i low, __m128i high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

EVC_INLINE vec v_load(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

EVC_INLINE void v_store(uint8_t *p, vec v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, v);
}

EVC_INLINE vec v_load_part(const uint8_t *p, size_t n_bytes)
{
    if (n_bytes < 16)
        return EVC_X86_EXTEND256(evc_x86_load_part(p, n_bytes));
    if (n_bytes == 16)
        return EVC_X86_EXTEND256(evc_x86_load(p));
    return v_join(evc_x86_load(p), evc_x86_load_part(p + 16, n_bytes - 16));
}

EVC_INLINE void v_store_part(uint8_t *p, vec v, size_t n_bytes)
{
    __m128i x = _mm256_castsi256_si128(v);

    if (n_bytes >= 16) {
        evc_x86_store(p, x);
        x = _mm256_extracti128_si256(v, 1);
        p += 16, n_bytes -= 16;
    }
    if (n_bytes)
        evc_x86_store_part(p, x, n_bytes);
}

EVC_INLINE __m128i v_block(vec v, size_t n)
{
    return n ? _mm256_extracti128_si256(v, 1) : _mm256_castsi256_si128(v);
}

EVC_INLINE vec v_shift_in(__m128i iv, vec v)
{
    return v_join(iv, _mm256_castsi256_si128(v));
}

EVC_INLINE vec v_counter_steps(void)
{
    return _mm256_set_epi32(1, 0, 0, 0, 0, 0, 0, 0);
}

EVC_INLINE vec v_gather(const struct evc_aes_chain *c, size_t at)
{
    return v_join(evc_x86_load(c[0].in + at), evc_x86_load(c[1].in + at));
}

EVC_INLINE void v_scatter(const struct evc_aes_chain *c, size_t at, vec v)
{
    evc_x86_store(c[0].out + at, _mm256_castsi256_si128(v));
    evc_x86_store(c[1].out + at, _mm256_extracti128_si256(v, 1));
}

EVC_INLINE vec v_gather_iv(const struct evc_aes_chain *c)
{
    return v_join(evc_x86_load(c[0].msg->iv), evc_x86_load(c[1].msg->iv));
}

EVC_INLINE void v_scatter_iv(const struct evc_aes_chain *c, vec v)
{
    evc_x86_store(c[0].msg->iv, _mm256_castsi256_si128(v));
    evc_x86_store(c[1].msg->iv, _mm256_extracti128_si256(v, 1));
}

/* For x86_wide_tweaks.h. */
#define v_shift_left _mm256_sllv_epi64
#define v_shift_right _mm256_srlv_epi64
#define v_up _mm256_bslli_epi128
#define v_down _mm256_bsrli_epi128
#define v_multiply _mm256_clmulepi64_epi128
#define v_words _mm256_set1_epi64x
#define v_words_of_blocks(first, step)                                          \
    _mm256_set_epi64x((long long)(first) + (step), (long long)(first) + (step), \
                      (long long)(first), (long long)(first))

#endif
