/* SPDX-License-Identifier: MIT */
/*
 * GHASH with VPCLMULQDQ on 256-bit vectors, 16 blocks with one reduction.
 *
 * Method:   8 vectors of 2 blocks times H^16 ... H^1 by Karatsuba, summed before one reduction of
 *           two multiplications; a rest of fewer blocks by the lower powers.
 *           Messages of GCM-SIV have slots of their own, for CPUs with AES instructions of the same
 *           width: x86_siv_steps.h.
 * Source:   Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage
 *           for Computing the GCM Mode, 2014; Montgomery: Modular Multiplication
 *           Without Trial Division, 1985.
 * Needs:    X86_VCLMUL256.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_VCLMUL256)
EVC_ISA_BEGIN(X86_VCLMUL256)

#define GROUP 8
#include "common/x86_vec256.h"
#include "ghash/x86_clmul_blocks.h"

EVC_ISA_END
EVC_ISA_BEGIN(X86_VAES256_CLMUL)

/* Flags of a build may be those of the line alone. */
#if !defined(EVC_ISA_BY_FLAGS) || defined(__VAES__)
#define v_enc(x, k) _mm256_aesenc_epi128(x, k)
#define v_enc_last(x, k) _mm256_aesenclast_epi128(x, k)
#define v_add32(a, b) _mm256_add_epi32(a, b)
#define v_words_first(n) _mm256_set_epi32(0, 0, 0, n, 0, 0, 0, n)
#define v_places() _mm256_set_epi32(0, 0, 0, 1, 0, 0, 0, 0)
#include "ghash/x86_siv_steps.h"
#else
#define SIV_SLOTS(isa)
#endif

const struct evc_ghash evc_ghash_x86_vclmul256 = {
    .kernel = EVC_KERNEL_HEAD(x86_vclmul256, X86_VCLMUL256, CT, ANY, BATCH, struct key, 0, YMM,
                              448),
    CLMUL_SLOTS,
    SIV_SLOTS(X86_VAES256_CLMUL)
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
