/* SPDX-License-Identifier: MIT */
/*
 * AES on 8 blocks as bit planes in eight 128-bit registers.
 *
 * Method:   bit slices with byte shuffles (Kaesper and Schwabe) arranged so that ShiftRows is never
 *           done (fixslicing); S-box by circuit; planes of the round keys made by each call.
 *           CTR makes the planes of the counters directly,
 *           and does most of the first SubBytes once for a message.
 *           Up to 7 blocks that fill no batch go by vector permute, as in a64_vperm.
 * Source:   FIPS 197 (2023) section 5; E. Kaesper, P. Schwabe, "Faster and timing-attack resistant
 *           AES-GCM", CHES 2009; a64_bitslice_steps.h, a64_vperm_steps.h,
 *           sbox_select_circuit.h.
 * Needs:    A64_NEON.   Timing: CT (no secret-dependent branch or address).
 * Key form: bitsliced.
 */
#include "aes/kernel.h"

#include "common/arm.h"

#if EVC_BUILT(A64_NEON)

#include "aes/tweak.h"
#include "common/bytes.h"
#include "common/clear.h"

EVC_ISA_BEGIN(A64_NEON)

#define v_xor3(a, b, c) ((a) ^ (b) ^ (c))

#if defined(KEEP_PLANES)
#define clear_batches() EVC_CLEAR_STACK(NEON, 896)
#define clear_rest() EVC_CLEAR_STACK(NEON, 1472)
#else
#define clear_batches() EVC_CLEAR_STACK(NEON, 2688)
#endif

#include "aes/a64_bitslice_steps.h"

#define CLEARED_BYTES 512

EVC_ISA_END

#define HEAD                                                                        \
    EVC_KERNEL_HEAD(a64_bitslice, A64_NEON, CT, PARALLEL, BATCH_BLOCKS, struct key, 0, NEON, \
                    CLEARED_BYTES)

const struct evc_aes evc_aes_a64_bitslice = {
    .kernel = HEAD,
    BITSLICE_SLOTS,
};

const struct evc_aes evc_aes_a64_bitslice_forward = {
    .kernel = HEAD,
    BITSLICE_FORWARD_SLOTS,
};

#else
EVC_EMPTY_UNIT
#endif
