/* SPDX-License-Identifier: MIT */
/*
 * GCM with AES-NI and PCLMULQDQ on 128-bit vectors, 16 blocks with one reduction.
 *
 * Method:   8 vectors of one counter through AES while the 8 before are hashed by Karatsuba.
 *           A message is groups of these and a tail, whose blocks are in the
 *           last lanes: gcm/message.h.
 *           Where the ABI is that of System V, messages are in assembly, x86_aesni_asm.S.
 * Source:   SP 800-38D (2007); Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and
 *           its Usage for Computing the GCM Mode, 2014.
 * Needs:    X86_GCM128.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "gcm/kernel.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/x86.h"

#if EVC_BUILT(X86_GCM128)
EVC_ISA_BEGIN(X86_GCM128)

#define GROUP 16
#define POWER_SUMS 1
#include "common/x86_vec128.h"
#include "ghash/x86_clmul_steps.h"

#include "gcm/x86_parts.h"

#define v_enc(x, k) _mm_aesenc_si128(x, k)
#define v_enc_last(x, k) _mm_aesenclast_si128(x, k)
#define v_add32(a, b) _mm_add_epi32(a, b)
#define v_shuffle8(a, b) _mm_shuffle_epi8(a, b)
#define v_words(n) _mm_set1_epi32((int)(n))
#define v_places() _mm_setzero_si128()
#define v_low(v) (v)
#include "gcm/one_lane.h"

/* Messages in assembly, where its ABI is that of the compiler. */
#if !defined(EVC_GCM_AESNI_IN_C)
#define EVC_GCM_AESNI_IN_C (!EVC_X86_64_SYSV)
#endif

#if !EVC_GCM_AESNI_IN_C

#define CLEARED_BYTES 960
#define clear() EVC_CLEAR(XMM, 960)
#define MESSAGES evc_gcm_x86_aesni
#include "gcm/in_assembly.h"

#else

#define CLEARED_BYTES 960
#define clear() EVC_CLEAR(XMM, 960)
#define clear_long() EVC_CLEAR(XMM, 448)
#define clear_short() EVC_CLEAR(XMM, 320)
#define clear_block() EVC_CLEAR(XMM, 128)
#define CLEAR_AFTER_BLOCK() clear_block()
#define CLEAR_AFTER_SHORT() clear_short()
#define CLEAR_AFTER_LONG() clear_long()
#if defined(_WIN32) /* vectors are passed in memory */
#define CLEAR_FRAMES() clear()
#endif

#endif

#include "gcm/x86_steps.h"

EVC_ISA_END

#if !EVC_GCM_AESNI_IN_C
ASSEMBLY_AGREES(384);
#endif

const struct evc_gcm evc_gcm_x86_aesni = {
    .kernel = EVC_KERNEL_HEAD(x86_aesni, X86_GCM128, CT, ANY, BATCH, struct key, 0, XMM,
                              CLEARED_BYTES),
    GCM_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
