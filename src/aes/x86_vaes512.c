/* SPDX-License-Identifier: MIT */
/*
 * AES with VAES, 4 blocks per 512-bit register.
 *
 * Method:   one VAESENC per round on 4 blocks; 8 registers = 32 blocks in flight, 12 of long
 *           messages in CTR and CBC decryption; tweaks of short messages of XTS from products
 *           without carry, in steps of 8 blocks; most round keys in registers, rests by masks
 *           (common/x86_mask512.h); the modes are in x86_wide_steps.h, chains in
 *           x86_aesni_steps.h.
 * Source:   FIPS 197 (2023) section 5; IEEE 1619-2018 section 5; Intel 64 and IA-32 Architectures
 *           Software Developer's Manual, volume 2, AESENC, VAESENC and VPCLMULQDQ.
 * Needs:    X86_VAES512_CLMUL.   Timing: CT (no tables, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/bytes.h"
#include "common/x86.h"

#if EVC_BUILT(X86_VAES512_CLMUL)
EVC_ISA_BEGIN(X86_VAES256)

#include "aes/x86_aesni_steps.h"
#include "aes/x86_keys.h"
#include "aes/x86_two_blocks.h"

EVC_ISA_END
EVC_ISA_BEGIN(X86_VAES512_CLMUL)
#define LONG_WIDE 12
#define LONG_CTR_FROM 48 /* shorter ones take fewer cycles by 8 */
#define LONG_CBC_FROM 48
#define XTS_WIDE 8 /* and as many tweaks */
#define XTS_KEYS 6 /* clang 9 puts one on the stack with 7 */
#define XTS_WIDE_FROM 160 /* below, steps of 8 blocks */
#define XTS_REST_KEYS 15
#define XTS_LAST_APART 0
#define XTS_SPILL_BYTES 0

#include "aes/x86_vaes512_vec.h"

#include "aes/x86_wide_tweaks.h"

EVC_INLINE void v_wide_tweaks_begin(__m128i base, vec *next)
{
    EACH(2, next[i] = v_tweaks_of(v_all(base), i));
}

/* Byte shuffles within blocks: -1 makes a zero. */
enum { LOST_OF_0, LOST_OF_1, DOWN_BY_8, LOST_1, LOST_2, LOST_3, LOST_4 };
static const int8_t shuffles[][16] = {
    [LOST_OF_0] = {12, -1, 13, -1, 14, -1, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1},
    [LOST_OF_1] = {-1, -1, -1, -1, -1, -1, -1, -1, 12, -1, 13, -1, 14, -1, 15, -1},
    [DOWN_BY_8] = {1, 2, 3, 4, 5, 6, 7, -1, 9, 10, 11, 12, 13, 14, 15, -1},
    [LOST_1] = {6, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
    [LOST_2] = {4, 13, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
    [LOST_3] = {2, 11, 13, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
    [LOST_4] = {0, 9, 11, 13, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
};

EVC_INLINE vec shuffle(vec v, const int8_t bytes[16])
{
    return v_shuffle8(v, v_all(_mm_loadu_si128((const __m128i *)(const void *)bytes)));
}

/*
 * t * x^8, x^16, x^24, x^32: moved up by 1 to 4 bytes. The upper bytes o[0..3] that are lost come
 * back as products o[j] * (x^7 + x^2 + x + 1) of two bytes (a[j], b[j]), at the place of byte j -
 * (4 - moved). The lower half of a result has a[0] b[0] a[1] b[1] a[2] b[2] a[3] b[3], the upper
 * half what meets where they overlap: b[j - 1] ^ a[j] in its byte 2j - 1, and b[3] in byte 7. Two
 * tweaks have one half each until then.
 * Sums and byte shuffles in the place of shifts: Intel's CPUs shift 512 bits where they
 * do AES, and nowhere else.
 */
EVC_INLINE void lost_products(const vec t[2], vec lost[2], const int8_t (*by)[16])
{
    const vec o = v_xor(shuffle(t[0], by[LOST_OF_0]), shuffle(t[1], by[LOST_OF_1]));
    const vec twice = _mm512_add_epi64(o, o), four_times = _mm512_add_epi64(twice, twice);
    const vec ab = v_xor(v_xor3(o, twice, four_times), _mm512_slli_epi64(o, 7));
    const vec overlaps = v_xor(ab, shuffle(ab, by[DOWN_BY_8]));

    lost[0] = _mm512_unpacklo_epi64(ab, overlaps);
    lost[1] = _mm512_unpackhi_epi64(ab, overlaps);
}

#define V_TIMES_X8(i, n) v_xor(_mm512_bslli_epi128(next[i], n), shuffle(lost[i], by[LOST_##n]))

/* The shuffles are read in each step: compilers that keep them over the loop put some on the stack,
 * and that would have to be cleared. */
EVC_INLINE void v_wide_tweaks(vec *next, vec *t, int is_last)
{
    const int8_t(*by)[16] = shuffles;
    vec lost[2];

    (void)is_last; /* a branch would cost more */
    __asm__ volatile("" : "+r"(by));
    lost_products(next, lost, by);
    EACH(2, t[i] = next[i]);
    EACH(2, t[2 + i] = V_TIMES_X8(i, 1));
    EACH(2, t[4 + i] = V_TIMES_X8(i, 2));
    EACH(2, t[6 + i] = V_TIMES_X8(i, 3));
    EACH(2, next[i] = V_TIMES_X8(i, 4));
}

#include "aes/x86_wide_steps.h"

EVC_ISA_END

const struct evc_aes evc_aes_x86_vaes512 = {
    .kernel = EVC_KERNEL_HEAD(x86_vaes512, X86_VAES512_CLMUL, CT, PARALLEL, WIDE * VEC_BLOCKS,
                              struct evc_aes_fips197_key, EVC_KEY_FIPS197, NARROW, 0),
    WIDE_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
