/* SPDX-License-Identifier: MIT */
/* The batches of a64_ce.c. */
#include "common/a64_asm.h"

#if EVC_ASM_A64
evc_isa_crypto

#define XOR3 0
#include "gcm/a64_batches_asm.h"

/* void (const uint8_t rk[15][16], struct state *state, size_t n_batches, const uint8_t *in, uint8_t
 *       *out, size_t rounds), the types of gcm/a64_steps.h */
evc_function evc_gcm_a64_ce_seal
    batches 1
evc_end evc_gcm_a64_ce_seal

evc_function evc_gcm_a64_ce_open
    batches 0
evc_end evc_gcm_a64_ce_open
#endif
