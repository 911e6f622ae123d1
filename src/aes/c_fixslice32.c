/* SPDX-License-Identifier: MIT */
/*
 * AES bit-sliced over 32-bit words, two blocks at once, without ShiftRows.
 *
 * Method:   eight words, word j holds bit j of all 32 bytes: bit 8r + 2c + b of it is row r,
 *           column c of block b. ShiftRows is never carried out: after i rounds, row r stands i r
 *           columns further right, and MixColumns and the round keys allow for that, i counting
 *           modulo 4. Decryption walks the same path back with the same round keys.
 * Source:   A. Adomnicai, T. Peyrin, Fixslicing AES-like ciphers, CHES 2021; S-box: sbox_circuit.h.
 * Needs:    ANY.   Timing: CT (no tables, no secret branches).
 * Key form: fixsliced.
 */
#include "common/few_spills.h"

#include "aes/kernel.h"

#include "aes/fixslice32_key.h"
#include "common/bytes.h"
#include "common/ct.h"

#define EVC_CIRCUIT_WORD uint32_t
#define EVC_CIRCUIT_NAME(function) function
#include "aes/sbox_circuit.h"

/* ---- In and out of the sliced form --------------------------------------------------------- */

/* Two ShiftRows on the columns of two blocks, word 2c + b: rows 1 and 3 move by two columns. */
EVC_INLINE void shift_rows_twice(uint32_t w[8])
{
    uint32_t t;

#define SHIFT(i) t = (w[i] ^ w[i + 4]) & UINT32_C(0xff00ff00), w[i] ^= t, w[i + 4] ^= t;
    EACH_COLUMN(SHIFT)
#undef SHIFT
}

EVC_INLINE void load_blocks(uint32_t q[8], const uint8_t *a, const uint8_t *b)
{
#define LOAD(c)                                                                                    \
    q[2 * c] = evc_barrier32(evc_load32_le(a + 4 * c));                                            \
    q[2 * c + 1] = evc_barrier32(evc_load32_le(b + 4 * c));
    EACH_COLUMN(LOAD)
#undef LOAD
}

EVC_INLINE void store_blocks(uint8_t *a, uint8_t *b, const uint32_t q[8])
{
#define STORE(c)                                                                                   \
    evc_store32_le(a + 4 * c, evc_barrier32(q[2 * c]));                                            \
    evc_store32_le(b + 4 * c, evc_barrier32(q[2 * c + 1]));
    EACH_COLUMN(STORE)
#undef STORE
}

/* ---- Rounds -------------------------------------------------------------------------------- */

EVC_INLINE uint32_t ror(uint32_t x, int n)
{
    return (x >> n) | (x << (32 - n));
}

/*
 * Row r, column c gets row r + 1, column c + k: in a state whose rows are k r columns displaced,
 * the next row of the same column.
 *
 * The barriers here and below keep the words apart: clang from 15 on with AVX-512 would otherwise
 * collect rotations in vectors, at 1.3 times the cost. They cost no instruction.
 */
EVC_INLINE uint32_t row1(uint32_t x, int k)
{
    const uint32_t wraps = (0xffu << (8 - 2 * k) & 0xff) * UINT32_C(0x01010101);
    uint32_t stays;

    if (k == 0)
        return ror(x, 8);
    stays = evc_barrier32(ror(x, 8 + 2 * k));
    return stays ^ ((stays ^ ror(x, 2 * k)) & wraps);
}

/* Row r, column c gets row r + 2, column c + 2k. */
EVC_INLINE uint32_t row2(uint32_t x, int k)
{
    uint32_t stays;

    if (k % 2 == 0)
        return ror(x, 16);
    stays = evc_barrier32(ror(x, 20));
    return stays ^ ((stays ^ ror(x, 12)) & UINT32_C(0xf0f0f0f0));
}

EVC_INLINE void add_round_key(uint32_t q[8], const uint32_t rk[8])
{
#define ADD(j) q[j] = evc_barrier32(q[j] ^ rk[j]);
    EACH_BIT(ADD)
#undef ADD
}

/* With t = x + (x one row on), 2 t + (x one row on) + (t two rows on) is
 * 2 x[r] + 3 x[r+1] + x[r+2] + x[r+3] (section 5.1.3). */
EVC_INLINE void mix_columns(uint32_t q[8], int k)
{
    uint32_t t[8], next;

#define MIX(j)                                                                                     \
    next = row1(q[j], k), t[j] = evc_barrier32(q[j] ^ next), q[j] = next ^ row2(t[j], k);
    EACH_BIT(MIX)
#undef MIX
    q[0] ^= t[7];
    q[1] ^= t[0] ^ t[7];
    q[2] ^= t[1];
    q[3] ^= t[2] ^ t[7];
    q[4] ^= t[3] ^ t[7];
    q[5] ^= t[4];
    q[6] ^= t[5];
    q[7] ^= t[6];
}

/* InvMixColumns (section 5.3.3) is MixColumns after x[r] + 4 (x[r] + x[r+2]). */
EVC_INLINE void inv_mix_columns(uint32_t q[8], int k)
{
    uint32_t t[8];

#define MIX(j) t[j] = evc_barrier32(q[j] ^ row2(q[j], k));
    EACH_BIT(MIX)
#undef MIX
    q[0] ^= t[6];
    q[1] ^= t[6] ^ t[7];
    q[2] ^= t[0] ^ t[7];
    q[3] ^= t[1] ^ t[6];
    q[4] ^= t[2] ^ t[6] ^ t[7];
    q[5] ^= t[3] ^ t[7];
    q[6] ^= t[4];
    q[7] ^= t[5];
    mix_columns(q, k);
}

static void encrypt_two(const struct evc_aes_fixslice32_key *key, const uint8_t *in_a,
                        const uint8_t *in_b, uint8_t *out_a, uint8_t *out_b)
{
    const uint32_t rounds = key->head.rounds;
    uint32_t q[8];

    load_blocks(q, in_a, in_b);
    transpose(q);
    add_round_key(q, key->rk[0]);
    for (uint32_t r = 1;; r += 4) {
        sub_bytes(q), mix_columns(q, 1), add_round_key(q, key->rk[r]);
        if (r + 1 == rounds) /* 10, 14 */
            break;
        sub_bytes(q), mix_columns(q, 2), add_round_key(q, key->rk[r + 1]);
        sub_bytes(q), mix_columns(q, 3), add_round_key(q, key->rk[r + 2]);
        if (r + 3 == rounds) /* 12 */
            break;
        sub_bytes(q), mix_columns(q, 0), add_round_key(q, key->rk[r + 3]);
    }
    sub_bytes(q);
    add_round_key(q, key->rk[rounds]);
    transpose(q);
    if (rounds != 12)
        shift_rows_twice(q);
    store_blocks(out_a, out_b, q);
}

static void decrypt_two(const struct evc_aes_fixslice32_key *key, const uint8_t *in_a,
                        const uint8_t *in_b, uint8_t *out_a, uint8_t *out_b)
{
    const uint32_t rounds = key->head.rounds;
    uint32_t q[8], r = rounds;

    load_blocks(q, in_a, in_b);
    if (rounds != 12)
        shift_rows_twice(q);
    transpose(q);
    add_round_key(q, key->rk[r]);
    if (rounds == 12)
        goto three;
    for (;;) {
        inv_sub_bytes(q), add_round_key(q, key->rk[--r]), inv_mix_columns(q, 1);
        if (r == 1)
            break;
        inv_sub_bytes(q), add_round_key(q, key->rk[--r]), inv_mix_columns(q, 0);
    three:
        inv_sub_bytes(q), add_round_key(q, key->rk[--r]), inv_mix_columns(q, 3);
        inv_sub_bytes(q), add_round_key(q, key->rk[--r]), inv_mix_columns(q, 2);
    }
    inv_sub_bytes(q);
    add_round_key(q, key->rk[0]);
    transpose(q);
    store_blocks(out_a, out_b, q);
}

/* The last block of an odd number goes through both halves. */
static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    for (; n_blocks > 1; n_blocks -= 2, in += 32, out += 32)
        encrypt_two(key, in, in + 16, out, out + 16);
    if (n_blocks)
        encrypt_two(key, in, in, out, out);
}

static void decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    for (; n_blocks > 1; n_blocks -= 2, in += 32, out += 32)
        decrypt_two(key, in, in + 16, out, out + 16);
    if (n_blocks)
        decrypt_two(key, in, in, out, out);
}

#define HEAD EVC_KERNEL_HEAD(c_fixslice32, ANY, CT, ANY, 2, struct evc_aes_fixslice32_key, 0, \
                             BASELINE, 832)

const struct evc_aes evc_aes_c_fixslice32 = {
    .kernel = HEAD,
    .set_key = evc_aes_fixslice32_set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
};

const struct evc_aes evc_aes_c_fixslice32_forward = {
    .kernel = HEAD,
    .set_key = evc_aes_fixslice32_set_key,
    .encrypt = encrypt,
};
