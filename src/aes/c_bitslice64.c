/* SPDX-License-Identifier: MIT */
/*
 * AES on 4 blocks in eight 64-bit words, constant time, portable.
 *
 * Method:   fixslicing: ShiftRows is never done; round i mixes columns in the arrangement that i
 *           omitted ShiftRows leave, one of four. S-box by circuit; its NOTs are in the round keys.
 * Source:   FIPS 197 (2023) section 5; A. Adomnicai, T. Peyrin, "Fixslicing AES-like ciphers",
 *           TCHES 2021(1); sbox_circuit.h.
 * Needs:    WORD64.   Timing: CT (no tables, no secret branches).
 * Key form: fixsliced.
 *
 * Bit 16 r + 4 c + b of word q[j] is bit j of the byte in row r, column c of block b (section 3.4).
 */
#include "common/few_spills.h"

#include "aes/kernel.h"

#include "aes/ct_keys.h"
#include "aes/tweak.h"
#include "common/bytes.h"
#include "common/clear.h"
#include "common/ct.h"

#define EVC_CIRCUIT_WORD uint64_t
#define EVC_CIRCUIT_NAME(function) function
#include "aes/sbox_circuit.h"

/* With registers of 32 bits, the steps of a round are functions of their own: inlined, their
 * temporaries make frames of more than 1 KiB. */
#if EVC_GNU_C && !EVC_WORD64
#define ROUND static __attribute__((__noinline__))
#else
#define ROUND EVC_INLINE
#endif

struct key {
    struct evc_aes_head head;
    /* Round key r as words like the state's, ShiftRows undone r times, EVC_CIRCUIT_KEY_XOR added to
     * all but the first. The same for both directions. */
    uint64_t planes[EVC_AES_MAX_ROUNDS + 1][8];
};

/* ---- Arrangement ----------------------------------------------------------------------------- */

/* Swaps the bits n places above mask in a with the bits under mask in b. */
EVC_INLINE void swap(uint64_t *a, uint64_t *b, int n, uint64_t mask)
{
    uint64_t t = evc_scalar64(((*a >> n) ^ *b) & mask);

    *b ^= t;
    *a ^= t << n;
}

/* Words q[b] and q[4 + b] hold the halves of block b: columns 0, 1 and 2, 3. Afterwards q[b] holds
 * columns 0, 2 and q[4 + b] columns 1, 3, row by row: byte 2 r + c / 2. */
EVC_INLINE void gather_rows(uint64_t *lo, uint64_t *hi)
{
    swap(lo, hi, 8, UINT64_C(0x00ff00ff00ff00ff));
    swap(lo, hi, 16, UINT64_C(0x0000ffff0000ffff));
    swap(lo, hi, 32, UINT64_C(0x00000000ffffffff));
}

EVC_INLINE void scatter_rows(uint64_t *lo, uint64_t *hi)
{
    swap(lo, hi, 32, UINT64_C(0x00000000ffffffff));
    swap(lo, hi, 16, UINT64_C(0x0000ffff0000ffff));
    swap(lo, hi, 8, UINT64_C(0x00ff00ff00ff00ff));
}

/* Bit j of byte k of word i <-> bit i of byte k of word j. */
EVC_INLINE void transpose_bits(uint64_t q[8])
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

/* w[2 b] and w[2 b + 1]: the halves of block b, little-endian. */
EVC_INLINE void slice(uint64_t q[8], const uint64_t w[8])
{
    q[0] = w[0], q[1] = w[2], q[2] = w[4], q[3] = w[6];
    q[4] = w[1], q[5] = w[3], q[6] = w[5], q[7] = w[7];
    gather_rows(q + 0, q + 4), gather_rows(q + 1, q + 5);
    gather_rows(q + 2, q + 6), gather_rows(q + 3, q + 7);
    transpose_bits(q);
}

EVC_INLINE void unslice(uint64_t w[8], uint64_t q[8])
{
    transpose_bits(q);
    scatter_rows(q + 0, q + 4), scatter_rows(q + 1, q + 5);
    scatter_rows(q + 2, q + 6), scatter_rows(q + 3, q + 7);
    w[0] = q[0], w[2] = q[1], w[4] = q[2], w[6] = q[3];
    w[1] = q[4], w[3] = q[5], w[5] = q[6], w[7] = q[7];
}

/* ---- Steps of a round ------------------------------------------------------------------------ */

/* Within every row, columns 2 and 3 of rows 1 and 3 change places with 0 and 1: ShiftRows twice. */
EVC_INLINE uint64_t shift_twice(uint64_t x)
{
    uint64_t t = evc_scalar64(((x >> 8) ^ x) & UINT64_C(0x00ff000000ff0000));

    return x ^ t ^ t << 8;
}

EVC_INLINE void shift_twice8(uint64_t q[8])
{
    q[0] = shift_twice(q[0]), q[1] = shift_twice(q[1]), q[2] = shift_twice(q[2]);
    q[3] = shift_twice(q[3]), q[4] = shift_twice(q[4]), q[5] = shift_twice(q[5]);
    q[6] = shift_twice(q[6]), q[7] = shift_twice(q[7]);
}

EVC_INLINE void add_round_key(uint64_t q[8], const uint64_t k[8])
{
    q[0] = evc_scalar64(q[0] ^ k[0]), q[1] = evc_scalar64(q[1] ^ k[1]);
    q[2] = evc_scalar64(q[2] ^ k[2]), q[3] = evc_scalar64(q[3] ^ k[3]);
    q[4] = evc_scalar64(q[4] ^ k[4]), q[5] = evc_scalar64(q[5] ^ k[5]);
    q[6] = evc_scalar64(q[6] ^ k[6]), q[7] = evc_scalar64(q[7] ^ k[7]);
}

EVC_INLINE uint64_t ror(uint64_t x, int n)
{
    return evc_scalar64(x >> n | x << (64 - n));
}

/*
 * Round i mixes columns while i times ShiftRows is still to be done, so the next byte of a column
 * is one row down and i columns on: next_row(); the one after that: 2 i columns on, second_row().
 *
 * In a row of 16 bits, columns that move down by s come from s columns higher, or, wrapped round
 * the row, from 4 - s lower: the difference of the two rotations is one row, 16 bits.
 */
EVC_INLINE uint64_t next_row(uint64_t x, int i)
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

EVC_INLINE uint64_t second_row(uint64_t x, int i)
{
    uint64_t stay;

    if (i % 2 == 0)
        return ror(x, 32);
    stay = x & UINT64_C(0x00ff00ff00ff00ff);
    return ror(ror(x ^ stay, 16) ^ stay, 24);
}

/* MixColumns (section 5.1.3) and AddRoundKey. With t = x ^ next(x): 2 t ^ next(x) ^ second(t). */
EVC_INLINE void mix_columns(uint64_t q[8], const uint64_t k[8], int i)
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
EVC_INLINE void inv_mix_columns(uint64_t q[8], const uint64_t k[8], int i)
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

ROUND void sub(uint64_t q[8])
{
    sub_bytes(q);
}

ROUND void inv_sub(uint64_t q[8])
{
    inv_sub_bytes(q);
}

ROUND void round_(uint64_t q[8], const uint64_t k[8], int i)
{
    sub(q);
    mix_columns(q, k, i);
}

ROUND void inv_round(uint64_t q[8], const uint64_t k[8], int i)
{
    inv_sub(q);
    inv_mix_columns(q, k, i);
}

/* ---- Four blocks, in place ------------------------------------------------------------------- */

static void encrypt4(const struct key *key, uint64_t w[8])
{
    const uint64_t (*k)[8] = key->planes, (*last)[8] = k + key->head.rounds;
    uint64_t q[8];

    slice(q, w);
    add_round_key(q, *k++);
    for (;;) {
        round_(q, *k++, 1);
        if (k == last) /* 10 and 14 rounds */
            break;
        round_(q, *k++, 2);
        round_(q, *k++, 3);
        if (k == last) /* 12 rounds */
            break;
        round_(q, *k++, 0);
    }
    sub(q);
    add_round_key(q, *k);
    if (key->head.rounds != 12)
        shift_twice8(q);
    unslice(w, q);
}

static void decrypt4(const struct key *key, uint64_t w[8])
{
    const uint64_t (*k)[8] = key->planes + key->head.rounds;
    uint64_t q[8];

    slice(q, w);
    if (key->head.rounds != 12)
        shift_twice8(q);
    add_round_key(q, *k--);
    if (key->head.rounds == 12)
        goto from_12_rounds;
    for (;;) {
        inv_round(q, *k--, 1);
        if (k == key->planes)
            break;
        inv_round(q, *k--, 0);
    from_12_rounds:
        inv_round(q, *k--, 3);
        inv_round(q, *k--, 2);
    }
    inv_sub(q);
    add_round_key(q, *k);
    unslice(w, q);
}

typedef void crypt_function(const struct key *, uint64_t w[8]);

/* ---- Key ------------------------------------------------------------------------------------- */

/* to = from with ShiftRows undone r times: row i comes from i r columns back. The columns are
 * little-endian. */
static void unshift(uint32_t to[4], const uint32_t from[4], uint32_t r)
{
    for (uint32_t c = 0; c < 4; c++)
        to[c] = (from[c] & 0xff) | (from[(c + 3 * r) % 4] & 0xff00) |
                (from[(c + 2 * r) % 4] & 0xff0000) | (from[(c + r) % 4] & UINT32_C(0xff000000));
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;
    const uint32_t rounds = key->head.rounds;
    uint8_t schedule[EVC_AES_MAX_ROUNDS + 1][16];
    uint32_t column[4], moved[4], flip = 0;
    uint64_t w[8], q[8];

    evc_ct_expand_key(schedule, user_key, rounds);
    for (uint32_t r = 0; r <= rounds; r++, flip = EVC_CIRCUIT_KEY_XOR * UINT32_C(0x01010101)) {
        for (uint32_t c = 0; c < 4; c++)
            column[c] = evc_load32_le(schedule[r] + 4 * c) ^ flip;
        unshift(moved, column, r);
        w[0] = w[2] = w[4] = w[6] = moved[0] | (uint64_t)moved[1] << 32;
        w[1] = w[3] = w[5] = w[7] = moved[2] | (uint64_t)moved[3] << 32;
        slice(q, w);
        memcpy(key->planes[r], q, sizeof q);
    }
}

/* ---- Operations: up to four blocks at a time ------------------------------------------------- */

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

/* n words, then zeros up to n_room. */
EVC_INLINE void load_words(uint64_t *w, const uint8_t *in, size_t n, size_t n_room)
{
    for (size_t i = 0; i < n_room; i++)
        w[i] = i < n ? evc_load64_le(in + 8 * i) : 0;
}

/* out = w ^ mask, n words. The barrier keeps compilers from reading w, written word by word, as
 * vectors: a load wider than the stores before it waits until they have left the core. */
static void store_words(uint8_t *out, const uint64_t w[8], const uint64_t mask[8], size_t n)
{
    for (size_t i = 0; i < n; i++)
        evc_store64_le(out + 8 * i, evc_barrier64(w[i]) ^ mask[i]);
}

static void crypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks,
                  crypt_function *crypt4)
{
    static const uint64_t none[8];
    uint64_t w[8];

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = at_most(n_blocks, 4);
        load_words(w, in, 2 * n, 8);
        crypt4(key, w);
        store_words(out, w, none, 2 * n);
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

static void ctr32(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out,
                  size_t len_bytes)
{
    const uint64_t lo = evc_load64_le(counter), hi = evc_load32_le(counter + 8);
    uint32_t count = evc_load32_be(counter + 12);
    uint64_t w[8], text[8];
    uint8_t rest[64];

    evc_store32_be(counter + 12, count + (uint32_t)((len_bytes + 15) / 16));
    for (size_t n; len_bytes; len_bytes -= n, in += n, out += n) {
        n = at_most(len_bytes, 64);
        for (size_t b = 0; b < 8; b += 2) {
            w[b] = lo;
            w[b + 1] = hi | (uint64_t)evc_bswap32(count) << 32;
            /* Opaque, so that b counts the loop: GCM's counter may depend on the key. */
            count = evc_barrier32(count + 1);
        }
        encrypt4(key, w);
        if (n == 64) {
            load_words(text, in, 8, 8);
            store_words(out, w, text, 8);
        } else {
            memset(text, 0, sizeof text);
            store_words(rest, w, text, 8);
            evc_xor(out, in, rest, n);
        }
    }
}

static void cbc_decrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    uint64_t w[8], chain[2], next[2];

    load_words(chain, iv, 2, 2);
    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = at_most(n_blocks, 4);
        load_words(w, in, 2 * n, 8);
        next[0] = w[2 * n - 2], next[1] = w[2 * n - 1];
        decrypt4(key, w);
        /* From the last word to the first: where out is in, a block's mask is still there. */
        for (size_t i = 2 * n - 1; i > 1; i--)
            evc_store64_le(out + 8 * i, evc_barrier64(w[i]) ^ evc_load64_le(in + 8 * i - 16));
        evc_store64_le(out + 8, evc_barrier64(w[1]) ^ chain[1]);
        evc_store64_le(out, evc_barrier64(w[0]) ^ chain[0]);
        chain[0] = next[0], chain[1] = next[1];
    }
    evc_store64_le(iv, chain[0]);
    evc_store64_le(iv + 8, chain[1]);
}

EVC_INLINE void crypt_xts(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                          size_t n_blocks, crypt_function *crypt4)
{
    uint64_t w[8], tweaks[8];

    for (size_t n; n_blocks; n_blocks -= n, in += 16 * n, out += 16 * n) {
        n = at_most(n_blocks, 4);
        load_words(w, in, 2 * n, 8);
        for (size_t i = 0; i < 2 * n; i += 2) {
            tweaks[i] = evc_load64_le(tweak), tweaks[i + 1] = evc_load64_le(tweak + 8);
            w[i] ^= tweaks[i], w[i + 1] ^= tweaks[i + 1];
            evc_aes_next_tweak(tweak);
        }
        crypt4(key, w);
        store_words(out, w, tweaks, 2 * n);
    }
}

static void xts_encrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    crypt_xts(key, tweak, in, out, n_blocks, encrypt4);
}

static void xts_decrypt(const void *key, uint8_t tweak[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    crypt_xts(key, tweak, in, out, n_blocks, decrypt4);
}

#define HEAD EVC_KERNEL_HEAD(c_bitslice64, WORD64, CT, PARALLEL, 4, struct key, 0, BASELINE, \
                             EVC_DEEP(448))

const struct evc_aes evc_aes_c_bitslice64 = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .ctr32 = ctr32,
    .cbc_decrypt = cbc_decrypt,
    .xts_encrypt = xts_encrypt,
    .xts_decrypt = xts_decrypt,
};

const struct evc_aes evc_aes_c_bitslice64_forward = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .ctr32 = ctr32,
};
