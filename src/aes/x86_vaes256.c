/* SPDX-License-Identifier: MIT */
/*
 * AES with VAES, 2 blocks per 256-bit register.
 *
 * Method:   one VAESENC per round on 2 blocks; 8 registers = 16 blocks in flight, 12 of long
 *           messages in CTR and CBC decryption; tweaks of short messages of XTS from products
 *           without carry, in steps of 8 blocks; the modes are in x86_wide_steps.h, chains in
 *           x86_aesni_steps.h.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; Intel 64 and IA-32 Architectures
 *           Software Developer's Manual, volume 2, AESENC, VAESENC and VPCLMULQDQ.
 * Needs:    X86_VAES256_CLMUL.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_VAES256_CLMUL)
EVC_ISA_BEGIN(X86_VAES256_CLMUL)

#include "aes/x86_aesni_steps.h"
#include "aes/x86_keys.h"
#include "aes/x86_two_blocks.h"

#define WIDE 8 /* 4 cycles of latency, 2 instructions a cycle */
#define LONG_WIDE 12
#define LONG_CTR_FROM (4 * LONG_WIDE)
#define LONG_CBC_FROM (2 * LONG_WIDE)
#define XTS_WIDE WIDE
#define XTS_WIDE_FROM 48 /* below, steps of 8 blocks */
#define XTS_LAST_APART 0
#define XTS_SPILL_BYTES 1088

#include "aes/x86_vaes256_vec.h"

#include "aes/x86_wide_tweaks.h"

/* lost: the bits that a shift of a block by k < 57 bits has moved out at the top, in its lower
 * half. Returns them times x^7 + x^2 + x + 1. */
EVC_INLINE vec v_reduce(vec lost)
{
    vec sum = v_xor(lost, _mm256_slli_epi64(lost, 1));

    return v_xor(sum, v_xor(_mm256_slli_epi64(lost, 2), _mm256_slli_epi64(lost, 7)));
}

/* Word i % 4 of `low` or `high`, alone at the beginning of each block. */
EVC_INLINE vec v_word(vec low, vec high, unsigned i)
{
    const int bytes = (int)(0x03020100 + 0x04040404 * (i % 4));

    return v_shuffle8(i < 4 ? low : high, v_all(_mm_set_epi32(-1, -1, -1, bytes)));
}

/* t * x^2i: the halves of t shifted, plus the bits that the lower one loses, plus those of the
 * upper one, reduced. The latter are in the last 32 bits of t. */
EVC_INLINE void v_wide_tweaks_begin(__m128i base, vec *next)
{
    const vec t = v_tweaks_of(v_all(base), 0), lower = _mm256_slli_si256(t, 8),
              last = _mm256_shuffle_epi32(t, 0xff);
    const vec low = v_reduce(_mm256_srlv_epi32(last, v_all(_mm_set_epi32(26, 28, 30, 32))));
    const vec high = v_reduce(_mm256_srlv_epi32(last, v_all(_mm_set_epi32(18, 20, 22, 24))));

    next[0] = t;
    EACH(XTS_WIDE, if (i > 0) next[i] =
                       v_xor3(_mm256_slli_epi64(t, (int)(2 * i)),
                              _mm256_srli_epi64(lower, (int)(64 - 2 * i)), v_word(low, high, i)));
}

/* Each times x^16: moved up by two bytes. Those that next[i] loses are bits 112 - 2i to 127 - 2i of
 * next[0], so that all come from its last 32 bits. */
EVC_INLINE void next_tweaks(vec *next)
{
    const vec last = _mm256_shuffle_epi32(next[0], 0xff), mask = _mm256_set1_epi32(0xffff);
    const vec low_lost = _mm256_srlv_epi32(last, v_all(_mm_set_epi32(10, 12, 14, 16)));
    const vec high_lost = _mm256_srlv_epi32(last, v_all(_mm_set_epi32(2, 4, 6, 8)));
    const vec low = v_reduce(_mm256_and_si256(low_lost, mask)),
              high = v_reduce(_mm256_and_si256(high_lost, mask));

    EACH(XTS_WIDE, next[i] = v_xor(_mm256_slli_si256(next[i], 2), v_word(low, high, i)));
}

EVC_INLINE void v_wide_tweaks(vec *next, vec *t, int is_last)
{
    EACH(XTS_WIDE, t[i] = next[i]);
    if (is_last)
        next[0] = v_tweaks_after(t[0], 2);
    else
        next_tweaks(next);
}

#include "aes/x86_wide_steps.h"

EVC_ISA_END

const struct evc_aes evc_aes_x86_vaes256 = {
    .kernel = EVC_KERNEL_HEAD(x86_vaes256, X86_VAES256_CLMUL, CT, PARALLEL, WIDE * VEC_BLOCKS,
                              struct evc_aes_fips197_key, EVC_KEY_FIPS197, YMM, 0),
    WIDE_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
