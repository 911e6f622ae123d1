/* SPDX-License-Identifier: MIT */
/*
 * Vectors of one block, for x86_wide_steps.h. Include it inside a region of X86_AESNI or more,
 * after WIDE and LONG_WIDE have been defined.
 */
#ifndef EVC_AES_X86_AESNI_VEC_H
#define EVC_AES_X86_AESNI_VEC_H

#include "aes/x86_aesni_steps.h"

typedef __m128i vec;
#define VEC_BLOCKS 1

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
#define XTS_WIDE WIDE
#define XTS_WIDE_FROM (XTS_WIDE * VEC_BLOCKS)
#define v_tweaks_after_next(v) v_tweaks_next(v_tweaks_next(v))
#define XTS_LAST_APART 1
#define XTS_SPILL_BYTES 448
#define SHORT_XTS_SPILL_BYTES 192
#define CHAINS_SPILL_BYTES 512

#include "aes/x86_few_registers.h"

#define v_tweaks_next(t) evc_x86_next_tweak(t)

EVC_INLINE void v_wide_tweaks_begin(__m128i base, vec *next)
{
    next[0] = base;
    EACH(XTS_WIDE, if (i > 0) next[i] = v_tweaks_next(next[i > 0 ? i - 1 : 0]));
}

#if EVC_X86_64
/* The next tweaks by words, whose units are idle while those of vectors are not. `volatile` keeps
 * compilers from putting the halves of a tweak together in a vector. */
EVC_INLINE void next_tweaks(vec *next)
{
    unsigned long long lo, hi;

    memcpy(&lo, &next[XTS_WIDE - 1], 8);
    memcpy(&hi, (const uint8_t *)&next[XTS_WIDE - 1] + 8, 8);
    EACH(XTS_WIDE, const unsigned long long lost = (0 - (hi >> 63)) & 0x87;
         (void)_addcarry_u64(_addcarry_u64(0, lo, lo, &lo), hi, hi, &hi); lo ^= lost;
         *(volatile unsigned long long *)&next[i] = lo;
         *((volatile unsigned long long *)&next[i] + 1) = hi);
}
#else
#define next_tweaks(next) v_wide_tweaks_begin(v_tweaks_next((next)[XTS_WIDE - 1]), next)
#endif

EVC_INLINE void v_wide_tweaks(vec *next, vec *t, int is_last)
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

#endif
