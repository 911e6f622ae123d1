/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 with byte shuffles of 512 bits: four blocks in a vector.
 *
 * Method:   that of x86_vbmi128 (nibbles_steps.h) in four lanes. The vectors of a call do not wait for each other, so
 *           that a core has two or three of them at work.
 * Source:   Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2.
 * Needs:    X86_VBMI512.   Timing: CT (no tables in memory that secrets index, no secret branches).
 * Key form: private.
 */
#include "qarma/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_VBMI512)
EVC_ISA_BEGIN(X86_VBMI512)

typedef __m512i vec;
#define v_load(p) _mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)(const void *)(p)))
#define v_store(p, x) _mm_store_si128((__m128i *)(void *)(p), _mm512_castsi512_si128(x))
#define v_xor _mm512_xor_si512
#define v_xor3(a, b, e) _mm512_ternarylogic_epi64(a, b, e, 0x96)
#define v_look _mm512_shuffle_epi8

#define LANES 4
#define PAIR _mm512_set1_epi16(0x1001) /* low nibble + 16 x high nibble */

/* Each number twice, to its 16 nibbles. */
EVC_INLINE __m512i spread(__m512i twice)
{
    const __m512i from_bit = _mm512_broadcast_i32x4(
        _mm_set_epi8(60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0));

    return _mm512_and_si512(_mm512_multishift_epi64_epi8(from_bit, twice), _mm512_set1_epi8(15));
}

EVC_INLINE __m512i v_wide(uint64_t x)
{
    return spread(_mm512_set1_epi64((long long)x));
}

EVC_INLINE uint64_t v_narrow(__m512i x)
{
    return (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(_mm512_cvtepi16_epi8(_mm512_maddubs_epi16(x, PAIR))));
}

#include "qarma/nibbles_steps.h"

EVC_INLINE __m512i wide4(__m256i numbers)
{
    return spread(_mm512_permutexvar_epi64(_mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0), _mm512_castsi256_si512(numbers)));
}

static void encrypt_many(const void *vkey, const uint64_t *in, const uint64_t *tweak, uint64_t *out, size_t n)
{
    const struct key *key = vkey;
    const __m256i first = _mm256_set1_epi64x((long long)key->first[0]);
    const __m256i last = _mm256_set1_epi64x((long long)key->last[0]);

    for (size_t i = 0; i < n; i += LANES) {
        const __mmask8 some = (__mmask8)(n - i < LANES ? (1u << (n - i)) - 1 : 15);
        const __m256i t = _mm256_maskz_loadu_epi64(some, tweak + i), x = _mm256_maskz_loadu_epi64(some, in + i);
        const __m512i y = run_any(key, wide4(_mm256_ternarylogic_epi64(x, t, first, 0x96)), wide4(t), 0);
        const __m256i narrow = _mm512_cvtepi16_epi8(_mm512_maddubs_epi16(y, PAIR));
        _mm256_mask_storeu_epi64(out + i, some, _mm256_ternarylogic_epi64(narrow, t, last, 0x96));
    }
}

const struct evc_qarma evc_qarma_x86_vbmi512 = {
    .kernel = EVC_KERNEL_HEAD(x86_vbmi512, X86_VBMI512, CT, PARALLEL, 2 * LANES, struct key, 0),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .encrypt_many = encrypt_many,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
