/* SPDX-License-Identifier: MIT */
/*
 * SHA-256 by the SHA-2 instructions of A64.
 *
 * Method:   sha256h and sha256h2 make four rounds with the state as vectors a to d and e to h;
 *           sha256su0 and sha256su1 are the message schedule, four words at once.
 * Source:   FIPS 180-4 (2015) section 6.2.2; Arm Architecture Reference Manual for A-profile
 *           architecture (DDI 0487), SHA256H, SHA256H2, SHA256SU0, SHA256SU1.
 * Needs:    A64_SHA256.   Timing: CT (no branch or address depends on the message).
 * Key form: private.
 */
#include "sha2/kernel.h"

#include "common/arm.h"

#if EVC_BUILT(A64_SHA256)
#include "sha2/a64_registers.h"
#include "sha2/constants.h"

EVC_ISA_BEGIN(A64_SHA256)
#include "sha2/arm_blocks256.h"
EVC_ISA_END

const struct evc_sha2 evc_sha2_a64_sha2 = {
    .kernel = EVC_KEYLESS_HEAD(a64_sha2, A64_SHA256, CT, SHA256, NEON, 256),
    .blocks256 = blocks256,
};

#else
EVC_EMPTY_UNIT
#endif
