/* SPDX-License-Identifier: MIT */
/*
 * AES on 8 blocks as bit planes in eight 128-bit registers, for NEON of 32-bit Arm.
 *
 * Method:   bit slices with byte shuffles (Kaesper and Schwabe) arranged so that ShiftRows is never
 *           done (fixslicing); S-box by circuit; planes of the round keys made by each call.
 *           CTR makes the planes of the counters directly,
 *           and does most of the first SubBytes once for a message. The rounds are assembly: of 16
 *           registers the planes have 8, and of the S-box's gates six wait in memory.
 *           Up to 4 blocks that fill no batch go by vector permute, as in a32_vperm.
 * Source:   FIPS 197 (2023) section 5; E. Kaesper, P. Schwabe, "Faster and timing-attack resistant
 *           AES-GCM", CHES 2009; a64_bitslice_steps.h, a64_vperm_steps.h,
 *           sbox_circuit.h.
 * Needs:    A32_NEON.   Timing: CT (no secret-dependent branch or address).
 * Key form: bitsliced.
 */
#include "aes/kernel.h"

#include "common/arm.h"

#if EVC_BUILT(A32_NEON)

#include "aes/tweak.h"
#include "common/bytes.h"
#include "common/clear.h"

EVC_ISA_BEGIN(A32_NEON)

#include "common/a32_neon.h"

/* Rounds on eight planes, as a32_bitslice_asm.S describes them. */
void evc_aes_a32_bitslice_encrypt(uint8x16_t *planes, const void *keys, const void *shuffles,
                                  unsigned n, const void *more_keys, unsigned n_more,
                                  unsigned sub_first);
void evc_aes_a32_bitslice_decrypt(uint8x16_t *planes, const void *keys, const void *shuffles,
                                  unsigned n, const void *more_keys, unsigned n_more);

#define ENCRYPT evc_aes_a32_bitslice_encrypt
#define DECRYPT evc_aes_a32_bitslice_decrypt
#define v_xor3(a, b, c) ((a) ^ (b) ^ (c))

#define clear_batches() EVC_CLEAR_STACK(NEON, 3200)
#define MOST_SINGLE 4

#include "aes/a64_bitslice_steps.h"

EVC_ISA_END

#define HEAD \
    EVC_KERNEL_HEAD(a32_bitslice, A32_NEON, CT, PARALLEL, BATCH_BLOCKS, struct key, 0, NEON, 960)

const struct evc_aes evc_aes_a32_bitslice = {
    .kernel = HEAD,
    BITSLICE_SLOTS,
};

const struct evc_aes evc_aes_a32_bitslice_forward = {
    .kernel = HEAD,
    BITSLICE_FORWARD_SLOTS,
};

#else
EVC_EMPTY_UNIT
#endif
