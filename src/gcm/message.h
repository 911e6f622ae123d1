/* SPDX-License-Identifier: MIT */
/*
 * GCM of whole messages and of pieces of them, written once for every architecture and width of
 * vector. To follow a message, begin at `seal` below; `crypt_long_text` cuts it, `main_loop` and
 * `crypt_tail` do the work.
 *
 * The text is cut into groups of GROUP_VECTORS vectors, which go through the main loop, and a tail
 * of at most TAIL_VECTORS; with one lane, a tail behind groups has fewer blocks than a group. The
 * last block of the tail is that of the lengths. The blocks of the tail are in the last lanes of
 * its vectors, so that each of them meets its power of H at a fixed place; lanes that are left
 * over are the first ones.
 * Counter mode uses the same lanes: where the lengths are it has J_0, whose
 * encryption is the tag mask.
 *
 * The steps of an architecture (gcm/x86_steps.h, gcm/a64_steps.h) include this
 * file behind what it uses:
 *
 *   vec, LANES, VEC_BYTES    a vector of 1, 2 or 4 blocks; lane 0 is the first in memory
 *   block                    one block as it is in memory; load1, store1, xor1, zero1
 *   load_part1(p, n)         the first n bytes of a block, 0 to 16, zeros behind
 *   BATCH                    blocks that hash_from takes with one reduction
 *   struct key               with head, rk, and powers: PAIRS pairs of vectors of powers of
 *                            H, the lowest power last
 *   struct product           a sum of products that is not reduced yet: no_product,
 *                            add_pair, add_second, hash_of
 *   v_load, v_store, v_xor, v_zero   whole vectors, of any alignment;
 *                                    v_clear_upper_halves at the end of a slot
 *   v_at(block, lane), v_last(block), v_last_block(v)   zeros but for one block; the last block
 *   vec_part, v_part(from, to)   which bytes of a vector have text: those between two
 *                                numbers, of which the first is a
 *                            multiple of 16 and both may be 16 LANES
 *   v_load_part(i, p, part, at_page_end)   these of vector i, whose lane 0 would be at p,
 *                                          zeros around; v_store_part,
 *                            v_keep_part. Only vector 0 may begin behind its lane 0
 *   PARTS_BY_MASKS           if defined, these two access a whole vector, by a mask;
 *                            ends_at_page_end then tells whether it must end with the part
 *   struct count, count_from, next_counters(s, count, n)   counters under way; the
 *                                                          next n vectors of them
 *   middle_rounds(key, s, n) AES of n vectors but for the last round
 *   fused_rounds             the same of a group, while another group is
 *                            hashed; or GROUPS_IN_ASSEMBLY
 *   v_enc_last(s, x)         the last round; x: the sum of round_key(key, rounds) and the text
 *   lengths1(a, b), last_word1(x)   the block of two numbers; a block of zeros
 *                                   whose last 4 bytes are x
 *   load_iv(p)               12 bytes and a counter of 0
 *   round_key(key, r), LOWEST_POWERS(key), HIGHEST_POWERS(key), TWO_GROUPS_AT_ONCE   of a group
 *                                                                                    and of the
 *                                                                                    one before
 *   add_group(sum, powers, y, r)   plus the products of a group
 *   groups_in_assembly       the main loop, where GROUPS_IN_ASSEMBLY is defined
 *   expand_key(key, user_key)   the round keys; returns the encrypted block of zeros
 *   encrypt_blocks, powers_of; crypt_one_block if CLEAR_AFTER_BLOCK is defined
 *   hash_from(powers, y, p, n_blocks)   the hash of whole blocks behind those whose hash is y
 *   prefetch_powers(key)     those of a group
 *   store_tag, compare_tag(tag, block, n_bytes)
 *   PIECES_ALONE             1 if the kernel has other functions for messages: here are those for
 *                            pieces of them, whose groups are done by crypt_groups(key, counter, y,
 *                            in, out, n_groups, opening)
 *   CLEAR_AFTER_SHORT()      clears what crypt_text may leave behind of a tail of at most
 *                            GROUP_VECTORS, and a hash with one reduction
 *   CLEAR_AFTER_LONG()       the same of any tail, of groups and of any hash
 *   CLEAR_FRAMES()           the same of the functions that call these, if
 *                            vectors are passed in memory
 *   CLEAR_AFTER_BLOCK()      the same of one block; if not defined, crypt_one_block is not needed
 */
#ifndef EVC_GCM_MESSAGE_H
#define EVC_GCM_MESSAGE_H

#include "common/each.h"

#define GROUP_VECTORS 8
#define GROUP_BLOCKS (GROUP_VECTORS * LANES)
#define GROUP_BYTES (16 * GROUP_BLOCKS)
/* So a message of exactly a group has no lengths left over. With one lane, or few powers
 * of H, they are too few. */
#define TAIL_VECTORS (PIECES_ALONE ? 4 : LANES > 1 && PAIRS > 4 ? 9 : 8)
#if !defined(PIECES_ALONE)
#define PIECES_ALONE 0
#endif

/* ---- The tail -------------------------------------------------------------------------------- */

/* Its lanes have nothing, then a block that is only hashed or none, text, and
 * the lengths or nothing. */
struct tail {
    const uint8_t *in; /* where lane 0 of the first vector would be */
    uint8_t *out;
    size_t text_from, text_to; /* bytes from there; text may end within a block */
    size_t first_lane;         /* that of the block before the text, or of the text */
    uint32_t counter;          /* of lane 0: a number */
    int has_lengths;           /* in the last lane; else that is text */
    int sealing;
    int in_at_page_end, out_at_page_end; /* of PARTS_BY_MASKS: nothing behind
                                          * the text may be accessed */
};

/* Vector i of n: its text, through the last round of AES. Returns what is
 * hashed; x: what AES made. */
EVC_INLINE vec crypt_vector(const struct tail *tail, unsigned i, unsigned n, vec s, vec last_key,
                            vec *x)
{
    const size_t at = i * VEC_BYTES,
                 left = tail->text_to > at || LANES > 1 ? tail->text_to - at : 0;
    const uint8_t *const in = evc_in_at(tail->in, at);
    uint8_t *const out = evc_out_at(tail->out, at);
    /* The last of wide vectors has text, if it is not the only one; with one lane it may
     * be the lengths alone. */
    const int has_end = i == n - 1 || (LANES == 1 && i == n - 2);
    const vec_part part = v_part(i == 0 ? tail->text_from : 0,
                                 !has_end || (LANES == 1 && left > VEC_BYTES) ? VEC_BYTES : left);
    vec text;

    if (i == 0 || has_end) {
        text = v_load_part(i, in, part, tail->in_at_page_end);
        *x = v_enc_last(s, v_xor(last_key, text));
        v_store_part(i, out, part, tail->out_at_page_end, *x);
        return tail->sealing ? v_keep_part(i, *x, part) : text;
    }
    text = v_load(in);
    *x = v_enc_last(s, v_xor(last_key, text));
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
    vec s[GROUP_VECTORS + 1], x = v_zero(), last_key;

    next_counters(s, &count, n);
    if (tail->has_lengths) {
        const uint32_t last = tail->counter + n * LANES - 1;
        s[n - 1] = v_xor(s[n - 1], v_last(last_word1(evc_bswap32(last) ^ evc_bswap32(1))));
    }
    middle_rounds(key, s, n);
    last_key = round_key(key, key->head.rounds);
    EACH_UP_TO_9(n, s[i] = crypt_vector(tail, i, n, s[i], last_key, &x)); /* x: of the last one */
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

/* The same of a number of vectors that is not a constant. No table of jumps: builds for
 * kernels make those slow. */
EVC_INLINE block crypt_tail_of(size_t n, const struct key *key, const struct tail *tail,
                               block counter, block y, block lengths)
{
#define TAIL(n_vectors) crypt_tail(key, tail, n_vectors, counter, y, lengths)
    if (TAIL_VECTORS < 5 || n < 5) {
        if (n < 3)
            return n < 2 ? TAIL(1) : TAIL(2);
        return n < 4 ? TAIL(3) : TAIL(4);
    }
    if (n < 7)
        return n < 6 ? TAIL(5) : TAIL(6);
    if (TAIL_VECTORS < 9 || n < 9)
        return n < 8 ? TAIL(7) : TAIL(8);
    return TAIL(TAIL_VECTORS);
#undef TAIL
}

/* ---- The main loop --------------------------------------------------------------------------- */

#if PIECES_ALONE
#elif !defined(GROUPS_IN_ASSEMBLY)

/* The last round of AES, and the text. r: the group's ciphertext. */
EVC_INLINE void last_round_of_group(const struct key *key, const vec *s, vec *r, const uint8_t *in,
                                    uint8_t *out, int sealing)
{
    const vec last_key = round_key(key, key->head.rounds);

    EACH_UP_TO_8(GROUP_VECTORS, const vec text = v_load(in + i * VEC_BYTES),
                 x = v_enc_last(s[i], v_xor(last_key, text));
                 v_store(out + i * VEC_BYTES, x); r[i] = sealing ? x : text);
}

/* n_groups, at least one. While a group goes through AES, the one before it is hashed. first: the
 * number of the first counter. Returns the hash. */
EVC_INLINE block main_loop(const struct key *key, const uint8_t *in, uint8_t *out, size_t n_groups,
                           uint32_t first, block counter, block y, int sealing)
{
    struct count count = count_from(key, counter, first);
    struct product sum = no_product();
    vec s[GROUP_VECTORS], r[GROUP_VECTORS];

    prefetch_powers(key);
    next_counters(s, &count, GROUP_VECTORS);
    middle_rounds(key, s, GROUP_VECTORS);
    last_round_of_group(key, s, r, in, out, sealing);
    while (--n_groups) {
        /* With twice the powers two groups are reduced at once. The last but one is reduced at any
         * rate, so that `sum` is empty behind the loop. */
        const int goes_on = TWO_GROUPS_AT_ONCE && n_groups % 2 == 0;

        in += GROUP_BYTES, out += GROUP_BYTES;
        next_counters(s, &count, GROUP_VECTORS);
        fused_rounds(key, s, &sum, goes_on ? HIGHEST_POWERS(key) : LOWEST_POWERS(key), y, r);
        last_round_of_group(key, s, r, in, out, sealing);
        y = zero1();
        if (!goes_on) {
            y = hash_of(sum);
            sum = no_product();
        }
    }
    add_group(&sum, LOWEST_POWERS(key), y, r);
    return hash_of(sum);
}

#else

#define main_loop groups_in_assembly

#endif

#if !PIECES_ALONE

EVC_OUT_OF_LINE block seal_groups(const struct key *key, const uint8_t *in, uint8_t *out,
                                  size_t n_groups, uint32_t first, block counter, block y)
{
    return main_loop(key, in, out, n_groups, first, counter, y, 1);
}

EVC_OUT_OF_LINE block open_groups(const struct key *key, const uint8_t *in, uint8_t *out,
                                  size_t n_groups, uint32_t first, block counter, block y)
{
    return main_loop(key, in, out, n_groups, first, counter, y, 0);
}

#endif

/* ---- Messages, and pieces of them ------------------------------------------------------------ */

/* Bytes of associated data at `aad`, and all its bits: see EVC_GCM_HASHED_AAD. */
EVC_INLINE size_t aad_bytes_here(size_t aad_bytes)
{
    return aad_bytes & EVC_GCM_HASHED_AAD ? 16 : aad_bytes;
}

EVC_INLINE uint64_t aad_bits(size_t aad_bytes)
{
    return 8 * (uint64_t)(aad_bytes & ~EVC_GCM_HASHED_AAD);
}

#if !PIECES_ALONE

EVC_INLINE block hash_block(const struct key *key, block data)
{
    struct product sum = no_product();

    add_second(&sum, v_last(data), key->powers.pair + PAIRS - 1);
    return hash_of(sum);
}

static const uint8_t nothing_before[16]; /* the hash of no blocks */

#endif

/* The hash of whole blocks. before: the hash of the blocks before them, in memory, as
 * y of the slot `hash`. */
EVC_OUT_OF_LINE block hash_whole_blocks(const struct key *key, const uint8_t before[16],
                                        const uint8_t *in, size_t n_blocks)
{
    return hash_from(&key->powers, load1(before), in, n_blocks);
}

#if !PIECES_ALONE

/* The last block of associated data, plus the hash of the blocks before it: multiplied by H
 * it is the hash of all. */
EVC_OUT_OF_LINE block last_of_long_aad(const struct key *key, const uint8_t *aad, size_t aad_bytes)
{
    const size_t n_before = (aad_bytes - 1) / 16;

    return xor1(hash_whole_blocks(key, nothing_before, aad, n_before),
                load_part1(aad + 16 * n_before, aad_bytes - 16 * n_before));
}

/* The hash of associated data. Out of line also for a short one: so its caller keeps no
 * powers of H in its frame. */
EVC_OUT_OF_LINE block hash_aad(const struct key *key, const uint8_t *aad, size_t aad_bytes)
{
    if (aad_bytes % 16 == 0)
        return hash_whole_blocks(key, nothing_before, aad, aad_bytes / 16);
    return hash_block(key, aad_bytes > 16 ? last_of_long_aad(key, aad, aad_bytes)
                                          : load_part1(aad, aad_bytes));
}

/* The tag of a message whose tail had no lane left for the lengths. */
EVC_OUT_OF_LINE block finish(const struct key *key, block counter, block y, block lengths)
{
    struct count count = count_from(key, counter, 2u - LANES); /* the last lane is 1, that of J_0 */
    vec s[1];

    next_counters(s, &count, 1);
    middle_rounds(key, s, 1);
    return xor1(hash_block(key, xor1(y, lengths)),
                v_last_block(v_enc_last(s[0], round_key(key, key->head.rounds))));
}

#endif

/* A call seals or opens a message, or with PIECE a piece of one: at least one block, whole
 * blocks only. A piece has a counter of 16 bytes instead of the IV, the hash before it instead
 * of the associated data, and the hash behind it instead of the tag. With AAD_LANE the tail
 * begins with a block of associated data. With OUTPUT_TAG, the tag of a message that is opened is
 * written, not compared. */
enum { TO_SEAL = 0, TO_OPEN = 1, PIECE = 2, AAD_LANE = 4, OUTPUT_TAG = 8 };

/* The counter of the first block of text. */
EVC_INLINE uint32_t first_counter(const uint8_t *counter, size_t how)
{
    return how & PIECE ? evc_load32_be(counter + 12) : 2;
}

/* The tail behind n_groups of groups. y: with AAD_LANE the block of associated data and the hash of
 * the blocks before it, else the hash of all that comes before the tail. Returns the tag of a
 * message, the hash of a piece. */
EVC_INLINE block crypt_rest(const struct key *key, const uint8_t *counter_at, size_t how,
                            size_t n_groups, block y, size_t aad_bytes, const uint8_t *in,
                            uint8_t *out, size_t len_bytes)
{
    const int is_message = !PIECES_ALONE && !(how & PIECE);
    const block counter = load_iv(counter_at);
    const block lengths =
        is_message ? lengths1(aad_bits(aad_bytes), 8 * (uint64_t)len_bytes) : zero1();
    const size_t aad_lanes = how & AAD_LANE ? 1 : 0, done = GROUP_BYTES * n_groups;
    size_t n_blocks = aad_lanes + (len_bytes - done + 15) / 16, n;
    struct tail tail;

    tail.sealing = !(how & TO_OPEN);
    /* All lanes may be text, the last one in part: then the lengths have none. */
    tail.has_lengths =
        is_message && n_blocks < (n_groups && LANES == 1 ? GROUP_BLOCKS : TAIL_VECTORS * LANES);
    n_blocks += (size_t)tail.has_lengths;
    n = (n_blocks + LANES - 1) / LANES;
    tail.first_lane = n * LANES - n_blocks;
    tail.text_from = 16 * (tail.first_lane + aad_lanes);
    tail.text_to = tail.text_from + len_bytes - done;
    tail.in = evc_in_at(in, done - tail.text_from);
    tail.out = evc_out_at(out, done - tail.text_from);
    tail.counter =
        first_counter(counter_at, how) + (uint32_t)(GROUP_BLOCKS * n_groups - tail.text_from / 16);
    tail.in_at_page_end = tail.out_at_page_end = 0;
#if defined(PARTS_BY_MASKS)
    /* a place for no text: by a mask without bits nothing of it is accessed */
    uint8_t none[VEC_BYTES];

    if (tail.text_to == tail.text_from) {
        tail.in = tail.out = evc_out_at(none, 0 - tail.text_from);
    } else {
        tail.in_at_page_end = ends_at_page_end(tail.in, tail.text_from, tail.text_to, n);
        tail.out_at_page_end = ends_at_page_end(tail.out, tail.text_from, tail.text_to, n);
    }
#endif
    y = crypt_tail_of(n, key, &tail, counter, y, lengths);
#if !PIECES_ALONE
    if (is_message && !tail.has_lengths)
        return finish(key, counter, y, lengths);
#endif
    return y;
}

EVC_INLINE enum evc_status put_tag(uint8_t *tag, block computed, size_t tag_bytes, size_t how)
{
#if !PIECES_ALONE
    if ((how & (TO_OPEN | PIECE | OUTPUT_TAG)) == TO_OPEN)
        return compare_tag(tag, computed, tag_bytes);
#endif
    (void)how;
    store_tag(tag, computed, tag_bytes);
    return EVC_OK;
}

/* Out of line: its spills lie below the frames of its callers, who clear. tag: read if this opens a
 * message, else written. */
EVC_OUT_OF_LINE enum evc_status crypt_text(const void *key, const uint8_t *counter, size_t how,
                                           size_t n_groups, block y, size_t aad_bytes,
                                           const uint8_t *in, uint8_t *out, size_t len_bytes,
                                           uint8_t *tag, size_t tag_bytes)
{
    const block computed =
        crypt_rest(key, counter, how, n_groups, y, aad_bytes, in, out, len_bytes);
    const enum evc_status status = put_tag(tag, computed, tag_bytes, how);

    v_clear_upper_halves();
    return status;
}

#if !PIECES_ALONE

#if !defined(CLEAR_FRAMES)
#define CLEAR_FRAMES() ((void)0)
#endif

EVC_INLINE void clear_after(size_t aad_bytes, size_t len_bytes)
{
    if (aad_bytes_here(aad_bytes) <= 16 * BATCH && len_bytes <= 16 * (GROUP_BLOCKS - 2))
        CLEAR_AFTER_SHORT();
    else
        CLEAR_AFTER_LONG();
}

EVC_OUT_OF_LINE enum evc_status crypt_text_of_long_aad(const void *key, const uint8_t *counter,
                                                       size_t how, const uint8_t *aad,
                                                       size_t aad_bytes, const uint8_t *in,
                                                       uint8_t *out, size_t len_bytes, uint8_t *tag,
                                                       size_t tag_bytes)
{
    const enum evc_status status =
        crypt_text(key, counter, how | AAD_LANE, 0, last_of_long_aad(key, aad, aad_bytes),
                   aad_bytes, in, out, len_bytes, tag, tag_bytes);

    clear_after(aad_bytes, len_bytes);
    return status;
}

/* The same of any size. Groups and a hash of associated data come before crypt_text, not inside of
 * it: so the stack is not as deep. */
EVC_OUT_OF_LINE enum evc_status crypt_long_text(const void *vkey, const uint8_t *counter,
                                                size_t how, const uint8_t *aad, size_t aad_bytes,
                                                const uint8_t *in, uint8_t *out, size_t len_bytes,
                                                uint8_t *tag, size_t tag_bytes)
{
    const struct key *key = vkey;
    const int is_message = !(how & PIECE), has_aad = is_message && aad_bytes;
    const size_t aad_here = aad_bytes_here(aad_bytes);
    const size_t n_text = (len_bytes + 15) / 16,
                 n_blocks = (size_t)has_aad + n_text + (size_t)is_message;
    enum evc_status status;
    size_t n_groups = 0;
    block y;

    if (n_blocks > TAIL_VECTORS * LANES)
        n_groups = is_message && LANES == 1 ? len_bytes / GROUP_BYTES : (n_text - 1) / GROUP_BLOCKS;
    else if (has_aad)
        how |= AAD_LANE;
    if (!is_message)
        y = load1(aad);
    else if (has_aad && !(how & AAD_LANE))
        y = hash_aad(key, aad, aad_here);
    else
        y = aad_here > 16 ? last_of_long_aad(key, aad, aad_here) : load_part1(aad, aad_here);
    if (n_groups)
        y = (how & TO_OPEN ? open_groups : seal_groups)(
            key, in, out, n_groups, first_counter(counter, how), load_iv(counter), y);
    status =
        crypt_text(key, counter, how, n_groups, y, aad_bytes, in, out, len_bytes, tag, tag_bytes);
    if (is_message)
        clear_after(aad_bytes, len_bytes);
    return status;
}

#if defined(CLEAR_AFTER_BLOCK)

/* A message of at most one block. last_of_aad: as last_of_long_aad returns
 * it, or the only block. */
EVC_INLINE enum evc_status crypt_block_behind(block last_of_aad, const void *key, const uint8_t *iv,
                                              size_t how, size_t aad_bytes, const uint8_t *in,
                                              uint8_t *out, size_t len_bytes, uint8_t *tag,
                                              size_t tag_bytes)
{
    const block computed = crypt_one_block(
        key, load_iv(iv), last_of_aad, aad_bytes != 0, in, out, len_bytes,
        lengths1(aad_bits(aad_bytes), 8 * (uint64_t)len_bytes), !(how & TO_OPEN));
    const enum evc_status status = put_tag(tag, computed, tag_bytes, how);

    v_clear_upper_halves();
    return status;
}

/* Two functions: without long associated data nothing is called, and no register must be saved. */
EVC_OUT_OF_LINE enum evc_status crypt_block(const void *key, const uint8_t *iv, size_t how,
                                            const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                            uint8_t *out, size_t len_bytes, uint8_t *tag,
                                            size_t tag_bytes)
{
    return crypt_block_behind(load_part1(aad, aad_bytes_here(aad_bytes)), key, iv, how, aad_bytes,
                              in, out, len_bytes, tag, tag_bytes);
}

EVC_OUT_OF_LINE enum evc_status crypt_block_of_long_aad(const void *key, const uint8_t *iv,
                                                        size_t how, const uint8_t *aad,
                                                        size_t aad_bytes, const uint8_t *in,
                                                        uint8_t *out, size_t len_bytes,
                                                        uint8_t *tag, size_t tag_bytes)
{
    return crypt_block_behind(last_of_long_aad(key, aad, aad_bytes), key, iv, how, aad_bytes, in,
                              out, len_bytes, tag, tag_bytes);
}

#endif

/* ---- Slots ----------------------------------------------------------------------------------- */

EVC_INLINE enum evc_status crypt_message(const void *key, const uint8_t *iv, size_t how,
                                         const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                         uint8_t *out, size_t len_bytes, uint8_t *tag,
                                         size_t tag_bytes)
{
    const size_t aad_here = aad_bytes_here(aad_bytes);
    enum evc_status status;

#if defined(CLEAR_AFTER_BLOCK)
    if (len_bytes <= 16 && aad_here <= 16) {
        status = crypt_block(key, iv, how, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes);
        CLEAR_AFTER_BLOCK();
        return status;
    }
    if (len_bytes <= 16 && aad_here <= 16 * BATCH) {
        status = crypt_block_of_long_aad(key, iv, how, aad, aad_bytes, in, out, len_bytes, tag,
                                         tag_bytes);
        CLEAR_FRAMES();
        CLEAR_AFTER_BLOCK();
        return status;
    }
#endif
    if (len_bytes > 16 * (TAIL_VECTORS * LANES - 2)) { /* a tail has two other blocks */
        status = crypt_long_text(key, iv, how, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes);
    } else if (aad_here > 16) {
        status = crypt_text_of_long_aad(key, iv, how, aad, aad_bytes, in, out, len_bytes, tag,
                                        tag_bytes);
    } else {
        how |= aad_bytes ? AAD_LANE : 0;
        status = crypt_text(key, iv, how, 0, load_part1(aad, aad_here), aad_bytes, in, out,
                            len_bytes, tag, tag_bytes);
        clear_after(aad_bytes, len_bytes);
        return status;
    }
    CLEAR_FRAMES();
    return status;
}

static enum evc_status seal(const void *key, const uint8_t *iv, size_t iv_bytes, const uint8_t *aad,
                            size_t aad_bytes, const uint8_t *in, uint8_t *out, size_t len_bytes,
                            uint8_t *tag, size_t tag_bytes)
{
    (void)iv_bytes; /* 12 */
    return crypt_message(key, iv, TO_SEAL, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes);
}

static enum evc_status open(const void *key, const uint8_t *iv, size_t iv_bytes, const uint8_t *aad,
                            size_t aad_bytes, const uint8_t *in, uint8_t *out, size_t len_bytes,
                            const uint8_t *tag, size_t tag_bytes)
{
    (void)iv_bytes; /* 12 */
    return crypt_message(key, iv, TO_OPEN, aad, aad_bytes, in, out, len_bytes,
                         (uint8_t *)(uintptr_t)tag, tag_bytes);
}

static enum evc_status open_output_tag(const void *key, const uint8_t *iv, size_t iv_bytes,
                                        const uint8_t *aad, size_t aad_bytes, const uint8_t *in,
                                        uint8_t *out, size_t len_bytes, uint8_t *tag,
                                        size_t tag_bytes)
{
    (void)iv_bytes; /* 12 */
    return crypt_message(key, iv, TO_OPEN | OUTPUT_TAG, aad, aad_bytes, in, out, len_bytes, tag,
                         tag_bytes);
}

#endif

/* Not inlined: what a kernel adds to it would share vectors with code before
 * v_clear_upper_halves. */
EVC_OUT_OF_LINE void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;
    uint8_t h[16];

    store1(h, expand_key(key, user_key));
    for (uint32_t r = key->head.rounds + 1; r <= EVC_AES_MAX_ROUNDS; r++)
        store1(key->rk[r], zero1());
    powers_of(&key->powers, h);
    v_clear_upper_halves();
}

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    encrypt_blocks(key, in, out, n_blocks);
    v_clear_upper_halves();
}

static void hash(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    store1(y, hash_whole_blocks(vkey, y, in, n_blocks));
    v_clear_upper_halves();
}

EVC_INLINE void count_blocks(uint8_t counter[16], size_t n_blocks)
{
    evc_store32_be(counter + 12, evc_load32_be(counter + 12) + (uint32_t)n_blocks);
}

#if PIECES_ALONE

EVC_OUT_OF_LINE void crypt_blocks(const void *key, uint8_t counter[16], uint8_t y[16],
                                  const uint8_t *in, uint8_t *out, size_t n_blocks, size_t how)
{
    size_t n = n_blocks / GROUP_BLOCKS * GROUP_BLOCKS;

    if (n)
        crypt_groups(key, counter, y, in, out, n / GROUP_BLOCKS, (how & TO_OPEN) != 0);
    for (;;) {
        count_blocks(counter, n);
        in += 16 * n, out += 16 * n, n_blocks -= n;
        if (n_blocks == 0)
            return;
        n = n_blocks < TAIL_VECTORS * LANES ? n_blocks : TAIL_VECTORS * LANES;
        (void)crypt_text(key, counter, how, 0, load1(y), 0, in, out, 16 * n, y, 16);
    }
}

#else

EVC_INLINE void crypt_blocks(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                             uint8_t *out, size_t n_blocks, size_t how)
{
    if (n_blocks)
        (void)crypt_long_text(key, counter, how, y, 16, in, out, 16 * n_blocks, y, 16);
    count_blocks(counter, n_blocks);
}

#endif

static void seal_blocks(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    crypt_blocks(key, counter, y, in, out, n_blocks, TO_SEAL | PIECE);
}

static void open_blocks(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                        uint8_t *out, size_t n_blocks)
{
    crypt_blocks(key, counter, y, in, out, n_blocks, TO_OPEN | PIECE);
}

/* A kernel may have functions of its own for short messages, and these for others. */
#if !defined(GCM_MESSAGE_SLOTS)
#define GCM_MESSAGE_SLOTS .seal = seal, .open = open, .open_output_tag = open_output_tag
#endif

/* The slots of a descriptor: the same for all kernels that include this. */
#define GCM_SLOTS                                                                                  \
    .set_key = set_key, .encrypt = encrypt, .hash = hash, .seal_blocks = seal_blocks,              \
    .open_blocks = open_blocks, .seal_any_iv = evc_gcm_seal_pieces,                                \
    .open_any_iv = evc_gcm_open_pieces, GCM_MESSAGE_SLOTS

#endif
