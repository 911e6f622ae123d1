/* SPDX-License-Identifier: MIT */
/*
 * AES with the AES instructions of A64 and EOR3, 8 blocks in flight.
 *
 * Method:   one AESE and one AESMC per round and block; all round keys stay in registers; the modes
 *           are in a64_ce_steps.h. One EOR3 adds the last round key and what a mode has for it:
 *           text or ciphertext before. Cores that have it start two to four rounds a cycle, which
 *           the other vector instructions compete with. 8 blocks; XTS has 6, which is what leaves
 *           registers for tweaks and keys.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; Arm Architecture Reference Manual
 *           for A-profile architecture (DDI 0487), AESE, AESMC and EOR3.
 * Needs:    A64_CE_SHA3.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/arm.h"
#include "common/bytes.h"

#if EVC_BUILT(A64_CE_SHA3)
EVC_ISA_BEGIN(A64_CE_SHA3)

#include "aes/a64_keys.h"

#define WIDE 8
#define XTS_WIDE 6
#define CE_EOR3

#include "aes/a64_ce_steps.h"

EVC_ISA_END

const struct evc_aes evc_aes_a64_ce_eor3 = {
    .kernel = EVC_KERNEL_HEAD(a64_ce_eor3, A64_CE_SHA3, CT, ANY, WIDE, struct evc_aes_fips197_key,
                              EVC_KEY_FIPS197, NEON, 0),
    CE_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
