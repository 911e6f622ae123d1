/* SPDX-License-Identifier: MIT */
/*
 * The rounds, loops and keys of kernels that find each column of a round by
 * look-ups, a block at a time.
 *
 * A template: the including file says how one column is found, and defines before the inclusion
 *
 *     tables                    a pointer type: where the look-ups go
 *     TABLES, INV_TABLES        its values for encryption and decryption
 *     COLUMN(t, a, b, c, d, k)  a column after a round: a, b, c, d are the columns of the state
 *                               that give its rows 0 to 3, k points to 4 bytes of the round key
 *     LAST(...)                 the same for the last round
 *     INV_COLUMN                the same for decryption by the equivalent inverse cipher (FIPS 197
 *                               section 5.3.5)
 *
 * and finds here set_key, encrypt, decrypt, cbc_encrypt and cbcmac for its descriptor.
 *
 * Vectorisers of straight-line code see the four columns of a round side by side and put them into
 * one vector: the round key by one load, the looked-up words by gathers or inserts, at up to twice
 * the cost (GCC 12 from -O2 on, clang with AVX2). Barriers, one on each word of key (load_word) and
 * one on each column (in ROUND), leave them nothing to pair; they cost no instruction.
 */
#ifndef EVC_AES_TABLE_STEPS_H
#define EVC_AES_TABLE_STEPS_H

#include "aes/columns.h"
#include "aes/fips197_key.h"
#include "aes/key_schedule.h"
#include "aes/sbox.h"
#include "common/bytes.h"
#include "common/ct.h"

static uint32_t sub_word(uint32_t x)
{
    return EVC_COLUMN(evc_aes_sbox[EVC_ROW(x, 0)], evc_aes_sbox[EVC_ROW(x, 1)],
                      evc_aes_sbox[EVC_ROW(x, 2)], evc_aes_sbox[EVC_ROW(x, 3)]);
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct evc_aes_fips197_key *key = vkey;

    evc_aes_expand_key(key->enc, user_key, key->head.rounds, sub_word);
    if (key->head.can_decrypt)
        evc_aes_invert_keys(key->dec, key->enc, key->head.rounds);
}

/* p: in a key, so aligned to 4, which saves CPUs without unaligned loads from loading bytes. */
EVC_INLINE uint32_t load_word(const uint8_t *p)
{
#if EVC_GNU_C
    p = __builtin_assume_aligned(p, 4);
#endif
    return evc_barrier32(evc_load32_ne(p));
}

/* No table of decryption holds the inverse S-box itself. */
#define INV_LAST(t, a, b, c, d, k)                                                                 \
    (load_word(k) ^                                                                                \
     EVC_COLUMN(evc_aes_inv_sbox[EVC_ROW(a, 0)], evc_aes_inv_sbox[EVC_ROW(b, 1)],                  \
                evc_aes_inv_sbox[EVC_ROW(c, 2)], evc_aes_inv_sbox[EVC_ROW(d, 3)]))

/* u = a round on the columns s with the key at k. Row r comes from r columns further right (section
 * 5.1.2), in decryption further left (section 5.3.1). */
#define ROUND(column, u, s, k)                                                                     \
    (u##0 = evc_barrier32(column(t, s##0, s##1, s##2, s##3, (k))),                                 \
     u##1 = evc_barrier32(column(t, s##1, s##2, s##3, s##0, (k) + 4)),                             \
     u##2 = evc_barrier32(column(t, s##2, s##3, s##0, s##1, (k) + 8)),                             \
     u##3 = evc_barrier32(column(t, s##3, s##0, s##1, s##2, (k) + 12)))
#define INV_ROUND(column, u, s, k)                                                                 \
    (u##0 = evc_barrier32(column(t, s##0, s##3, s##2, s##1, (k))),                                 \
     u##1 = evc_barrier32(column(t, s##1, s##0, s##3, s##2, (k) + 4)),                             \
     u##2 = evc_barrier32(column(t, s##2, s##1, s##0, s##3, (k) + 8)),                             \
     u##3 = evc_barrier32(column(t, s##3, s##2, s##1, s##0, (k) + 12)))

/* The columns before the last round. Its look-ups are those of any other round, and what both ways
 * at the end of the loop have in common, compilers hoist above it (GCC: -fcode-hoisting): 16
 * indexes or words, most of them to the stack. Barriers hide that they are the same columns. */
#define BEFORE_LAST(u)                                                                             \
    (u##0 = evc_barrier32(u##0), u##1 = evc_barrier32(u##1), u##2 = evc_barrier32(u##2),           \
     u##3 = evc_barrier32(u##3))

/* The block in *p0 to *p3, before the first round key, becomes the block of the cipher's output. */
EVC_INLINE void encrypt_columns(const struct evc_aes_fips197_key *key, uint32_t *p0, uint32_t *p1,
                                uint32_t *p2, uint32_t *p3)
{
    const uint8_t(*rk)[16] = key->enc;
    const uint32_t rounds = key->head.rounds; /* even */
    const tables t = TABLES;
    uint32_t s0 = *p0 ^ load_word(rk[0]), s1 = *p1 ^ load_word(rk[0] + 4);
    uint32_t s2 = *p2 ^ load_word(rk[0] + 8), s3 = *p3 ^ load_word(rk[0] + 12);
    uint32_t u0, u1, u2, u3;

    for (uint32_t r = 1;; r += 2) {
        ROUND(COLUMN, u, s, rk[r]);
        if (r + 1 == rounds)
            break;
        ROUND(COLUMN, s, u, rk[r + 1]);
    }
    BEFORE_LAST(u);
    ROUND(LAST, s, u, rk[rounds]);
    *p0 = s0, *p1 = s1, *p2 = s2, *p3 = s3;
}

EVC_INLINE void decrypt_columns(const struct evc_aes_fips197_key *key, uint32_t *p0, uint32_t *p1,
                                uint32_t *p2, uint32_t *p3)
{
    const uint8_t(*rk)[16] = key->dec;
    const uint32_t rounds = key->head.rounds; /* even */
    const tables t = INV_TABLES;
    uint32_t s0 = *p0 ^ load_word(rk[0]), s1 = *p1 ^ load_word(rk[0] + 4);
    uint32_t s2 = *p2 ^ load_word(rk[0] + 8), s3 = *p3 ^ load_word(rk[0] + 12);
    uint32_t u0, u1, u2, u3;

    for (uint32_t r = 1;; r += 2) {
        INV_ROUND(INV_COLUMN, u, s, rk[r]);
        if (r + 1 == rounds)
            break;
        INV_ROUND(INV_COLUMN, s, u, rk[r + 1]);
    }
    BEFORE_LAST(u);
    INV_ROUND(INV_LAST, s, u, rk[rounds]);
    *p0 = s0, *p1 = s1, *p2 = s2, *p3 = s3;
}

static void encrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    for (; n_blocks; n_blocks--, in += 16, out += 16) {
        uint32_t s0 = evc_load32_ne(in), s1 = evc_load32_ne(in + 4);
        uint32_t s2 = evc_load32_ne(in + 8), s3 = evc_load32_ne(in + 12);

        encrypt_columns(key, &s0, &s1, &s2, &s3);
        evc_store32_ne(out, s0);
        evc_store32_ne(out + 4, s1);
        evc_store32_ne(out + 8, s2);
        evc_store32_ne(out + 12, s3);
    }
}

static void decrypt(const void *key, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    for (; n_blocks; n_blocks--, in += 16, out += 16) {
        uint32_t s0 = evc_load32_ne(in), s1 = evc_load32_ne(in + 4);
        uint32_t s2 = evc_load32_ne(in + 8), s3 = evc_load32_ne(in + 12);

        decrypt_columns(key, &s0, &s1, &s2, &s3);
        evc_store32_ne(out, s0);
        evc_store32_ne(out + 4, s1);
        evc_store32_ne(out + 8, s2);
        evc_store32_ne(out + 12, s3);
    }
}

/* CBC encryption with the chain in registers; out == NULL: only the chain, which is CBC-MAC. The
 * composed loop would pass each block through memory in pieces of other sizes, a stall each. */
EVC_INLINE void chain_blocks(const void *key, uint8_t chain[16], const uint8_t *in, uint8_t *out,
                             size_t n_blocks)
{
    uint32_t s0 = evc_load32_ne(chain), s1 = evc_load32_ne(chain + 4);
    uint32_t s2 = evc_load32_ne(chain + 8), s3 = evc_load32_ne(chain + 12);

    for (; n_blocks; n_blocks--, in += 16) {
        s0 ^= evc_load32_ne(in), s1 ^= evc_load32_ne(in + 4);
        s2 ^= evc_load32_ne(in + 8), s3 ^= evc_load32_ne(in + 12);
        encrypt_columns(key, &s0, &s1, &s2, &s3);
        if (out) {
            evc_store32_ne(out, s0);
            evc_store32_ne(out + 4, s1);
            evc_store32_ne(out + 8, s2);
            evc_store32_ne(out + 12, s3);
            out += 16;
        }
    }
    evc_store32_ne(chain, s0);
    evc_store32_ne(chain + 4, s1);
    evc_store32_ne(chain + 8, s2);
    evc_store32_ne(chain + 12, s3);
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

#endif
