/* SPDX-License-Identifier: MIT */
/*
 * AES on 16 blocks as bit planes in eight 256-bit registers.
 *
 * Method:   bit slices with byte shuffles (Kaesper and Schwabe) arranged so that ShiftRows is never
 *           done (fixslicing); S-box by circuit; planes of the round keys made when used.
 *           Blocks that do not fill a batch of 16 go by vector permute, as in
 *           x86_vperm256, with round keys brought into its form when used: CBC encryption,
 *           and the rest of all other modes.
 * Source:   FIPS 197 (2023) section 5; E. Kaesper, P. Schwabe, "Faster and timing-attack resistant
 *           AES-GCM", CHES 2009; M. Hamburg, Accelerating AES with Vector Permute Instructions,
 *           CHES 2009; x86_bitslice_steps.h, x86_vperm_steps.h, sbox_circuit.h.
 * Needs:    X86_AVX2.   Timing: CT (no secret-dependent branch or address).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#if EVC_BUILT(X86_AVX2)

#include "common/clear.h"
#include "common/x86.h"

EVC_ISA_BEGIN(X86_AVX2)

#define clear_few_encrypted() EVC_CLEAR_STACK(YMM, 640)
#define clear_few_decrypted() EVC_CLEAR_STACK(YMM, 1088)
#define clear_few_xts() EVC_CLEAR_STACK(YMM, 1216)
#define clear_batches() EVC_CLEAR_STACK(YMM, 1920)

#include "aes/x86_blocks256.h"
#include "aes/x86_bitslice_steps.h"

#define CLEARED_BYTES 448

EVC_ISA_END

const struct evc_aes evc_aes_x86_bitslice256 = {
    .kernel = EVC_KERNEL_HEAD(x86_bitslice256, X86_AVX2, CT, PARALLEL, MOST_BLOCKS,
                              struct evc_aes_fips197_key, EVC_KEY_FIPS197, YMM, CLEARED_BYTES),
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
