/* SPDX-License-Identifier: MIT */
/*
 * GCM by the AES instructions of A64 and PMULL of 64 bits, a block in a vector. Include it inside the region of the
 * kernel's ISA, after GROUP 8 and v_xor3 of ghash/a64_pmull_steps.h have been defined, and:
 *
 *   clear()                  the kernel's, of common/clear.h
 *   SEAL, OPEN               the batches in assembly, gcm/a64_batches_asm.h; if not defined, they are those below
 *
 * WIDE blocks go through AES while those before them are hashed, with one reduction.
 *
 * AESE is AddRoundKey, SubBytes, ShiftRows: round r of FIPS 197 takes the key of round r - 1, the last one two keys.
 */
#ifndef EVC_GCM_A64_STEPS_H
#define EVC_GCM_A64_STEPS_H

#include "aes/a64_keys.h"
#include "common/a64_part.h"
#include "common/each.h"
#include "ghash/a64_pmull_steps.h"

#define LANES 1
#define VEC_BYTES 16
#define WIDE 8

struct key {
    struct evc_gcm_head head;
    EVC_ALIGN(16) uint8_t rk[EVC_AES_MAX_ROUNDS + 1][16]; /* FIPS 197 order */
    struct powers powers;
};

/* ---- Blocks ------------------------------------------------------------------------------------ */

typedef block vec;

#define v_load(p) load1(p)
#define v_store(p, v) store1(p, v)
#define v_xor(a, b) veorq_u8(a, b)
#define v_zero() vdupq_n_u8(0)
#define v_first(block) (block)
#define v_last(block) (block)
#define v_last_block(v) (v)
#define v_low(v) (v)
#define v_white(v, key) (v)
#define v_enc_last(s, x) veorq_u8(s, x)
#define v_clear_upper_halves() ((void)0)
#define CLEAR_AFTER_MESSAGE() clear()
#define NO_TEXT_FIRST 1
#define v_at(block, place) ((place) == 0 ? (block) : v_zero())
#define xor1(a, b) veorq_u8(a, b)
#define zero1() vdupq_n_u8(0)
#define lengths1(a, b) evc_a64_block(evc_bswap64(a), evc_bswap64(b))
#define hash_of(product) block_of(reduce(product))
#define expand_key(key, user_key) evc_a64_expand((key)->rk[0], (key)->head.rounds, user_key)
#define LAST_PAIRS(key) ((key)->powers.pair)

/* ---- Parts of blocks ----------------------------------------------------------------------------- */

/* Lengths are no secrets, so branches may depend on them. */
typedef struct {
    size_t begin, end;
} part;

EVC_INLINE part part_of(size_t begin, size_t end)
{
    const part p = {begin, end};

    return p;
}

EVC_INLINE part missing(size_t bytes, size_t at)
{
    return part_of(bytes <= at ? 0 : 16, 16);
}

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
    static const uint8_t window[32] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

    return vandq_u8(v, load1(window + 16 - n_bytes));
}

#define v_load_text(from, p) load_part1(from, (p).begin ? 0 : (p).end)
#define v_store_text(to, p, v) store_part1(to, v, (p).begin ? 0 : (p).end)
#define v_text(p, v) first_bytes1(v, (p).begin ? 0 : (p).end)
#define store_tag(tag, t, n_bytes) store_part1(tag, t, n_bytes)

EVC_INLINE enum evc_status compare_tag(const uint8_t *tag, block t, size_t n_bytes)
{
    const uint64x2_t other = vreinterpretq_u64_u8(veorq_u8(first_bytes1(t, n_bytes), load_part1(tag, n_bytes)));

    return (vgetq_lane_u64(other, 0) | vgetq_lane_u64(other, 1)) == 0 ? EVC_OK : EVC_ERR_TAG;
}

/* A block of zeros whose last 4 bytes are x, the least significant first. */
EVC_INLINE block last_word1(uint32_t x)
{
    return evc_a64_block(0, (uint64_t)x << 32);
}

/* ---- AES --------------------------------------------------------------------------------------- */

EVC_INLINE vec round_key(const struct key *key, uint32_t r)
{
    return load1(key->rk[r]);
}

/* A round of n vectors. */
#define ROUND(n, s, r)                                                                             \
    do {                                                                                           \
        const vec rk_ = round_key(key, (r) - 1);                                                   \
        EACH_UP_TO_8(n, (s)[i] = vaesmcq_u8(vaeseq_u8((s)[i], rk_)));                              \
    } while (0)
/* The last round but for its second key. */
#define LAST_ROUND(n, s)                                                                           \
    do {                                                                                           \
        const vec rk_ = round_key(key, key->head.rounds - 1);                                      \
        EACH_UP_TO_8(n, (s)[i] = vaeseq_u8((s)[i], rk_));                                          \
    } while (0)

/* ---- Counters ---------------------------------------------------------------------------------- */

/* The next block, its words byte-reversed: the last one is a number, the least significant byte first. */
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
    count.next = vreinterpretq_u8_u32(vsetq_lane_u32(first, vreinterpretq_u32_u8(vrev32q_u8(counter)), 3));
    return count;
}

EVC_INLINE void skip_counter(struct count *count)
{
    const uint32x4_t one = vsetq_lane_u32(1, vdupq_n_u32(0), 3);

    count->next = vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(count->next), one));
}

EVC_INLINE void counters(const struct key *key, vec *s, struct count *count, unsigned n)
{
    (void)key;
    EACH_UP_TO_8(n, s[i] = vrev32q_u8(count->next); skip_counter(count));
}

#include "gcm/message_vectors.h"

/* ---- Batches ----------------------------------------------------------------------------------- */

#if defined(SEAL)

struct state {
    block counter, y;
};

/* The end of a message. */
struct last {
    block j0;   /* turns the last counter into J_0 */
    block text; /* the last one, which may be in part; result: ciphertext or plaintext */
    block keep; /* ones for its bytes */
    block lengths;
    block mask; /* result: J_0 encrypted */
};

typedef void batches(const uint8_t rk[][16], struct state *state, size_t n_batches, const uint8_t *in, uint8_t *out,
                     size_t rounds, struct last *last);
batches SEAL, OPEN;

/* What the assembly knows. */
typedef char key_is_as_expected[offsetof(struct key, powers) == offsetof(struct key, rk) + 240 ? 1 : -1];

/* The first n vectors are hashed at once: the batches begin with nothing under way. */
#define FIRST_DONE(key, f, n)                                                                      \
    do {                                                                                           \
        hash_vectors(f, LAST_PAIRS(key), n);                                                       \
        (f)->y = hash_of((f)->p);                                                                  \
    } while (0)

/* The rest, and the hash of all. end: NULL if the message goes on. */
EVC_INLINE block crypt_rest(const struct key *key, struct flow *f, struct end *end, size_t n_batches,
                            const uint8_t *in, uint8_t *out, int sealing)
{
    struct state state = {f->count.next, f->y};
    struct last last;

    if (!n_batches)
        return f->y;
    if (end) {
        const size_t at = 16 * (WIDE * n_batches - 2);
        last.j0 = last_word1(end->j0);
        last.text = v_load_text(evc_in_at(in, at), end->before);
        last.keep = v_text(end->before, vdupq_n_u8(255));
        last.lengths = end->lengths;
        (sealing ? SEAL : OPEN)(key->rk, &state, n_batches - 1, in, out, key->head.rounds, &last);
        v_store_text(evc_out_at(out, at), end->before, last.text);
        end->mask = last.mask;
    } else {
        (sealing ? SEAL : OPEN)(key->rk, &state, n_batches, in, out, key->head.rounds, NULL);
    }
    return state.y;
}

#else

#define FIRST_DONE(key, f, n) ((void)(n))

/* The sum of the products of a pair, a part at a time. */
#define ADD_HI(to, o, h) ((to).hi = v_xor3((to).hi, pmull((o).a, get((h)->first)), pmull((o).b, get((h)->second))))
#define ADD_LO(to, o, h) ((to).lo = v_xor3((to).lo, pmull2((o).a, get((h)->first)), pmull2((o).b, get((h)->second))))
#define ADD_MI(to, o, h) ((to).mi = v_xor3((to).mi, pmull((o).sum, get((h)->sum)), pmull2((o).sum, get((h)->sum))))

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

/* WIDE vectors, while those before are hashed. */
EVC_INLINE void crypt_batch(const struct key *key, struct flow *f, struct end *end, int ends, const uint8_t *in,
                            uint8_t *out, int sealing)
{
    const struct pair *const h = key->powers.pair;
    vec s[WIDE], last;

    counters(key, s, &f->count, WIDE);
    if (ends)
        s[WIDE - 1] = v_xor(s[WIDE - 1], last_word1(end->j0));
    struct operands o = operands_of(f->r[2], f->r[3]);
    ROUND(WIDE, s, 1);
    ADD_LO(f->p, o, h + 1);
    ADD_HI(f->p, o, h + 1);
    ROUND(WIDE, s, 2);
    ADD_MI(f->p, o, h + 1);
    o = operands_of(f->r[4], f->r[5]);
    ROUND(WIDE, s, 3);
    ADD_LO(f->p, o, h + 2);
    ADD_HI(f->p, o, h + 2);
    ROUND(WIDE, s, 4);
    ADD_MI(f->p, o, h + 2);
    o = operands_of(f->r[6], f->r[7]);
    ROUND(WIDE, s, 5);
    ADD_LO(f->p, o, h + 3);
    ADD_HI(f->p, o, h + 3);
    ROUND(WIDE, s, 6);
    ADD_MI(f->p, o, h + 3);
    o = operands_of(v_xor(f->r[0], f->y), f->r[1]);
    ROUND(WIDE, s, 7);
    ADD_LO(f->p, o, h);
    ADD_HI(f->p, o, h);
    ROUND(WIDE, s, 8);
    ADD_MI(f->p, o, h);
    ROUND(WIDE, s, 9);
    f->y = hash_of(f->p);
    f->p = no_product();
    LATE_ROUNDS(WIDE, s);
    LAST_ROUND(WIDE, s);
    last = round_key(key, key->head.rounds);
    EACH_4(0, f->r[i] = text_vector(s[i], last, AT(i), sealing));
    EACH_I(4, f->r[i] = text_vector(s[i], last, AT(i), sealing));
    EACH_I(5, f->r[i] = text_vector(s[i], last, AT(i), sealing));
    f->r[6] = last_but_one(s[6], last, end, ends, AT(6), sealing);
    f->r[7] = last_vector(s[7], last, end, ends, AT(7), sealing);
}

/* The rest, and the hash of all. end: NULL if the message goes on. */
EVC_OUT_OF_LINE block crypt_rest(const struct key *key, struct flow *f, struct end *end, size_t n_batches,
                                 const uint8_t *in, uint8_t *out, int sealing)
{
    for (; n_batches; n_batches--, in += WIDE * VEC_BYTES, out += WIDE * VEC_BYTES)
        crypt_batch(key, f, end, end && n_batches == 1, in, out, sealing);
    hash_vectors(f, LAST_PAIRS(key), WIDE);
    return hash_of(f->p);
}

#endif

#include "gcm/message_steps.h"

#endif
