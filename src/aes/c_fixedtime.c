/* SPDX-License-Identifier: MIT */
/*
 * AES with the 256-byte S-box alone, all of which is read before every block.
 *
 * Method:   SubBytes by look-up, MixColumns by shifts on pairs of columns. Values of the S-box, 8
 *           bytes from each of its 16-byte lines, are part of the first round key and are taken
 *           out again at every use: no index is known before the whole table is cached.
 * Source:   FIPS 197 (2023) section 5; small tables read in advance: Osvik, Shamir, Tromer, Cache
 *           Attacks and Countermeasures (2006); the values in the round key: A. Biesheuvel's
 *           fixed-time AES for Linux (2017), here with all lines in every word.
 * Needs:    ANY.   Timing: HARDENED (NOT constant time: the S-box is still indexed by secrets, and
 *           tools that look for that must find it. Left to an attacker: evicting lines of the table
 *           within one block, by another thread of the core or an interrupt, and differences inside
 *           a line, such as cache banks).
 * Key form: private (pairs of columns, with the values mixed in).
 */
#include "aes/kernel.h"

#include "aes/columns.h"
#include "aes/key_schedule.h"
#include "aes/sbox.h"
#include "common/bytes.h"
#include "common/clear.h"
#include "common/ct.h"

/*
 * A pair of columns: bits 16 r to 16 r + 7 are row r of the first, bits 16 r + 8 to 16 r + 15 that
 * of the second. All rows of both move by one rotation, and MixColumns is half the work on 64-bit
 * registers. The state is two pairs: columns 0 and 1, columns 2 and 3.
 */
typedef uint64_t pair;

struct key {
    struct evc_aes_head head;
    pair enc[EVC_AES_MAX_ROUNDS + 1][2]; /* section 5.2; both of enc[0] ^ touch(evc_aes_sbox) */
    pair dec[EVC_AES_MAX_ROUNDS + 1][2]; /* 5.3.5; both of dec[0] ^ touch(evc_aes_inv_sbox) */
};

/* ---- Pairs of columns ---------------------------------------------------------------------- */

/* Exchange the bits of x under mask with those n places higher. */
EVC_INLINE pair swap_within(pair x, int n, pair mask)
{
    pair t = ((x >> n) ^ x) & mask;

    return x ^ t ^ (t << n);
}

/* p: 8 bytes, unaligned. */
EVC_INLINE pair load_pair(const uint8_t *p)
{
    pair x = swap_within(evc_load64_le(p), 16, UINT64_C(0x00000000ffff0000));

    return swap_within(x, 8, UINT64_C(0x0000ff000000ff00));
}

EVC_INLINE void store_pair(uint8_t *p, pair x)
{
    x = swap_within(x, 8, UINT64_C(0x0000ff000000ff00));
    evc_store64_le(p, swap_within(x, 16, UINT64_C(0x00000000ffff0000)));
}

/* Row r gets row r + n. */
EVC_INLINE pair rows_up(pair x, int n)
{
    return (x >> (16 * n)) | (x << (64 - 16 * n));
}

/* Each of the eight bytes times x in GF(2^8) (xTimes, section 4.2). */
EVC_INLINE pair times2(pair x)
{
    pair high = x & UINT64_C(0x8080808080808080);

    return ((x ^ high) << 1) ^ ((high - (high >> 7)) & UINT64_C(0x1b1b1b1b1b1b1b1b));
}

/* MixColumns (section 5.1.3): row r is 2 x[r] + 3 x[r+1] + x[r+2] + x[r+3]. */
EVC_INLINE pair mix_columns(pair x)
{
    pair y = times2(x) ^ rows_up(x, 2);

    return y ^ rows_up(x ^ y, 1);
}

/* InvMixColumns (section 5.3.3) is MixColumns after x[r] + 4 (x[r] + x[r+2]). */
EVC_INLINE pair inv_mix_columns(pair x)
{
    return mix_columns(x ^ times2(times2(x ^ rows_up(x, 2))));
}

/* ---- The S-box ----------------------------------------------------------------------------- */

/* The same pointer, but the compiler does not know that: it can neither take the table's values as
 * constants nor keep what was read through an earlier pointer. volatile: not moved out of loops. */
EVC_INLINE const uint8_t *unknown(const uint8_t *box)
{
#if EVC_GNU_C
    __asm__ volatile("" : "+r"(box));
#else
    const uint8_t *volatile v = box;
    box = v;
#endif
    return box;
}

/* The sum of 4 bytes from each line of 16 bytes, twice. The barriers keep the lines apart, which
 * vectorisers would gather. */
EVC_INLINE uint64_t touch(const uint8_t *box)
{
#define LINES(i) evc_barrier32(evc_load32_ne(box + 16 * (i)) ^ evc_load32_ne(box + 16 * (i) + 16))
    const uint32_t sum = evc_barrier32(LINES(0) ^ LINES(2) ^ LINES(4) ^ LINES(6) ^ LINES(8) ^
                                       LINES(10) ^ LINES(12) ^ LINES(14));
#undef LINES
    return (uint64_t)sum << 32 | sum;
}

/* Row r of column c of the state s0, s1 through the S-box, to row r of member m of a pair. */
#define SUB(c, r, m)                                                                               \
    ((uint64_t)box[((c) % 4 < 2 ? s0 : s1) >> (16 * (r) + 8 * ((c) % 2)) & 0xff]                   \
     << (16 * (r) + 8 * (m)))

/* SubBytes and ShiftRows for columns c and c + 1: row r comes from r columns further right (section
 * 5.1.2), if step is 1, and from r columns further left (section 5.3.1), if it is 3. */
#define SUB_SHIFT(c, step)                                                                         \
    (SUB(c, 0, 0) | SUB((c) + 1, 0, 1) | SUB((c) + (step), 1, 0) | SUB((c) + 1 + (step), 1, 1) |   \
     SUB((c) + 2, 2, 0) | SUB((c) + 3, 2, 1) | SUB((c) + 3 * (step), 3, 0) |                       \
     SUB((c) + 1 + 3 * (step), 3, 1))

/* ---- Blocks -------------------------------------------------------------------------------- */

/* The barriers keep both pairs in general registers, where their bytes become addresses:
 * vectorisers would do MixColumns and the key on both at once, and pay more for the way back. Those
 * before the last round keep its bytes from being hoisted above the loop's
 * end, and to the stack. */
EVC_INLINE void encrypt_block(const struct key *key, pair *p0, pair *p1)
{
    const uint8_t *box = unknown(evc_aes_sbox);
    const uint64_t touched = touch(box);
    const uint32_t rounds = key->head.rounds;
    pair s0 = evc_barrier64(*p0 ^ key->enc[0][0] ^ touched);
    pair s1 = evc_barrier64(*p1 ^ key->enc[0][1] ^ touched);
    pair t0, t1;

    for (uint32_t r = 1; r < rounds; r++) {
        t0 = evc_barrier64(mix_columns(SUB_SHIFT(0, 1)) ^ key->enc[r][0]);
        t1 = evc_barrier64(mix_columns(SUB_SHIFT(2, 1)) ^ key->enc[r][1]);
        s0 = t0, s1 = t1;
    }
    s0 = evc_barrier64(s0), s1 = evc_barrier64(s1);
    *p0 = evc_barrier64(SUB_SHIFT(0, 1) ^ key->enc[rounds][0]);
    *p1 = evc_barrier64(SUB_SHIFT(2, 1) ^ key->enc[rounds][1]);
}

EVC_INLINE void decrypt_block(const struct key *key, pair *p0, pair *p1)
{
    const uint8_t *box = unknown(evc_aes_inv_sbox);
    const uint64_t touched = touch(box);
    const uint32_t rounds = key->head.rounds;
    pair s0 = evc_barrier64(*p0 ^ key->dec[0][0] ^ touched);
    pair s1 = evc_barrier64(*p1 ^ key->dec[0][1] ^ touched);
    pair t0, t1;

    for (uint32_t r = 1; r < rounds; r++) {
        t0 = evc_barrier64(inv_mix_columns(SUB_SHIFT(0, 3)) ^ key->dec[r][0]);
        t1 = evc_barrier64(inv_mix_columns(SUB_SHIFT(2, 3)) ^ key->dec[r][1]);
        s0 = t0, s1 = t1;
    }
    s0 = evc_barrier64(s0), s1 = evc_barrier64(s1);
    *p0 = evc_barrier64(SUB_SHIFT(0, 3) ^ key->dec[rounds][0]);
    *p1 = evc_barrier64(SUB_SHIFT(2, 3) ^ key->dec[rounds][1]);
}

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    for (; n_blocks; n_blocks--, in += 16, out += 16) {
        pair s0 = load_pair(in), s1 = load_pair(in + 8);

        encrypt_block(key, &s0, &s1);
        store_pair(out, s0);
        store_pair(out + 8, s1);
    }
}

static void decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    for (; n_blocks; n_blocks--, in += 16, out += 16) {
        pair s0 = load_pair(in), s1 = load_pair(in + 8);

        decrypt_block(key, &s0, &s1);
        store_pair(out, s0);
        store_pair(out + 8, s1);
    }
}

/* CBC encryption with the chain as pairs; out == NULL: only the chain, which is CBC-MAC. */
EVC_INLINE void chain_blocks(const void *key, uint8_t chain[16], const uint8_t *in, uint8_t *out,
                             size_t n_blocks)
{
    pair s0 = load_pair(chain), s1 = load_pair(chain + 8);

    for (; n_blocks; n_blocks--, in += 16) {
        s0 ^= load_pair(in), s1 ^= load_pair(in + 8);
        encrypt_block(key, &s0, &s1);
        if (out) {
            store_pair(out, s0);
            store_pair(out + 8, s1);
            out += 16;
        }
    }
    store_pair(chain, s0);
    store_pair(chain + 8, s1);
}

static void cbc_encrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    chain_blocks(key, iv, in, out, n_blocks);
}

static void cbcmac(const void *key, uint8_t chain[16], const uint8_t *in, size_t n_blocks)
{
    chain_blocks(key, chain, in, NULL, n_blocks);
}

/* ---- Key set-up ---------------------------------------------------------------------------- */

/* Two readings of the table cancel; the look-ups wait for both. */
static uint32_t sub_word(uint32_t x)
{
    const uint8_t *box = unknown(evc_aes_sbox), *again = unknown(box);

    x ^= (uint32_t)(touch(box) ^ touch(again));
    return EVC_COLUMN(again[EVC_ROW(x, 0)], again[EVC_ROW(x, 1)], again[EVC_ROW(x, 2)],
                      again[EVC_ROW(x, 3)]);
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;
    const uint32_t rounds = key->head.rounds;
    uint8_t enc[EVC_AES_MAX_ROUNDS + 1][16];

    evc_aes_expand_key(enc, user_key, rounds, sub_word);
    for (uint32_t r = 0; r <= rounds; r++)
        for (int i = 0; i < 2; i++) {
            pair x = load_pair(enc[r] + 8 * i);
            key->enc[r][i] = r == 0 ? x ^ touch(evc_aes_sbox) : x;
            if (!key->head.can_decrypt)
                continue;
            if (r == rounds)
                x ^= touch(evc_aes_inv_sbox);
            else if (r != 0)
                x = inv_mix_columns(x);
            key->dec[rounds - r][i] = x;
        }
}

const struct evc_aes evc_aes_c_fixedtime = {
    .kernel = EVC_KERNEL_HEAD(c_fixedtime, ANY, HARDENED, SERIAL, 1, struct key, 0, BASELINE,
                              EVC_DEEP(320)),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .cbc_encrypt = cbc_encrypt,
    .cbcmac = cbcmac,
};
