/* SPDX-License-Identifier: MIT */
/*
 * GHASH by vector permute: tables of nibbles of 16 bytes each, looked up by PSHUFB.
 *
 * Method:   16 blocks, their bytes gathered by place, times H^16 by 512 look-ups; fewer blocks in
 *           pairs, times H^2 and H by 64.
 * Source:   Hamburg: Accelerating AES with Vector Permute Instructions, CHES 2009; Plank,
 *           Greenan, Miller: Screaming Fast Galois Field Arithmetic Using Intel SIMD
 *           Instructions, FAST 2013.
 * Needs:    X86_SSSE3.   Timing: CT (tables are looked up in registers, no secret branches).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_SSSE3)
EVC_ISA_BEGIN(X86_SSSE3)

typedef __m128i vec;
#define LANES 1
#define v_zero() _mm_setzero_si128()
#define v_xor(a, b) _mm_xor_si128(a, b)
#define v_and(a, b) _mm_and_si128(a, b)
#define v_shift4(v) _mm_srli_epi16(v, 4)
#define v_shuffle(v, from) _mm_shuffle_epi8(v, from)
#define v_all(x) (x)
#define v_get(p) get(p)
#define v_put(p, v) put(p, v)
#define v_clear_upper_halves() ((void)0)

#include "ghash/x86_vperm_steps.h"

const struct evc_ghash evc_ghash_x86_vperm = {
    .kernel = EVC_KERNEL_HEAD(x86_vperm, X86_SSSE3, CT, ANY, COLUMNS, struct key, 0, XMM, 1856),
    .set_key = set_key,
    .blocks = blocks,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
