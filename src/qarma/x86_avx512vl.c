/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 with byte shuffles of 128 bits and sums of three in one instruction.
 *
 * Method:   that of x86_ssse3 (nibbles_steps.h); VPTERNLOGQ adds three vectors.
 * Source:   Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2.
 * Needs:    X86_AVX512VL.   Timing: CT (no tables in memory that secrets
 *           index, no secret branches).
 * Key form: private.
 */
#include "qarma/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_AVX512VL)
EVC_ISA_BEGIN(X86_AVX512VL)

#define v_xor3(a, b, e) _mm_ternarylogic_epi64(a, b, e, 0x96)
#define v_known(x) (x)

EVC_INLINE __m128i v_wide_xor(__m128i x, __m128i w)
{
    const __m128i mixed = _mm_unpacklo_epi8(x, _mm_srli_epi64(x, 4));

    return _mm_ternarylogic_epi64(mixed, _mm_set1_epi8(15), w, 0x6a); /* (mixed & 15) ^ w */
}

#define v_wide(x) v_wide_xor(x, _mm_setzero_si128())

#include "qarma/x86_128_steps.h"

const struct evc_qarma evc_qarma_x86_avx512vl = {
    .kernel =
        EVC_KERNEL_HEAD(x86_avx512vl, X86_AVX512VL, CT, ANY, 1, struct key, 0, ZMM, 448),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
