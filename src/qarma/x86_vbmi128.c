/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 with byte shuffles of 128 bits, sums of three in one instruction, and VPMULTISHIFTQB.
 *
 * Method:   that of x86_ssse3 (nibbles_steps.h); a block is spread over 16 bytes by one instruction, and VPTERNLOGQ
 *           adds three vectors. One block whose result is waited for.
 * Source:   Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2.
 * Needs:    X86_VBMI128.   Timing: CT (no tables in memory that secrets index, no secret branches).
 * Key form: private.
 */
#include "qarma/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_VBMI128)
EVC_ISA_BEGIN(X86_VBMI128)

typedef __m128i vec;
#define v_load(p) _mm_load_si128((const __m128i *)(const void *)(p))
#define v_store(p, x) _mm_store_si128((__m128i *)(void *)(p), x)
#define v_xor _mm_xor_si128
#define v_xor3(a, b, e) _mm_ternarylogic_epi64(a, b, e, 0x96)
#define v_look _mm_shuffle_epi8

EVC_INLINE __m128i v_wide(uint64_t x)
{
    const __m128i from_bit = _mm_set_epi8(60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0);

    return _mm_and_si128(_mm_multishift_epi64_epi8(from_bit, _mm_set1_epi64x((long long)x)), _mm_set1_epi8(15));
}

EVC_INLINE uint64_t v_narrow(__m128i x)
{
    const __m128i pairs = _mm_maddubs_epi16(x, _mm_set1_epi16(0x1001)); /* low nibble + 16 x high nibble */

    return (uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(pairs, pairs));
}

#include "qarma/nibbles_steps.h"

const struct evc_qarma evc_qarma_x86_vbmi128 = {
    .kernel = EVC_KERNEL_HEAD(x86_vbmi128, X86_VBMI128, CT, ANY, 1, struct key, 0),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
