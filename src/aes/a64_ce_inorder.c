/* SPDX-License-Identifier: MIT */
/*
 * AES with the AES instructions of A64, for cores that start instructions in the program's order.
 *
 * Method:   that of a64_ce; CTR, with 4 blocks in flight, and CBC encryption are assembly, where
 *           loads, stores and integers stand beside the AES instructions and nothing waits for
 *           what comes just before it.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; Arm Architecture Reference Manual
 *           for A-profile architecture (DDI 0487), AESE and AESMC; Arm Cortex-A53 MPCore Technical
 *           Reference Manual (DDI 0500) section 2.1.
 * Needs:    A64_CE_INORDER.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/arm.h"
#include "common/bytes.h"

#if EVC_BUILT(A64_CE_INORDER)

/* rk: (rounds + 1) x 16 bytes. Of counter, the last 4 bytes do not count: count does.
 * n_blocks: a multiple of 4, not
 * 0. */
void evc_aes_a64_ce_inorder_ctr(const uint8_t *rk, uint32_t rounds, const uint8_t counter[16],
                                uint32_t count, const uint8_t *in, uint8_t *out, size_t n_blocks);
/* n_blocks: not 0 */
void evc_aes_a64_ce_inorder_cbc(const uint8_t *rk, uint32_t rounds, uint8_t iv[16],
                                const uint8_t *in, uint8_t *out, size_t n_blocks);

EVC_ISA_BEGIN(A64_CE_INORDER)

#include "aes/a64_keys.h"

static void ctr_wide(const struct evc_aes_fips197_key *key, const uint8_t counter[16],
                     const uint8_t *in, uint8_t *out, size_t len_bytes)
{
    evc_aes_a64_ce_inorder_ctr(key->enc[0], key->head.rounds, counter, evc_load32_be(counter + 12),
                               in, out, len_bytes / 16);
}

static void cbc_encrypt(const void *vkey, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    const struct evc_aes_fips197_key *key = vkey;

    if (n_blocks)
        evc_aes_a64_ce_inorder_cbc(key->enc[0], key->head.rounds, iv, in, out, n_blocks);
}

#define WIDE 8
#define XTS_WIDE 6
#define CE_ASSEMBLY

#include "aes/a64_ce_steps.h"

EVC_ISA_END

const struct evc_aes evc_aes_a64_ce_inorder = {
    .kernel = EVC_KERNEL_HEAD(a64_ce_inorder, A64_CE_INORDER, CT, ANY, WIDE,
                              struct evc_aes_fips197_key, EVC_KEY_FIPS197, NEON, 0),
    CE_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
