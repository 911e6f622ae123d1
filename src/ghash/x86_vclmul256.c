/* SPDX-License-Identifier: MIT */
/*
 * GHASH with VPCLMULQDQ on 256-bit vectors, 16 blocks with one reduction.
 *
 * Method:   8 vectors of 2 blocks times H^16 ... H^1 by Karatsuba, summed before one reduction of two
 *           multiplications; a rest of fewer blocks by the lower powers.
 * Source:   Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage for Computing the GCM
 *           Mode, 2014; Montgomery: Modular Multiplication Without Trial Division, 1985.
 * Needs:    X86_VCLMUL256.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_VCLMUL256)
EVC_ISA_BEGIN(X86_VCLMUL256)

typedef __m256i vec;
#define LANES 2
#define v_load(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define v_store(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define v_load_part(p, n) ((void)(n), v_first(load1(p)))
#define v_xor(a, b) _mm256_xor_si256(a, b)
#define v_xor3(a, b, c) _mm256_xor_si256(_mm256_xor_si256(a, b), c)
#define v_swap(v) _mm256_shuffle_epi32(v, 0x4e)
#define v_low_halves(a, b) _mm256_unpacklo_epi64(a, b)
#define v_clmul(a, b, imm) _mm256_clmulepi64_epi128(a, b, imm)
#define v_reverse(v)                                                                               \
    _mm256_shuffle_epi8(v, _mm256_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f,               \
                                             0x0001020304050607, 0x08090a0b0c0d0e0f))
#define v_all(block) _mm256_broadcastsi128_si256(block)
#define v_first(block) _mm256_zextsi128_si256(block)
#define v_fold(v) fold(v)
#define v_zero() _mm256_setzero_si256()

EVC_INLINE __m128i fold(vec v)
{
    return _mm_xor_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}

#include "ghash/x86_clmul_blocks.h"

const struct evc_ghash evc_ghash_x86_vclmul256 = {
    .kernel = EVC_KERNEL_HEAD(x86_vclmul256, X86_VCLMUL256, CT, ANY, BATCH, struct key, 0),
    .set_key = set_key,
    .blocks = blocks,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
