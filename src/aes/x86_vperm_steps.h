/* SPDX-License-Identifier: MIT */
/*
 * The vector-permute AES kernels: key form, one chain, batches of blocks, CTR, CBC and XTS.
 *
 * Include it inside the ISA region, after x86_blocks128.h or x86_blocks256.h.
 *
 * VPERM_FIPS197 may be defined: then the key has the form fips197 (fips197_key.h), and each round
 * key is brought into the form below when it is used. That costs 9 instructions a round, of which
 * one block or two, bound by latency, feel nothing.
 *
 * The tables and their algebra: tools/gen-vperm-tables.
 */
#ifndef EVC_AES_X86_VPERM_STEPS_H
#define EVC_AES_X86_VPERM_STEPS_H

#include "aes/key_schedule.h"
#include "aes/vperm_tables.h"
#include "aes/x86_blocks.h"
#include "common/bytes.h"
#include "common/each.h"
#include "common/x86_part.h"

/*
 * 16-byte vectors. "In the order of round r": ShiftRows (for decryption InvShiftRows) done r more
 * times makes it right, which is how round r leaves the state.
 */
#if defined(VPERM_FIPS197)
#include "aes/fips197_key.h"
typedef struct evc_aes_fips197_key vperm_key;
#else
typedef struct {
    struct evc_aes_head head;
    /* [0]: bytes. [r]: ^ 0x63, packed, in the order of round r. [rounds]: ^ 0x63, bytes. */
    EVC_ALIGN(16) uint8_t enc[EVC_AES_MAX_ROUNDS + 1][16];
    /* In the order of use. [0]: ^ 0x63, bytes. [r]: as the state of decryption. [rounds]: bytes. */
    uint8_t dec[EVC_AES_MAX_ROUNDS + 1][16];
} vperm_key;
#endif

/* FEW vectors stay in registers from the first round to the last. MANY are enough to cover the
 * latency of a round, about 20 cycles, and pass through memory between rounds. */
#define FEW 4
#define MANY 8
#define FEW_BLOCKS (FEW * V_LANES)
#define MANY_BLOCKS (MANY * V_LANES)

struct reciprocals {
    vec io, jo;
};

/* ---- Steps --------------------------------------------------------------------------- */

EVC_INLINE vec table(const uint8_t *p) /* in every lane; may be an operand of the instruction */
{
    return v_all(load_aligned(p));
}

EVC_INLINE vec permute(vec x, const uint8_t from[16])
{
    return v_shuffle(x, table(from));
}

/* Tables as values: memory that is written between two uses could hold them, as far
 * as the compiler knows. */
struct inverse {
    vec low, inv, ainv;
};

/* Two tables that make one look-up: U for io and T for jo, or for the low and the high nibble. */
struct pair {
    vec u, t;
};

EVC_INLINE struct inverse inverse_tables(const struct vperm_tables *t)
{
    return (struct inverse){table(t->low), table(t->inv), table(t->ainv)};
}

EVC_INLINE struct pair pair_of(const uint8_t ut[2][16])
{
    return (struct pair){table(ut[0]), table(ut[1])};
}

EVC_INLINE vec look_up(struct pair p, struct reciprocals o)
{
    return v_xor(v_shuffle(p.u, o.io), v_shuffle(p.t, o.jo));
}

/* A linear map of bytes, by its tables for the low and the high nibble. */
EVC_INLINE vec map_bytes(struct pair halves, vec low, vec x)
{
    return v_xor(v_shuffle(halves.u, v_and(x, low)), v_shuffle(halves.t, v_and(v_shift4(x), low)));
}

/* Packed i, k to io, jo. */
EVC_INLINE struct reciprocals invert(struct inverse by, vec packed)
{
    vec k = v_and(packed, by.low), i = v_and(v_shift4(packed), by.low), j = v_xor(i, k);
    vec ak = v_shuffle(by.ainv, k);
    vec iak = v_xor(v_shuffle(by.inv, i), ak), jak = v_xor(v_shuffle(by.inv, j), ak);

    return (struct reciprocals){v_xor(v_shuffle(by.inv, iak), j), v_xor(v_shuffle(by.inv, jak), i)};
}

/*
 * The tables, as if at an address unknown to the compiler: else it holds as many of them in
 * registers as it has and moves those about to make room (clang), or builds them from immediates
 * in every round (GCC). A load costs no more than a copy.
 */
EVC_INLINE const struct vperm_tables *hidden_tables(void)
{
    const struct vperm_tables *t = &vperm_tables;

#if EVC_GNU_C
    __asm__ volatile("" : "+r"(t));
#endif
    return t;
}

/* ---- Round keys ------------------------------------------------------------------------------ */

/* A round key of FIPS 197 between the first and the last, made what a round adds. halves: the
 * state's form; shift: the pattern of its order. */
EVC_INLINE vec round_key_of(const struct vperm_tables *t, const uint8_t fips197[16],
                            const uint8_t halves[2][16], const uint8_t shift[16])
{
    return permute(
        map_bytes(pair_of(halves), table(t->low), v_xor(table(fips197), table(t->constant))),
        shift);
}

EVC_INLINE vec enc_round_key(const vperm_key *key, const struct vperm_tables *t, uint32_t r)
{
#if defined(VPERM_FIPS197)
    return round_key_of(t, key->enc[r], t->in, t->shift[-r & 3]);
#else
    (void)t;
    return table(key->enc[r]);
#endif
}

EVC_INLINE vec dec_round_key(const vperm_key *key, const struct vperm_tables *t, uint32_t r)
{
#if defined(VPERM_FIPS197)
    return round_key_of(t, key->dec[r], t->inv_in, t->shift[r & 3]);
#else
    (void)t;
    return table(key->dec[r]);
#endif
}

/* The keys at the ends that take the S-box's constant: the last of encryption,
 * the first of decryption. */
EVC_INLINE vec key_with_constant(const struct vperm_tables *t, const uint8_t key[16])
{
#if defined(VPERM_FIPS197)
    return v_xor(table(key), table(t->constant));
#else
    (void)t;
    return table(key);
#endif
}

/* ---- One chain ------------------------------------------------------------------------------ */

/* A round of a state that waits for itself: what comes late joins last, and 3
 * times the S-box is a sum. */
EVC_INLINE vec quick_round(const struct vperm_tables *t, vec x, vec round_key,
                           const uint8_t rotate[3][16])
{
    struct reciprocals o = invert(inverse_tables(t), x);
    vec s1 = hide_value(look_up(pair_of(t->enc), o));
    vec s2 = hide_value(look_up(pair_of(t->enc + 2), o)), s3 = hide_value(v_xor(s1, s2));
    vec rows_23 = hide_value(v_xor(permute(s1, rotate[1]), permute(s1, rotate[2])));

    return v_xor(hide_value(v_xor(rows_23, hide_value(v_xor(s2, round_key)))),
                 permute(s3, rotate[0]));
}

/* Rounds 1 to rounds - 1, and the inversion of the last. */
EVC_INLINE struct reciprocals quick_rounds(const vperm_key *key, vec x)
{
    const struct vperm_tables *t;

    for (uint32_t r = 1; r < key->head.rounds; r++) {
        t = hidden_tables();
        x = quick_round(t, x, enc_round_key(key, t, r), t->rotate + 3 * (r & 3));
    }
    t = hidden_tables();
    return invert(inverse_tables(t), x);
}

/* CBC encryption of n_blocks > 0. The outputs are step bytes apart: 16, or 0 to keep the last. */
static void chain(const vperm_key *key, const uint8_t iv[16], const uint8_t *in, uint8_t *out,
                  size_t n_blocks, size_t step)
{
    const struct vperm_tables *t = hidden_tables();
    const uint32_t rounds = key->head.rounds;
    const vec first_key = table(key->enc[0]), last_key = key_with_constant(t, key->enc[rounds]);
    const vec both_keys = v_xor(first_key, last_key);
    const uint8_t *shift = t->shift[rounds & 3];
    vec x = map_bytes(pair_of(t->in), table(t->low),
                      v_xor(v_xor(v_all(load(iv)), v_all(load(in))), first_key)),
        next;
    struct reciprocals o;

    for (; n_blocks > 1; n_blocks--, out += step) {
        in += 16;
        next = map_bytes(pair_of(t->in), table(t->low), v_xor(v_all(load(in)), both_keys));
        o = quick_rounds(key, x);
        x = v_xor(permute(look_up(pair_of(t->enc), o), shift), next);
        store(out, v_low(v_xor(permute(look_up(pair_of(t->sub), o), shift), last_key)));
        t = hidden_tables();
    }
    o = quick_rounds(key, x);
    store(out, v_low(v_xor(permute(look_up(pair_of(t->sub), o), shift), last_key)));
}

static void cbc_encrypt(const void *vkey, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    if (!n_blocks)
        return;
    chain(vkey, iv, in, out, n_blocks, 16);
    store(iv, load(out + 16 * (n_blocks - 1)));
    v_clear_upper_halves();
}

static void cbcmac(const void *vkey, uint8_t state[16], const uint8_t *in, size_t n_blocks)
{
    if (!n_blocks)
        return;
    chain(vkey, state, in, state, n_blocks, 0);
    v_clear_upper_halves();
}

/* ---- Several blocks ------------------------------------------------------------------------- */

struct enc_tables {
    struct inverse by;
    struct pair times_1, times_2;
};

struct dec_tables {
    struct inverse by;
    struct pair times_14, times_13, times_11, times_9;
};

EVC_INLINE struct enc_tables enc_tables(const struct vperm_tables *t)
{
    return (struct enc_tables){inverse_tables(t), pair_of(t->enc), pair_of(t->enc + 2)};
}

EVC_INLINE struct dec_tables dec_tables(const struct vperm_tables *t)
{
    return (struct dec_tables){inverse_tables(t), pair_of(t->dec), pair_of(t->dec + 2),
                               pair_of(t->dec + 4), pair_of(t->dec + 6)};
}

EVC_INLINE vec encrypt_round(const struct enc_tables *by, struct reciprocals o, vec key, vec row_1,
                             vec row_2)
{
    vec s = look_up(by->times_1, o);
    /* Rows 0, 2; and one row further down, with 2 + 1 for 2, rows 1, 3. */
    vec rows_02 = v_xor(look_up(by->times_2, o), v_shuffle(s, row_2));

    return v_xor(v_xor(rows_02, key), v_shuffle(v_xor(rows_02, s), row_1));
}

EVC_INLINE vec decrypt_round(const struct dec_tables *by, vec x, vec key, vec row_1, vec row_2)
{
    struct reciprocals o = invert(by->by, x);
    /* 14, 11, 13, 9 times rows 0, 1, 2, 3. */
    vec rows_02 = v_xor(look_up(by->times_14, o), v_shuffle(look_up(by->times_13, o), row_2));
    vec rows_13 = v_xor(look_up(by->times_11, o), v_shuffle(look_up(by->times_9, o), row_2));

    return v_xor(v_xor(rows_02, key), v_shuffle(rows_13, row_1));
}

/* The same for a state that waits for itself. */
EVC_INLINE vec quick_decrypt_round(const struct vperm_tables *t, vec x, vec key,
                                   const uint8_t rotate[3][16])
{
    struct reciprocals o = invert(inverse_tables(t), x);
    vec row_0 = look_up(pair_of(t->dec), o), row_1 = look_up(pair_of(t->dec + 4), o);
    vec row_2 = look_up(pair_of(t->dec + 2), o), row_3 = look_up(pair_of(t->dec + 6), o);

    return v_xor(v_xor(v_xor(row_0, key), permute(row_1, rotate[0])),
                 v_xor(permute(row_2, rotate[1]), permute(row_3, rotate[2])));
}

/* n vectors, a constant of 1 to FEW. */
EVC_INLINE void encrypt_few(const vperm_key *key, vec *in_out, unsigned n)
{
    const struct vperm_tables *t = hidden_tables();
    const uint32_t rounds = key->head.rounds;
    const vec shift = table(t->shift[rounds & 3]),
              last_key = key_with_constant(t, key->enc[rounds]);
    vec x[FEW];

    EACH_UP_TO_4(
        n, x[i] = map_bytes(pair_of(t->in), table(t->low), v_xor(in_out[i], table(key->enc[0]))));
    for (uint32_t r = 1; r < rounds; r++) {
        const uint8_t(*rotate)[16] = t->rotate + 3 * (r & 3);
        const vec k = enc_round_key(key, t, r);
        if (n == 1) {
            x[0] = quick_round(t, x[0], k, rotate);
        } else {
            const struct enc_tables by = enc_tables(t);
            const vec row_1 = table(rotate[0]), row_2 = table(rotate[1]);
            EACH_UP_TO_4(
                n, x[i] = encrypt_round(&by, invert(inverse_tables(t), x[i]), k, row_1, row_2));
        }
        t = hidden_tables();
    }
    EACH_UP_TO_4(n, x[i] = look_up(pair_of(t->sub), invert(inverse_tables(t), x[i])));
    EACH_UP_TO_4(n, in_out[i] = v_xor(v_shuffle(x[i], shift), last_key));
}

EVC_INLINE void decrypt_few(const vperm_key *key, vec *in_out, unsigned n)
{
    const struct vperm_tables *t = hidden_tables();
    const uint32_t rounds = key->head.rounds;
    const vec first_key = key_with_constant(t, key->dec[0]), last_key = table(key->dec[rounds]);
    const vec shift = table(t->shift[-rounds & 3]);
    vec x[FEW];

    EACH_UP_TO_4(n,
                 x[i] = map_bytes(pair_of(t->inv_in), table(t->low), v_xor(in_out[i], first_key)));
    for (uint32_t r = 1; r < rounds; r++) {
        const uint8_t(*rotate)[16] = t->rotate + 3 * (-r & 3);
        const vec k = dec_round_key(key, t, r);
        EACH_UP_TO_4(n, x[i] = quick_decrypt_round(t, x[i], k, rotate));
        t = hidden_tables();
    }
    EACH_UP_TO_4(n, x[i] = look_up(pair_of(t->inv_sub), invert(inverse_tables(t), x[i])));
    EACH_UP_TO_4(n, in_out[i] = v_xor(v_shuffle(x[i], shift), last_key));
}

/* n vectors, 1 to FEW. Not inlined into the modes: one copy serves all. */
EVC_OUT_OF_LINE void encrypt_vectors(const vperm_key *key, vec *x, size_t n)
{
    switch (n) {
    case 1: encrypt_few(key, x, 1); break;
    case 2: encrypt_few(key, x, 2); break;
    case 3: encrypt_few(key, x, 3); break;
    default: encrypt_few(key, x, 4);
    }
}

EVC_OUT_OF_LINE void decrypt_vectors(const vperm_key *key, vec *x, size_t n)
{
    switch (n) {
    case 1: decrypt_few(key, x, 1); break;
    case 2: decrypt_few(key, x, 2); break;
    case 3: decrypt_few(key, x, 3); break;
    default: decrypt_few(key, x, 4);
    }
}

typedef void crypt_vectors(const vperm_key *, vec *, size_t);

/* Blocks into vectors, whose number is returned; and back. Where blocks do not fill the
 * last vector, the lowest lane counts. */
EVC_INLINE size_t load_vectors(vec *x, const uint8_t *in, size_t n_blocks)
{
    size_t n = 0;

    for (; n_blocks >= V_LANES; n_blocks -= V_LANES, in += 16 * V_LANES)
        x[n++] = hide_value(v_load(in));
    if (n_blocks)
        x[n++] = v_all(load(in));
    return n;
}

EVC_INLINE void store_vectors(uint8_t *out, const vec *x, size_t n_blocks)
{
    for (; n_blocks >= V_LANES; n_blocks -= V_LANES, out += 16 * V_LANES)
        v_store(out, hide_value(*x++));
    if (n_blocks)
        store(out, v_low(*x));
}

/* Each mode is written once, for several and for many vectors. x, t: room of the caller for `most`
 * blocks, which is also what crypt takes at once. */
EVC_INLINE void crypt_blocks(const vperm_key *key, const uint8_t *in, uint8_t *out, size_t n_blocks,
                             vec *x, size_t most, crypt_vectors *crypt)
{
    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = at_most(n_blocks, most);
        crypt(key, x, load_vectors(x, in, n));
        store_vectors(out, x, n);
    }
}

/* out = x ^ the ciphertext before each block; from the last block to the
 * first, since out may be in. */
EVC_INLINE void chain_vectors(uint8_t *out, __m128i before, const uint8_t *in, const vec *x,
                              size_t n_blocks)
{
    size_t v = n_blocks / V_LANES;

    if (v == 0) {
        store(out, _mm_xor_si128(v_low(x[0]), before));
        return;
    }
    if (n_blocks % V_LANES)
        store(out + 16 * (n_blocks - 1),
              _mm_xor_si128(v_low(x[v]), load(in + 16 * (n_blocks - 2))));
    while (--v)
        v_store(out + 16 * V_LANES * v, v_xor(x[v], v_load(in + 16 * (V_LANES * v - 1))));
    v_store(out, v_xor(x[0], v_after(before, v_all(load(in)))));
}

EVC_INLINE void crypt_cbc(const vperm_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                          size_t n_blocks, vec *x, size_t most, crypt_vectors *decrypt)
{
    __m128i before = load(iv), last;

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = at_most(n_blocks, most);
        decrypt(key, x, load_vectors(x, in, n));
        last = load(in + 16 * (n - 1));
        chain_vectors(out, before, in, x, n);
        before = last;
    }
    store(iv, before);
}

/* out = in ^ x, len_bytes bytes */
EVC_INLINE void xor_vectors(uint8_t *out, const uint8_t *in, const vec *x, size_t len_bytes)
{
    const uint8_t *stream;

    for (; len_bytes >= 16 * V_LANES;
         len_bytes -= 16 * V_LANES, in += 16 * V_LANES, out += 16 * V_LANES)
        v_store(out, v_xor(*x++, v_load(in)));
    stream = (const uint8_t *)x;
    if (len_bytes >= 16) { /* of two lanes */
        store(out, _mm_xor_si128(load(stream), load(in)));
        stream += 16, in += 16, out += 16, len_bytes -= 16;
    }
    if (len_bytes)
        evc_x86_store_part(out, _mm_xor_si128(load(stream), evc_x86_load_part(in, len_bytes)),
                           len_bytes);
}

/* A counter block whose word 3 is a number, and back. */
EVC_INLINE __m128i swap_count(void)
{
    return _mm_set_epi8(12, 13, 14, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}

/* Lane 1 is one ahead. */
EVC_INLINE vec counts_from(__m128i count)
{
    static const uint32_t lanes[8] = {0, 0, 0, 0, 0, 0, 0, 1};

    return v_add32(v_all(count), v_load(lanes));
}

EVC_INLINE void crypt_ctr(const vperm_key *key, uint8_t counter[16], const uint8_t *in,
                          uint8_t *out, size_t len_bytes, vec *x, size_t most,
                          crypt_vectors *encrypt)
{
    const vec step = v_all(_mm_set_epi32(V_LANES, 0, 0, 0));
    const __m128i swap = swap_count();
    __m128i count = _mm_shuffle_epi8(load(counter), swap);

    for (size_t n; len_bytes; in += n, out += n, len_bytes -= n) {
        vec counts = counts_from(count);
        size_t n_blocks, n_vectors;
        n = at_most(len_bytes, 16 * most);
        n_blocks = (n + 15) / 16, n_vectors = (n_blocks + V_LANES - 1) / V_LANES;
        for (size_t v = 0; v < n_vectors; v++) {
            x[v] = v_shuffle(counts, v_all(swap));
            counts = v_add32(counts, step);
        }
        encrypt(key, x, n_vectors);
        xor_vectors(out, in, x, n);
        count = _mm_add_epi32(count, _mm_set_epi32((int)n_blocks, 0, 0, 0));
    }
    store(counter, _mm_shuffle_epi8(count, swap));
}

/* ---- XTS ------------------------------------------------------------------------------------- */

/* t: the tweaks of the blocks. */
EVC_INLINE void crypt_xts(const vperm_key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                          size_t n_blocks, vec *x, vec *t, size_t most, crypt_vectors *crypt)
{
    __m128i next = load(tweak);

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        size_t n_vectors;
        n = at_most(n_blocks, most);
        n_vectors = load_vectors(x, in, n);
        for (size_t v = 0; v < n_vectors; v++) {
            const __m128i first = next;
            next = times_x128(next);
            t[v] = v_after(first, v_all(next));
            if (V_LANES == 2 && 2 * v + 1 < n)
                next = times_x128(next);
            x[v] = v_xor(x[v], t[v]);
        }
        crypt(key, x, n_vectors);
        for (size_t v = 0; v < n_vectors; v++)
            x[v] = v_xor(x[v], t[v]);
        store_vectors(out, x, n);
    }
    store(tweak, next);
}

/* ---- Operations with one vector ----------------------------------------------------------------
 *
 * Of 1 to V_LANES blocks, which never leave registers: nothing is written below the caller
 * but what a compiler saves.
 */

EVC_INLINE vec load_one(const uint8_t *in, size_t n_blocks)
{
    return n_blocks == V_LANES ? v_load(in) : v_all(load(in));
}

EVC_INLINE void store_one(uint8_t *out, vec x, size_t n_blocks)
{
    if (n_blocks == V_LANES)
        v_store(out, x);
    else
        store(out, v_low(x));
}

EVC_OUT_OF_LINE void one_encrypt(const vperm_key *key, const uint8_t *in, uint8_t *out,
                                 size_t n_blocks)
{
    vec x = load_one(in, n_blocks);

    encrypt_few(key, &x, 1);
    store_one(out, x, n_blocks);
    v_clear_upper_halves();
}

EVC_OUT_OF_LINE void one_decrypt(const vperm_key *key, const uint8_t *in, uint8_t *out,
                                 size_t n_blocks)
{
    vec x = load_one(in, n_blocks);

    decrypt_few(key, &x, 1);
    store_one(out, x, n_blocks);
    v_clear_upper_halves();
}

EVC_OUT_OF_LINE void one_cbc_decrypt(const vperm_key *key, uint8_t iv[16], const uint8_t *in,
                                     uint8_t *out, size_t n_blocks)
{
    vec x = load_one(in, n_blocks);
    const vec masks = v_after(load(iv), x);

    store(iv, load(in + 16 * (n_blocks - 1)));
    decrypt_few(key, &x, 1);
    store_one(out, v_xor(x, masks), n_blocks);
    v_clear_upper_halves();
}

EVC_OUT_OF_LINE void one_ctr32(const vperm_key *key, uint8_t counter[16], const uint8_t *in,
                               uint8_t *out, size_t len_bytes)
{
    const __m128i swap = swap_count(), count = _mm_shuffle_epi8(load(counter), swap);
    vec x = v_shuffle(counts_from(count), v_all(swap));
    __m128i stream;

    store(counter,
          _mm_shuffle_epi8(
              _mm_add_epi32(count, _mm_set_epi32((int)((len_bytes + 15) / 16), 0, 0, 0)), swap));
    encrypt_few(key, &x, 1);
    if (len_bytes == 16 * V_LANES) {
        v_store(out, v_xor(x, v_load(in)));
    } else {
        stream = v_low(x);
        if (len_bytes >= 16) { /* of two lanes */
            store(out, _mm_xor_si128(stream, load(in)));
            stream = v_high(x), in += 16, out += 16, len_bytes -= 16;
        }
        if (len_bytes)
            evc_x86_store_part(out, _mm_xor_si128(stream, evc_x86_load_part(in, len_bytes)),
                               len_bytes);
    }
    v_clear_upper_halves();
}

/* The tweaks of the vector's blocks; *next is that of the first, and then of
 * the block behind them. */
EVC_INLINE vec tweaks_of_one(__m128i *next, size_t n_blocks)
{
    const __m128i first = *next, second = times_x128(first);

    *next = n_blocks == 2 ? times_x128(second) : second;
    return v_after(first, v_all(second));
}

EVC_INLINE void one_xts(const vperm_key *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks, int decrypting)
{
    __m128i next = load(tweak);
    const vec tweaks = tweaks_of_one(&next, n_blocks);
    vec x = v_xor(load_one(in, n_blocks), tweaks);

    store(tweak, next);
    if (decrypting)
        decrypt_few(key, &x, 1);
    else
        encrypt_few(key, &x, 1);
    store_one(out, v_xor(x, tweaks), n_blocks);
    v_clear_upper_halves();
}

EVC_OUT_OF_LINE void one_xts_encrypt(const vperm_key *key, uint8_t tweak[16], const uint8_t *in,
                                     uint8_t *out, size_t n_blocks)
{
    one_xts(key, tweak, in, out, n_blocks, 0);
}

EVC_OUT_OF_LINE void one_xts_decrypt(const vperm_key *key, uint8_t tweak[16], const uint8_t *in,
                                     uint8_t *out, size_t n_blocks)
{
    one_xts(key, tweak, in, out, n_blocks, 1);
}

/* ---- Operations with several vectors, up to FEW -------------------------------------------------
 *
 * They leave secrets below the caller. These are cleared here, for in the kernel's `clear` that
 * would take as long after one block. Three functions, as deep as each needs, are defined before
 * this file: clear_few_encrypted(), clear_few_decrypted(), clear_few_xts().
 */

EVC_OUT_OF_LINE void several_encrypt(const vperm_key *key, const uint8_t *in, uint8_t *out,
                                     size_t n_blocks)
{
    vec x[FEW];

    crypt_blocks(key, in, out, n_blocks, x, FEW_BLOCKS, encrypt_vectors);
    v_clear_upper_halves();
}

EVC_OUT_OF_LINE void several_decrypt(const vperm_key *key, const uint8_t *in, uint8_t *out,
                                     size_t n_blocks)
{
    vec x[FEW];

    crypt_blocks(key, in, out, n_blocks, x, FEW_BLOCKS, decrypt_vectors);
    v_clear_upper_halves();
}

EVC_OUT_OF_LINE void several_cbc_decrypt(const vperm_key *key, uint8_t iv[16], const uint8_t *in,
                                         uint8_t *out, size_t n_blocks)
{
    vec x[FEW];

    crypt_cbc(key, iv, in, out, n_blocks, x, FEW_BLOCKS, decrypt_vectors);
    v_clear_upper_halves();
}

EVC_OUT_OF_LINE void several_ctr32(const vperm_key *key, uint8_t counter[16], const uint8_t *in,
                                   uint8_t *out, size_t len_bytes)
{
    vec x[FEW];

    crypt_ctr(key, counter, in, out, len_bytes, x, FEW_BLOCKS, encrypt_vectors);
    v_clear_upper_halves();
}

EVC_OUT_OF_LINE void several_xts_encrypt(const vperm_key *key, uint8_t tweak[16], const uint8_t *in,
                                         uint8_t *out, size_t n_blocks)
{
    vec x[FEW], t[FEW];

    crypt_xts(key, tweak, in, out, n_blocks, x, t, FEW_BLOCKS, encrypt_vectors);
    v_clear_upper_halves();
}

EVC_OUT_OF_LINE void several_xts_decrypt(const vperm_key *key, uint8_t tweak[16], const uint8_t *in,
                                         uint8_t *out, size_t n_blocks)
{
    vec x[FEW], t[FEW];

    crypt_xts(key, tweak, in, out, n_blocks, x, t, FEW_BLOCKS, decrypt_vectors);
    v_clear_upper_halves();
}

/* ---- Operations with any number of vectors, made for few ------------------------------------- */

#define ONE_OR_SEVERAL(operation, clear_few, n_blocks, ...) \
    do {                                                    \
        if ((n_blocks)-1 < V_LANES) {                       \
            one_##operation(__VA_ARGS__);                   \
        } else {                                            \
            several_##operation(__VA_ARGS__);               \
            clear_few();                                    \
        }                                                   \
    } while (0)

static void few_encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    ONE_OR_SEVERAL(encrypt, clear_few_encrypted, n_blocks, key, in, out, n_blocks);
}

static void few_decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    ONE_OR_SEVERAL(decrypt, clear_few_decrypted, n_blocks, key, in, out, n_blocks);
}

static void few_cbc_decrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                            size_t n_blocks)
{
    ONE_OR_SEVERAL(cbc_decrypt, clear_few_decrypted, n_blocks, key, iv, in, out, n_blocks);
}

static void few_ctr32(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                      size_t len_bytes)
{
    ONE_OR_SEVERAL(ctr32, clear_few_encrypted, (len_bytes + 15) / 16, key, counter, in, out,
                   len_bytes);
}

static void few_xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                            size_t n_blocks)
{
    ONE_OR_SEVERAL(xts_encrypt, clear_few_xts, n_blocks, key, tweak, in, out, n_blocks);
}

static void few_xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                            size_t n_blocks)
{
    ONE_OR_SEVERAL(xts_decrypt, clear_few_xts, n_blocks, key, tweak, in, out, n_blocks);
}

/* ---- Keys ---------------------------------------------------------------------------- */

/* SubWord (FIPS 197 section 5.2). */
static uint32_t sub_word(uint32_t word)
{
    const struct vperm_tables *t = &vperm_tables;
    vec x = map_bytes(pair_of(t->in), table(t->low), v_all(_mm_cvtsi32_si128((int)word)));

    x = v_xor(look_up(pair_of(t->sub), invert(inverse_tables(t), x)), table(t->constant));
    return (uint32_t)_mm_cvtsi128_si32(v_low(x));
}

static __m128i times_x(__m128i a) /* xTimes of each byte (section 4.2) */
{
    __m128i high = _mm_cmpgt_epi8(_mm_setzero_si128(), a);

    return _mm_xor_si128(_mm_add_epi8(a, a), _mm_and_si128(high, _mm_set1_epi8(0x1b)));
}

/* InvMixColumns (section 5.3.3): its matrix is that of MixColumns times circ(5, 0, 4, 0). */
static __m128i inv_mix_columns(__m128i a)
{
    const __m128i next_row = load_aligned(vperm_tables.rotate[0]),
                  second_row = load_aligned(vperm_tables.rotate[1]);
    __m128i a1, b;

    a = _mm_xor_si128(a, times_x(times_x(_mm_xor_si128(a, _mm_shuffle_epi8(a, second_row)))));
    a1 = _mm_shuffle_epi8(a, next_row);
    b = _mm_xor_si128(a, a1);
    return _mm_xor_si128(times_x(b), _mm_xor_si128(a1, _mm_shuffle_epi8(b, second_row)));
}

/* The key in the form fips197. */
EVC_INLINE void set_fips197(uint8_t enc[][16], uint8_t dec[][16], const struct evc_aes_head *head,
                            const uint8_t *user_key)
{
    const uint32_t rounds = head->rounds;

    evc_aes_expand_key(enc, user_key, rounds, sub_word);
    if (!head->can_decrypt)
        return;
    memcpy(dec[0], enc[rounds], 16);
    for (uint32_t r = 1; r < rounds; r++)
        store(dec[r], inv_mix_columns(load_aligned(enc[rounds - r])));
    memcpy(dec[rounds], enc[0], 16);
}

#if defined(VPERM_FIPS197)

static void set_key(void *vkey, const uint8_t *user_key)
{
    vperm_key *key = vkey;

    set_fips197(key->enc, key->dec, &key->head, user_key);
    v_clear_upper_halves();
}

#else

static void set_key(void *vkey, const uint8_t *user_key)
{
    const struct vperm_tables *t = &vperm_tables;
    const __m128i constant = load_aligned(t->constant);
    vperm_key *key = vkey;
    const uint32_t rounds = key->head.rounds;

    set_fips197(key->enc, key->dec, &key->head, user_key);
    for (uint32_t r = 1; r < rounds; r++) {
        store(key->enc[r], v_low(round_key_of(t, key->enc[r], t->in, t->shift[-r & 3])));
        if (key->head.can_decrypt)
            store(key->dec[r], v_low(round_key_of(t, key->dec[r], t->inv_in, t->shift[r & 3])));
    }
    store(key->enc[rounds], _mm_xor_si128(load_aligned(key->enc[rounds]), constant));
    if (key->head.can_decrypt)
        store(key->dec[0], _mm_xor_si128(load_aligned(key->dec[0]), constant));
    v_clear_upper_halves();
}

#endif

#if !defined(VPERM_FIPS197)

/* ---- Operations with many vectors ---------------------------------------------------------------
 *
 * For more blocks than few vectors hold. They leave secrets far below the caller. clear_many()
 * clears these, and not the kernel's `clear`, whose stores would be a tenth of the time of one
 * block. It is defined before this file.
 */

/* n vectors, up to MANY. */
static void encrypt_many(const vperm_key *key, vec *x, size_t n)
{
    const struct vperm_tables *t = hidden_tables();
    const struct enc_tables by = enc_tables(t);
    const uint32_t rounds = key->head.rounds;
    const struct pair in = pair_of(t->in), out = pair_of(t->sub);
    const vec shift = table(t->shift[rounds & 3]);
    const vec first_key = table(key->enc[0]), last_key = key_with_constant(t, key->enc[rounds]);

    for (size_t v = 0; v < n; v++)
        x[v] = map_bytes(in, by.by.low, v_xor(x[v], first_key));
    for (uint32_t r = 1; r < rounds; r++) {
        const uint8_t(*rotate)[16] = t->rotate + 3 * (r & 3);
        const vec row_1 = table(rotate[0]), row_2 = table(rotate[1]), k = enc_round_key(key, t, r);
        for (size_t v = 0; v < n; v++)
            x[v] = encrypt_round(&by, invert(by.by, x[v]), k, row_1, row_2);
    }
    for (size_t v = 0; v < n; v++)
        x[v] = v_xor(v_shuffle(look_up(out, invert(by.by, x[v])), shift), last_key);
}

static void decrypt_many(const vperm_key *key, vec *x, size_t n)
{
    const struct vperm_tables *t = hidden_tables();
    const struct dec_tables by = dec_tables(t);
    const uint32_t rounds = key->head.rounds;
    const struct pair in = pair_of(t->inv_in), out = pair_of(t->inv_sub);
    const vec shift = table(t->shift[-rounds & 3]);
    const vec first_key = key_with_constant(t, key->dec[0]), last_key = table(key->dec[rounds]);

    for (size_t v = 0; v < n; v++)
        x[v] = map_bytes(in, by.by.low, v_xor(x[v], first_key));
    for (uint32_t r = 1; r < rounds; r++) {
        const uint8_t(*rotate)[16] = t->rotate + 3 * (-r & 3);
        const vec row_1 = table(rotate[0]), row_2 = table(rotate[1]), k = dec_round_key(key, t, r);
        for (size_t v = 0; v < n; v++)
            x[v] = decrypt_round(&by, x[v], k, row_1, row_2);
    }
    for (size_t v = 0; v < n; v++)
        x[v] = v_xor(v_shuffle(look_up(out, invert(by.by, x[v])), shift), last_key);
}

EVC_OUT_OF_LINE void many_encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    vec x[MANY];

    crypt_blocks(key, in, out, n_blocks, x, MANY_BLOCKS, encrypt_many);
}

EVC_OUT_OF_LINE void many_decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    vec x[MANY];

    crypt_blocks(key, in, out, n_blocks, x, MANY_BLOCKS, decrypt_many);
}

EVC_OUT_OF_LINE void many_cbc_decrypt(const void *key, uint8_t iv[16], const uint8_t *in,
                                      uint8_t *out, size_t n_blocks)
{
    vec x[MANY];

    crypt_cbc(key, iv, in, out, n_blocks, x, MANY_BLOCKS, decrypt_many);
}

EVC_OUT_OF_LINE void many_ctr32(const void *key, uint8_t counter[16], const uint8_t *in,
                                uint8_t *out, size_t len_bytes)
{
    vec x[MANY];

    crypt_ctr(key, counter, in, out, len_bytes, x, MANY_BLOCKS, encrypt_many);
}

EVC_OUT_OF_LINE void many_xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in,
                                      uint8_t *out, size_t n_blocks)
{
    vec x[MANY], t[MANY];

    crypt_xts(key, tweak, in, out, n_blocks, x, t, MANY_BLOCKS, encrypt_many);
}

EVC_OUT_OF_LINE void many_xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in,
                                      uint8_t *out, size_t n_blocks)
{
    vec x[MANY], t[MANY];

    crypt_xts(key, tweak, in, out, n_blocks, x, t, MANY_BLOCKS, decrypt_many);
}

#define BY_NUMBER(operation, n_blocks, ...) \
    do {                                    \
        if ((n_blocks) <= FEW_BLOCKS) {     \
            few_##operation(__VA_ARGS__);   \
        } else {                            \
            many_##operation(__VA_ARGS__);  \
            clear_many();                   \
            v_clear_upper_halves();         \
        }                                   \
    } while (0)

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    BY_NUMBER(encrypt, n_blocks, key, in, out, n_blocks);
}

static void decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    BY_NUMBER(decrypt, n_blocks, key, in, out, n_blocks);
}

static void cbc_decrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    BY_NUMBER(cbc_decrypt, n_blocks, key, iv, in, out, n_blocks);
}

static void ctr32(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
    BY_NUMBER(ctr32, (len_bytes + 15) / 16, key, counter, in, out, len_bytes);
}

static void xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    BY_NUMBER(xts_encrypt, n_blocks, key, tweak, in, out, n_blocks);
}

static void xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    BY_NUMBER(xts_decrypt, n_blocks, key, tweak, in, out, n_blocks);
}

#endif

#endif
