/* SPDX-License-Identifier: MIT */
/*
 * AES by vector permute: 16-entry tables looked up by VPSHUFB, two blocks in a register.
 *
 * Method:   that of x86_vperm, with two blocks in a register wherever there are two.
 * Source:   M. Hamburg, Accelerating AES with Vector Permute Instructions, CHES 2009; FIPS 197
 *           (2023) sections 5.1 to 5.3.
 * Needs:    X86_AVX2.   Timing: CT (no secret-dependent branch or address).
 * Key form: vperm.
 */
#include "aes/kernel.h"

#if EVC_BUILT(X86_AVX2)

#include "common/x86.h"

EVC_ISA_BEGIN(X86_AVX2)

#include "common/bytes.h"
#include "common/clear.h"

#define VPERM_LANES 2
typedef __m256i vec;
#define v_all _mm256_broadcastsi128_si256
#define v_low _mm256_castsi256_si128
#define v_after(first, x) _mm256_inserti128_si256(_mm256_castsi128_si256(first), v_low(x), 1)
#define v_load(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define v_store(p, x) _mm256_storeu_si256((__m256i *)(void *)(p), x)
#define v_xor _mm256_xor_si256
#define v_and _mm256_and_si256
#define v_shuffle _mm256_shuffle_epi8
#define v_add32 _mm256_add_epi32
#define v_left32 _mm256_slli_epi32
#define v_shift4(x) _mm256_srli_epi16(x, 4)
#define v_bytes_up _mm256_slli_si256
#define v_bytes_down _mm256_srli_si256
#define v_clear_upper_halves() EVC_X86_CLEAR_UPPER_HALVES()

#include "aes/x86_vperm_steps.h"

EVC_DEFINE_CLEAR_STACK(clear, YMM, 1088)

EVC_ISA_END

const struct evc_aes evc_aes_x86_vperm256 = {
    .kernel = EVC_KERNEL_HEAD(x86_vperm256, X86_AVX2, CT, PARALLEL, BATCH, struct key, 0, clear),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .ctr32 = ctr32,
    .cbc_encrypt = cbc_encrypt,
    .cbc_decrypt = cbc_decrypt,
    .cbcmac = cbcmac,
    .xts_encrypt = xts_encrypt,
    .xts_decrypt = xts_decrypt,
};

#else
EVC_EMPTY_UNIT
#endif
