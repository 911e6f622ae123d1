/* SPDX-License-Identifier: MIT */
/*
 * GCM by AES instructions and carry-less multiplication: counters and rounds of AES, written
 * once for every width of vector. Include it inside the region of the kernel's ISA,
 * after what ghash/x86_clmul_steps.h wants, with GROUP 16, and these:
 *
 *   v_enc, v_enc_last        a round of AES, in each block
 *   v_add32, v_shuffle8      within each block
 *   v_words(n)               n in all words of 32 bits
 *   v_places()               l in the first word of block l, zeros in the others
 *   v_last_block(v)          the last block
 *   the words of gcm/tail.h for lanes and for parts of vectors
 */
#ifndef EVC_GCM_X86_STEPS_H
#define EVC_GCM_X86_STEPS_H

#include "aes/x86_keys.h"
#include "common/each.h"
#include "ghash/x86_clmul_steps.h"

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

    EACH_UP_TO_8(n, s[i] = v_enc(s[i], rk));
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

    EACH_UP_TO_8(n, s[i] = v_xor(count->base, v_shuffle8(count->number, reversed));
                 count->number = v_add32(count->number, step); v_barrier(count->number));
}

#include "gcm/tail.h"

#endif
