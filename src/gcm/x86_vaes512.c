/* SPDX-License-Identifier: MIT */
/*
 * GCM with VAES and VPCLMULQDQ on 512-bit vectors, 32 blocks with one reduction.
 *
 * Method:   8 vectors of 4 counters through AES while the 8 before are hashed by Karatsuba; messages end with the
 *           block of lengths in the last place of a group, so that no block has a path of its own; parts by masks.
 * Source:   SP 800-38D (2007); Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage for
 *           Computing the GCM Mode, 2014.
 * Needs:    X86_GCM512.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "gcm/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_GCM512)
EVC_ISA_BEGIN(X86_GCM512)

#include "common/x86_vec512.h"

#define v_enc(x, k) _mm512_aesenc_epi128(x, k)
#define v_enc_last(x, k) _mm512_aesenclast_epi128(x, k)
#define v_add32(a, b) _mm512_add_epi32(a, b)
#define v_shuffle8(a, b) _mm512_shuffle_epi8(a, b)
#define v_counter_steps() _mm512_set_epi32(3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0)
#define v_low(v) _mm512_castsi512_si128(v)
#define v_last(block) _mm512_maskz_broadcast_i32x4(0xf000, block)
#define BYTES_REVERSED                                                                             \
    _mm512_set4_epi64(0x0001020304050607, 0x08090a0b0c0d0e0f, 0x0001020304050607,                  \
                      0x08090a0b0c0d0e0f)
#define v_reverse_last(v) _mm512_maskz_shuffle_epi8(UINT64_C(0xffff) << 48, v, BYTES_REVERSED)

/* Bytes as bits of masks, and where they go when blocks are reversed. */
struct part {
    __mmask64 bytes, reversed;
};

EVC_INLINE __mmask64 first_bytes(size_t n) /* 0 to 64 */
{
    return _bzhi_u64(~UINT64_C(0), (unsigned)n);
}

EVC_INLINE struct part part_of(size_t begin, size_t end)
{
    const size_t n = end % 16; /* of the last block */
    struct part part;

    part.bytes = first_bytes(end) & ~first_bytes(begin);
    part.reversed = (first_bytes(end - n) | first_bytes(n) << ((end + 16 - 2 * n) % 64)) &
                    ~first_bytes(begin);
    return part;
}

EVC_INLINE vec v_load_text(const uint8_t *p, struct part part)
{
    return _mm512_maskz_loadu_epi8(part.bytes, p);
}

EVC_INLINE void v_store_text(uint8_t *p, struct part part, vec v)
{
    _mm512_mask_storeu_epi8(p, part.bytes, v);
}

EVC_INLINE vec v_reverse_text(struct part part, vec v, vec other)
{
    return _mm512_mask_shuffle_epi8(other, part.reversed, v, BYTES_REVERSED);
}

EVC_INLINE void store_tag(uint8_t *tag, __m128i t, size_t n_bytes)
{
    _mm_mask_storeu_epi8(tag, (__mmask16)first_bytes(n_bytes), t);
}

EVC_INLINE int differs_from_tag(const uint8_t *tag, __m128i t, size_t n_bytes)
{
    const __mmask16 bytes = (__mmask16)first_bytes(n_bytes);

    return _mm_mask_cmpneq_epi8_mask(bytes, t, _mm_maskz_loadu_epi8(bytes, tag)) != 0;
}

#include "gcm/x86_steps.h"

EVC_ISA_END

const struct evc_gcm evc_gcm_x86_vaes512 = {
    .kernel = EVC_KERNEL_HEAD(x86_vaes512, X86_GCM512, CT, ANY, BATCH, struct key, 0),
    .set_key = set_key,
    .encrypt = encrypt,
    .hash = hash,
    .seal_blocks = seal_blocks,
    .open_blocks = open_blocks,
    .seal = seal,
    .open = open,
};
#else
EVC_EMPTY_UNIT
#endif
