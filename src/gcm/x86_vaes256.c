/* SPDX-License-Identifier: MIT */
/*
 * GCM with VAES and VPCLMULQDQ on 256-bit vectors, 32 blocks with one reduction.
 *
 * Method:   8 vectors of 2 counters through AES while the 8 before are hashed by Karatsuba; messages end with the
 *           block of lengths in the last place, so every block meets its power of H at a fixed place.
 * Source:   SP 800-38D (2007); Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage for
 *           Computing the GCM Mode, 2014.
 * Needs:    X86_GCM256.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "gcm/kernel.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/x86.h"

#if EVC_BUILT(X86_GCM256)
EVC_ISA_BEGIN(X86_GCM256)

#define GROUP 16
#include "common/x86_vec256.h"
#include "ghash/x86_clmul_steps.h"

#include "gcm/x86_parts.h"

#define v_enc(x, k) _mm256_aesenc_epi128(x, k)
#define v_enc_last(x, k) _mm256_aesenclast_epi128(x, k)
#define v_add32(a, b) _mm256_add_epi32(a, b)
#define v_shuffle8(a, b) _mm256_shuffle_epi8(a, b)
#define v_words(n) _mm256_set1_epi32((int)(n))
#define v_word_steps() _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0)
#define v_with_word(base, v, i) _mm256_blend_epi32(base, _mm256_shuffle_epi32(v, 0x55 * (i)), 0x88)
#define v_low(v) _mm256_castsi256_si128(v)
#define v_last_block(v) _mm256_extracti128_si256(v, 1)

EVC_INLINE vec v_at(__m128i block, size_t place)
{
    return place == 0 ? v_first(block) : place == 1 ? v_last(block) : v_zero();
}

EVC_INLINE vec v_join(__m128i low, __m128i high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/* Bytes of the text in the lower block, and in the upper one. */
EVC_INLINE size_t in_low(part p)
{
    return p.begin ? 0 : p.end < 16 ? p.end : 16;
}

EVC_INLINE size_t in_high(part p)
{
    return p.begin <= 16 && p.end > 16 ? p.end - 16 : 0;
}

EVC_INLINE vec v_load_text(const uint8_t *from, part p)
{
    return v_join(load_part1(from, in_low(p)), load_part1(evc_in_at(from, 16), in_high(p)));
}

EVC_INLINE void v_store_text(uint8_t *to, part p, vec v)
{
    store_part1(to, v_low(v), in_low(p));
    store_part1(evc_out_at(to, 16), v_last_block(v), in_high(p));
}

EVC_INLINE vec v_text(part p, vec v)
{
    return v_join(first_bytes1(v_low(v), in_low(p)), first_bytes1(v_last_block(v), in_high(p)));
}

EVC_DEFINE_CLEAR_STACK(clear, YMM, 960)
EVC_DEFINE_CLEAR_STACK(clear_short, YMM, 256)
EVC_DEFINE_CLEAR_STACK(clear_middle, YMM, 512)
#define CLEAR_AFTER_SHORT() clear_short()
#define CLEAR_AFTER_MIDDLE() clear_middle()

#include "gcm/x86_steps.h"

EVC_ISA_END

const struct evc_gcm evc_gcm_x86_vaes256 = {
    .kernel = EVC_KERNEL_HEAD(x86_vaes256, X86_GCM256, CT, ANY, BATCH, struct key, 0, clear),
    .set_key = set_key,
    GCM_SLOTS,
    .seal = seal,
    .open = open,
};
#else
EVC_EMPTY_UNIT
#endif
