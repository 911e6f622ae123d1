/* SPDX-License-Identifier: MIT */
/*
 * AES on 8 blocks as bit planes, for cores on which a look-up of 16 bytes
 * is three micro-operations.
 *
 * Method:   that of a64_bitslice with a row in each word of a plane, so that the bytes of
 *           MixColumns come by EXT, REV32 and shifts; look-ups are left at the ends.
 * Source:   FIPS 197 (2023) section 5; Arm, Cortex-A57 and Cortex-A72 Software Optimization Guides,
 *           ASIMD table lookup; a64_bitslice_steps.h, a64_vperm_steps.h,
 *           sbox_select_circuit.h.
 * Needs:    A64_TBL8.   Timing: CT (no secret-dependent branch or address).
 * Key form: bitsliced.
 */
#include "aes/kernel.h"

#include "common/arm.h"

#if EVC_BUILT(A64_TBL8)

#include "aes/tweak.h"
#include "common/bytes.h"
#include "common/clear.h"

EVC_ISA_BEGIN(A64_TBL8)

#define ROWS_FIRST
#define ROUNDS EVC_OUT_OF_LINE /* they are long */
#define v_xor3(a, b, c) ((a) ^ (b) ^ (c))

#define clear_batches() EVC_CLEAR_STACK(NEON, 3200)

#include "aes/a64_bitslice_steps.h"

EVC_ISA_END

const struct evc_aes evc_aes_a64_bitslice_ext = {
    .kernel = EVC_KERNEL_HEAD(a64_bitslice_ext, A64_TBL8, CT, PARALLEL, BATCH_BLOCKS, struct key, 0,
                              NEON, 512),
    BITSLICE_SLOTS,
};

#else
EVC_EMPTY_UNIT
#endif
