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

#include "common/clear.h"
#include "common/x86.h"

EVC_ISA_BEGIN(X86_AVX2)

#define clear_few_encrypted() EVC_CLEAR_STACK(YMM, 576)
#define clear_few_decrypted() EVC_CLEAR_STACK(YMM, 1024)
#define clear_few_xts() EVC_CLEAR_STACK(YMM, 1152)
#define clear_many() EVC_CLEAR_STACK(YMM, 1600)

#include "aes/x86_blocks256.h"
#include "aes/x86_vperm_steps.h"

#define CLEARED_BYTES 448

EVC_ISA_END

#define HEAD                                                                      \
    EVC_KERNEL_HEAD(x86_vperm256, X86_AVX2, CT, PARALLEL, MANY_BLOCKS, vperm_key, 0, YMM, \
                    CLEARED_BYTES)

const struct evc_aes evc_aes_x86_vperm256 = {
    .kernel = HEAD,
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

const struct evc_aes evc_aes_x86_vperm256_forward = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .ctr32 = ctr32,
};

#else
EVC_EMPTY_UNIT
#endif
