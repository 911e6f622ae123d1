/* SPDX-License-Identifier: MIT */
/*
 * GCM with VAES and VPCLMULQDQ on 256-bit vectors, 32 blocks with one reduction.
 *
 * Method:   8 vectors of 2 counters through AES while the 8 before are hashed by Karatsuba.
 *           A message is groups of these and a tail, whose blocks are in the last lanes: gcm/message.h.
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
#define POWER_SUMS 1
#include "common/x86_vec256.h"
#include "ghash/x86_clmul_steps.h"

#include "gcm/x86_parts.h"

#define v_enc(x, k) _mm256_aesenc_epi128(x, k)
#define v_enc_last(x, k) _mm256_aesenclast_epi128(x, k)
#define v_add32(a, b) _mm256_add_epi32(a, b)
#define v_shuffle8(a, b) _mm256_shuffle_epi8(a, b)
#define v_words(n) _mm256_set1_epi32((int)(n))
#define v_places() _mm256_set_epi32(0, 0, 0, 1, 0, 0, 0, 0)
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

EVC_INLINE vec v_load_end(const uint8_t *p, size_t n_bytes)
{
    return n_bytes > 16 ? v_join(load1(p), load_part1(p + 16, n_bytes - 16)) : v_first(load_part1(p, n_bytes));
}

EVC_INLINE void v_store_end(uint8_t *p, size_t n_bytes, vec v)
{
    store_part1(p, v_low(v), n_bytes < 16 ? n_bytes : 16);
    if (n_bytes > 16)
        store_part1(p + 16, v_last_block(v), n_bytes - 16);
}

EVC_INLINE vec v_keep_end(vec v, size_t n_bytes)
{
    static const uint8_t window[64] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                       255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

    return _mm256_and_si256(v, v_load(window + 32 - n_bytes));
}

EVC_INLINE vec v_load_front(const uint8_t *p, size_t empty)
{
    return empty == 0 ? v_load(p) : empty == 1 ? v_last(load1(p)) : v_zero();
}

EVC_INLINE void v_store_front(uint8_t *p, size_t empty, vec v)
{
    if (empty == 0)
        v_store(p, v);
    else if (empty == 1)
        store1(p, v_last_block(v));
}

EVC_INLINE vec v_keep_front(vec v, size_t empty)
{
    return empty == 0 ? v : empty == 1 ? v_last(v_last_block(v)) : v_zero();
}

EVC_INLINE vec v_load_both(const uint8_t *p, size_t empty, size_t n_bytes)
{
    return empty ? v_last(load_part1(p, n_bytes)) : v_load_end(p, n_bytes);
}

EVC_INLINE void v_store_both(uint8_t *p, size_t empty, size_t n_bytes, vec v)
{
    if (empty)
        store_part1(p, v_last_block(v), n_bytes);
    else
        v_store_end(p, n_bytes, v);
}

EVC_INLINE vec v_keep_both(vec v, size_t empty, size_t n_bytes)
{
    return empty ? v_last(first_bytes1(v_last_block(v), n_bytes)) : v_keep_end(v, n_bytes);
}

EVC_DEFINE_CLEAR_STACK(clear, YMM, 1600)
EVC_DEFINE_CLEAR_STACK(clear_long, YMM, 1408)
EVC_DEFINE_CLEAR_STACK(clear_short, YMM, 576)
EVC_DEFINE_CLEAR_STACK(clear_block, YMM, 128)
#define FRAMES_HOLD_NO_SECRETS 0
#define CLEAR_AFTER_BLOCK() clear_block()
#define CLEAR_AFTER_SHORT() clear_short()
#define CLEAR_AFTER_LONG() clear_long()

#include "gcm/x86_steps.h"

EVC_ISA_END

const struct evc_gcm evc_gcm_x86_vaes256 = {
    .kernel = EVC_KERNEL_HEAD(x86_vaes256, X86_GCM256, CT, ANY, BATCH, struct key, 0, clear),
    GCM_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
