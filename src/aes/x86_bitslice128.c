/* SPDX-License-Identifier: MIT */
/*
 * AES on 8 blocks as bit planes in eight 128-bit registers.
 *
 * Method:   bit slices with byte shuffles (Kaesper and Schwabe) arranged so that ShiftRows is never
 *           done (fixslicing); S-box by circuit; planes of the round keys made when used.
 * Source:   FIPS 197 (2023) section 5; E. Kaesper, P. Schwabe, "Faster and timing-attack resistant
 *           AES-GCM", CHES 2009; x86_bitslice_steps.h, sbox_circuit.h.
 * Needs:    X86_SSSE3.   Timing: CT (no tables in memory, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#if EVC_BUILT(X86_SSSE3)

#include "aes/ct_keys.h"
#include "aes/fips197_key.h"
#include "common/bytes.h"
#include "common/clear.h"
#include "common/x86.h"

EVC_ISA_BEGIN(X86_SSSE3)

#define VEC __m128i
#define V_LANES 1
#define v_load(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#define v_constant(p) _mm_load_si128((const __m128i *)(const void *)(p))
#define v_store(p, x) _mm_storeu_si128((__m128i *)(void *)(p), x)
#define v_spread(p) v_load(p)
#define v_shuffle(x, m) _mm_shuffle_epi8(x, m)
#define v_right(x, n) _mm_srli_epi64(x, n)
#define v_left(x, n) _mm_slli_epi64(x, n)
#define v_add32(x, y) _mm_add_epi32(x, y)
#define v_left32(x, n) _mm_slli_epi32(x, n)
#define v_bytes_up(x, n) _mm_bslli_si128(x, n)
#define v_bytes_down(x, n) _mm_bsrli_si128(x, n)
#define v_clear_upper_halves() ((void)0)

#include "aes/x86_bitslice_steps.h"

EVC_DEFINE_CLEAR_STACK(clear, XMM, 1472)

EVC_ISA_END

const struct evc_aes evc_aes_x86_bitslice128 = {
    .kernel = EVC_KERNEL_HEAD(x86_bitslice128, X86_SSSE3, CT, PARALLEL, MOST_BLOCKS,
                              struct evc_aes_fips197_key, EVC_KEY_FIPS197, clear),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .ctr32 = ctr32,
    .cbc_decrypt = cbc_decrypt,
    .xts_encrypt = xts_encrypt,
    .xts_decrypt = xts_decrypt,
};

#else
EVC_EMPTY_UNIT
#endif
