/* SPDX-License-Identifier: MIT */
/*
 * AES with the AES instructions of A64, 5 blocks in flight.
 *
 * Method:   one AESE and one AESMC per round and block; all round keys stay in registers; the modes
 *           are in a64_ce_steps.h. 5 blocks are for cores that start one AES instruction a cycle
 *           and have its result after 5.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; Arm Architecture Reference Manual
 *           for A-profile architecture (DDI 0487), AESE and AESMC.
 * Needs:    A64_CE5.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/arm.h"
#include "common/bytes.h"

#if EVC_BUILT(A64_CE5)
EVC_ISA_BEGIN(A64_CE5)

#include "aes/a64_keys.h"

#define WIDE 5
#define XTS_WIDE 5

#include "aes/a64_ce_steps.h"

EVC_ISA_END

const struct evc_aes evc_aes_a64_ce5 = {
    .kernel = EVC_KERNEL_HEAD(a64_ce5, A64_CE5, CT, ANY, WIDE, struct evc_aes_fips197_key,
                              EVC_KEY_FIPS197, NEON, 0),
    CE_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
