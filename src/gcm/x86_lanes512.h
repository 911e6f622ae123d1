/* SPDX-License-Identifier: MIT */
/* Vectors of 512 bits, 4 blocks, by the words of gcm/tail.h and gcm/x86_steps.h. */
#ifndef EVC_GCM_X86_LANES512_H
#define EVC_GCM_X86_LANES512_H

#include "common/x86_vec512.h"

#define v_enc(x, k) _mm512_aesenc_epi128(x, k)
#define v_enc_last(x, k) _mm512_aesenclast_epi128(x, k)
#define v_add32(a, b) _mm512_add_epi32(a, b)
#define v_shuffle8(a, b) _mm512_shuffle_epi8(a, b)
#define v_words(n) _mm512_set1_epi32((int)(n))
#define v_places() _mm512_set_epi32(0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0)
#define v_low(v) _mm512_castsi512_si128(v)
#define v_last(block) _mm512_maskz_broadcast_i32x4(0xf000, block)
#define v_last_block(v) _mm512_extracti32x4_epi32(v, 3)

EVC_INLINE vec v_at(__m128i block, size_t place)
{
    return _mm512_maskz_broadcast_i32x4((__mmask16)(0xf << 4 * place), block);
}

/* ---- Blocks from one lane on ----------------------------------------------------------------- */

/* A word moves up by 2 lanes places, or down. Others come in at the other end. */
static const uint64_t places[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

EVC_INLINE vec v_up(vec v, size_t lane)
{
    return _mm512_permutexvar_epi64(v_load(places + 8 - 2 * lane), v);
}

EVC_INLINE vec v_down(vec v, size_t lane)
{
    return _mm512_permutexvar_epi64(v_load(places + 2 * lane), v);
}

/* Whether 64 bytes at p reach into the next page. */
EVC_INLINE int crosses_page(const void *p)
{
    return ((uintptr_t)p & 4095) > 4096 - 64;
}

/* An access begins with the text, as a mask that leaves out bytes before waits for earlier stores
 * to these bytes; before the end of a page it ends with the text. */
EVC_INLINE vec v_load_from(const uint8_t *p, size_t lane, int alone)
{
    const uint8_t *const first = evc_in_at(p, 16 * lane);

    if (alone && __builtin_expect(crosses_page(first), 0))
        return _mm512_maskz_loadu_epi64((__mmask8)(0xff << 2 * lane), p);
    return v_up(_mm512_maskz_loadu_epi64((__mmask8)(0xff >> 2 * lane), first), lane);
}

EVC_INLINE void v_store_from(uint8_t *p, size_t lane, int alone, vec v)
{
    uint8_t *const first = evc_out_at(p, 16 * lane);

    if (alone && __builtin_expect(crosses_page(first), 0))
        _mm512_mask_storeu_epi64(p, (__mmask8)(0xff << 2 * lane), v);
    else
        _mm512_mask_storeu_epi64(first, (__mmask8)(0xff >> 2 * lane), v_down(v, lane));
}

EVC_INLINE vec v_keep_from(vec v, size_t lane)
{
    return _mm512_maskz_mov_epi64((__mmask8)(0xff << 2 * lane), v);
}

#endif
