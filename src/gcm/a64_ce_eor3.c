/* SPDX-License-Identifier: MIT */
/*
 * GCM with AES instructions, PMULL of 64 bits and EOR3, 8 blocks with one reduction.
 *
 * Method:   8 counters through AES while the 8 blocks before are hashed by Karatsuba.
 *           A message is groups of these and a tail: gcm/message.h. The batches are assembly:
 *           a fused loop is as good as the order of its instructions, and
 *           compilers lack registers for it.
 * Source:   SP 800-38D (2007); Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and
 *           its Usage for Computing the GCM Mode, 2014.
 * Needs:    A64_GCM_SHA3.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "gcm/kernel.h"

#include "common/arm.h"
#include "common/arm_order.h"
#include "common/bytes.h"
#include "common/clear.h"

#if EVC_BUILT(A64_GCM_SHA3)
EVC_ISA_BEGIN(A64_GCM_SHA3)

#define clear_long() EVC_CLEAR(NEON, 512)
#define CLEAR_AFTER_SHORT() clear_long()
#define CLEAR_AFTER_LONG() clear_long()

#define GROUP 8
#define v_xor3(a, b, c) veor3q_u64(a, b, c)
#define SEAL evc_gcm_a64_ce_eor3_seal
#define OPEN evc_gcm_a64_ce_eor3_open
#include "gcm/a64_steps.h"

EVC_ISA_END

const struct evc_gcm evc_gcm_a64_ce_eor3 = {
    .kernel = EVC_KERNEL_HEAD(a64_ce_eor3, A64_GCM_SHA3, CT, ANY, GROUP, struct key, 0, NEON, 640),
    GCM_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
