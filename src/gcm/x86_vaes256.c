/* SPDX-License-Identifier: MIT */
/*
 * GCM with VAES and VPCLMULQDQ on 256-bit vectors, 32 blocks with one reduction.
 *
 * Method:   8 vectors of 2 counters through AES while the 8 before are hashed by Karatsuba.
 *           A message is groups of these and a tail, whose blocks are in the
 *           last lanes: gcm/message.h.
 *           Where the ABI is that of System V, messages are in assembly, x86_vaes256_asm.S.
 * Source:   SP 800-38D (2007); Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and
 *           its Usage for Computing the GCM Mode, 2014.
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

typedef struct {
    size_t from, to; /* bytes; from: 0, 16 or 32 */
} vec_part;

EVC_INLINE vec_part v_part(size_t from, size_t to)
{
    return (vec_part){from, to};
}

EVC_INLINE vec v_load_part(unsigned i, const uint8_t *p, vec_part part, int at_page_end)
{
    const uint8_t *const second = evc_in_at(p, 16);

    (void)at_page_end; /* nothing is accessed but the part */
    if (i || part.from == 0)
        return part.to > 16 ? v_join(load1(p), load_part1(second, part.to - 16))
                            : v_first(load_part1(p, part.to));
    return part.from == 16 ? v_last(load_part1(second, part.to - 16)) : v_zero();
}

EVC_INLINE void v_store_part(unsigned i, uint8_t *p, vec_part part, int at_page_end, vec v)
{
    (void)at_page_end; /* nothing is accessed but the part */
    if (i || part.from == 0)
        store_part1(p, v_low(v), part.to < 16 ? part.to : 16);
    if ((i || part.from < 32) && part.to > 16)
        store_part1(evc_out_at(p, 16), v_last_block(v), part.to - 16);
}

EVC_INLINE vec v_keep_part(unsigned i, vec v, vec_part part)
{
    static const uint64_t words[12] = {
        0, 0, 0, 0, ~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0)};
    const uint8_t *const window = (const uint8_t *)words;

    v = _mm256_and_si256(v, v_load(window + 64 - part.to));
    return i ? v : _mm256_and_si256(v, v_load(window + 32 - part.from));
}

#if EVC_X86_64_SYSV

#define CLEARED_BYTES 960
#define clear() EVC_CLEAR(YMM, 960)
#define MESSAGES evc_gcm_x86_vaes256
#include "gcm/in_assembly.h"

#else

#define CLEARED_BYTES 1600
#define clear() EVC_CLEAR(YMM, 1600)
#define clear_long() EVC_CLEAR(YMM, 960)
#define clear_short() EVC_CLEAR(YMM, 576)
#define clear_block() EVC_CLEAR(YMM, 128)
#define CLEAR_AFTER_BLOCK() clear_block()
#define CLEAR_AFTER_SHORT() clear_short()
#define CLEAR_AFTER_LONG() clear_long()
#if defined(_WIN32) /* vectors are passed in memory */
#define CLEAR_FRAMES() clear()
#endif

#endif

#include "gcm/x86_steps.h"

EVC_ISA_END

#if EVC_X86_64_SYSV
ASSEMBLY_AGREES(768);
#endif

const struct evc_gcm evc_gcm_x86_vaes256 = {
    .kernel = EVC_KERNEL_HEAD(x86_vaes256, X86_GCM256, CT, ANY, BATCH, struct key, 0, YMM,
                              CLEARED_BYTES),
    GCM_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
