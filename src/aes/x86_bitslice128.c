/* SPDX-License-Identifier: MIT */
/*
 * AES on 8 blocks as bit planes in eight 128-bit registers.
 *
 * Method:   bit slices with byte shuffles (Kaesper and Schwabe) arranged so that ShiftRows is never
 *           done (fixslicing); S-box by circuit; planes of the round keys made when used.
 *           Blocks that do not fill a batch of 8 go by vector permute, as in x86_vperm, with round
 *           keys brought into its form when used: CBC encryption, and the rest of all other modes.
 * Source:   FIPS 197 (2023) section 5; E. Kaesper, P. Schwabe, "Faster and timing-attack resistant
 *           AES-GCM", CHES 2009; M. Hamburg, Accelerating AES with Vector Permute Instructions,
 *           CHES 2009; x86_bitslice_steps.h, x86_vperm_steps.h, sbox_circuit.h.
 * Needs:    X86_SSSE3.   Timing: CT (no secret-dependent branch or address).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#if EVC_BUILT(X86_SSSE3)

#include "common/clear.h"
#include "common/x86.h"

EVC_ISA_BEGIN(X86_SSSE3)

#define clear_few_encrypted() EVC_CLEAR_STACK(XMM, 384)
#define clear_few_decrypted() EVC_CLEAR_STACK(XMM, 512)
#define clear_few_xts() EVC_CLEAR_STACK(XMM, 640)
#define clear_batches() EVC_CLEAR_STACK(XMM, 1472)

#include "aes/x86_blocks128.h"
#include "aes/x86_bitslice_steps.h"

#define CLEARED_BYTES 384

EVC_ISA_END

#define HEAD                                                                                       \
    EVC_KERNEL_HEAD(x86_bitslice128, X86_SSSE3, CT, PARALLEL, MOST_BLOCKS, \
                    struct evc_aes_fips197_key, EVC_KEY_FIPS197, XMM, CLEARED_BYTES)

const struct evc_aes evc_aes_x86_bitslice128 = {
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

const struct evc_aes evc_aes_x86_bitslice128_forward = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .ctr32 = ctr32,
};

#else
EVC_EMPTY_UNIT
#endif
