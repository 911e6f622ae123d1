/* SPDX-License-Identifier: MIT */
/*
 * GCM on vectors of blocks: what is under way in a message, and its first vectors. Written once for every architecture
 * and width; include it after these, and those of gcm/message_steps.h, have been defined:
 *
 *   vec, LANES, VEC_BYTES    a vector of 1, 2 or 4 blocks; block 0 is the lowest and the first in memory
 *   block                    one block as it is in memory
 *   WIDE                     vectors that go through AES together, 8
 *   struct key               with struct powers powers: those of H by pairs, of vectors or blocks
 *   struct product, no_product(), add_pair, add_second    sums of products of vectors with pairs of powers
 *   v_load, v_store          a whole vector, no alignment
 *   v_xor, v_zero()
 *   v_first(block), v_last(block)   in the first, the last place, zeros in the others
 *   v_last_block(v)          what stands there
 *   v_clear_upper_halves()   before each return of a slot; nothing where the registers have no upper halves
 *   v_at(block, place)       in that place, zeros in the others; all zeros if there is no such place
 *   part, part_of(begin, end)   the bytes of a vector from begin, a whole block's, to end
 *   missing(n, at)           a vector at `at` without the first n bytes of all vectors
 *   v_load_text, v_store_text(p, part[, v])   these bytes of memory; zeros elsewhere; touches nothing else
 *   v_text(part, v)          these bytes of v, zeros elsewhere
 *   last_word1(x)            a block of zeros whose last 4 bytes are x, the least significant first
 *   struct count, counters(key, s, count, n)   the next n vectors of counters, as AES wants them
 *   NO_TEXT_FIRST            1 if a block without text does not go through AES; then skip_counter(count)
 *   ROUND(n, s, r)           round r of AES on n vectors; LAST_ROUND(n, s): of the last one, what is before v_enc_last
 *   v_enc_last(s, x)         the last round, x the sum of its key and the text
 *   v_white(v, key), v_low(v)   a vector as middle_rounds wants it; the first block
 *   round_key(key, r), load1, store1
 *
 * A message is a row of blocks: the last one of associated data, the text, the lengths. It is cut into vectors from its
 * end, so every block meets its power of H at a fixed place, and what is missing is in front. Counter mode has the same
 * places: where the lengths stand it has J_0, whose encryption masks the tag.
 */
#ifndef EVC_GCM_MESSAGE_VECTORS_H
#define EVC_GCM_MESSAGE_VECTORS_H

#include "common/each.h"

/* Rounds 10 and on, of the keys that have them, but for the last. */
#define LATE_ROUNDS(n, s)                                                                          \
    do {                                                                                           \
        if (key->head.rounds > 10) {                                                               \
            ROUND(n, s, 10);                                                                       \
            ROUND(n, s, 11);                                                                       \
            if (key->head.rounds > 12) {                                                           \
                ROUND(n, s, 12);                                                                   \
                ROUND(n, s, 13);                                                                   \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* All of AES on n vectors but what v_enc_last does. */
EVC_INLINE void middle_rounds(const struct key *key, vec *s, unsigned n)
{
    ROUND(n, s, 1);
    ROUND(n, s, 2);
    ROUND(n, s, 3);
    ROUND(n, s, 4);
    ROUND(n, s, 5);
    ROUND(n, s, 6);
    ROUND(n, s, 7);
    ROUND(n, s, 8);
    ROUND(n, s, 9);
    LATE_ROUNDS(n, s);
    LAST_ROUND(n, s);
}

EVC_INLINE void encrypt_blocks(const struct key *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    for (size_t i = 0; i < n_blocks; i++) {
        vec s[1] = {v_white(v_first(load1(in + 16 * i)), key)};
        middle_rounds(key, s, 1);
        store1(out + 16 * i, v_low(v_enc_last(s[0], round_key(key, key->head.rounds))));
    }
}

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    encrypt_blocks(key, in, out, n_blocks);
    v_clear_upper_halves();
}

/* What is under way: counters, the WIDE vectors of ciphertext that are not yet hashed, the sum of products not yet
 * reduced, and the hash of all before that as it is in memory, zero if p goes on. */
struct flow {
    struct count count;
    vec r[WIDE];
    struct product p;
    block y;
};

/* The end of a message. */
struct end {
    uint32_t j0; /* turns the last word of the counter in the last place into that of J_0 */
    block lengths;
    part text;   /* of the last vector */
    part before; /* of the one before it, if vectors are blocks: then the last is the lengths */
    block mask; /* result: J_0 encrypted */
};

/* A vector of text: s after all rounds but the last. Returns the ciphertext. */
EVC_INLINE vec text_vector(vec s, vec last, const uint8_t *in, uint8_t *out, int sealing)
{
    const vec text = v_load(in), x = v_enc_last(s, v_xor(last, text));

    v_store(out, x);
    return sealing ? x : text;
}

EVC_INLINE vec part_vector(vec s, vec last, part p, const uint8_t *in, uint8_t *out, int sealing)
{
    const vec text = v_load_text(in, p), x = v_enc_last(s, v_xor(last, text));

    v_store_text(out, p, x);
    return sealing ? v_text(p, x) : text;
}

/* The last of WIDE vectors or fewer, which may be the last of the message. */
EVC_INLINE vec last_vector(vec s, vec last, struct end *end, int ends, const uint8_t *in,
                           uint8_t *out, int sealing)
{
    vec text, x;

    if (!ends)
        return text_vector(s, last, in, out, sealing);
    text = v_load_text(in, end->text), x = v_enc_last(s, v_xor(last, text));
    v_store_text(out, end->text, x);
    end->mask = v_last_block(x);
    return v_xor(v_last(end->lengths), sealing ? v_text(end->text, x) : text);
}

/* The one before it: where vectors are blocks, the last of the text may be in part. */
EVC_INLINE vec last_but_one(vec s, vec last, const struct end *end, int ends, const uint8_t *in,
                            uint8_t *out, int sealing)
{
    return LANES == 1 && ends ? part_vector(s, last, end->before, in, out, sealing)
                              : text_vector(s, last, in, out, sealing);
}

/* Plus the n vectors that come last of those not yet hashed; h: the last pairs of powers that they meet. */
EVC_INLINE void hash_vectors(struct flow *f, const struct pair *h, unsigned n)
{
    if (n == 1)
        add_second(&f->p, f->r[7], h + 3);
    else
        add_pair(&f->p, f->r[6], f->r[7], h + 3);
    if (n > 2)
        add_pair(&f->p, f->r[4], f->r[5], h + 2);
    if (n > 4)
        add_pair(&f->p, f->r[2], f->r[3], h + 1);
    if (n > 6)
        add_pair(&f->p, v_xor(f->r[0], v_first(f->y)), f->r[1], h);
}

/* The first n vectors. most: fewer than one of them is missing, or than two of more than 4. start goes into the block
 * at `at`; from block `from` on it is text. ends: they are also the last. */
EVC_INLINE void crypt_head(const struct key *key, struct flow *f, struct end *end, int ends,
                           unsigned n, int most, size_t at, size_t from, block start,
                           const uint8_t *in, uint8_t *out, int sealing)
{
    const unsigned skip = LANES == 1 && NO_TEXT_FIRST && most && n <= 4; /* that of the associated data */
    vec s[WIDE], last;

    if (skip)
        skip_counter(&f->count);
    if (n > skip)
        counters(key, s + skip, &f->count, n - skip);
    if (ends)
        s[n - 1] = v_xor(s[n - 1], v_last(last_word1(end->j0)));
    if (n > skip)
        middle_rounds(key, s + skip, n - skip);
    last = round_key(key, key->head.rounds);
#define AT(i) evc_in_at(in, (i) * VEC_BYTES), evc_out_at(out, (i) * VEC_BYTES)
#define IS_FRONT(i) (!most || (i) < (n > 4 ? 2 : 1))
#define FRONT(i, v) (IS_FRONT(i) ? v_xor(v_at(start, at - (i) * LANES), v) : (v))
#define HEAD_VECTOR(i)                                                                             \
    ((i) < skip                                       ? v_zero()                                   \
     : (i) == n - 1 && (!IS_FRONT(i) || ends) ? last_vector(s[i], last, end, ends, AT(i), sealing)          \
     : IS_FRONT(i) && !(LANES == 1 && ends && (i) == n - 2)                                        \
         ? part_vector(s[i], last, missing(16 * from, (i) * VEC_BYTES), AT(i), sealing)            \
     : (i) == n - 2 ? last_but_one(s[i], last, end, ends, AT(i), sealing)                          \
                    : text_vector(s[i], last, AT(i), sealing))
    EACH_UP_TO_8(n, f->r[WIDE - n + i] = FRONT(i, HEAD_VECTOR(i)));
}

#endif
