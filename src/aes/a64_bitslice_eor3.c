/* SPDX-License-Identifier: MIT */
/*
 * AES on 8 blocks as bit planes, with exclusive or of three operands.
 *
 * Method:   that of a64_bitslice, with the exclusive or of three operands that the SHA-3
 *           instructions brought wherever two follow one another.
 * Source:   FIPS 197 (2023) section 5; Arm Architecture Reference Manual for A-profile (DDI 0487),
 *           EOR3; a64_bitslice_steps.h, a64_vperm_steps.h,
 *           sbox_select_circuit.h.
 * Needs:    A64_SHA3.   Timing: CT (no secret-dependent branch or address).
 * Key form: bitsliced.
 */
#include "aes/kernel.h"

#include "common/arm.h"

#if EVC_BUILT(A64_SHA3)

#include "aes/tweak.h"
#include "common/bytes.h"
#include "common/clear.h"

EVC_ISA_BEGIN(A64_SHA3)

#define v_xor3 veor3q_u8

#define clear_batches() EVC_CLEAR_STACK(NEON, 2688)

#include "aes/a64_bitslice_steps.h"

#define CLEARED_BYTES 512

EVC_ISA_END

#define HEAD                                                                             \
    EVC_KERNEL_HEAD(a64_bitslice_eor3, A64_SHA3, CT, PARALLEL, BATCH_BLOCKS, struct key, 0, NEON, \
                    CLEARED_BYTES)

const struct evc_aes evc_aes_a64_bitslice_eor3 = {
    .kernel = HEAD,
    BITSLICE_SLOTS,
};

const struct evc_aes evc_aes_a64_bitslice_eor3_forward = {
    .kernel = HEAD,
    BITSLICE_FORWARD_SLOTS,
};

#else
EVC_EMPTY_UNIT
#endif
