/* SPDX-License-Identifier: MIT */
/*
 * AES by vector permute: the S-box as 16-entry tables, looked up by PSHUFB.
 *
 * Method:   a byte is two nibbles i, k over GF(16); five look-ups give two nibbles io, jo from
 *           which any linear map of the S-box is the sum of two more look-ups
 *           (tools/gen-vperm-tables has the algebra). The state stays in that basis from the first
 *           round to the last. ShiftRows is never done: it is in the patterns that rotate the rows
 *           and in the round keys, and once before the output.
 *           One chain (CBC encryption, single blocks) is bound by latency. There the last round
 *           makes the next block's state directly; its plaintext and two round keys come in by one
 *           xor. Up to 4 blocks stay in registers.
 *           Many blocks are bound by throughput: 11 shuffles of 25 instructions a round to encrypt,
 *           16 of 32 to decrypt. Decryption is the equivalent inverse cipher; its state has the
 *           S-box's affine map undone already.
 * Source:   M. Hamburg, Accelerating AES with Vector Permute Instructions, CHES 2009; FIPS 197
 *           (2023) sections 5.1 to 5.3.
 * Needs:    X86_SSSE3.   Timing: CT (no secret-dependent branch or address).
 * Key form: vperm.
 */
#include "aes/kernel.h"

#if EVC_BUILT(X86_SSSE3)

#include "common/clear.h"
#include "common/x86.h"

EVC_ISA_BEGIN(X86_SSSE3)

#define clear_few_encrypted() EVC_CLEAR_STACK(XMM, 384)
#define clear_few_decrypted() EVC_CLEAR_STACK(XMM, 448)
#define clear_few_xts() EVC_CLEAR_STACK(XMM, 512)
#define clear_many() EVC_CLEAR_STACK(XMM, 832)

#include "aes/x86_blocks128.h"
#include "aes/x86_vperm_steps.h"

#define CLEARED_BYTES 384

EVC_ISA_END

const struct evc_aes evc_aes_x86_vperm = {
    .kernel = EVC_KERNEL_HEAD(x86_vperm, X86_SSSE3, CT, ANY, MANY_BLOCKS, vperm_key, 0, XMM,
                              CLEARED_BYTES),
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
