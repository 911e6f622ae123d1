/* SPDX-License-Identifier: MIT */
/*
 * GCM of whole messages and of pieces of them, where a vector is one block. To follow a message,
 * begin at `seal` below; `crypt_long_text` cuts it, `main_loop` and `crypt_tail` (gcm/tail.h) do
 * the work.
 *
 * The text is cut into groups of GROUP_VECTORS vectors, which go through the main loop, and a tail
 * of at most as many; behind groups it has fewer.
 *
 * Besides the words of gcm/tail.h this file uses:
 *
 *   load_part1(p, n)         the first n bytes of a block, 0 to 16, zeros behind
 *   BATCH                    blocks that hash_from takes with one reduction
 *   lengths1(a, b)           the block of two numbers
 *   fused_rounds             middle_rounds of a group, while another group is
 *                            hashed
 *   LOWEST_POWERS(key), HIGHEST_POWERS(key), TWO_GROUPS_AT_ONCE   of a group and of the one before
 *   add_group(sum, powers, y, r)   plus the products of a group
 *   prefetch_powers(key)     those of a group
 *   MAIN_LOOP                if defined, the kernel's own main_loop, which uses other words than
 *                            the ones from fused_rounds on
 *   store_tag, compare_tag(tag, block, n_bytes)
 *   CLEAR_AFTER_SHORT()      clears what crypt_text may leave behind, and a hash with one reduction
 *   CLEAR_AFTER_LONG()       the same of groups and of any hash
 *   CLEAR_AFTER_BLOCK()      the same of one block, by crypt_one_block; if not defined, the kernel
 *                            has no such function
 */
#ifndef EVC_GCM_MESSAGE_H
#define EVC_GCM_MESSAGE_H

#include "gcm/tail.h"

/* The same of a number of vectors that is not a constant: 1 to 8. No table of jumps: builds for
 * kernels make those slow. */
EVC_INLINE block crypt_tail_of(size_t n, const struct key *key, const struct tail *tail,
                               block counter, block y, block lengths)
{
#define TAIL(n_vectors) crypt_tail(key, tail, n_vectors, counter, y, lengths)
    if (n < 5) {
        if (n < 3)
            return n < 2 ? TAIL(1) : TAIL(2);
        return n < 4 ? TAIL(3) : TAIL(4);
    }
    if (n < 7)
        return n < 6 ? TAIL(5) : TAIL(6);
    return n < 8 ? TAIL(7) : TAIL(8);
#undef TAIL
}

/* ---- The main loop --------------------------------------------------------------------------- */

#if !defined(MAIN_LOOP)

/* The last round of AES, and the text. r: the group's ciphertext. */
EVC_INLINE void last_round_of_group(const struct key *key, const vec *s, vec *r, const uint8_t *in,
                                    uint8_t *out, int sealing)
{
    const vec last_key = round_key(key, key->head.rounds);

    EACH_UP_TO_8(GROUP_VECTORS, const vec text = v_load(in + 16 * i),
                 x = v_enc_text(s[i], last_key, text);
                 v_store(out + 16 * i, x); r[i] = sealing ? x : text);
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

#define MAIN_LOOP main_loop

#endif

EVC_OUT_OF_LINE block seal_groups(const struct key *key, const uint8_t *in, uint8_t *out,
                                  size_t n_groups, uint32_t first, block counter, block y)
{
    return MAIN_LOOP(key, in, out, n_groups, first, counter, y, 1);
}

EVC_OUT_OF_LINE block open_groups(const struct key *key, const uint8_t *in, uint8_t *out,
                                  size_t n_groups, uint32_t first, block counter, block y)
{
    return MAIN_LOOP(key, in, out, n_groups, first, counter, y, 0);
}

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

EVC_INLINE block hash_block(const struct key *key, block data)
{
    struct product sum = no_product();

    add_second(&sum, v_last(data), key->powers.pair + PAIRS - 1);
    return hash_of(sum);
}

static const uint8_t nothing_before[16]; /* the hash of no blocks */

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
    struct count count = count_from(key, counter, 1); /* that of J_0 */
    vec s[1];

    next_counters(s, &count, 1);
    middle_rounds(key, s, 1);
    return xor1(hash_block(key, xor1(y, lengths)),
                v_last_block(v_enc_last(s[0], round_key(key, key->head.rounds))));
}

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
    const int is_message = !(how & PIECE);
    const block counter = load_iv(counter_at);
    const block lengths =
        is_message ? lengths1(aad_bits(aad_bytes), 8 * (uint64_t)len_bytes) : zero1();
    const size_t aad_lanes = how & AAD_LANE ? 1 : 0, done = GROUP_BYTES * n_groups;
    size_t n_blocks = aad_lanes + (len_bytes - done + 15) / 16;
    struct tail tail = {0};

    tail.sealing = !(how & TO_OPEN);
    /* All lanes may be text, the last one in part: then the lengths have none. */
    tail.has_lengths = is_message && n_blocks < GROUP_VECTORS;
    n_blocks += (size_t)tail.has_lengths;
    tail.text_from = 16 * aad_lanes;
    tail.text_to = tail.text_from + len_bytes - done;
    tail.in = evc_in_at(in, done - tail.text_from);
    tail.out = evc_out_at(out, done - tail.text_from);
    tail.counter =
        first_counter(counter_at, how) + (uint32_t)(GROUP_BLOCKS * n_groups - aad_lanes);
    y = crypt_tail_of(n_blocks, key, &tail, counter, y, lengths);
    return is_message && !tail.has_lengths ? finish(key, counter, y, lengths) : y;
}

EVC_INLINE enum evc_status put_tag(uint8_t *tag, block computed, size_t tag_bytes, size_t how)
{
    if ((how & (TO_OPEN | PIECE | OUTPUT_TAG)) == TO_OPEN)
        return compare_tag(tag, computed, tag_bytes);
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

    if (n_blocks > GROUP_BLOCKS)
        n_groups = (is_message ? len_bytes : 16 * (n_text - 1)) / GROUP_BYTES;
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
        CLEAR_AFTER_BLOCK();
        return status;
    }
#endif
    if (len_bytes > 16 * (GROUP_BLOCKS - 2)) /* a tail has two other blocks */
        return crypt_long_text(key, iv, how, aad, aad_bytes, in, out, len_bytes, tag, tag_bytes);
    if (aad_here > 16)
        return crypt_text_of_long_aad(key, iv, how, aad, aad_bytes, in, out, len_bytes, tag,
                                      tag_bytes);
    how |= aad_bytes ? AAD_LANE : 0;
    status = crypt_text(key, iv, how, 0, load_part1(aad, aad_here), aad_bytes, in, out, len_bytes,
                        tag, tag_bytes);
    clear_after(aad_bytes, len_bytes);
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

EVC_INLINE void crypt_blocks(const void *key, uint8_t counter[16], uint8_t y[16], const uint8_t *in,
                             uint8_t *out, size_t n_blocks, int opening)
{
    if (n_blocks)
        (void)crypt_long_text(key, counter, PIECE | (opening ? TO_OPEN : TO_SEAL), y, 16, in, out,
                              16 * n_blocks, y, 16);
    count_blocks(counter, n_blocks);
}

#define GCM_MESSAGE_SLOTS .seal = seal, .open = open, .open_output_tag = open_output_tag

#include "gcm/slots.h"

#endif
