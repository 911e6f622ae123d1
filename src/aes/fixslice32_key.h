/* SPDX-License-Identifier: MIT */
/*
 * The key of the fix-sliced AES kernels with 32-bit words: round keys as eight words, word j bit j
 * of all bytes, of two blocks (the same for both), with the rows displaced as the state's are in
 * that round. For encryption and decryption.
 *
 * Bit 8r + 2c + b of a word is row r, column c of block b; c_fixslice32.c
 * tells what that is good for.
 */
#ifndef EVC_AES_FIXSLICE32_KEY_H
#define EVC_AES_FIXSLICE32_KEY_H

#include "everycore/aes.h"

#include "aes/ct_keys.h"
#include "common/bytes.h"

struct evc_aes_fixslice32_key {
    struct evc_aes_head head;
    uint32_t rk[EVC_AES_MAX_ROUNDS + 1][8]; /* sliced; from 1 on with EVC_CIRCUIT_KEY_XOR */
};

/* Written out, because a loop over the words keeps them in memory at -O1, -Os and GCC's -O2. */
#define EACH_COLUMN(DO) DO(0) DO(1) DO(2) DO(3)
#define EACH_BIT(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

/* Exchange the bits of *a under mask << n with the bits of *b under mask. */
EVC_INLINE void swap_bits(uint32_t *a, uint32_t *b, uint32_t mask, int n)
{
    uint32_t t = ((*a >> n) ^ *b) & mask;

    *b ^= t;
    *a ^= t << n;
}

/* In each byte position, the 8 x 8 bits of the eight words are transposed; its own inverse. */
EVC_INLINE void transpose(uint32_t q[8])
{
    swap_bits(&q[0], &q[1], UINT32_C(0x55555555), 1);
    swap_bits(&q[2], &q[3], UINT32_C(0x55555555), 1);
    swap_bits(&q[4], &q[5], UINT32_C(0x55555555), 1);
    swap_bits(&q[6], &q[7], UINT32_C(0x55555555), 1);
    swap_bits(&q[0], &q[2], UINT32_C(0x33333333), 2);
    swap_bits(&q[1], &q[3], UINT32_C(0x33333333), 2);
    swap_bits(&q[4], &q[6], UINT32_C(0x33333333), 2);
    swap_bits(&q[5], &q[7], UINT32_C(0x33333333), 2);
    swap_bits(&q[0], &q[4], UINT32_C(0x0f0f0f0f), 4);
    swap_bits(&q[1], &q[5], UINT32_C(0x0f0f0f0f), 4);
    swap_bits(&q[2], &q[6], UINT32_C(0x0f0f0f0f), 4);
    swap_bits(&q[3], &q[7], UINT32_C(0x0f0f0f0f), 4);
}

/* Columns of round key r as the state stands then: row i is displaced by i r columns. */
EVC_INLINE void load_round_key(uint32_t q[8], const uint8_t key[16], uint32_t r)
{
    uint32_t w[4], flip = r == 0 ? 0 : EVC_CIRCUIT_KEY_XOR * UINT32_C(0x01010101);

#define LOAD(c) w[c] = evc_load32_le(key + 4 * c) ^ flip;
    EACH_COLUMN(LOAD)
#undef LOAD
#define PLACE(c)                                                                                   \
    q[2 * c] = (w[c] & UINT32_C(0x000000ff)) | (w[(c - r) % 4] & UINT32_C(0x0000ff00)) |           \
               (w[(c - 2 * r) % 4] & UINT32_C(0x00ff0000)) |                                       \
               (w[(c - 3 * r) % 4] & UINT32_C(0xff000000));                                        \
    q[2 * c + 1] = q[2 * c];
    EACH_COLUMN(PLACE)
#undef PLACE
}

/* The slot set_key. */
static inline void evc_aes_fixslice32_set_key(void *vkey, const uint8_t *user_key)
{
    struct evc_aes_fixslice32_key *key = vkey;
    uint8_t enc[EVC_AES_MAX_ROUNDS + 1][16];
    uint32_t q[8];

    evc_ct_expand_key(enc, user_key, key->head.rounds);
    for (uint32_t r = 0; r <= key->head.rounds; r++) {
        load_round_key(q, enc[r], r);
        transpose(q);
#define STORE(j) key->rk[r][j] = q[j];
        EACH_BIT(STORE)
#undef STORE
    }
}

#endif
