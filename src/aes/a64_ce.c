/* SPDX-License-Identifier: MIT */
/*
 * AES with the AES instructions of A64, 8 blocks in flight.
 *
 * Method:   one AESE and one AESMC per round and block; all round keys stay in registers; the modes
 *           are in a64_ce_steps.h. 8 blocks cover the latency of AES wherever it starts twice a
 *           cycle; XTS has 6, which is what leaves registers for tweaks and keys.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; Arm Architecture Reference Manual
 *           for A-profile architecture (DDI 0487), AESE and AESMC.
 * Needs:    A64_CE.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/arm.h"
#include "common/bytes.h"

#if EVC_BUILT(A64_CE)
EVC_ISA_BEGIN(A64_CE)

#include "aes/a64_keys.h"

#define WIDE 8
#define XTS_WIDE 6

#include "aes/a64_ce_steps.h"

EVC_ISA_END

#define HEAD                                                                                    \
    EVC_KERNEL_HEAD(a64_ce, A64_CE, CT, ANY, WIDE, struct evc_aes_fips197_key, EVC_KEY_FIPS197, \
                    NEON, 0)

const struct evc_aes evc_aes_a64_ce = {
    .kernel = HEAD,
    CE_SLOTS,
};

const struct evc_aes evc_aes_a64_ce_forward = {
    .kernel = HEAD,
    CE_FORWARD_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
