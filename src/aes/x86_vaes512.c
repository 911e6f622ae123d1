/* SPDX-License-Identifier: MIT */
/*
 * AES with VAES, 4 blocks per 512-bit register.
 *
 * Method:   one VAESENC per round on 4 blocks; 8 registers = 32 blocks in flight; rests by masks;
 *           the modes are in x86_wide_steps.h, chains in x86_aesni_steps.h.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; Intel 64 and IA-32 Architectures Software
 *           Developer's Manual, volume 2, AESENC and VAESENC.
 * Needs:    X86_VAES512.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_VAES512)
EVC_ISA_BEGIN(X86_VAES512)

#include "aes/x86_aesni_steps.h"
#include "aes/x86_keys.h"

typedef __m512i vec;
#define VEC_BLOCKS 4
#define WIDE 8

#define v_all _mm512_broadcast_i32x4
#define v_xor _mm512_xor_si512
#define v_add32 _mm512_add_epi32
#define v_shuffle8 _mm512_shuffle_epi8
#define v_enc _mm512_aesenc_epi128
#define v_enc_last _mm512_aesenclast_epi128
#define v_dec _mm512_aesdec_epi128
#define v_dec_last _mm512_aesdeclast_epi128

EVC_INLINE vec v_load(const uint8_t *p)
{
    return _mm512_loadu_si512((const void *)p);
}

EVC_INLINE void v_store(uint8_t *p, vec v)
{
    _mm512_storeu_si512((void *)p, v);
}

EVC_INLINE __mmask64 v_first(size_t n_bytes) /* 1 to 64 */
{
    return _bzhi_u64(~UINT64_C(0), (unsigned)n_bytes);
}

EVC_INLINE vec v_load_part(const uint8_t *p, size_t n_bytes)
{
    return _mm512_maskz_loadu_epi8(v_first(n_bytes), p);
}

EVC_INLINE void v_store_part(uint8_t *p, vec v, size_t n_bytes)
{
    _mm512_mask_storeu_epi8(p, v_first(n_bytes), v);
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

/* t * x^k, k < 57 for each lane, back = 64 - k: what a half loses above goes to the other half, where
 * that is the lower one times x^7 + x^2 + x + 1. VPSLLVQ shifts by 64 or more to zero. */
EVC_INLINE vec v_times_x(vec t, vec k, vec back)
{
    const vec lost = _mm512_shuffle_epi32(_mm512_srlv_epi64(t, back), (_MM_PERM_ENUM)0x4e);
    const vec lost_1 = _mm512_sllv_epi64(lost, v_all(_mm_set_epi64x(64, 1)));
    const vec lost_2 = _mm512_sllv_epi64(lost, v_all(_mm_set_epi64x(64, 2)));
    const vec lost_7 = _mm512_sllv_epi64(lost, v_all(_mm_set_epi64x(64, 7)));

    return v_xor3(v_xor3(_mm512_sllv_epi64(t, k), lost, lost_1), lost_2, lost_7);
}

EVC_INLINE vec v_tweaks_next(vec t) /* t * x^4 */
{
    return v_times_x(t, _mm512_set1_epi64(4), _mm512_set1_epi64(60));
}

EVC_INLINE void v_tweaks_begin(__m128i base, vec *t)
{
    const vec all = v_all(base), k = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0);

    EACH(WIDE, t[i] = v_times_x(all, _mm512_add_epi64(k, _mm512_set1_epi64(4 * i)),
                                _mm512_sub_epi64(_mm512_set1_epi64(64 - 4 * i), k)));
}

EVC_INLINE void v_tweaks_advance(vec *t) /* t * x^32 */
{
    vec lost;

    EACH(WIDE, lost = _mm512_bsrli_epi128(t[i], 12),
         t[i] = v_xor3(_mm512_bslli_epi128(t[i], 4), lost, _mm512_slli_epi64(lost, 1)),
         t[i] = v_xor3(t[i], _mm512_slli_epi64(lost, 2), _mm512_slli_epi64(lost, 7)));
}

EVC_INLINE vec v_join(__m128i a, __m128i b, __m128i c, __m128i d)
{
    const __m256i ab = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
    const __m256i cd = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);

    return _mm512_inserti64x4(_mm512_castsi256_si512(ab), cd, 1);
}

EVC_INLINE vec v_gather(const struct evc_x86_chain *c, size_t at)
{
    return v_join(evc_x86_load(c[0].in + at), evc_x86_load(c[1].in + at),
                  evc_x86_load(c[2].in + at), evc_x86_load(c[3].in + at));
}

EVC_INLINE void v_scatter(const struct evc_x86_chain *c, size_t at, vec v)
{
    evc_x86_store(c[0].out + at, _mm512_castsi512_si128(v));
    evc_x86_store(c[1].out + at, _mm512_extracti32x4_epi32(v, 1));
    evc_x86_store(c[2].out + at, _mm512_extracti32x4_epi32(v, 2));
    evc_x86_store(c[3].out + at, _mm512_extracti32x4_epi32(v, 3));
}

EVC_INLINE vec v_gather_iv(const struct evc_x86_chain *c)
{
    return v_join(evc_x86_load(c[0].msg->iv), evc_x86_load(c[1].msg->iv),
                  evc_x86_load(c[2].msg->iv), evc_x86_load(c[3].msg->iv));
}

EVC_INLINE void v_scatter_iv(const struct evc_x86_chain *c, vec v)
{
    evc_x86_store(c[0].msg->iv, _mm512_castsi512_si128(v));
    evc_x86_store(c[1].msg->iv, _mm512_extracti32x4_epi32(v, 1));
    evc_x86_store(c[2].msg->iv, _mm512_extracti32x4_epi32(v, 2));
    evc_x86_store(c[3].msg->iv, _mm512_extracti32x4_epi32(v, 3));
}

#include "aes/x86_wide_steps.h"

EVC_ISA_END

const struct evc_aes evc_aes_x86_vaes512 = {
    .kernel = EVC_KERNEL_HEAD(x86_vaes512, X86_VAES512, CT, PARALLEL, MAX_CHAINS, struct evc_aes_fips197_key,
                              EVC_KEY_FIPS197),
    .set_key = evc_x86_set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .ctr32 = ctr32,
    .cbc_encrypt = evc_x86_cbc_encrypt,
    .cbc_decrypt = cbc_decrypt,
    .cbcmac = evc_x86_cbcmac,
    .xts_encrypt = xts_encrypt,
    .xts_decrypt = xts_decrypt,
    .cbc_encrypt_many = cbc_encrypt_many,
};
#else
EVC_EMPTY_UNIT
#endif
