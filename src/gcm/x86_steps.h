/* SPDX-License-Identifier: MIT */
/*
 * GCM by AES instructions and carry-less multiplication: counters, rounds of AES, and the main
 * loop, written once for every width of vector. Include it inside the region of the kernel's ISA,
 * after what ghash/x86_clmul_steps.h wants, with GROUP 16, and these:
 *
 *   v_enc, v_enc_last        a round of AES, in each block
 *   v_add32, v_shuffle8      within each block
 *   v_words(n)               n in all words of 32 bits
 *   v_places()               l in the first word of block l, zeros in the others
 *   v_last_block(v)          the last block
 *   the words of gcm/message.h for lanes, for parts of vectors and for clearing
 */
#ifndef EVC_GCM_X86_STEPS_H
#define EVC_GCM_X86_STEPS_H

#include "aes/x86_keys.h"
#include "common/each.h"
#include "ghash/x86_clmul_steps.h"

#if !defined(PIECES_ALONE)
#define PIECES_ALONE 0
#endif

struct key {
    struct evc_gcm_head head;
    EVC_ALIGN(16) uint8_t rk[EVC_AES_MAX_ROUNDS + 1][16]; /* FIPS 197 order */
    struct powers powers;
};

/* ---- Blocks ---------------------------------------------------------------------------------- */

typedef __m128i block;

#define xor1(a, b) _mm_xor_si128(a, b)
#define zero1() _mm_setzero_si128()
#define last_word1(x) _mm_set_epi32((int)(x), 0, 0, 0)
#define lengths1(a, b) _mm_set_epi64x((long long)evc_bswap64(b), (long long)evc_bswap64(a))
#define hash_of(product) reverse1(reduce_sum(product))
#define expand_key(key, user_key) evc_x86_expand((key)->rk[0], (key)->head.rounds, user_key)

/* ---- AES ------------------------------------------------------------------------------------- */

EVC_INLINE vec round_key(const struct key *key, uint32_t r)
{
    return v_all(load1(key->rk[r]));
}

/* Round r of n vectors. */
EVC_INLINE void aes_round(const struct key *key, uint32_t r, vec *s, unsigned n)
{
    const vec rk = round_key(key, r);

    EACH_UP_TO_9(n, s[i] = v_enc(s[i], rk));
}

/* Rounds 1 to the last but one, of n whitened vectors. */
EVC_INLINE void middle_rounds(const struct key *key, vec *s, unsigned n)
{
    aes_round(key, 1, s, n);
    aes_round(key, 2, s, n);
    aes_round(key, 3, s, n);
    aes_round(key, 4, s, n);
    aes_round(key, 5, s, n);
    aes_round(key, 6, s, n);
    aes_round(key, 7, s, n);
    aes_round(key, 8, s, n);
    aes_round(key, 9, s, n);
    if (key->head.rounds > 10) {
        aes_round(key, 10, s, n);
        aes_round(key, 11, s, n);
    }
    if (key->head.rounds > 12) {
        aes_round(key, 12, s, n);
        aes_round(key, 13, s, n);
    }
}

EVC_INLINE void encrypt_blocks(const struct key *key, const uint8_t *in, uint8_t *out,
                               size_t n_blocks)
{
    for (size_t i = 0; i < n_blocks; i++) {
        vec s[1] = {v_first(xor1(load1(in + 16 * i), load1(key->rk[0])))};
        middle_rounds(key, s, 1);
        store1(out + 16 * i, v_low(v_enc_last(s[0], round_key(key, key->head.rounds))));
    }
}

/* ---- Counters -------------------------------------------------------------------------------- */

/* The number in the first word of each block, as the last one of a counter. */
#define LAST_WORD_REVERSED _mm_set_epi8(0, 1, 2, 3, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1)

/* 12 bytes, and a counter of zero. */
EVC_INLINE __m128i load_iv(const uint8_t *iv)
{
    return _mm_insert_epi32(_mm_loadl_epi64((const __m128i *)(const void *)iv),
                            (int)evc_load32_ne(iv + 8), 2);
}

/* Counters under way: all are `base`, which is whitened, plus a number. */
struct count {
    vec base, number;
};

EVC_INLINE struct count count_from(const struct key *key, __m128i counter, uint32_t first)
{
    struct count count;

    count.base = v_all(_mm_xor_si128(counter, load1(key->rk[0])));
    count.number = v_add32(v_words(first), v_places());
    return count;
}

/* The next n vectors, whitened. Each number comes from the one before: compilers would keep a
 * constant in memory, and round keys instead of it, for each. */
EVC_INLINE void next_counters(vec *s, struct count *count, unsigned n)
{
    const vec reversed = v_all(LAST_WORD_REVERSED), step = v_words(LANES);

    EACH_UP_TO_9(n, s[i] = v_xor(count->base, v_shuffle8(count->number, reversed));
                 count->number = v_add32(count->number, step); v_barrier(count->number));
}

/* ---- A group, for the main loop -------------------------------------------------------------- */

#define TWO_GROUPS_AT_ONCE (PAIRS > 4)
#define HIGHEST_POWERS(key) ((key)->powers.pair)
#define LOWEST_POWERS(key) ((key)->powers.pair + PAIRS - 4)

#if !PIECES_ALONE

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

#if POWERS_IN_A_ROW

EVC_INLINE void fused_rounds(const struct key *key, vec *s, struct product *sum,
                             const struct pair *h, __m128i y, const vec *r)
{
    middle_rounds(key, s, 8);
    add_group(sum, h, y, r);
}

#else

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

#endif

#endif

#include "gcm/message.h"

#endif
