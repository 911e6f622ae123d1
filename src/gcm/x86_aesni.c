/* SPDX-License-Identifier: MIT */
/*
 * GCM with AES-NI and PCLMULQDQ on 128-bit vectors, 16 blocks with one reduction.
 *
 * Method:   8 vectors of one counter through AES while the 8 before are hashed by Karatsuba; messages end with the
 *           block of lengths in the last place, so every block meets its power of H at a fixed place.
 * Source:   SP 800-38D (2007); Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage for
 *           Computing the GCM Mode, 2014.
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
#include "common/x86_vec128.h"
#include "ghash/x86_clmul_steps.h"

#include "gcm/x86_parts.h"

#define v_enc(x, k) _mm_aesenc_si128(x, k)
#define v_enc_last(x, k) _mm_aesenclast_si128(x, k)
#define v_add32(a, b) _mm_add_epi32(a, b)
#define v_shuffle8(a, b) _mm_shuffle_epi8(a, b)
#define v_words(n) _mm_set1_epi32((int)(n))
#define v_word_steps() _mm_set_epi32(3, 2, 1, 0)
#define v_with_word(base, v, i) _mm_blend_epi16(base, _mm_shuffle_epi32(v, 0x55 * (i)), 0xc0)
#define v_low(v) (v)
#define v_last(block) (block)
#define v_last_block(v) (v)
#define v_at(block, place) ((place) == 0 ? (block) : v_zero())
#define v_load_text(from, p) load_part1(from, (p).begin ? 0 : (p).end)
#define v_store_text(to, p, v) store_part1(to, v, (p).begin ? 0 : (p).end)
#define v_text(p, v) first_bytes1(v, (p).begin ? 0 : (p).end)

EVC_DEFINE_CLEAR_STACK(clear, XMM, 768)
EVC_DEFINE_CLEAR_STACK(clear_short, XMM, 192)
EVC_DEFINE_CLEAR_STACK(clear_middle, XMM, 256)
#define CLEAR_AFTER_SHORT() clear_short()
#define CLEAR_AFTER_MIDDLE() clear_middle()

#include "gcm/x86_steps.h"

EVC_ISA_END

const struct evc_gcm evc_gcm_x86_aesni = {
    .kernel = EVC_KERNEL_HEAD(x86_aesni, X86_GCM128, CT, ANY, BATCH, struct key, 0, clear),
    .set_key = set_key,
    GCM_SLOTS,
    .seal = seal,
    .open = open,
};
#else
EVC_EMPTY_UNIT
#endif
