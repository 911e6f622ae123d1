/* SPDX-License-Identifier: MIT */
/*
 * AES on 16 blocks as bit planes in eight 256-bit registers.
 *
 * Method:   bit slices with byte shuffles (Kaesper and Schwabe) arranged so that ShiftRows is never
 *           done (fixslicing); S-box by circuit; planes of the round keys made when used.
 * Source:   FIPS 197 (2023) section 5; E. Kaesper, P. Schwabe, "Faster and timing-attack resistant
 *           AES-GCM", CHES 2009; x86_bitslice_steps.h, sbox_circuit.h.
 * Needs:    X86_AVX2.   Timing: CT (no tables in memory, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#if EVC_BUILT(X86_AVX2)

#include "aes/ct_keys.h"
#include "aes/fips197_key.h"
#include "common/bytes.h"
#include "common/clear.h"
#include "common/x86.h"

EVC_ISA_BEGIN(X86_AVX2)

#define VEC __m256i
#define V_LANES 2
#define v_load(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define v_constant(p) _mm256_load_si256((const __m256i *)(const void *)(p))
#define v_store(p, x) _mm256_storeu_si256((__m256i *)(void *)(p), x)
#define v_spread(p) _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define v_shuffle(x, m) _mm256_shuffle_epi8(x, m)
#define v_right(x, n) _mm256_srli_epi64(x, n)
#define v_left(x, n) _mm256_slli_epi64(x, n)
#define v_add32(x, y) _mm256_add_epi32(x, y)
#define v_left32(x, n) _mm256_slli_epi32(x, n)
#define v_bytes_up(x, n) _mm256_bslli_epi128(x, n)
#define v_bytes_down(x, n) _mm256_bsrli_epi128(x, n)
#define v_clear_upper_halves() EVC_X86_CLEAR_UPPER_HALVES()

#include "aes/x86_bitslice_steps.h"

EVC_DEFINE_CLEAR_STACK(clear, YMM, 1920)

EVC_ISA_END

const struct evc_aes evc_aes_x86_bitslice256 = {
    .kernel = EVC_KERNEL_HEAD(x86_bitslice256, X86_AVX2, CT, PARALLEL, MOST_BLOCKS,
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
