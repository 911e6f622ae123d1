/* SPDX-License-Identifier: MIT */
/*
 * GCM with AES instructions and PMULL of 64 bits, 8 blocks with one reduction, by intrinsics: the
 * twin of a64_ce, for comparison.
 *
 * Method:   8 counters through AES while the 8 blocks before are hashed by Karatsuba.
 *           A message is groups of these and a tail: gcm/message.h.
 * Source:   SP 800-38D (2007); Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and
 *           its Usage for Computing the GCM Mode, 2014.
 * Needs:    A64_GCM.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "gcm/kernel.h"

#include "common/arm.h"
#include "common/arm_order.h"
#include "common/bytes.h"
#include "common/clear.h"

#if EVC_BUILT(A64_GCM)
EVC_ISA_BEGIN(A64_GCM)

#define clear() EVC_CLEAR(NEON, 768)
#define CLEAR_AFTER_SHORT() clear()
#define CLEAR_AFTER_LONG() clear()

#define GROUP 8
#define v_xor3(a, b, c) veorq_u64(veorq_u64(a, b), c)
#include "gcm/a64_steps.h"

EVC_ISA_END

const struct evc_gcm evc_gcm_a64_ce_intrinsics = {
    .kernel = EVC_KERNEL_HEAD(a64_ce_intrinsics, A64_GCM, CT, ANY, GROUP, struct key, 0, NEON, 768),
    GCM_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
