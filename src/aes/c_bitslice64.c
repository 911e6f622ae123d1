/* SPDX-License-Identifier: MIT */
/*
 * AES on 4 blocks in eight 64-bit words, constant time, portable.
 *
 * Method:   fixslicing: ShiftRows is never done; round i mixes columns in the arrangement that i
 *           omitted ShiftRows leave, one of four. S-box by circuit; its NOTs are in the round keys.
 * Source:   FIPS 197 (2023) section 5; A. Adomnicai, T. Peyrin, "Fixslicing AES-like ciphers", TCHES
 *           2021(1); sbox_circuit.h.
 * Needs:    WORD64.   Timing: CT (no tables, no secret branches).
 * Key form: fixsliced.
 *
 * Bit 16 r + 4 c + b of word q[j] is bit j of the byte in row r, column c of block b (section 3.4).
 */
#include "aes/kernel.h"

#include "aes/ct_keys.h"
#include "common/bytes.h"
#include "common/ct.h"

#if EVC_WORD64 && defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#define STEP INLINE
#elif defined(__GNUC__)
/* Pairs of registers do not hold the state: steps apart, or the frame is as long as all of them. */
#define INLINE static inline
#define STEP static __attribute__((noinline))
#define EVC_CIRCUIT_INLINE static __attribute__((noinline, unused))
#else
#define INLINE static inline
#define STEP static inline
#endif

#define EVC_CIRCUIT_WORD uint64_t
#define EVC_CIRCUIT_NAME(function) function
#include "aes/sbox_circuit.h"

struct key {
    struct evc_aes_head head;
    /* Round key r as words like the state's, ShiftRows undone r times, EVC_CIRCUIT_KEY_XOR added to
     * all but the first. The same for both directions. */
    uint64_t planes[EVC_AES_MAX_ROUNDS + 1][8];
};

/* ---- Arrangement ----------------------------------------------------------------------------- */

/* Swaps the bits n places above mask in a with the bits under mask in b. */
INLINE void swap(uint64_t *a, uint64_t *b, int n, uint64_t mask)
{
    uint64_t t = ((*a >> n) ^ *b) & mask;

    *b ^= t;
    *a ^= t << n;
}

/* Words q[b] and q[4 + b] hold the halves of block b: columns 0, 1 and 2, 3. Afterwards q[b] holds
 * columns 0, 2 and q[4 + b] columns 1, 3, row by row: byte 2 r + c / 2. */
INLINE void gather_rows(uint64_t *lo, uint64_t *hi)
{
    swap(lo, hi, 8, UINT64_C(0x00ff00ff00ff00ff));
    swap(lo, hi, 16, UINT64_C(0x0000ffff0000ffff));
    swap(lo, hi, 32, UINT64_C(0x00000000ffffffff));
}

INLINE void scatter_rows(uint64_t *lo, uint64_t *hi)
{
    swap(lo, hi, 32, UINT64_C(0x00000000ffffffff));
    swap(lo, hi, 16, UINT64_C(0x0000ffff0000ffff));
    swap(lo, hi, 8, UINT64_C(0x00ff00ff00ff00ff));
}

/* Bit j of byte k of word i <-> bit i of byte k of word j. */
INLINE void transpose_bits(uint64_t q[8])
{
    const uint64_t ones = UINT64_C(0x5555555555555555), pairs = UINT64_C(0x3333333333333333),
                   nibbles = UINT64_C(0x0f0f0f0f0f0f0f0f);

    swap(q + 0, q + 1, 1, ones), swap(q + 2, q + 3, 1, ones);
    swap(q + 4, q + 5, 1, ones), swap(q + 6, q + 7, 1, ones);
    swap(q + 0, q + 2, 2, pairs), swap(q + 1, q + 3, 2, pairs);
    swap(q + 4, q + 6, 2, pairs), swap(q + 5, q + 7, 2, pairs);
    swap(q + 0, q + 4, 4, nibbles), swap(q + 1, q + 5, 4, nibbles);
    swap(q + 2, q + 6, 4, nibbles), swap(q + 3, q + 7, 4, nibbles);
}

/* The 64 bytes at in as a state. */
INLINE void load(uint64_t q[8], const uint8_t *in)
{
    q[0] = evc_load64_le(in), q[4] = evc_load64_le(in + 8);
    q[1] = evc_load64_le(in + 16), q[5] = evc_load64_le(in + 24);
    q[2] = evc_load64_le(in + 32), q[6] = evc_load64_le(in + 40);
    q[3] = evc_load64_le(in + 48), q[7] = evc_load64_le(in + 56);
    gather_rows(q + 0, q + 4), gather_rows(q + 1, q + 5);
    gather_rows(q + 2, q + 6), gather_rows(q + 3, q + 7);
    transpose_bits(q);
}

INLINE void store(uint8_t *out, uint64_t q[8])
{
    transpose_bits(q);
    scatter_rows(q + 0, q + 4), scatter_rows(q + 1, q + 5);
    scatter_rows(q + 2, q + 6), scatter_rows(q + 3, q + 7);
    evc_store64_le(out, q[0]), evc_store64_le(out + 8, q[4]);
    evc_store64_le(out + 16, q[1]), evc_store64_le(out + 24, q[5]);
    evc_store64_le(out + 32, q[2]), evc_store64_le(out + 40, q[6]);
    evc_store64_le(out + 48, q[3]), evc_store64_le(out + 56, q[7]);
}

/* ---- Steps of a round ------------------------------------------------------------------------ */

/* Within every row, columns 2 and 3 of rows 1 and 3 change places with 0 and 1: ShiftRows twice. */
INLINE uint64_t shift_twice(uint64_t x)
{
    uint64_t t = ((x >> 8) ^ x) & UINT64_C(0x00ff000000ff0000);

    return x ^ t ^ t << 8;
}

INLINE void shift_twice8(uint64_t q[8])
{
    q[0] = shift_twice(q[0]), q[1] = shift_twice(q[1]), q[2] = shift_twice(q[2]);
    q[3] = shift_twice(q[3]), q[4] = shift_twice(q[4]), q[5] = shift_twice(q[5]);
    q[6] = shift_twice(q[6]), q[7] = shift_twice(q[7]);
}

INLINE void add_round_key(uint64_t q[8], const uint64_t k[8])
{
    q[0] ^= k[0], q[1] ^= k[1], q[2] ^= k[2], q[3] ^= k[3];
    q[4] ^= k[4], q[5] ^= k[5], q[6] ^= k[6], q[7] ^= k[7];
}

INLINE uint64_t ror(uint64_t x, int n)
{
    return x >> n | x << (64 - n);
}

/*
 * Round i mixes columns while i times ShiftRows is still to be done, so the next byte of a column is
 * one row down and i columns on: next_row(); the one after that: 2 i columns on, second_row().
 *
 * In a row of 16 bits, columns that are moved down by s come from s columns higher, or, wrapped round
 * the row, from 4 - s lower: the difference of the two rotations is one row, 16 bits.
 */
INLINE uint64_t next_row(uint64_t x, int i)
{
    uint64_t stay;

    switch (i) {
    case 1: stay = x & UINT64_C(0x000f000f000f000f); break;
    case 2: stay = x & UINT64_C(0x00ff00ff00ff00ff); break;
    case 3: stay = x & UINT64_C(0x0fff0fff0fff0fff); break;
    default: return ror(x, 16);
    }
    return ror(ror(x ^ stay, 16) ^ stay, 4 * i);
}

INLINE uint64_t second_row(uint64_t x, int i)
{
    uint64_t stay;

    if (i % 2 == 0)
        return ror(x, 32);
    stay = x & UINT64_C(0x00ff00ff00ff00ff);
    return ror(ror(x ^ stay, 16) ^ stay, 24);
}

/* MixColumns (section 5.1.3) and AddRoundKey. With t = x ^ next(x): 2 t ^ next(x) ^ second(t). */
STEP void mix_columns(uint64_t q[8], const uint64_t k[8], int i)
{
    uint64_t n7 = next_row(q[7], i), t7 = q[7] ^ n7;
    uint64_t n6 = next_row(q[6], i), t6 = q[6] ^ n6;
    uint64_t n5 = next_row(q[5], i), t5 = q[5] ^ n5;
    uint64_t n4 = next_row(q[4], i), t4 = q[4] ^ n4;
    uint64_t n3 = next_row(q[3], i), t3 = q[3] ^ n3;
    uint64_t n2 = next_row(q[2], i), t2 = q[2] ^ n2;
    uint64_t n1 = next_row(q[1], i), t1 = q[1] ^ n1;
    uint64_t n0 = next_row(q[0], i), t0 = q[0] ^ n0;

    q[7] = n7 ^ second_row(t7, i) ^ t6 ^ k[7];
    q[6] = n6 ^ second_row(t6, i) ^ t5 ^ k[6];
    q[5] = n5 ^ second_row(t5, i) ^ t4 ^ k[5];
    q[4] = n4 ^ second_row(t4, i) ^ t3 ^ t7 ^ k[4];
    q[3] = n3 ^ second_row(t3, i) ^ t2 ^ t7 ^ k[3];
    q[2] = n2 ^ second_row(t2, i) ^ t1 ^ k[2];
    q[1] = n1 ^ second_row(t1, i) ^ t0 ^ t7 ^ k[1];
    q[0] = n0 ^ second_row(t0, i) ^ t7 ^ k[0];
}

/* AddRoundKey and InvMixColumns, which is MixColumns after x -> x ^ 4 (x ^ second(x)). */
STEP void inv_mix_columns(uint64_t q[8], const uint64_t k[8], int i)
{
    static const uint64_t none[8];
    uint64_t u0, u1, u2, u3, u4, u5, u6, u7;

    add_round_key(q, k);
    u7 = q[7] ^ second_row(q[7], i), u6 = q[6] ^ second_row(q[6], i);
    u5 = q[5] ^ second_row(q[5], i), u4 = q[4] ^ second_row(q[4], i);
    u3 = q[3] ^ second_row(q[3], i), u2 = q[2] ^ second_row(q[2], i);
    u1 = q[1] ^ second_row(q[1], i), u0 = q[0] ^ second_row(q[0], i);
    q[7] ^= u5;
    q[6] ^= u4;
    q[5] ^= u3 ^ u7;
    q[4] ^= u2 ^ u7 ^ u6;
    q[3] ^= u1 ^ u6;
    q[2] ^= u0 ^ u7;
    q[1] ^= u7 ^ u6;
    q[0] ^= u6;
    mix_columns(q, none, i);
}

/* ---- Four blocks ----------------------------------------------------------------------------- */

static void encrypt4(const struct key *key, const uint8_t *in, uint8_t *out)
{
    const uint64_t (*k)[8] = key->planes, (*last)[8] = k + key->head.rounds;
    uint64_t q[8];

    load(q, in);
    add_round_key(q, *k++);
    for (;;) {
        sub_bytes(q);
        mix_columns(q, *k++, 1);
        sub_bytes(q);
        if (k == last) /* 10 and 14 rounds */
            break;
        mix_columns(q, *k++, 2);
        sub_bytes(q);
        mix_columns(q, *k++, 3);
        sub_bytes(q);
        if (k == last) /* 12 rounds */
            break;
        mix_columns(q, *k++, 0);
    }
    add_round_key(q, *k);
    if (key->head.rounds != 12)
        shift_twice8(q);
    store(out, q);
}

static void decrypt4(const struct key *key, const uint8_t *in, uint8_t *out)
{
    const uint64_t (*k)[8] = key->planes + key->head.rounds;
    uint64_t q[8];

    load(q, in);
    if (key->head.rounds != 12)
        shift_twice8(q);
    add_round_key(q, *k--);
    if (key->head.rounds == 12)
        goto from_12;
    for (;;) {
        inv_sub_bytes(q);
        inv_mix_columns(q, *k--, 1);
        inv_sub_bytes(q);
        if (k == key->planes)
            break;
        inv_mix_columns(q, *k--, 0);
    from_12:
        inv_sub_bytes(q);
        inv_mix_columns(q, *k--, 3);
        inv_sub_bytes(q);
        inv_mix_columns(q, *k--, 2);
    }
    add_round_key(q, *k);
    store(out, q);
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;
    const uint32_t rounds = key->head.rounds;
    uint8_t schedule[EVC_AES_MAX_ROUNDS + 1][16], four[64];

    evc_ct_expand_key(schedule, user_key, rounds);
    for (uint32_t r = 0; r <= rounds; r++) {
        for (uint32_t i = 0; i < 64; i++) { /* byte i % 4 + 4 c of a block: row i % 4 */
            uint32_t column = (i / 4 + 3 * r * (i % 4)) % 4; /* moved right by r times the row */
            four[i] = (uint8_t)(schedule[r][4 * column + i % 4] ^
                                (r ? EVC_CIRCUIT_KEY_XOR : 0));
        }
        load(key->planes[r], four);
    }
    evc_wipe(schedule, sizeof schedule);
    evc_wipe(four, sizeof four);
}

/* ---- Any number of blocks -------------------------------------------------------------------- */

static void crypt(const struct key *key, const uint8_t *in, uint8_t *out, size_t n_blocks,
                  void (*crypt4)(const struct key *, const uint8_t *, uint8_t *))
{
    uint8_t rest[64];

    for (; n_blocks >= 4; n_blocks -= 4, in += 64, out += 64)
        crypt4(key, in, out);
    if (n_blocks) {
        memset(rest, 0, sizeof rest);
        memcpy(rest, in, 16 * n_blocks);
        crypt4(key, rest, rest);
        memcpy(out, rest, 16 * n_blocks);
        evc_wipe(rest, sizeof rest);
    }
}

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    crypt(key, in, out, n_blocks, encrypt4);
}

static void decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    crypt(key, in, out, n_blocks, decrypt4);
}

const struct evc_aes evc_aes_c_bitslice64 = {
    .kernel = EVC_KERNEL_HEAD(c_bitslice64, WORD64, CT, PARALLEL, 4, struct key, 0),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
};
