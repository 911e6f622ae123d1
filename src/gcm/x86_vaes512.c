/* SPDX-License-Identifier: MIT */
/*
 * GCM with VAES and VPCLMULQDQ on 512-bit vectors, 64 blocks with one reduction.
 *
 * Method:   8 vectors of 4 counters through AES while the 8 before are hashed by Karatsuba.
 *           Messages are in assembly: those of at most 512 bytes, but for 449 to 480, by the code
 *           of x86_vaes512_intel in x86_vaes512_short_asm.h, which has fewer instructions and four
 *           products for each vector; the others begin at long_message in x86_vaes512_long_asm.h.
 *           A piece of a message is groups of 8 vectors, and a tail whose blocks are in the last
 *           lanes (gcm/tail.h) and whose first vector is taken by a mask.
 * Source:   SP 800-38D (2007); Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and
 *           its Usage for Computing the GCM Mode, 2014.
 * Needs:    X86_GCM512.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "gcm/kernel.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/x86.h"

#if EVC_BUILT(X86_GCM512)
EVC_ISA_BEGIN(X86_GCM512)

#define GROUP 16
#define POWER_SUMS 0
#define ROW_OF_POWERS 1
#include "gcm/x86_lanes512.h"

#include "gcm/x86_steps.h"

#define MESSAGES evc_gcm_x86_vaes512
#include "gcm/in_assembly.h"

EVC_ISA_END

ASSEMBLY_AGREES(36 * 16 + 1024);

const struct evc_gcm evc_gcm_x86_vaes512 = {
    .kernel = EVC_KERNEL_HEAD(x86_vaes512, X86_GCM512, CT, ANY, BATCH, struct key, 0, ZMM, 896),
    GCM_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
