/* SPDX-License-Identifier: MIT */
/*
 * The text of GCM that fills no group of vectors, written once for every
 * architecture and width of vector. gcm/message.h makes whole messages of it, where a vector has
 * one block; gcm/in_assembly.h makes pieces of messages, beside messages in assembly.
 *
 * The blocks of a tail are in the last lanes of its vectors, so that each of them meets its power
 * of H at a fixed place; lanes that are left over are the first ones. If the tail ends a message,
 * its last block has the lengths. Counter mode uses the same lanes: where the lengths are it has
 * J_0, whose encryption is the tag mask.
 *
 * The steps of an architecture (gcm/x86_steps.h, gcm/a64_steps.h) include this file behind what it
 * uses:
 *
 *   vec, LANES, VEC_BYTES    a vector of 1, 2 or 4 blocks; lane 0 is the first in memory
 *   block                    one block as it is in memory; load1, store1, xor1, zero1
 *   struct key               with head, rk, and powers: PAIRS pairs of vectors of powers of
 *                            H, the lowest power last
 *   struct product           a sum of products that is not reduced yet: no_product,
 *                            add_pair, add_second, hash_of
 *   v_load, v_store, v_xor, v_zero   whole vectors, of any alignment;
 *                                    v_clear_upper_halves at the end of a slot
 *   v_at(block, lane), v_last(block), v_last_block(v)   zeros but for one block; the last block
 *   load_part1(p, n), store_part1(p, block, n), first_bytes1(block, n)   of one lane: the first n
 *                            bytes of a block, 0 to 16, zeros behind
 *   v_load_from(p, lane, alone), v_store_from(p, lane, alone, v), v_keep_from(v, lane)   of more
 *                            lanes: blocks from one lane on, zeros before. p: where lane 0 would
 *                            be; alone: what follows in memory is no text
 *   struct count, count_from, next_counters(s, count, n)   counters under way; the
 *                                                          next n vectors of them
 *   middle_rounds(key, s, n) AES of n vectors but for the last round
 *   v_enc_last(s, k)         the last round, whose key is round_key(key, rounds)
 *   v_enc_text(s, k, text)   the same and the text; if not defined, v_enc_last of the sum of both
 *   last_word1(x)            zeros but for the last 4 bytes x, the least significant one first: to
 *                            be added to a counter
 *   load_iv(p)               12 bytes and a counter of 0
 *   round_key(key, r)        in each lane
 *   expand_key(key, user_key)   the round keys; returns the encrypted block of zeros
 *   encrypt_blocks, powers_of
 *   hash_from(powers, y, p, n_blocks)   the hash of whole blocks behind those whose hash is y
 */
#ifndef EVC_GCM_TAIL_H
#define EVC_GCM_TAIL_H

#include "common/each.h"

#define GROUP_VECTORS 8
#define GROUP_BLOCKS (GROUP_VECTORS * LANES)
#define GROUP_BYTES (16 * GROUP_BLOCKS)

#if !defined(v_enc_text)
#define v_enc_text(s, last_key, text) v_enc_last(s, v_xor(last_key, text))
#endif

/* ---- The tail -------------------------------------------------------------------------------- */

/* Its lanes have nothing, then a block that is only hashed or none, text, and
 * the lengths or nothing. */
struct tail {
    const uint8_t *in; /* where lane 0 of the first vector would be */
    uint8_t *out;
    size_t text_from, text_to; /* of one lane: bytes from there; text may end within a block */
    size_t first_lane;         /* that of the block before the text, or of the text */
    uint32_t counter;          /* of lane 0: a number */
    int has_lengths;           /* in the last lane; else that is text */
    int sealing;
};

/* Vector i of n: its text, through the last round of AES. Returns what is
 * hashed; x: what AES made. */
EVC_INLINE vec crypt_vector(const struct tail *tail, unsigned i, unsigned n, vec s, vec last_key,
                            vec *x)
{
    const size_t at = i * VEC_BYTES;
    const uint8_t *const in = evc_in_at(tail->in, at);
    uint8_t *const out = evc_out_at(tail->out, at);
    vec text;

#if LANES == 1
    if (i == 0 || i + 2 >= n) { /* the last one may have the lengths alone */
        const int has_text = (i || !tail->text_from) && tail->text_to > at;
        const size_t n_bytes = !has_text ? 0 : tail->text_to - at < 16 ? tail->text_to - at : 16;

        text = load_part1(in, n_bytes);
        *x = v_enc_text(s, last_key, text);
        store_part1(out, *x, n_bytes);
        return tail->sealing ? first_bytes1(*x, n_bytes) : text;
    }
#else
    if (i == 0) {
        text = v_load_from(in, tail->first_lane, n == 1);
        *x = v_enc_text(s, last_key, text);
        v_store_from(out, tail->first_lane, n == 1, *x);
        return tail->sealing ? v_keep_from(*x, tail->first_lane) : text;
    }
#endif
    text = v_load(in);
    *x = v_enc_text(s, last_key, text);
    v_store(out, *x);
    return tail->sealing ? *x : text;
}

/* A tail of n vectors. y is added to its first lane: the hash of what comes before, or the
 * block of associated data, which has that lane then. Returns the hash; with the tag mask, if
 * the tail has the lengths. */
EVC_INLINE block crypt_tail(const struct key *key, const struct tail *tail, unsigned n,
                            block counter, block y, block lengths)
{
    const struct pair *const end = key->powers.pair + PAIRS;
    struct count count = count_from(key, counter, tail->counter);
    struct product sum = no_product();
    vec s[GROUP_VECTORS], x = v_zero(), last_key;

    next_counters(s, &count, n);
    if (tail->has_lengths) {
        const uint32_t last = tail->counter + n * LANES - 1;
        s[n - 1] = v_xor(s[n - 1], v_last(last_word1(evc_bswap32(last) ^ evc_bswap32(1))));
    }
    middle_rounds(key, s, n);
    last_key = round_key(key, key->head.rounds);
    EACH_UP_TO_8(n, s[i] = crypt_vector(tail, i, n, s[i], last_key, &x)); /* x: of the last one */
    s[0] = v_xor(s[0], v_at(y, tail->first_lane));
    if (tail->has_lengths)
        s[n - 1] = v_xor(s[n - 1], v_last(lengths));
    if (n > 1)
        add_pair(&sum, s[n - 2], s[n - 1], end - 1);
    if (n > 3)
        add_pair(&sum, s[n - 4], s[n - 3], end - 2);
    if (n > 5)
        add_pair(&sum, s[n - 6], s[n - 5], end - 3);
    if (n > 7)
        add_pair(&sum, s[n - 8], s[n - 7], end - 4);
    if (n % 2)
        add_second(&sum, s[0], end - (n + 1) / 2);
    return tail->has_lengths ? xor1(hash_of(sum), v_last_block(x)) : hash_of(sum);
}

/* The hash of whole blocks. before: the hash of the blocks before them, in memory, as
 * y of the slot `hash`. */
EVC_OUT_OF_LINE block hash_whole_blocks(const struct key *key, const uint8_t before[16],
                                        const uint8_t *in, size_t n_blocks)
{
    return hash_from(&key->powers, load1(before), in, n_blocks);
}

/* The number of a counter, behind n_blocks. */
EVC_INLINE void count_blocks(uint8_t counter[16], size_t n_blocks)
{
    evc_store32_be(counter + 12, evc_load32_be(counter + 12) + (uint32_t)n_blocks);
}

#endif
