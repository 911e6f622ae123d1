/* SPDX-License-Identifier: MIT */
/* Parts of blocks, and tags, where there are no masks: for 128-bit and 256-bit vectors. Lengths are
 * no secrets, so branches may depend on them. */
#ifndef EVC_GCM_X86_PARTS_H
#define EVC_GCM_X86_PARTS_H

#include "common/ct.h"
#include "common/x86_part.h"

EVC_INLINE __m128i load_part1(const uint8_t *p, size_t n_bytes) /* 0 to 16 */
{
    if (n_bytes == 16)
        return load1(p);
    return n_bytes ? evc_x86_load_part(p, n_bytes) : _mm_setzero_si128();
}

EVC_INLINE void store_part1(uint8_t *p, __m128i v, size_t n_bytes) /* 0 to 16 */
{
    if (n_bytes == 16)
        store1(p, v);
    else if (n_bytes)
        evc_x86_store_part(p, v, n_bytes);
}

/* The first n_bytes of v, zeros behind. */
EVC_INLINE __m128i first_bytes1(__m128i v, size_t n_bytes)
{
    static const uint8_t window[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                       255, 255, 255, 255, 255, 255, 255, 255};

    return _mm_and_si128(v, load1(window + 16 - n_bytes));
}

#define store_tag(tag, t, n_bytes) store_part1(tag, t, n_bytes)

EVC_INLINE enum evc_status compare_tag(const uint8_t *tag, __m128i t, size_t n_bytes)
{
    const __m128i same = _mm_cmpeq_epi8(first_bytes1(t, n_bytes), load_part1(tag, n_bytes));

    return evc_tag_status(0xffffu ^ (uint32_t)_mm_movemask_epi8(same));
}

#endif
