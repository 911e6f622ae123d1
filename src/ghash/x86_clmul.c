/* SPDX-License-Identifier: MIT */
/*
 * GHASH with PCLMULQDQ, 8 blocks with one reduction.
 *
 * Method:   8 blocks times H^8 ... H^1 by Karatsuba, summed before one
 *           reduction of two multiplications;
 *           a rest of fewer blocks by the lower powers, one product of four multiplications each.
 *           Messages of GCM-SIV have slots of their own, for CPUs with AES instructions of the same
 *           width: x86_siv_steps.h.
 * Source:   Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage
 *           for Computing the GCM Mode, 2014; Montgomery: Modular Multiplication
 *           Without Trial Division, 1985.
 * Needs:    X86_CLMUL.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_CLMUL)
EVC_ISA_BEGIN(X86_CLMUL)

#define GROUP 8
#include "common/x86_vec128.h"
#include "ghash/x86_clmul_blocks.h"

EVC_ISA_END
EVC_ISA_BEGIN(X86_GCM128)

/* 8 registers are too few; and flags of a build may be those of the line alone. */
#if EVC_X86_64 && (!defined(EVC_ISA_BY_FLAGS) || (defined(__AES__) && defined(__SSE4_1__)))
#define v_enc(x, k) _mm_aesenc_si128(x, k)
#define v_enc_last(x, k) _mm_aesenclast_si128(x, k)
#define v_add32(a, b) _mm_add_epi32(a, b)
#define v_words_first(n) _mm_cvtsi32_si128(n)
#define v_places() _mm_setzero_si128()
#include "ghash/x86_siv_steps.h"
#else
#define SIV_SLOTS(isa)
#endif

const struct evc_ghash evc_ghash_x86_clmul = {
    .kernel = EVC_KERNEL_HEAD(x86_clmul, X86_CLMUL, CT, ANY, BATCH, struct key, 0, XMM, 384),
    CLMUL_SLOTS,
    SIV_SLOTS(X86_GCM128)
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
