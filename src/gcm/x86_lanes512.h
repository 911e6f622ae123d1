/* SPDX-License-Identifier: MIT */
/* Vectors of 512 bits, 4 blocks, by the words of gcm/message.h and gcm/x86_steps.h;
 * their parts by masks. */
#ifndef EVC_GCM_X86_LANES512_H
#define EVC_GCM_X86_LANES512_H

#include "common/ct.h"
#include "common/x86_mask512.h"
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

/* ---- Parts of vectors ------------------------------------------------------------------------ */

#define PARTS_BY_MASKS
typedef struct {
    __mmask64 bytes; /* behind the first `from` bytes of the vector */
    size_t from, to; /* from: 0, 16, 32, 48, 64 */
} vec_part;

EVC_INLINE vec_part v_part(size_t from, size_t to)
{
    return (vec_part){evc_x86_first_bytes(to - from), from, to};
}

/* Blocks `from` bytes up, and down. Others come in at the other end. */
static const uint64_t places[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

EVC_INLINE vec v_up(vec v, size_t from)
{
    return _mm512_permutexvar_epi64(v_load(places + 8 - from / 8), v);
}

EVC_INLINE vec v_down(vec v, size_t from)
{
    return _mm512_permutexvar_epi64(v_load(places + from / 8), v);
}

/* All bytes n places down; those of the other end come in at the top. */
EVC_INLINE vec v_bytes_down(vec v, size_t n)
{
    static const uint8_t from_0[64] = {
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
        32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
        48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63
    };

    return _mm512_permutexvar_epi8(_mm512_add_epi8(v_load(from_0), _mm512_set1_epi8((char)n)), v);
}

/* i: of the vector; only that of 0 has a `from`. At the end of a page an access ends with the part.
 * Elsewhere it begins with it: a mask that leaves out bytes before the part waits for earlier
 * stores to these bytes. */
EVC_INLINE vec v_load_part(unsigned i, const uint8_t *p, vec_part part, int at_page_end)
{
    const size_t back = 64 - (part.to - part.from);

    if (__builtin_expect(at_page_end, 0))
        return v_bytes_down(
            _mm512_maskz_loadu_epi8(part.bytes << back % 64, evc_in_at(p, part.from - back)),
            64 - part.to);
    if (i == 0)
        return v_up(_mm512_maskz_loadu_epi8(part.bytes, evc_in_at(p, part.from)), part.from);
    return _mm512_maskz_loadu_epi8(part.bytes, p);
}

EVC_INLINE void v_store_part(unsigned i, uint8_t *p, vec_part part, int at_page_end, vec v)
{
    const size_t back = 64 - (part.to - part.from);

    if (__builtin_expect(at_page_end, 0))
        _mm512_mask_storeu_epi8(evc_out_at(p, part.from - back), part.bytes << back % 64,
                                v_bytes_down(v, part.to));
    else if (i == 0)
        _mm512_mask_storeu_epi8(evc_out_at(p, part.from), part.bytes, v_down(v, part.from));
    else
        _mm512_mask_storeu_epi8(p, part.bytes, v);
}

EVC_INLINE vec v_keep_part(unsigned i, vec v, vec_part part)
{
    return _mm512_maskz_mov_epi8(i == 0 ? part.bytes << part.from / 2 << part.from / 2 : part.bytes,
                                 v);
}

/* Whether n vectors at p, with text from and to there, reach behind the page that
 * has the end of the text. */
EVC_INLINE int ends_at_page_end(const void *p, size_t from, size_t to, size_t n)
{
    const uintptr_t at = (uintptr_t)p;

    return ((at + from + 64 * n - 1) ^ (at + to - 1)) > 4095;
}

#define first_bytes(n) evc_x86_first_bytes(n)

/* By masks, but for what would reach into the next page. */
EVC_INLINE void store_part1(uint8_t *p, __m128i v, size_t n_bytes)
{
    if (n_bytes == 16)
        _mm_storeu_si128((__m128i *)(void *)p, v);
    else
        evc_x86_store_bytes512(p, EVC_X86_EXTEND512(v), n_bytes);
}

#define first_bytes1(v, n_bytes) _mm_maskz_mov_epi8((__mmask16)first_bytes(n_bytes), v)
#define store_tag(tag, t, n_bytes) store_part1(tag, t, n_bytes)

#endif
