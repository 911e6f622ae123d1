/* SPDX-License-Identifier: MIT */
/*
 * GCM by AES instructions and carry-less multiplication, written once for every width of vector. Include it inside
 * the region of the kernel's ISA, after what ghash/x86_clmul_steps.h wants, with GROUP 16, and these:
 *
 *   v_enc, v_enc_last        a round of AES, in each block
 *   v_add32, v_shuffle8      within each block
 *   v_words(n)               n in all words of 32 bits
 *   v_word_steps()           in block l the words l, l + LANES, l + 2 * LANES, l + 3 * LANES
 *   v_with_word(base, v, i)  each block of base, its last word that of word i of v's
 *   v_low(v)                 the first block
 *   clear()                  the kernel's, of common/clear.h
 *
 * and of the words of gcm/message_vectors.h and gcm/message_steps.h those that depend on the width.
 *
 * WIDE vectors go through AES while those before them are hashed. Two times WIDE are reduced at once.
 */
#ifndef EVC_GCM_X86_STEPS_H
#define EVC_GCM_X86_STEPS_H

#include "aes/x86_keys.h"
#include "common/each.h"
#include "ghash/x86_clmul_steps.h"

#define WIDE 8

struct key {
    struct evc_gcm_head head;
    EVC_ALIGN(16) uint8_t rk[EVC_AES_MAX_ROUNDS + 1][16]; /* FIPS 197 order */
    struct powers powers;
};

/* ---- Blocks ------------------------------------------------------------------------------------ */

typedef __m128i block;

#define xor1(a, b) _mm_xor_si128(a, b)
#define zero1() _mm_setzero_si128()
#define last_word1(x) _mm_set_epi32((int)(x), 0, 0, 0)
#define lengths1(a, b) _mm_set_epi64x((long long)evc_bswap64(b), (long long)evc_bswap64(a))
#define hash_of(product) reverse1(reduce_sum(product))
#define expand_key(key, user_key) evc_x86_expand((key)->rk[0], (key)->head.rounds, user_key)
#define v_white(v, key) v_xor(v, round_key(key, 0))
#define LAST_PAIRS(key) ((key)->powers.pair + PAIRS / 2)
#define FIRST_DONE(key, f, n) ((void)(n))
#define NO_TEXT_FIRST 0
#define CLEAR_AFTER_MESSAGE() clear()
#define skip_counter(count) ((void)(count))

/* ---- AES --------------------------------------------------------------------------------------- */

EVC_INLINE vec round_key(const struct key *key, uint32_t r)
{
    return v_all(load1(key->rk[r]));
}

/* A round of n vectors. */
#define ROUND(n, s, r)                                                                             \
    do {                                                                                           \
        const vec rk_ = round_key(key, r);                                                         \
        EACH_UP_TO_8(n, (s)[i] = v_enc((s)[i], rk_));                                              \
    } while (0)
#define LAST_ROUND(n, s) ((void)0) /* v_enc_last is all of it */

/* ---- Counters ---------------------------------------------------------------------------------- */

#define WORDS_REVERSED _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3)

/* The last words of the next 4 vectors' counters, as numbers of this CPU: block l of vector i has word i of block l.
 * The rest of the counters is the same for all, and whitened. */
struct count {
    vec base, words;
};

/* 12 bytes, and a counter of zero. */
EVC_INLINE __m128i load_iv(const uint8_t *iv)
{
    return _mm_insert_epi32(_mm_loadl_epi64((const __m128i *)(const void *)iv),
                            (int)evc_load32_ne(iv + 8), 2);
}

/* first: of the first block; its other words are those of counter. */
EVC_INLINE struct count count_from(const struct key *key, __m128i counter, uint32_t first)
{
    struct count count;

    count.base = v_all(_mm_xor_si128(counter, load1(key->rk[0])));
    count.words = v_add32(v_words(first), v_word_steps());
    return count;
}

/* The next n vectors of counters, whitened. */
EVC_INLINE void counters(const struct key *key, vec *s, struct count *count, unsigned n)
{
    const vec reversed = v_all(WORDS_REVERSED);
    const vec white = v_all(_mm_shuffle_epi32(load1(key->rk[0]), 0xff));
    vec words = v_xor(v_shuffle8(count->words, reversed), white), more = words;

    if (n > 4) {
        count->words = v_add32(count->words, v_words(4 * LANES));
        more = v_xor(v_shuffle8(count->words, reversed), white);
        count->words = v_add32(count->words, v_words((n - 4) * LANES));
    } else {
        count->words = v_add32(count->words, v_words(n * LANES));
    }
    EACH_UP_TO_8(n, s[i] = v_with_word(count->base, i < 4 ? words : more, i % 4));
}

#include "gcm/message_vectors.h"

/* ---- Batches ----------------------------------------------------------------------------------- */

/* WIDE vectors, while those before are hashed. h: the powers that those meet. */
EVC_INLINE void crypt_batch(const struct key *key, struct flow *f, struct end *end, int ends,
                            const struct pair *h, const uint8_t *in, uint8_t *out, int sealing)
{
    vec s[WIDE], last;

    counters(key, s, &f->count, WIDE);
    if (ends)
        s[WIDE - 1] = v_xor(s[WIDE - 1], v_last(_mm_set_epi32((int)end->j0, 0, 0, 0)));
    struct operands o = operands_of(f->r[2], f->r[3]);
    ROUND(WIDE, s, 1);
    ADD_PART(f->p.lo, lo, o, h + 1);
    ROUND(WIDE, s, 2);
    ADD_PART(f->p.hi, hi, o, h + 1);
    ROUND(WIDE, s, 3);
    ADD_PART(f->p.mi, sum, o, h + 1);
    o = operands_of(f->r[4], f->r[5]);
    ROUND(WIDE, s, 4);
    ADD_PART(f->p.lo, lo, o, h + 2);
    ROUND(WIDE, s, 5);
    ADD_PART(f->p.hi, hi, o, h + 2);
    ROUND(WIDE, s, 6);
    ADD_PART(f->p.mi, sum, o, h + 2);
    o = operands_of(f->r[6], f->r[7]);
    ROUND(WIDE, s, 7);
    ADD_PART(f->p.lo, lo, o, h + 3);
    ROUND(WIDE, s, 8);
    ADD_PART(f->p.hi, hi, o, h + 3);
    ROUND(WIDE, s, 9);
    ADD_PART(f->p.mi, sum, o, h + 3);
    o = operands_of(v_xor(f->r[0], v_first(f->y)), f->r[1]);
    if (key->head.rounds > 12) {
        ROUND(WIDE, s, 10);
        ADD_PART(f->p.lo, lo, o, h);
        ROUND(WIDE, s, 11);
        ADD_PART(f->p.hi, hi, o, h);
        ROUND(WIDE, s, 12);
        ADD_PART(f->p.mi, sum, o, h);
        ROUND(WIDE, s, 13);
    } else {
        ADD_PART(f->p.lo, lo, o, h);
        ADD_PART(f->p.hi, hi, o, h);
        if (key->head.rounds > 10) {
            ROUND(WIDE, s, 10);
            ROUND(WIDE, s, 11);
        }
        ADD_PART(f->p.mi, sum, o, h);
    }
    f->y = _mm_setzero_si128();
    if (h != key->powers.pair) {
        f->y = reverse1(reduce_sum(f->p));
        f->p = no_product();
    }
    last = round_key(key, key->head.rounds);
    EACH_4(0, f->r[i] = text_vector(s[i], last, AT(i), sealing));
    EACH_I(4, f->r[i] = text_vector(s[i], last, AT(i), sealing));
    EACH_I(5, f->r[i] = text_vector(s[i], last, AT(i), sealing));
    f->r[6] = last_but_one(s[6], last, end, ends, AT(6), sealing);
    f->r[7] = last_vector(s[7], last, end, ends, AT(7), sealing);
}

/* With 16 registers what is under way is in memory anyway, and out of line the frames stay small. */
#if LANES == 4
#define BATCHES_INLINE EVC_INLINE
#else
#define BATCHES_INLINE EVC_OUT_OF_LINE
#endif

/* The rest, and the hash of all. end: NULL if the message goes on. */
BATCHES_INLINE __m128i crypt_rest(const struct key *key, struct flow *f, struct end *end,
                                  size_t n_batches, const uint8_t *in, uint8_t *out, int sealing)
{
    const struct pair *const h = key->powers.pair;

    for (; n_batches; n_batches--, in += WIDE * VEC_BYTES, out += WIDE * VEC_BYTES)
        crypt_batch(key, f, end, end && n_batches == 1, h + (n_batches % 2 ? 0 : PAIRS / 2), in, out, sealing);
    hash_vectors(f, h + PAIRS / 2, WIDE);
    return reverse1(reduce_sum(f->p));
}

#include "gcm/message_steps.h"

#endif
