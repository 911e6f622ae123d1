/* SPDX-License-Identifier: MIT */
/*
 * AES by vector permute for NEON of 32-bit Arm: the S-box as 16-entry tables, looked up by VTBL.
 *
 * Method:   a byte is two nibbles i, k over GF(16); five look-ups give two nibbles io, jo from
 *           which any linear map of the S-box is the sum of two more look-ups
 *           (tools/gen-vperm-tables has the algebra). The state stays in that basis from the
 *           first round to the last, i and k in one byte. ShiftRows is never done: it is in the
 *           patterns that rotate the rows and in the round keys, and once before the output. For
 *           one chain and for single blocks: a look-up is two instructions here, so many blocks
 *           are better off as bit planes.
 * Source:   M. Hamburg, Accelerating AES with Vector Permute Instructions, CHES 2009; FIPS 197
 *           (2023) sections 5.1 to 5.3.
 * Needs:    A32_NEON.   Timing: CT (no secret-dependent branch or address).
 * Key form: vperm.
 */
#include "aes/kernel.h"

#include "common/arm.h"
#include "common/bytes.h"

#if EVC_BUILT(A32_NEON)
EVC_ISA_BEGIN(A32_NEON)

#include "common/a32_neon.h"

#include "aes/a64_vperm_steps.h"

/* CBC encryption; returns the last ciphertext. */
EVC_INLINE vec chain(const struct vperm_key *key, vec x, const uint8_t *in, uint8_t *out,
                     size_t n_blocks, int storing)
{
    for (; n_blocks; n_blocks--, in += 16) {
        x = veorq_u8(x, vld1q_u8(in));
        crypt(key, &x, 1, 0);
        if (storing) {
            vst1q_u8(out, x);
            out += 16;
        }
    }
    return x;
}

static void cbc_encrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    vst1q_u8(iv, chain(key, vld1q_u8(iv), in, out, n_blocks, 1));
}

static void cbcmac(const void *key, uint8_t state[16], const uint8_t *in, size_t n_blocks)
{
    vst1q_u8(state, chain(key, vld1q_u8(state), in, NULL, n_blocks, 0));
}

EVC_ISA_END

const struct evc_aes evc_aes_a32_vperm = {
    .kernel = EVC_KERNEL_HEAD(a32_vperm, A32_NEON, CT, ANY, BATCH, struct vperm_key, 0, NEON, 640),
    .set_key = vperm_set_key,
    .encrypt = vperm_encrypt,
    .decrypt = vperm_decrypt,
    .cbc_encrypt = cbc_encrypt,
    .cbcmac = cbcmac,
};
#else
EVC_EMPTY_UNIT
#endif
