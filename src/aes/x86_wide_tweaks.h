/* SPDX-License-Identifier: MIT */
/*
 * Tweaks of XTS from products without carry, 8 blocks at a time, for x86_wide_steps.h. Include it
 * inside the region of the kernel's ISA, after the vectors and these:
 *
 *   v_shift_left, v_shift_right   words of 64 bits by the words of another vector
 *   v_up, v_down         blocks by a constant number of bytes, with zeros behind
 *   v_multiply           the instruction VPCLMULQDQ
 *   v_words(x)           x in all words of 64 bits
 *   v_words_of_blocks(first, step)   first + j * step in both words of block j
 *
 * Only the start shifts words: Intel's cores do that on ports of AES. A kernel whose long messages
 * go by steps of more blocks defines XTS_WIDE before.
 */
#ifndef EVC_AES_X86_WIDE_TWEAKS_H
#define EVC_AES_X86_WIDE_TWEAKS_H

#define XTS_STEP (8 / VEC_BLOCKS) /* vectors of 8 blocks; after 8 blocks a tweak is
                                   * times x^8, one byte up */
#ifndef XTS_WIDE
#define XTS_WIDE 0
#define XTS_WIDE_FROM 8
#define XTS_SPILL_BYTES 0
#endif
#define SHORT_XTS_SPILL_BYTES 0

/* x^128, so what comes back of a bit that a block loses at the top (IEEE 1619-2018 section 5.2). */
EVC_INLINE vec v_polynomial(void)
{
    return v_words(0x87);
}

/* base, in all places, times x^(VEC_BLOCKS * i + j) for block j. A shift by 64 leaves nothing. */
EVC_INLINE vec v_tweaks_of(vec base, int i)
{
    const vec shifted = v_shift_left(base, v_words_of_blocks(VEC_BLOCKS * i, 1));
    const vec lost = v_shift_right(base, v_words_of_blocks(64 - VEC_BLOCKS * i, -1));

    return v_xor3(shifted, v_up(lost, 8), v_multiply(lost, v_polynomial(), 0x01));
}

/* t: the tweaks of the first 8 blocks. */
EVC_INLINE void v_tweaks_begin(__m128i base, vec *t)
{
    const vec all = v_all(base);

    EACH(XTS_STEP, t[i] = v_tweaks_of(all, i));
}

/* t * x^8n */
#define v_tweaks_after(t, n) \
    v_xor(v_up(t, n), v_multiply(v_down(t, 16 - (n)), v_polynomial(), 0x00))

#endif
