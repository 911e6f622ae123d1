/* SPDX-License-Identifier: MIT */
/*
 * AES with the AES instructions of A32: 64-bit chips with 32-bit systems.
 *
 * Method:   one AESE and one AESMC per round and block; the modes are in a64_ce_steps.h. 4 blocks
 *           in flight, which with some of the round keys fill 16 registers.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; Arm Architecture Reference Manual
 *           for A-profile architecture (DDI 0487), AESE and AESMC.
 * Needs:    A32_CE.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/arm.h"
#include "common/bytes.h"

#if EVC_BUILT(A32_CE)
EVC_ISA_BEGIN(A32_CE)

#include "common/a32_neon.h"

#include "aes/a64_keys.h"

#define WIDE 4
#define XTS_WIDE 4

#include "aes/a64_ce_steps.h"

EVC_ISA_END

#define HEAD                                                                                    \
    EVC_KERNEL_HEAD(a32_ce, A32_CE, CT, ANY, WIDE, struct evc_aes_fips197_key, EVC_KEY_FIPS197, \
                    NEON, 1088)

const struct evc_aes evc_aes_a32_ce = {
    .kernel = HEAD,
    CE_SLOTS,
};

const struct evc_aes evc_aes_a32_ce_forward = {
    .kernel = HEAD,
    CE_FORWARD_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
