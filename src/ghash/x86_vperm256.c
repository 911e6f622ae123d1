/* SPDX-License-Identifier: MIT */
/*
 * GHASH by vector permute: tables of nibbles of 16 bytes each, two rows of bytes
 * looked up by one VPSHUFB.
 *
 * Method:   that of x86_vperm, with bytes j and j + 8 of 16 blocks in one register
 *           wherever there are 16 blocks.
 * Source:   Hamburg: Accelerating AES with Vector Permute Instructions, CHES 2009; Plank,
 *           Greenan, Miller: Screaming Fast Galois Field Arithmetic Using Intel SIMD
 *           Instructions, FAST 2013.
 * Needs:    X86_AVX2.   Timing: CT (tables are looked up in registers, no secret branches).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_AVX2)
EVC_ISA_BEGIN(X86_AVX2)

typedef __m256i vec;
#define LANES 2
#define v_zero() _mm256_setzero_si256()
#define v_xor(a, b) _mm256_xor_si256(a, b)
#define v_and(a, b) _mm256_and_si256(a, b)
#define v_shift4(v) _mm256_srli_epi16(v, 4)
#define v_shuffle(v, from) _mm256_shuffle_epi8(v, from)
#define v_all(x) _mm256_broadcastsi128_si256(x)
#define v_low(v) _mm256_castsi256_si128(v)
#define v_get(p) _mm256_inserti128_si256(_mm256_castsi128_si256(get(p)), get((p) + 128), 1)
#define v_put(p, v) (put(p, v_low(v)), put((p) + 128, _mm256_extracti128_si256(v, 1)))
#define v_up(v) _mm256_permute2x128_si256(v, v, 0x08)
#define v_down(v) _mm256_permute2x128_si256(v, v, 0x81)
#define v_clear_upper_halves() EVC_X86_CLEAR_UPPER_HALVES()

#include "ghash/x86_vperm_steps.h"

const struct evc_ghash evc_ghash_x86_vperm256 = {
    .kernel = EVC_KERNEL_HEAD(x86_vperm256, X86_AVX2, CT, ANY, COLUMNS, struct key, 0, YMM, 1856),
    .set_key = set_key,
    .blocks = blocks,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
