/* SPDX-License-Identifier: MIT */
/*
 * AES by vector permute on A64: key form, batches of blocks, CTR, CBC decryption and XTS. Include
 * it inside a region of A64_NEON or more.
 *
 * TBL looks up zero where an index is 16 or more: infinity (128 in the tables) and what is xored to
 * it need no care. The tables and their algebra: tools/gen-vperm-tables.
 */
#ifndef EVC_AES_A64_VPERM_STEPS_H
#define EVC_AES_A64_VPERM_STEPS_H

#include "aes/a64_tweak.h"
#include "aes/key_schedule.h"
#include "aes/vperm_tables.h"
#include "common/a64_part.h"
#include "common/bytes.h"
#include "common/each.h"

typedef uint8x16_t vec;

/* 16-byte vectors. "In the order of round r": ShiftRows (for decryption InvShiftRows) done r more
 * times makes it right, which is how round r leaves the state. */
struct vperm_key {
    struct evc_aes_head head;
    /* [0]: packed. [r]: ^ 0x63, packed, in the order of round r. [rounds]: ^ 0x63, bytes. */
    EVC_ALIGN(16) uint8_t enc[EVC_AES_MAX_ROUNDS + 1][16];
    /* In the order of use. [0] .. [rounds - 1]: as the state of decryption. [rounds]: bytes. */
    uint8_t dec[EVC_AES_MAX_ROUNDS + 1][16];
};

/* Blocks at once: states and tables fill the registers. */
#define BATCH 4

/* The tables at one address that compilers know nothing of: they then load them from there, some
 * by pairs, and do not make an address for each. On A32 they do that by themselves, and would
 * need a register more. */
EVC_INLINE const struct vperm_tables *tables(void)
{
    const struct vperm_tables *all = &vperm_tables;

#if EVC_A64
    EVC_KEEP(all);
#endif
    return all;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

struct reciprocals {
    vec io, jo;
};

/* Two tables that make one look-up: U for io and T for jo, or for the low and the high nibble. */
struct pair {
    vec u, t;
};

struct inverse {
    vec low, inv, ainv;
};

EVC_INLINE struct pair pair_of(const uint8_t ut[2][16])
{
    return (struct pair){vld1q_u8(ut[0]), vld1q_u8(ut[1])};
}

EVC_INLINE struct inverse inverse_tables(void)
{
    return (struct inverse){vld1q_u8(tables()->low), vld1q_u8(tables()->inv),
                            vld1q_u8(tables()->ainv)};
}

EVC_INLINE vec look_up(struct pair p, struct reciprocals o)
{
    return veorq_u8(vqtbl1q_u8(p.u, o.io), vqtbl1q_u8(p.t, o.jo));
}

/* A linear map of bytes, by its tables for the low and the high nibble. */
EVC_INLINE vec map_bytes(struct pair p, vec low, vec x)
{
    return veorq_u8(vqtbl1q_u8(p.u, vandq_u8(x, low)), vqtbl1q_u8(p.t, vshrq_n_u8(x, 4)));
}

/* Inverts n packed states, step by step, so that none waits for itself where
 * instructions start in this order. */
EVC_INLINE void invert(const struct inverse *by, const vec *packed, struct reciprocals *o,
                       unsigned n)
{
    vec x[BATCH], y[BATCH], ak[BATCH]; /* k, i; then j, i */

    EACH_UP_TO_4(n, x[i] = vandq_u8(packed[i], by->low));
    EACH_UP_TO_4(n, y[i] = vshrq_n_u8(packed[i], 4));
    EACH_UP_TO_4(n, ak[i] = vqtbl1q_u8(by->ainv, x[i]));
    EACH_UP_TO_4(n, x[i] = veorq_u8(x[i], y[i]));
    EACH_UP_TO_4(n, o[i].io = vqtbl1q_u8(by->inv, y[i]));
    EACH_UP_TO_4(n, o[i].jo = vqtbl1q_u8(by->inv, x[i]));
    EACH_UP_TO_4(n, o[i].io = veorq_u8(o[i].io, ak[i]));
    EACH_UP_TO_4(n, o[i].jo = veorq_u8(o[i].jo, ak[i]));
    EACH_UP_TO_4(n, o[i].io = vqtbl1q_u8(by->inv, o[i].io));
    EACH_UP_TO_4(n, o[i].jo = vqtbl1q_u8(by->inv, o[i].jo));
    EACH_UP_TO_4(n, o[i].io = veorq_u8(o[i].io, x[i]));
    EACH_UP_TO_4(n, o[i].jo = veorq_u8(o[i].jo, y[i]));
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* AddRoundKey before the first round, and the change of basis. */
EVC_INLINE void first_round(vec *x, unsigned n, const uint8_t halves[2][16],
                            const uint8_t *round_key)
{
    const struct pair in = pair_of(halves);
    const vec low = vld1q_u8(tables()->low), k = vld1q_u8(round_key);

    EACH_UP_TO_4(n, x[i] = veorq_u8(map_bytes(in, low, x[i]), k));
}

EVC_INLINE void last_round(vec *x, unsigned n, const struct inverse *by, const uint8_t ut[2][16],
                           const uint8_t shift[16], const uint8_t *round_key)
{
    const struct pair out = pair_of(ut);
    const vec from = vld1q_u8(shift), k = vld1q_u8(round_key);
    struct reciprocals o[BATCH];

    invert(by, x, o, n);
    EACH_UP_TO_4(n, x[i] = look_up(out, o[i]));
    EACH_UP_TO_4(n, x[i] = vqtbl1q_u8(x[i], from));
    EACH_UP_TO_4(n, x[i] = veorq_u8(x[i], k));
}

/* Rounds 1 to rounds of n states that first_round has made. */
EVC_INLINE void vperm_encrypt_rounds(const struct vperm_key *key, vec *x, unsigned n)
{
    const struct inverse by = inverse_tables();
    const struct pair times_1 = pair_of(tables()->enc), times_2 = pair_of(tables()->enc + 2);
    const size_t rounds = key->head.rounds;

    for (size_t at = 16; at < 16 * rounds; at += 16) { /* round at / 16 */
        const uint8_t *rotate = tables()->rotate[0] + 3 * (at & 48);
        const vec row_1 = vld1q_u8(rotate), row_2 = vld1q_u8(rotate + 16),
                  k = vld1q_u8(key->enc[0] + at);
        struct reciprocals o[BATCH];
        /* t: rows 0, 2; and one row further down, with 2 + 1 for 2, rows 1, 3 */
        vec s[BATCH], t[BATCH];
        invert(&by, x, o, n);
        EACH_UP_TO_4(n, s[i] = look_up(times_1, o[i]));
        EACH_UP_TO_4(n, x[i] = look_up(times_2, o[i]));
        EACH_UP_TO_4(n, t[i] = veorq_u8(x[i], vqtbl1q_u8(s[i], row_2)));
        EACH_UP_TO_4(n, s[i] = vqtbl1q_u8(veorq_u8(t[i], s[i]), row_1));
        EACH_UP_TO_4(n, x[i] = veorq_u8(veorq_u8(t[i], k), s[i]));
    }
    last_round(x, n, &by, tables()->sub, tables()->shift[rounds & 3], key->enc[rounds]);
}

EVC_INLINE void vperm_decrypt_rounds(const struct vperm_key *key, vec *x, unsigned n)
{
    const struct inverse by = inverse_tables();
    const struct pair times_14 = pair_of(tables()->dec), times_13 = pair_of(tables()->dec + 2);
    const struct pair times_11 = pair_of(tables()->dec + 4), times_9 = pair_of(tables()->dec + 6);
    const size_t rounds = key->head.rounds;

    for (size_t at = 16; at < 16 * rounds; at += 16) {
        const uint8_t *rotate = tables()->rotate[0] + 3 * (-at & 48);
        const vec row_1 = vld1q_u8(rotate), row_2 = vld1q_u8(rotate + 16),
                  k = vld1q_u8(key->dec[0] + at);
        struct reciprocals o[BATCH];
        vec s[BATCH]; /* 9 times row 3, with 11 times row 1 */
        invert(&by, x, o, n);
        EACH_UP_TO_4(n, s[i] = look_up(times_9, o[i]));
        EACH_UP_TO_4(n, s[i] = veorq_u8(look_up(times_11, o[i]), vqtbl1q_u8(s[i], row_2)));
        EACH_UP_TO_4(n, x[i] = look_up(times_13, o[i]));
        EACH_UP_TO_4(n, x[i] = veorq_u8(look_up(times_14, o[i]), vqtbl1q_u8(x[i], row_2)));
        EACH_UP_TO_4(n, x[i] = veorq_u8(veorq_u8(x[i], k), vqtbl1q_u8(s[i], row_1)));
    }
    last_round(x, n, &by, tables()->inv_sub, tables()->shift[-rounds & 3], key->dec[rounds]);
}

/* ---- Blocks (ECB) ---------------------------------------------------------------------------- */

EVC_INLINE void crypt(const struct vperm_key *key, vec *x, unsigned n, int decrypting)
{
    if (decrypting) {
        first_round(x, n, tables()->inv_in, key->dec[0]);
        vperm_decrypt_rounds(key, x, n);
    } else {
        first_round(x, n, tables()->in, key->enc[0]);
        vperm_encrypt_rounds(key, x, n);
    }
}

EVC_INLINE void ecb_step(const struct vperm_key *key, const uint8_t *in, uint8_t *out, unsigned n,
                         int decrypting)
{
    vec x[BATCH];

    EACH_UP_TO_4(n, x[i] = vld1q_u8(in + 16 * i));
    crypt(key, x, n, decrypting);
    EACH_UP_TO_4(n, vst1q_u8(out + 16 * i, x[i]));
}

EVC_INLINE void ecb(const struct vperm_key *key, const uint8_t *in, uint8_t *out, size_t n_blocks,
                    int decrypting)
{
    for (; n_blocks >= 4; n_blocks -= 4, in += 64, out += 64)
        ecb_step(key, in, out, 4, decrypting);
    if (n_blocks & 2) {
        ecb_step(key, in, out, 2, decrypting);
        in += 32, out += 32;
    }
    if (n_blocks & 1)
        ecb_step(key, in, out, 1, decrypting);
}

static inline void vperm_encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    ecb(key, in, out, n_blocks, 0);
}

static inline void vperm_decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    ecb(key, in, out, n_blocks, 1);
}

/* ---- CTR ------------------------------------------------------------------------------------- */

/* Counters of a message: the common part of its counter blocks after first_round; the part of the
 * last word that depends on the key alone; the next four counters, as numbers of this CPU. */
struct vperm_counters {
    uint32x4_t common, last_key;
    uint32x4_t next;
};

EVC_INLINE struct vperm_counters vperm_counters_of(const struct vperm_key *key, vec block)
{
    const uint32x4_t k = vreinterpretq_u32_u8(vld1q_u8(key->enc[0]));
    uint32x4_t steps = vdupq_n_u32(0);

    steps = vsetq_lane_u32(1, steps, 1);
    steps = vsetq_lane_u32(2, steps, 2);
    steps = vsetq_lane_u32(3, steps, 3);
    first_round(&block, 1, tables()->in, key->enc[0]);
    return (struct vperm_counters){vreinterpretq_u32_u8(block), vdupq_laneq_u32(k, 3), steps};
}

/* n blocks of key stream */
EVC_INLINE void ctr_stream(const struct vperm_key *key, struct vperm_counters *c, vec *x,
                           unsigned n)
{
    const vec low = vld1q_u8(tables()->low);
    const vec words =
        map_bytes(pair_of(tables()->in), low, vrev32q_u8(vreinterpretq_u8_u32(c->next)));
    const uint32x4_t last = veorq_u32(vreinterpretq_u32_u8(words), c->last_key);

    c->next = vaddq_u32(c->next, vdupq_n_u32(n));
    EACH_UP_TO_4(n, x[i] = vreinterpretq_u8_u32(vcopyq_laneq_u32(c->common, 3, last, i)));
    vperm_encrypt_rounds(key, x, n);
}

EVC_INLINE void ctr_step(const struct vperm_key *key, struct vperm_counters *c, const uint8_t *in,
                         uint8_t *out, unsigned n)
{
    vec x[BATCH];

    ctr_stream(key, c, x, n);
    EACH_UP_TO_4(n, vst1q_u8(out + 16 * i, veorq_u8(x[i], vld1q_u8(in + 16 * i))));
}

static inline void vperm_ctr32(const void *vkey, uint8_t counter[16], const uint8_t *in,
                               uint8_t *out, size_t len_bytes)
{
    const struct vperm_key *key = vkey;
    const uint32_t count = evc_load32_be(counter + 12);
    struct vperm_counters c = vperm_counters_of(key, vld1q_u8(counter));
    vec x[BATCH];

    c.next = vaddq_u32(c.next, vdupq_n_u32(count));
    evc_store32_be(counter + 12, count + (uint32_t)((len_bytes + 15) / 16));
    for (; len_bytes >= 64; len_bytes -= 64, in += 64, out += 64)
        ctr_step(key, &c, in, out, 4);
    if (len_bytes >= 32) {
        ctr_step(key, &c, in, out, 2);
        in += 32, out += 32, len_bytes -= 32;
    }
    if (len_bytes >= 16) {
        ctr_step(key, &c, in, out, 1);
        in += 16, out += 16, len_bytes -= 16;
    }
    if (len_bytes) {
        ctr_stream(key, &c, x, 1);
        evc_a64_store_part(out, veorq_u8(x[0], evc_a64_load_part(in, len_bytes)), len_bytes);
    }
}

/* ---- CBC decryption -------------------------------------------------------------------------- */

/* If out is in, block i - 1 must still be the ciphertext when block i is finished: so the
 * last is stored first. */
#define CBC_FINISH(i, before) vst1q_u8(out + 16 * (i), veorq_u8(x[i], before))

EVC_INLINE vec cbc_step(const struct vperm_key *key, vec iv, const uint8_t *in, uint8_t *out,
                        unsigned n)
{
    vec x[BATCH], next_iv;

    EACH_UP_TO_4(n, x[i] = vld1q_u8(in + 16 * i));
    next_iv = x[n - 1];
    crypt(key, x, n, 1);
    EACH_UP_TO_4(n, if (n - 1 - i > 0) CBC_FINISH(n - 1 - i, vld1q_u8(in + 16 * (n - 2 - i))));
    CBC_FINISH(0, iv);
    return next_iv;
}

static inline void vperm_cbc_decrypt(const void *key, uint8_t iv[16], const uint8_t *in,
                                     uint8_t *out, size_t n_blocks)
{
    vec before = vld1q_u8(iv);

    for (; n_blocks >= 4; n_blocks -= 4, in += 64, out += 64)
        before = cbc_step(key, before, in, out, 4);
    if (n_blocks & 2) {
        before = cbc_step(key, before, in, out, 2);
        in += 32, out += 32;
    }
    if (n_blocks & 1)
        before = cbc_step(key, before, in, out, 1);
    vst1q_u8(iv, before);
}

/* ---- XTS ------------------------------------------------------------------------------------- */

EVC_INLINE struct evc_a64_tweak xts_step(const struct vperm_key *key, struct evc_a64_tweak t,
                                         const uint8_t *in, uint8_t *out, unsigned n,
                                         int decrypting)
{
    struct evc_a64_tweak again = t;
    vec x[BATCH];

    EACH_UP_TO_4(n, x[i] = veorq_u8(vld1q_u8(in + 16 * i), evc_a64_block(t.lo, t.hi)),
                 t = evc_a64_next_tweak(t));
    crypt(key, x, n, decrypting);
    EACH_UP_TO_4(n, vst1q_u8(out + 16 * i, veorq_u8(x[i], evc_a64_block(again.lo, again.hi)));
         again = evc_a64_next_tweak(again));
    return t;
}

EVC_INLINE void xts(const struct vperm_key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                    size_t n_blocks, int decrypting)
{
    struct evc_a64_tweak t = evc_a64_load_tweak(tweak);

    for (; n_blocks >= 4; n_blocks -= 4, in += 64, out += 64)
        t = xts_step(key, t, in, out, 4, decrypting);
    if (n_blocks & 2) {
        t = xts_step(key, t, in, out, 2, decrypting);
        in += 32, out += 32;
    }
    if (n_blocks & 1)
        t = xts_step(key, t, in, out, 1, decrypting);
    evc_a64_store_tweak(tweak, t);
}

static inline void vperm_xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in,
                                     uint8_t *out, size_t n_blocks)
{
    xts(key, tweak, in, out, n_blocks, 0);
}

static inline void vperm_xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in,
                                     uint8_t *out, size_t n_blocks)
{
    xts(key, tweak, in, out, n_blocks, 1);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* SubWord (FIPS 197 section 5.2). */
static uint32_t sub_word(uint32_t word)
{
    const struct inverse by = inverse_tables();
    struct reciprocals o;
    vec x = vreinterpretq_u8_u32(vdupq_n_u32(word));

    x = map_bytes(pair_of(tables()->in), by.low, x);
    invert(&by, &x, &o, 1);
    x = look_up(pair_of(tables()->sub), o);
    return vgetq_lane_u32(vreinterpretq_u32_u8(veorq_u8(x, vdupq_n_u8(0x63))), 0);
}

static vec times_x(vec a) /* xTimes of each byte (section 4.2) */
{
    const vec high = vreinterpretq_u8_s8(vshrq_n_s8(vreinterpretq_s8_u8(a), 7));

    return veorq_u8(vaddq_u8(a, a), vandq_u8(high, vdupq_n_u8(0x1b)));
}

/* InvMixColumns (section 5.3.3): its matrix is that of MixColumns times circ(5, 0, 4, 0). */
static vec inv_mix_columns(vec a)
{
    const vec row_1 = vld1q_u8(tables()->rotate[0]), row_2 = vld1q_u8(tables()->rotate[1]);
    vec a1, b;

    a = veorq_u8(a, times_x(times_x(veorq_u8(a, vqtbl1q_u8(a, row_2)))));
    a1 = vqtbl1q_u8(a, row_1);
    b = veorq_u8(a, a1);
    return veorq_u8(times_x(b), veorq_u8(a1, vqtbl1q_u8(b, row_2)));
}

/* w: (rounds + 1) x 16 bytes, the schedule of FIPS 197, which is written, too. */
EVC_INLINE void vperm_set_keys(struct vperm_key *key, uint8_t w[][16], const uint8_t *user_key)
{
    const uint32_t rounds = key->head.rounds;
    const vec constant = vdupq_n_u8(0x63), low = vdupq_n_u8(15);
    const struct pair in = pair_of(tables()->in), inv_in = pair_of(tables()->inv_in);

    evc_aes_expand_key(w, user_key, rounds, sub_word);
    vst1q_u8(key->enc[0], map_bytes(in, low, vld1q_u8(w[0])));
    for (uint32_t r = 1; r < rounds; r++) {
        const vec k = map_bytes(in, low, veorq_u8(vld1q_u8(w[r]), constant));
        vst1q_u8(key->enc[r], vqtbl1q_u8(k, vld1q_u8(tables()->shift[-r & 3])));
    }
    vst1q_u8(key->enc[rounds], veorq_u8(vld1q_u8(w[rounds]), constant));
    if (key->head.can_decrypt) {
        vst1q_u8(key->dec[0], map_bytes(inv_in, low, veorq_u8(vld1q_u8(w[rounds]), constant)));
        for (uint32_t r = 1; r < rounds; r++) {
            const vec k = veorq_u8(inv_mix_columns(vld1q_u8(w[rounds - r])), constant);
            vst1q_u8(key->dec[r],
                     vqtbl1q_u8(map_bytes(inv_in, low, k), vld1q_u8(tables()->shift[r & 3])));
        }
        vst1q_u8(key->dec[rounds], vld1q_u8(w[0]));
    }
}

static inline void vperm_set_key(void *key, const uint8_t *user_key)
{
    EVC_ALIGN(16) uint8_t w[EVC_AES_MAX_ROUNDS + 1][16];

    vperm_set_keys(key, w, user_key);
}

#endif
