/* SPDX-License-Identifier: MIT */
/*
 * GCM by the AES instructions of A64 and PMULL of 64 bits, a block in a vector. Include it
 * inside the region of the kernel's ISA, after GROUP 8 and v_xor3 of
 * ghash/a64_pmull_steps.h have been defined, and:
 *
 *   clear()                  the kernel's, of common/clear.h
 *   SEAL, OPEN               the batches in assembly, gcm/a64_batches_asm.h; if not
 *                            defined, they are those below
 *
 * WIDE blocks go through AES while those before them are hashed, with one reduction.
 *
 * AESE is AddRoundKey, SubBytes, ShiftRows: round r of FIPS 197 takes the key of round
 * r - 1, the last one two keys.
 */
#ifndef EVC_GCM_A64_STEPS_H
#define EVC_GCM_A64_STEPS_H

#include "aes/a64_keys.h"
#include "common/a64_part.h"
#include "common/ct.h"
#include "common/each.h"
#include "ghash/a64_pmull_steps.h"

#define LANES 1
#define VEC_BYTES 16
#define BATCH GROUP

struct key {
    struct evc_gcm_head head;
    EVC_ALIGN(16) uint8_t rk[EVC_AES_MAX_ROUNDS + 1][16]; /* FIPS 197 order */
    struct powers powers;
};

/* ---- Blocks ---------------------------------------------------------------------------------- */

typedef block vec;

#define v_load(p) load1(p)
#define v_store(p, v) store1(p, v)
#define v_xor(a, b) veorq_u8(a, b)
#define v_zero() vdupq_n_u8(0)
#define v_enc_last(s, x) veorq_u8(s, x)
#define v_clear_upper_halves() ((void)0)
#define xor1(a, b) veorq_u8(a, b)
#define zero1() vdupq_n_u8(0)
#define lengths1(a, b) evc_a64_block(evc_bswap64(a), evc_bswap64(b))
#define hash_of(product) block_of(reduce(product))
#define prefetch_powers(key) ((void)(key))

/* ---- Parts of blocks ------------------------------------------------------------------------- */

/* Lengths are no secrets, so branches may depend on them. */
EVC_INLINE block load_part1(const uint8_t *p, size_t n_bytes) /* 0 to 16 */
{
    if (n_bytes == 16)
        return load1(p);
    return n_bytes ? evc_a64_load_part(p, n_bytes) : zero1();
}

EVC_INLINE void store_part1(uint8_t *p, block v, size_t n_bytes) /* 0 to 16 */
{
    if (n_bytes == 16)
        store1(p, v);
    else if (n_bytes)
        evc_a64_store_part(p, v, n_bytes);
}

/* The first n_bytes of v, zeros behind. */
EVC_INLINE block first_bytes1(block v, size_t n_bytes)
{
    static const uint8_t window[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                       255, 255, 255, 255, 255, 255, 255, 255};

    return vandq_u8(v, load1(window + 16 - n_bytes));
}

#include "gcm/one_lane.h"

#define store_tag(tag, t, n_bytes) store_part1(tag, t, n_bytes)

EVC_INLINE enum evc_status compare_tag(const uint8_t *tag, block t, size_t n_bytes)
{
    const uint8x16_t differs = veorq_u8(first_bytes1(t, n_bytes), load_part1(tag, n_bytes));

    return evc_tag_status(vmaxvq_u32(vreinterpretq_u32_u8(differs)));
}

/* A block of zeros whose last 4 bytes are x, the least significant first. */
EVC_INLINE block last_word1(uint32_t x)
{
    return evc_a64_block(0, (uint64_t)x << 32);
}

/* ---- AES ------------------------------------------------------------------------------------- */

EVC_INLINE vec round_key(const struct key *key, uint32_t r)
{
    return load1(key->rk[r]);
}

/* Round r of n vectors. */
EVC_INLINE void aes_round(const struct key *key, uint32_t r, vec *s, unsigned n)
{
    const vec rk = round_key(key, r - 1);

    EACH_UP_TO_8(n, s[i] = vaesmcq_u8(vaeseq_u8(s[i], rk)));
}

/* The rounds after round 9, but for the last key. */
EVC_INLINE void late_rounds(const struct key *key, vec *s, unsigned n)
{
    vec rk;

    if (key->head.rounds > 10) {
        aes_round(key, 10, s, n);
        aes_round(key, 11, s, n);
    }
    if (key->head.rounds > 12) {
        aes_round(key, 12, s, n);
        aes_round(key, 13, s, n);
    }
    rk = round_key(key, key->head.rounds - 1);
    EACH_UP_TO_8(n, s[i] = vaeseq_u8(s[i], rk));
}

/* All of AES but the last key. */
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
    late_rounds(key, s, n);
}

EVC_INLINE void encrypt_blocks(const struct key *key, const uint8_t *in, uint8_t *out,
                               size_t n_blocks)
{
    for (size_t i = 0; i < n_blocks; i++) {
        vec s[1] = {load1(in + 16 * i)};
        middle_rounds(key, s, 1);
        store1(out + 16 * i, v_enc_last(s[0], round_key(key, key->head.rounds)));
    }
}

EVC_INLINE block expand_key(struct key *key, const uint8_t *user_key)
{
    uint8_t zeros[16] = {0};

    evc_a64_expand(key->rk[0], key->head.rounds, user_key);
    encrypt_blocks(key, zeros, zeros, 1);
    return load1(zeros);
}

/* ---- Counters -------------------------------------------------------------------------------- */

/* The next block, its words byte-reversed: the last one is a number, the least
 * significant byte first. */
struct count {
    block next;
};

/* 12 bytes, and a counter of zero. */
EVC_INLINE block load_iv(const uint8_t *iv)
{
    return evc_a64_block(evc_load64_le(iv), evc_load32_le(iv + 8));
}

/* first: of the first block; its other words are those of counter. */
EVC_INLINE struct count count_from(const struct key *key, block counter, uint32_t first)
{
    struct count count;

    (void)key;
    count.next =
        vreinterpretq_u8_u32(vsetq_lane_u32(first, vreinterpretq_u32_u8(vrev32q_u8(counter)), 3));
    return count;
}

EVC_INLINE void next_counters(vec *s, struct count *count, unsigned n)
{
    const uint32x4_t one = vsetq_lane_u32(1, vdupq_n_u32(0), 3);

    EACH_UP_TO_8(n, s[i] = vrev32q_u8(count->next);
                 count->next =
                     vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(count->next), one)));
}

/* ---- Groups of text -------------------------------------------------------------------------- */

#if defined(SEAL)

struct state {
    block counter; /* of the first group; only y is changed */
    block y;
};

typedef void batches(const uint8_t rk[][16], struct state *state, size_t n_batches,
                     const uint8_t *in, uint8_t *out, size_t rounds);
batches SEAL, OPEN;

/* Offsets and sizes that the assembly knows. */
typedef char
    key_is_as_expected[offsetof(struct key, powers) == offsetof(struct key, rk) + 240 ? 1 : -1];

#define MAIN_LOOP groups_in_assembly

EVC_INLINE block groups_in_assembly(const struct key *key, const uint8_t *in, uint8_t *out,
                                    size_t n_groups, uint32_t number, block counter, block y,
                                    int sealing)
{
    struct state state = {count_from(key, counter, number).next, y};

    (sealing ? SEAL : OPEN)(key->rk, &state, n_groups, in, out, key->head.rounds);
    return state.y;
}

#else

#define TWO_GROUPS_AT_ONCE 0
#define HIGHEST_POWERS(key) ((key)->powers.pair)
#define LOWEST_POWERS(key) ((key)->powers.pair)

/* Plus the products of a group, r, with the 4 pairs of powers at h. y: the hash
 * before the group, or zero. */
EVC_INLINE void add_group(struct product *sum, const struct pair *h, block y, const vec *r)
{
    add_pair(sum, r[2], r[3], h + 1);
    add_pair(sum, r[4], r[5], h + 2);
    add_pair(sum, r[6], r[7], h + 3);
    add_pair(sum, v_xor(r[0], y), r[1], h);
}

/* The sum of the products of a pair, a part at a time. */
struct operands {
    element a, b, sum;
};

EVC_INLINE struct operands operands_of(block a, block b)
{
    struct operands o;

    o.a = element_of(a);
    o.b = element_of(b);
    o.sum = veorq_u64(vtrn1q_u64(o.a, o.b), vtrn2q_u64(o.a, o.b));
    return o;
}

EVC_INLINE void add_lo_and_hi(struct product *to, struct operands o, const struct pair *h)
{
    to->lo = v_xor3(to->lo, pmull2(o.a, get(h->first)), pmull2(o.b, get(h->second)));
    to->hi = v_xor3(to->hi, pmull(o.a, get(h->first)), pmull(o.b, get(h->second)));
}

EVC_INLINE void add_mi(struct product *to, struct operands o, const struct pair *h)
{
    to->mi = v_xor3(to->mi, pmull(o.sum, get(h->sum)), pmull2(o.sum, get(h->sum)));
}

/* middle_rounds of a group s, and add_group of the one before it, in an order that keeps
 * both kinds of units busy. */
EVC_INLINE void fused_rounds(const struct key *key, vec *s, struct product *sum,
                             const struct pair *h, block y, const vec *r)
{
    struct operands o = operands_of(r[2], r[3]);

    aes_round(key, 1, s, 8);
    add_lo_and_hi(sum, o, h + 1);
    aes_round(key, 2, s, 8);
    add_mi(sum, o, h + 1);
    o = operands_of(r[4], r[5]);
    aes_round(key, 3, s, 8);
    add_lo_and_hi(sum, o, h + 2);
    aes_round(key, 4, s, 8);
    add_mi(sum, o, h + 2);
    o = operands_of(r[6], r[7]);
    aes_round(key, 5, s, 8);
    add_lo_and_hi(sum, o, h + 3);
    aes_round(key, 6, s, 8);
    add_mi(sum, o, h + 3);
    o = operands_of(v_xor(r[0], y), r[1]); /* last: y comes late */
    aes_round(key, 7, s, 8);
    add_lo_and_hi(sum, o, h);
    aes_round(key, 8, s, 8);
    add_mi(sum, o, h);
    aes_round(key, 9, s, 8);
    late_rounds(key, s, 8);
}

#endif

#include "gcm/message.h"

#endif
