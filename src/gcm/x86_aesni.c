/* SPDX-License-Identifier: MIT */
/*
 * GCM with AES-NI and PCLMULQDQ on 128-bit vectors, 16 blocks with one reduction.
 *
 * Method:   8 vectors of one counter through AES while the 8 before are hashed by Karatsuba.
 *           On x86-64 messages are in assembly, x86_aesni_asm.S. On i386, and in Linux, which
 *           has returns of its own, they are groups of 8 vectors and a tail: gcm/message.h.
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

#include "gcm/x86_steps.h"

#if !defined(EVC_GCM_AESNI_IN_C)
#define EVC_GCM_AESNI_IN_C (!EVC_X86_64_ASM)
#endif

#if !EVC_GCM_AESNI_IN_C

#define MESSAGES evc_gcm_x86_aesni
#include "gcm/in_assembly.h"

#else

#define lengths1(a, b) _mm_set_epi64x((long long)evc_bswap64(b), (long long)evc_bswap64(a))

/* ---- A group, for the main loop -------------------------------------------------------------- */

#define TWO_GROUPS_AT_ONCE (PAIRS > 4)
#define HIGHEST_POWERS(key) ((key)->powers.pair)
#define LOWEST_POWERS(key) ((key)->powers.pair + PAIRS - 4)

/* They are needed behind AES, and a core that waits for it fetches nothing; with many keys
 * no near cache has them. */
EVC_INLINE void prefetch_powers(const struct key *key)
{
    const char *const lowest = (const char *)LOWEST_POWERS(key);

    for (size_t at = 0; at < 4 * sizeof(struct pair); at += 64)
        _mm_prefetch(lowest + at, _MM_HINT_T0);
}

/* Plus the products of a group, r, with the 4 pairs of powers at h. y: the hash
 * before the group, or zero. */
EVC_INLINE void add_group(struct product *sum, const struct pair *h, __m128i y, const vec *r)
{
    add_pair(sum, r[2], r[3], h + 1);
    add_pair(sum, r[4], r[5], h + 2);
    add_pair(sum, r[6], r[7], h + 3);
    add_pair(sum, v_xor(r[0], v_first(y)), r[1], h);
}

/* middle_rounds of a group s, and add_group of the one before it, in an order that keeps
 * both kinds of units busy. */
EVC_INLINE void fused_rounds(const struct key *key, vec *s, struct product *sum,
                             const struct pair *h, __m128i y, const vec *r)
{
    struct operands o = operands_of(r[2], r[3]), powers = powers_at(h + 1);

    aes_round(key, 1, s, 8);
    sum->lo = add_part(sum->lo, o.lo, powers.lo);
    aes_round(key, 2, s, 8);
    sum->hi = add_part(sum->hi, o.hi, powers.hi);
    aes_round(key, 3, s, 8);
    sum->mi = add_part(sum->mi, o.sum, powers.sum);
    o = operands_of(r[4], r[5]), powers = powers_at(h + 2);
    aes_round(key, 4, s, 8);
    sum->lo = add_part(sum->lo, o.lo, powers.lo);
    aes_round(key, 5, s, 8);
    sum->hi = add_part(sum->hi, o.hi, powers.hi);
    aes_round(key, 6, s, 8);
    sum->mi = add_part(sum->mi, o.sum, powers.sum);
    o = operands_of(r[6], r[7]), powers = powers_at(h + 3);
    aes_round(key, 7, s, 8);
    sum->lo = add_part(sum->lo, o.lo, powers.lo);
    aes_round(key, 8, s, 8);
    sum->hi = add_part(sum->hi, o.hi, powers.hi);
    aes_round(key, 9, s, 8);
    sum->mi = add_part(sum->mi, o.sum, powers.sum);
    o = operands_of(v_xor(r[0], v_first(y)), r[1]), powers = powers_at(h); /* last: y comes late */
    if (key->head.rounds > 10) {
        aes_round(key, 10, s, 8);
        aes_round(key, 11, s, 8);
    }
    sum->lo = add_part(sum->lo, o.lo, powers.lo);
    sum->hi = add_part(sum->hi, o.hi, powers.hi);
    if (key->head.rounds > 12) {
        aes_round(key, 12, s, 8);
        aes_round(key, 13, s, 8);
    }
    sum->mi = add_part(sum->mi, o.sum, powers.sum);
}

/* ---- A message of at most one block ---------------------------------------------------------- */

/* Plus a times H^k, k from 1 to 3: one lane of a pair of powers has it, in its lower half or, of
 * the second vector, in its upper one. */
EVC_INLINE void add_block(__m128i *lo, __m128i *mi, __m128i *hi, __m128i a, const struct key *key,
                          unsigned k)
{
    /* vector: counted from the end */
    const unsigned vector = (k - 1) / LANES, lane = LANES - 1 - (k - 1) % LANES;
    const struct pair *const h = key->powers.pair + PAIRS - 1 - vector / 2;
    __m128i h_lo = load1(h->lo + 16 * lane), h_hi = load1(h->hi + 16 * lane);

    if (vector % 2) {
        h_lo = _mm_shuffle_epi32(h_lo, 0x4e);
        h_hi = _mm_shuffle_epi32(h_hi, 0x4e);
    }
    *lo = _mm_xor_si128(*lo, _mm_clmulepi64_si128(a, h_lo, 0x10));
    *hi = _mm_xor_si128(*hi, _mm_clmulepi64_si128(a, h_hi, 0x11));
    *mi = _mm_xor_si128(*mi, _mm_clmulepi64_si128(a, h_hi, 0x10));
    *mi = _mm_xor_si128(*mi, _mm_clmulepi64_si128(a, h_lo, 0x11));
}

/* Half of a reduction: plus lo divided by x^64. */
EVC_INLINE __m128i add_half_reduced(__m128i mi, __m128i lo)
{
    const __m128i poly = _mm_set_epi32(0, 0, (int)0xc2000000, 0);

    return _mm_xor_si128(
        mi, _mm_xor_si128(_mm_shuffle_epi32(lo, 0x4e), _mm_clmulepi64_si128(lo, poly, 0x00)));
}

#define BOTH(instruction, r)                                                                       \
    (x = instruction(x, load1(key->rk[r])), y = instruction(y, load1(key->rk[r])))

/* Only the block of text is waited for, and nothing crosses the places of a wide vector. */
EVC_INLINE __m128i crypt_one_block(const struct key *key, __m128i counter, __m128i aad, int has_aad,
                                   const uint8_t *in, uint8_t *out, size_t len_bytes,
                                   __m128i lengths, int sealing)
{
    const __m128i white = _mm_xor_si128(counter, load1(key->rk[0])),
                  text = load_part1(in, len_bytes);
    __m128i x = _mm_xor_si128(white, _mm_set_epi32(2 << 24, 0, 0, 0)); /* the first block of text */
    __m128i y = _mm_xor_si128(white, _mm_set_epi32(1 << 24, 0, 0, 0)); /* J_0 */
    __m128i lo = _mm_setzero_si128(), mi = lo, hi = lo;

    if (has_aad && len_bytes)
        add_block(&lo, &mi, &hi, reverse1(aad), key, 3);
    else if (has_aad)
        add_block(&lo, &mi, &hi, reverse1(aad), key, 2);
    add_block(&lo, &mi, &hi, reverse1(lengths), key, 1);
    BOTH(_mm_aesenc_si128, 1);
    BOTH(_mm_aesenc_si128, 2);
    BOTH(_mm_aesenc_si128, 3);
    BOTH(_mm_aesenc_si128, 4);
    BOTH(_mm_aesenc_si128, 5);
    BOTH(_mm_aesenc_si128, 6);
    BOTH(_mm_aesenc_si128, 7);
    BOTH(_mm_aesenc_si128, 8);
    BOTH(_mm_aesenc_si128, 9);
    if (key->head.rounds > 10) {
        BOTH(_mm_aesenc_si128, 10);
        BOTH(_mm_aesenc_si128, 11);
    }
    if (key->head.rounds > 12) {
        BOTH(_mm_aesenc_si128, 12);
        BOTH(_mm_aesenc_si128, 13);
    }
    const __m128i last = load1(key->rk[key->head.rounds]);
    y = _mm_aesenclast_si128(y, last);
    if (len_bytes) {
        x = _mm_aesenclast_si128(x, _mm_xor_si128(last, text));
        store_part1(out, x, len_bytes);
        add_block(&lo, &mi, &hi, reverse1(sealing ? first_bytes1(x, len_bytes) : text), key, 2);
    }
    return _mm_xor_si128(reverse1(add_half_reduced(hi, add_half_reduced(mi, lo))), y);
}

#define CLEAR_AFTER_BLOCK() EVC_CLEAR(XMM, 128)
#define CLEAR_AFTER_SHORT() EVC_CLEAR(XMM, 320)
#define CLEAR_AFTER_LONG() EVC_CLEAR(XMM, 448)

#include "gcm/message.h"

#endif

EVC_ISA_END

#if !EVC_GCM_AESNI_IN_C
ASSEMBLY_AGREES(384);
#endif

const struct evc_gcm evc_gcm_x86_aesni = {
    .kernel = EVC_KERNEL_HEAD(x86_aesni, X86_GCM128, CT, ANY, BATCH, struct key, 0, XMM, 960),
    GCM_SLOTS,
};
#else
EVC_EMPTY_UNIT
#endif
