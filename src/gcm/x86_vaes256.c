/* SPDX-License-Identifier: MIT */
/*
 * GCM with VAES and VPCLMULQDQ on 256-bit vectors, 32 blocks with one reduction.
 *
 * Method:   8 vectors of 2 counters through AES while the 8 before are hashed by Karatsuba.
 *           Messages are in assembly, x86_vaes256_asm.S. A piece of a message is groups of 8
 *           vectors, and a tail whose blocks are in the last lanes: gcm/tail.h.
 * Source:   SP 800-38D (2007); Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and
 *           its Usage for Computing the GCM Mode, 2014.
 * Needs:    X86_GCM256.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "gcm/kernel.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/x86.h"

#if EVC_BUILT(X86_GCM256)
EVC_ISA_BEGIN(X86_GCM256)

#define GROUP 16
#define POWER_SUMS 1
#include "common/x86_vec256.h"
#include "ghash/x86_clmul_steps.h"

#define v_enc(x, k) _mm256_aesenc_epi128(x, k)
#define v_enc_last(x, k) _mm256_aesenclast_epi128(x, k)
#define v_add32(a, b) _mm256_add_epi32(a, b)
#define v_shuffle8(a, b) _mm256_shuffle_epi8(a, b)
#define v_words(n) _mm256_set1_epi32((int)(n))
#define v_places() _mm256_set_epi32(0, 0, 0, 1, 0, 0, 0, 0)
#define v_low(v) _mm256_castsi256_si128(v)
#define v_last_block(v) _mm256_extracti128_si256(v, 1)

EVC_INLINE vec v_at(__m128i block, size_t place)
{
    return place == 0 ? v_first(block) : place == 1 ? v_last(block) : v_zero();
}

/* Blocks from lane 0 or 1 on. */
EVC_INLINE vec v_load_from(const uint8_t *p, size_t lane, int alone)
{
    (void)alone; /* no mask, so nothing else is accessed */
    return lane ? v_last(load1(evc_in_at(p, 16))) : v_load(p);
}

EVC_INLINE void v_store_from(uint8_t *p, size_t lane, int alone, vec v)
{
    (void)alone;
    if (lane)
        store1(evc_out_at(p, 16), v_last_block(v));
    else
        v_store(p, v);
}

EVC_INLINE vec v_keep_from(vec v, size_t lane)
{
    return lane ? v_last(v_last_block(v)) : v;
}

#include "gcm/x86_steps.h"

#define MESSAGES evc_gcm_x86_vaes256
#include "gcm/in_assembly.h"

EVC_ISA_END

ASSEMBLY_AGREES(768);

const struct evc_gcm evc_gcm_x86_vaes256 = {
    .kernel = EVC_KERNEL_HEAD(x86_vaes256, X86_GCM256, CT, ANY, BATCH, struct key, 0, YMM, 960),
    GCM_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
