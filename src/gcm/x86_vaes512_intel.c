/* SPDX-License-Identifier: MIT */
/*
 * GCM with VAES and VPCLMULQDQ on 512-bit vectors, in few instructions: for Intel's cores, on which
 * such vectors have two ports. One does all AES, the other one all products and shuffles; the bit
 * tune-shared-ports names these cores.
 *
 * Method:   Powers of H are blocks in a row, so that vectors begin with the text, wherever it ends,
 *           and load the powers for them from any block on. Four products for each vector: to bring
 *           halves together for Karatsuba's three costs the port that makes products as much. 32
 *           blocks have one reduction. x86_vaes512_short_asm.h, which x86_vaes512 has, too, begins
 *           with the algebra and with the way of a message; arguments, parts of blocks and tags are
 *           in x86_gcm_asm.h.
 * Source:   SP 800-38D (2007); Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and
 *           its Usage for Computing the GCM Mode, 2014.
 * Needs:    X86_GCM512_INTEL.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "gcm/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_GCM512_INTEL)
EVC_ISA_BEGIN(X86_GCM512_INTEL)

#define GROUP 8
#define POWERS_IN_A_ROW 1
#include "gcm/x86_lanes512.h"

#include "gcm/x86_steps.h"

#define MESSAGES evc_gcm_x86_vaes512_intel
#include "gcm/in_assembly.h"

EVC_ISA_END

ASSEMBLY_AGREES(560);

const struct evc_gcm evc_gcm_x86_vaes512_intel = {
    .kernel =
        EVC_KERNEL_HEAD(x86_vaes512_intel, X86_GCM512_INTEL, CT, ANY, BATCH, struct key, 0, ZMM,
                        896),
    GCM_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
