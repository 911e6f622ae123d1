/* SPDX-License-Identifier: MIT */
/*
 * AES with AES-NI, 1 block per 128-bit register.
 *
 * Method:   one AESENC per round and block; 8 blocks in flight, 12 of long messages in CTR and CBC decryption
 *           (4 on i386, which has 8 registers); tweaks of XTS by words; the modes are in x86_wide_steps.h,
 *           chains in x86_aesni_steps.h.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; Intel 64 and IA-32 Architectures
 *           Software Developer's Manual, volume 2, AESENC.
 * Needs:    X86_AESNI.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/x86.h"

#if EVC_BUILT(X86_AESNI)
EVC_ISA_BEGIN(X86_AESNI)

#include "aes/x86_aesni_steps.h"
#include "aes/x86_keys.h"

typedef __m128i vec;
#define VEC_BLOCKS 1
#if EVC_X86_64
#define WIDE 8       /* 4 cycles of latency, 2 instructions a cycle */
#define LONG_WIDE 12 /* some wait for more than that latency */
#else
#define WIDE 4 /* there are 8 registers */
#define LONG_WIDE 0
#endif

#define v_load evc_x86_load
#define v_store evc_x86_store
#define v_load_part evc_x86_load_part
#define v_store_part evc_x86_store_part
#define v_all(block) (block)
#define v_low(v) (v)
#define v_block(v, n) (v)
#define v_shift_in(iv, v) (iv)
#define v_xor _mm_xor_si128
#define v_add32 _mm_add_epi32
#define v_shuffle8 _mm_shuffle_epi8
#define v_counter_steps _mm_setzero_si128
#define v_enc _mm_aesenc_si128
#define v_enc_last _mm_aesenclast_si128
#define v_dec _mm_aesdec_si128
#define v_dec_last _mm_aesdeclast_si128
#define v_clear_upper_halves() ((void)0)
#define REGISTERS XMM
#define XTS_WIDE_FROM (XTS_WIDE * VEC_BLOCKS)
#define v_tweaks_after_next(v) v_tweaks_next(v_tweaks_next(v))
#define XTS_LAST_APART 1
#define XTS_SPILL_BYTES 448
#define LONG_CTR_FROM (4 * LONG_WIDE)
#define LONG_CBC_FROM (2 * LONG_WIDE)
#define SHORT_XTS_SPILL_BYTES 192
#define CHAINS_SPILL_BYTES 512

#include "aes/x86_few_registers.h"

#define v_tweaks_next(t) evc_x86_next_tweak(t)
#define v_tweaks_first(base) (base)

EVC_INLINE void v_tweaks_begin(__m128i base, vec *next)
{
    next[0] = base;
    EACH(XTS_WIDE, if (i > 0) next[i] = v_tweaks_next(next[i > 0 ? i - 1 : 0]));
}

#if EVC_X86_64
/* The next tweaks by words, whose units are idle while those of vectors are not. `volatile` keeps compilers from
 * putting the halves of a tweak together in a vector. */
EVC_INLINE void next_tweaks(vec *next)
{
    unsigned long long lo, hi;

    memcpy(&lo, &next[XTS_WIDE - 1], 8);
    memcpy(&hi, (const uint8_t *)&next[XTS_WIDE - 1] + 8, 8);
    EACH(XTS_WIDE, const unsigned long long lost = (0 - (hi >> 63)) & 0x87;
         (void)_addcarry_u64(_addcarry_u64(0, lo, lo, &lo), hi, hi, &hi); lo ^= lost;
         *(volatile unsigned long long *)&next[i] = lo; *((volatile unsigned long long *)&next[i] + 1) = hi);
}
#else
#define next_tweaks(next) v_tweaks_begin(v_tweaks_next((next)[XTS_WIDE - 1]), next)
#endif

EVC_INLINE void v_tweaks_wide(vec *next, vec *t, int is_last)
{
    EACH(XTS_WIDE, t[i] = next[i]);
    if (is_last)
        next[0] = v_tweaks_next(t[XTS_WIDE - 1]);
    else
        next_tweaks(next);
}

EVC_INLINE vec v_gather(const struct evc_aes_chain *c, size_t at)
{
    return v_load(c->in + at);
}

EVC_INLINE void v_scatter(const struct evc_aes_chain *c, size_t at, vec v)
{
    v_store(c->out + at, v);
}

EVC_INLINE vec v_gather_iv(const struct evc_aes_chain *c)
{
    return v_load(c->msg->iv);
}

EVC_INLINE void v_scatter_iv(const struct evc_aes_chain *c, vec v)
{
    v_store(c->msg->iv, v);
}

#include "aes/x86_wide_steps.h"

EVC_DEFINE_CLEAR(clear, XMM)

EVC_ISA_END

const struct evc_aes evc_aes_x86_aesni = {
    .kernel = EVC_KERNEL_HEAD(x86_aesni, X86_AESNI, CT, ANY, WIDE * VEC_BLOCKS,
                              struct evc_aes_fips197_key, EVC_KEY_FIPS197 | EVC_LEAVES_XMM, clear),
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
    .ccm_encrypt = evc_x86_ccm_encrypt,
    .ccm_decrypt = evc_x86_ccm_decrypt,
};
#else
EVC_EMPTY_UNIT
#endif
