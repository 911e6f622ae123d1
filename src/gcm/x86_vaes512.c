/* SPDX-License-Identifier: MIT */
/*
 * GCM with VAES and VPCLMULQDQ on 512-bit vectors, 64 blocks with one reduction.
 *
 * Method:   8 vectors of 4 counters through AES while the 8 before are hashed by Karatsuba; messages end with the
 *           block of lengths in the last place of a group, so that no block has a path of its own; parts by masks.
 *           Up to 96 bytes of text, and at most a block of associated data, in one or two vectors: gcm/x86_short512.h.
 * Source:   SP 800-38D (2007); Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage for
 *           Computing the GCM Mode, 2014.
 * Needs:    X86_GCM512.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "gcm/kernel.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/x86.h"

#if EVC_BUILT(X86_GCM512)
EVC_ISA_BEGIN(X86_GCM512)

#define GROUP 16
#include "common/x86_vec512.h"

#define v_enc(x, k) _mm512_aesenc_epi128(x, k)
#define v_enc_last(x, k) _mm512_aesenclast_epi128(x, k)
#define v_add32(a, b) _mm512_add_epi32(a, b)
#define v_shuffle8(a, b) _mm512_shuffle_epi8(a, b)
#define v_words(n) _mm512_set1_epi32((int)(n))
#define v_word_steps() _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0)
#define v_with_word(base, v, i) _mm512_mask_shuffle_epi32(base, 0x8888, v, (_MM_PERM_ENUM)(0x55 * (i)))
#define v_low(v) _mm512_castsi512_si128(v)
#define v_last(block) _mm512_maskz_broadcast_i32x4(0xf000, block)
#define v_last_block(v) _mm512_extracti32x4_epi32(v, 3)

EVC_INLINE vec v_at(__m128i block, size_t place)
{
    return _mm512_maskz_broadcast_i32x4((__mmask16)(place < 4 ? 0xf << 4 * place : 0), block);
}

typedef __mmask64 part;

EVC_INLINE uint64_t first_bytes(size_t n) /* 0 to 64 */
{
    return _bzhi_u64(~UINT64_C(0), (unsigned)n);
}

EVC_INLINE part part_of(size_t begin, size_t end)
{
    return first_bytes(end) & ~first_bytes(begin);
}

/* Of a vector at `at`, without the first bytes of all vectors. */
EVC_INLINE part missing(size_t bytes, size_t at)
{
    return bytes <= at ? ~UINT64_C(0) : ~first_bytes(bytes - at < 64 ? bytes - at : 64);
}

EVC_INLINE vec v_load_text(const uint8_t *p, part text)
{
    return _mm512_maskz_loadu_epi8(text, p);
}

EVC_INLINE void v_store_text(uint8_t *p, part text, vec v)
{
    _mm512_mask_storeu_epi8(p, text, v);
}

EVC_INLINE vec v_text(part text, vec v)
{
    return _mm512_maskz_mov_epi8(text, v);
}

EVC_INLINE __m128i load_part1(const uint8_t *p, size_t n_bytes)
{
    return _mm_maskz_loadu_epi8((__mmask16)first_bytes(n_bytes), p);
}

EVC_INLINE void store_tag(uint8_t *tag, __m128i t, size_t n_bytes)
{
    if (n_bytes == 16)
        _mm_storeu_si128((__m128i *)(void *)tag, t);
    else
        _mm_mask_storeu_epi8(tag, (__mmask16)first_bytes(n_bytes), t);
}

EVC_INLINE enum evc_status compare_tag(const uint8_t *tag, __m128i t, size_t n_bytes)
{
    const __mmask16 bytes = (__mmask16)first_bytes(n_bytes);

    return _mm_mask_cmpneq_epi8_mask(bytes, t, _mm_maskz_loadu_epi8(bytes, tag)) ? EVC_ERR_TAG : EVC_OK;
}

EVC_DEFINE_CLEAR(clear, ZMM)

#include "gcm/x86_steps.h"
#include "gcm/x86_short512.h"

EVC_ISA_END

const struct evc_gcm evc_gcm_x86_vaes512 = {
    .kernel = EVC_KERNEL_HEAD(x86_vaes512, X86_GCM512, CT, ANY, BATCH, struct key_512, 0, clear),
    .set_key = set_key_512,
    GCM_SLOTS,
    .seal = seal_512,
    .open = open_512,
};
#else
EVC_EMPTY_UNIT
#endif
