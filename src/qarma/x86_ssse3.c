/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 with byte shuffles of 128 bits.
 *
 * Method:   a byte for each cell; PSHUFB is S-box, rho and every permutation (nibbles_steps.h).
 * Source:   Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2.
 * Needs:    X86_SSSE3.   Timing: CT (no tables in memory that secrets index, no secret branches).
 * Key form: private.
 */
#include "qarma/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_SSSE3)
EVC_ISA_BEGIN(X86_SSSE3)

#define v_xor3(a, b, e) _mm_xor_si128(_mm_xor_si128(a, b), e)

EVC_INLINE __m128i v_known(__m128i x)
{
#if EVC_GNU_C
    __asm__("" : "+x"(x));
#endif
    return x;
}

EVC_INLINE __m128i v_wide(__m128i x)
{
    return _mm_and_si128(_mm_unpacklo_epi8(x, _mm_srli_epi64(x, 4)), _mm_set1_epi8(15));
}

#define v_wide_xor(x, w) _mm_xor_si128(v_wide(x), w)

#include "qarma/x86_128_steps.h"

const struct evc_qarma evc_qarma_x86_ssse3 = {
    .kernel = EVC_KERNEL_HEAD(x86_ssse3, X86_SSSE3, CT, ANY, 1, struct key, 0, XMM, 448),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
