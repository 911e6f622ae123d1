/* SPDX-License-Identifier: MIT */
/*
 * AES on bit planes in x86 vectors: rounds of whole batches and the modes, 8
 * blocks per 128-bit lane.
 *
 * A byte of every lane of plane j holds bit j of one byte of the state of 8 blocks, one block a
 * bit. Lane l of the vectors at in + V_BYTES i is block V_LANES i + l: it is bit i.
 *
 * Fixslicing (A. Adomnicai, T. Peyrin, TCHES 2021(1)): ShiftRows is never done; round i mixes
 * columns while i times ShiftRows is still to be done: another move of bytes, not one more.
 *
 * Include it inside the ISA region, after x86_blocks128.h or x86_blocks256.h, and after
 * these have been defined:
 *
 *   planes_key    a type with round keys enc[r] of 16 bytes
 *   KEY_LATE      whether one batch alone has no room in registers for the planes
 *                 of a key through an S-box
 *   BATCHES_ONE_BY_ONE   whether several batches go one after the other, as one alone
 *                        does, and not round by round
 *
 * and define behind it the functions that are declared below: they say where each byte of
 * the state is, and move it.
 */
#ifndef EVC_AES_X86_PLANES_STEPS_H
#define EVC_AES_X86_PLANES_STEPS_H

#include "aes/x86_blocks.h"
#include "common/bytes.h"

#define V_BYTES (16 * V_LANES)
#define BATCH_BLOCKS (8 * V_LANES)
#define BATCH_BYTES (16 * BATCH_BLOCKS)

/* This many batches go through every round one after the other. One batch is a chain of dependent
 * instructions that leaves half of a wide core idle; two share it, and the round key's planes. */
#define AT_ONCE 2
#define MOST_BLOCKS (AT_ONCE * BATCH_BLOCKS)

#define EVC_CIRCUIT_WORD vec
#define EVC_CIRCUIT_NAME(function) function
#if !defined(__clang__)
/* GCC moves every gate to its first use, and then has twice as many values waiting in memory. */
#define EVC_CIRCUIT_PIN(x) __asm__ volatile("" : "+x"(x))
#endif
#include "aes/sbox_circuit.h"

/* ---- What the including file defines --------------------------------------------------------- */

/* The planes of a round key, the same in all blocks: made when they are used, so that the key is
 * small. i: times that ShiftRows is still to be done; flip: sbox_circuit.h. */
EVC_INLINE void key_planes(vec k[8], const uint8_t key[16], unsigned i, int flip);

/* 8 V_LANES blocks to planes, and back. */
EVC_INLINE void to_planes(vec q[8]);
EVC_INLINE void to_blocks(vec q[8]);

/* In the place of each byte, that which is one row down and i columns on; two rows
 * down and 2 i columns on. */
EVC_INLINE vec next_in_column(vec x, unsigned i);
EVC_INLINE vec second_in_column(vec x, unsigned i);

/* ShiftRows twice, of a block. */
EVC_INLINE vec rows_moved_twice(vec x);

/* ---- Constants: a lane, twice, so that 256-bit code can take them from memory ---------------- */

typedef uint8_t lanes[32];

#define SAME8(x) x, x, x, x, x, x, x, x
#define SAME32(x) {SAME8(x), SAME8(x), SAME8(x), SAME8(x)}
static const EVC_ALIGN(32) lanes odd_bits = SAME32(0x55), odd_pairs = SAME32(0x33),
                                  low_nibbles = SAME32(0x0f);

/* ---- Steps ----------------------------------------------------------------------------------- */

EVC_INLINE void swap(vec *a, vec *b, int n, vec mask)
{
    vec t = (v_right(*a, n) ^ *b) & mask;

    *b ^= t;
    *a ^= v_left(t, n);
}

/* Bit j of every byte of vector i <-> bit i of that byte of vector j. */
EVC_INLINE void transpose(vec q[8])
{
    const vec m1 = v_constant(odd_bits), m2 = v_constant(odd_pairs), m4 = v_constant(low_nibbles);

    swap(q + 0, q + 1, 1, m1), swap(q + 2, q + 3, 1, m1);
    swap(q + 4, q + 5, 1, m1), swap(q + 6, q + 7, 1, m1);
    swap(q + 0, q + 2, 2, m2), swap(q + 1, q + 3, 2, m2);
    swap(q + 4, q + 6, 2, m2), swap(q + 5, q + 7, 2, m2);
    swap(q + 0, q + 4, 4, m4), swap(q + 1, q + 5, 4, m4);
    swap(q + 2, q + 6, 4, m4), swap(q + 3, q + 7, 4, m4);
}

EVC_INLINE void add_round_key(vec q[8], const vec k[8])
{
    q[0] ^= k[0], q[1] ^= k[1], q[2] ^= k[2], q[3] ^= k[3];
    q[4] ^= k[4], q[5] ^= k[5], q[6] ^= k[6], q[7] ^= k[7];
}

/* MixColumns (section 5.1.3). With t = x ^ next(x): 2 t ^ next(x) ^ second(t). */
EVC_INLINE void mix_planes(vec q[8], unsigned i)
{
    vec n7 = next_in_column(q[7], i), t7 = q[7] ^ n7;
    vec n6 = next_in_column(q[6], i), t6 = q[6] ^ n6;
    vec n5 = next_in_column(q[5], i), t5 = q[5] ^ n5;
    vec n4 = next_in_column(q[4], i), t4 = q[4] ^ n4;
    vec n3 = next_in_column(q[3], i), t3 = q[3] ^ n3;
    vec n2 = next_in_column(q[2], i), t2 = q[2] ^ n2;
    vec n1 = next_in_column(q[1], i), t1 = q[1] ^ n1;
    vec n0 = next_in_column(q[0], i), t0 = q[0] ^ n0;

    q[7] = n7 ^ second_in_column(t7, i) ^ t6;
    q[6] = n6 ^ second_in_column(t6, i) ^ t5;
    q[5] = n5 ^ second_in_column(t5, i) ^ t4;
    q[4] = n4 ^ second_in_column(t4, i) ^ t3 ^ t7;
    q[3] = n3 ^ second_in_column(t3, i) ^ t2 ^ t7;
    q[2] = n2 ^ second_in_column(t2, i) ^ t1;
    q[1] = n1 ^ second_in_column(t1, i) ^ t0 ^ t7;
    q[0] = n0 ^ second_in_column(t0, i) ^ t7;
}

/* InvMixColumns (section 5.3.3): MixColumns after x -> x ^ 4 (x ^ second(x)). */
EVC_INLINE void inv_mix_planes(vec q[8], unsigned i)
{
    vec u7 = q[7] ^ second_in_column(q[7], i), u6 = q[6] ^ second_in_column(q[6], i);
    vec u5 = q[5] ^ second_in_column(q[5], i), u4 = q[4] ^ second_in_column(q[4], i);
    vec u3 = q[3] ^ second_in_column(q[3], i), u2 = q[2] ^ second_in_column(q[2], i);
    vec u1 = q[1] ^ second_in_column(q[1], i), u0 = q[0] ^ second_in_column(q[0], i);
    vec u76 = u7 ^ u6;

    q[7] ^= u5;
    q[6] ^= u4;
    q[5] ^= u3 ^ u7;
    q[4] ^= u2 ^ u76;
    q[3] ^= u1 ^ u6;
    q[2] ^= u0 ^ u7;
    q[1] ^= u76;
    q[0] ^= u6;
    mix_planes(q, i);
}

/* ---- Rounds: n batches at s, 8 vectors each, in place ---------------------------------------- */

EVC_INLINE void get(vec q[8], const vec *s)
{
    q[0] = s[0], q[1] = s[1], q[2] = s[2], q[3] = s[3];
    q[4] = s[4], q[5] = s[5], q[6] = s[6], q[7] = s[7];
}

EVC_INLINE void put(vec *s, const vec q[8])
{
    s[0] = q[0], s[1] = q[1], s[2] = q[2], s[3] = q[3];
    s[4] = q[4], s[5] = q[5], s[6] = q[6], s[7] = q[7];
}

/* Blocks to planes, and the round key before the first round. */
EVC_INLINE void slice(vec *s, unsigned n, const uint8_t key[16], unsigned i, int flip)
{
    vec k[8], q[8];

    key_planes(k, key, i, flip);
    for (; n; n--, s += 8) {
        get(q, s);
        to_planes(q);
        add_round_key(q, k);
        put(s, q);
    }
}

/* Round i of those before the last. late: the planes of the key are made after the S-box,
 * not once for n batches. */
EVC_INLINE void round_(vec *s, unsigned n, const uint8_t key[16], unsigned i, int late)
{
    vec k[8], q[8];

    if (!late)
        key_planes(k, key, i, 1);
    for (; n; n--, s += 8) {
        get(q, s);
        sub_bytes(q);
        mix_planes(q, i);
        if (late)
            key_planes(k, key, i, 1);
        add_round_key(q, k);
        put(s, q);
    }
}

EVC_INLINE void inv_round(vec *s, unsigned n, const uint8_t key[16], unsigned i, int late)
{
    vec k[8], q[8];

    if (!late)
        key_planes(k, key, i, 1);
    for (; n; n--, s += 8) {
        get(q, s);
        inv_sub_bytes(q);
        if (late)
            key_planes(k, key, i, 1);
        add_round_key(q, k);
        inv_mix_planes(q, i);
        put(s, q);
    }
}

/* The last round, and planes to blocks. */
EVC_INLINE void final_round(vec *s, unsigned n, const uint8_t key[16], unsigned i, int late)
{
    vec k[8], q[8];

    if (!late)
        key_planes(k, key, i, 1);
    for (; n; n--, s += 8) {
        get(q, s);
        sub_bytes(q);
        if (late)
            key_planes(k, key, i, 1);
        add_round_key(q, k);
        to_blocks(q);
        put(s, q);
    }
}

EVC_INLINE void inv_final_round(vec *s, unsigned n, const uint8_t key[16], int late)
{
    vec k[8], q[8];

    if (!late)
        key_planes(k, key, 0, 0);
    for (; n; n--, s += 8) {
        get(q, s);
        inv_sub_bytes(q);
        if (late)
            key_planes(k, key, 0, 0);
        add_round_key(q, k);
        to_blocks(q);
        put(s, q);
    }
}

/* ShiftRows twice, its own inverse: what 10 and 14 rounds leave to be done. */
EVC_INLINE void shift_twice(vec *s, unsigned n)
{
    for (unsigned j = 0; j < 8 * n; j++)
        s[j] = rows_moved_twice(s[j]);
}

EVC_INLINE void encrypt_rounds(const planes_key *key, vec *s, unsigned n, int late)
{
    const unsigned rounds = key->head.rounds;

    slice(s, n, key->enc[0], 0, 0);
    for (unsigned r = 1; r < rounds; r++)
        round_(s, n, key->enc[r], r % 4, late);
    final_round(s, n, key->enc[rounds], rounds % 4, late);
    if (rounds % 4) /* 10 and 14 rounds */
        shift_twice(s, n);
}

EVC_INLINE void decrypt_rounds(const planes_key *key, vec *s, unsigned n, int late)
{
    const unsigned rounds = key->head.rounds;

    if (rounds % 4)
        shift_twice(s, n);
    slice(s, n, key->enc[rounds], rounds % 4, 1);
    for (unsigned r = rounds - 1; r > 0; r--)
        inv_round(s, n, key->enc[r], r % 4, late);
    inv_final_round(s, n, key->enc[0], late);
}

/* The functions below are not inlined, or their frame and the caller's are one of more than 1 KiB.
 * One batch alone stays in registers from round to round, as far as there are enough; of two lanes,
 * what does not would be too much. */

#define IN_REGISTERS(n) (V_LANES == 1 && (n) == 1)

EVC_OUT_OF_LINE void encrypt_one(const planes_key *key, vec *s)
{
    vec q[8];

    get(q, s);
    encrypt_rounds(key, q, 1, KEY_LATE);
    put(s, q);
}

EVC_OUT_OF_LINE void decrypt_one(const planes_key *key, vec *s)
{
    vec q[8];

    get(q, s);
    decrypt_rounds(key, q, 1, KEY_LATE);
    put(s, q);
}

typedef void batches_function(const planes_key *, vec *, unsigned);

EVC_OUT_OF_LINE void encrypt_batches(const planes_key *key, vec *s, unsigned n)
{
#if BATCHES_ONE_BY_ONE
    for (; n; n--, s += 8)
        encrypt_one(key, s);
#else
    if (IN_REGISTERS(n))
        encrypt_one(key, s);
    else
        encrypt_rounds(key, s, n, 0);
#endif
}

EVC_OUT_OF_LINE void decrypt_batches(const planes_key *key, vec *s, unsigned n)
{
#if BATCHES_ONE_BY_ONE
    for (; n; n--, s += 8)
        decrypt_one(key, s);
#else
    if (IN_REGISTERS(n))
        decrypt_one(key, s);
    else
        decrypt_rounds(key, s, n, 0);
#endif
}

/* ---- Batches -------------------------------------------------------------------------------- */

/* A batch that blocks do not fill ends with zeros: only where a vector is one block, else
 * they are full batches. */
EVC_INLINE unsigned load_batches(vec *q, const uint8_t *in, size_t n_blocks)
{
    size_t j = 0;

    for (; j < n_blocks / V_LANES; j++)
        q[j] = hide_value(v_load(in + V_BYTES * j));
    for (; j % 8; j++)
        q[j] = v_all(_mm_setzero_si128());
    return (unsigned)(j / 8);
}

EVC_INLINE void store_batches(uint8_t *out, const vec *q, size_t n_blocks)
{
    for (size_t j = 0; j < n_blocks / V_LANES; j++)
        v_store(out + V_BYTES * j, hide_value(q[j]));
}

EVC_INLINE void crypt_batches(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks,
                              batches_function *crypt)
{
    vec q[8 * AT_ONCE];

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = at_most(n_blocks, MOST_BLOCKS);
        crypt(key, q, load_batches(q, in, n));
        store_batches(out, q, n);
    }
}

EVC_OUT_OF_LINE void cbc_decrypt_batches(const void *key, uint8_t iv[16], const uint8_t *in,
                                         uint8_t *out, size_t n_blocks)
{
    vec q[8 * AT_ONCE];
    __m128i before = load(iv), last;

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = at_most(n_blocks, MOST_BLOCKS);
        decrypt_batches(key, q, load_batches(q, in, n));
        last = load(in + 16 * (n - 1));
        for (size_t j = n / V_LANES - 1; j > 0; j--) /* from the end, since in may be out */
            v_store(out + V_BYTES * j, q[j] ^ v_load(in + V_BYTES * j - 16));
        v_store(out, q[0] ^ v_after(before, v_load(in)));
        before = last;
    }
    store(iv, before);
}

/* The tweak of a block -> that of the same block of the next batch: times x^BATCH_BLOCKS, which
 * moves V_LANES whole bytes out at the top; these times x^7 + x^2 + x + 1 come in below. */
EVC_INLINE vec next_tweak(vec t)
{
    vec top = v_bytes_down(t, 16 - V_LANES);

    return v_bytes_up(t, V_LANES) ^ top ^ v_left32(top, 1) ^ v_left32(top, 2) ^ v_left32(top, 7);
}

EVC_INLINE void xts_of_batches(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                          size_t n_blocks, batches_function *crypt)
{
    vec q[8 * AT_ONCE], tweaks[8], *t = tweaks;
    __m128i next = load(tweak);

    EVC_KEEP(t); /* else GCC at -O3 has each tweak twice on the stack */
    for (unsigned i = 0; i < BATCH_BLOCKS; i++, next = times_x128(next))
        store((uint8_t *)t + 16 * i, next);
    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        const unsigned batches = load_batches(q, in, n = at_most(n_blocks, MOST_BLOCKS));
        for (unsigned j = 0; j < 8; j++) {
            vec now = t[j];
            for (unsigned b = 0; b < batches; b++, now = next_tweak(now))
                q[8 * b + j] ^= now;
        }
        crypt(key, q, batches);
        for (unsigned j = 0; j < 8; j++)
            for (unsigned b = 0; b < batches; b++, t[j] = next_tweak(t[j]))
                q[8 * b + j] ^= t[j];
        store_batches(out, q, n);
    }
    store(tweak, load((const uint8_t *)t));
}

/* Not inlined into the operations: their frames are then those of few blocks, and
 * `clear` has less to clear. */
EVC_OUT_OF_LINE void encrypt_blocks(const void *key, const uint8_t *in, uint8_t *out,
                                    size_t n_blocks)
{
    crypt_batches(key, in, out, n_blocks, encrypt_batches);
}

EVC_OUT_OF_LINE void decrypt_blocks(const void *key, const uint8_t *in, uint8_t *out,
                                    size_t n_blocks)
{
    crypt_batches(key, in, out, n_blocks, decrypt_batches);
}

EVC_OUT_OF_LINE void xts_encrypt_batches(const void *key, uint8_t tweak[16], const uint8_t *in,
                                         uint8_t *out, size_t n_blocks)
{
    xts_of_batches(key, tweak, in, out, n_blocks, encrypt_batches);
}

EVC_OUT_OF_LINE void xts_decrypt_batches(const void *key, uint8_t tweak[16], const uint8_t *in,
                                         uint8_t *out, size_t n_blocks)
{
    xts_of_batches(key, tweak, in, out, n_blocks, decrypt_batches);
}

#endif
