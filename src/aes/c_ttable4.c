/* SPDX-License-Identifier: MIT */
/*
 * AES with four tables of 1 KiB per direction: a round is 16 look-ups.
 *
 * Method:   table r maps a byte of row r to what it adds to its column after SubBytes and
 *           MixColumns; ShiftRows is the choice of the columns; one block at a time.
 * Source:   Daemen and Rijmen, The Design of Rijndael (2002), section 4.2; FIPS 197 (2023), 5.
 * Needs:    ANY.   Timing: VARTIME (the tables are indexed by secrets).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "aes/columns.h"
#include "aes/fips197_key.h"
#include "aes/key_schedule.h"
#include "aes/sbox.h"
#include "common/bytes.h"
#include "common/ct.h"

/* s: an S-box value. The columns of MixColumns's matrix (section 5.1.3) times s. */
#define MIX0(s) EVC_COLUMN(EVC_TIMES2(s), s, s, EVC_TIMES3(s)),
#define MIX1(s) EVC_COLUMN(EVC_TIMES3(s), EVC_TIMES2(s), s, s),
#define MIX2(s) EVC_COLUMN(s, EVC_TIMES3(s), EVC_TIMES2(s), s),
#define MIX3(s) EVC_COLUMN(s, s, EVC_TIMES3(s), EVC_TIMES2(s)),

static const EVC_ALIGN(64) uint32_t mix[4][256] = {
    {EVC_AES_SBOX(MIX0)}, {EVC_AES_SBOX(MIX1)}, {EVC_AES_SBOX(MIX2)}, {EVC_AES_SBOX(MIX3)}};

/* s: a inverse S-box value. The columns of InvMixColumns's matrix (section 5.3.3), times s. */
#define INV_MIX0(s) EVC_COLUMN(EVC_TIMES14(s), EVC_TIMES9(s), EVC_TIMES13(s), EVC_TIMES11(s)),
#define INV_MIX1(s) EVC_COLUMN(EVC_TIMES11(s), EVC_TIMES14(s), EVC_TIMES9(s), EVC_TIMES13(s)),
#define INV_MIX2(s) EVC_COLUMN(EVC_TIMES13(s), EVC_TIMES11(s), EVC_TIMES14(s), EVC_TIMES9(s)),
#define INV_MIX3(s) EVC_COLUMN(EVC_TIMES9(s), EVC_TIMES13(s), EVC_TIMES11(s), EVC_TIMES14(s)),

static const EVC_ALIGN(64) uint32_t inv_mix[4][256] = {{EVC_AES_INV_SBOX(INV_MIX0)},
                                                       {EVC_AES_INV_SBOX(INV_MIX1)},
                                                       {EVC_AES_INV_SBOX(INV_MIX2)},
                                                       {EVC_AES_INV_SBOX(INV_MIX3)}};

/*
 * Vectorisers of straight-line code see four columns side by side and put them into one vector: the
 * round key by one load, the looked-up words by gathers or inserts, at up to 1.5 times the cost
 * (GCC 12 from -O2 on, clang with AVX2). The barriers, one on each word of key and one on each
 * column, leave them nothing to pair; they cost no instruction.
 */
EVC_INLINE uint32_t load_word(const uint8_t *p)
{
    return evc_barrier32(evc_load32_ne(p));
}

/* One column of a round; a, b, c, d: the columns that give rows 0 to 3; k: 4 bytes of the key. */
#define COLUMN(table, a, b, c, d, k)                                                               \
    evc_barrier32(load_word(k) ^ (table)[0][EVC_ROW(a, 0)] ^ (table)[1][EVC_ROW(b, 1)] ^       \
                  (table)[2][EVC_ROW(c, 2)] ^ (table)[3][EVC_ROW(d, 3)])

/* One column of the last round of encryption, without MixColumns: the value of the S-box stands in
 * row r of table r + 2. */
#define LAST(a, b, c, d, k)                                                                        \
    evc_barrier32(load_word(k) ^ (mix[2][EVC_ROW(a, 0)] & EVC_IN_ROW(0xff, 0)) ^               \
                  (mix[3][EVC_ROW(b, 1)] & EVC_IN_ROW(0xff, 1)) ^                                  \
                  (mix[0][EVC_ROW(c, 2)] & EVC_IN_ROW(0xff, 2)) ^                                  \
                  (mix[1][EVC_ROW(d, 3)] & EVC_IN_ROW(0xff, 3)))

#define INV_LAST(a, b, c, d, k)                                                                    \
    evc_barrier32(load_word(k) ^                                                               \
                  EVC_COLUMN(evc_aes_inv_sbox[EVC_ROW(a, 0)], evc_aes_inv_sbox[EVC_ROW(b, 1)],     \
                             evc_aes_inv_sbox[EVC_ROW(c, 2)], evc_aes_inv_sbox[EVC_ROW(d, 3)]))

/* u0..u3 = a round on s0..s3 with the key at k. Row r comes from r columns further right (section
 * 5.1.2), in decryption further left (section 5.3.1). */
#define ROUND(u, s, k)                                                                             \
    (u##0 = COLUMN(mix, s##0, s##1, s##2, s##3, (k)),                                              \
     u##1 = COLUMN(mix, s##1, s##2, s##3, s##0, (k) + 4),                                          \
     u##2 = COLUMN(mix, s##2, s##3, s##0, s##1, (k) + 8),                                          \
     u##3 = COLUMN(mix, s##3, s##0, s##1, s##2, (k) + 12))
#define INV_ROUND(u, s, k)                                                                         \
    (u##0 = COLUMN(inv_mix, s##0, s##3, s##2, s##1, (k)),                                          \
     u##1 = COLUMN(inv_mix, s##1, s##0, s##3, s##2, (k) + 4),                                      \
     u##2 = COLUMN(inv_mix, s##2, s##1, s##0, s##3, (k) + 8),                                      \
     u##3 = COLUMN(inv_mix, s##3, s##2, s##1, s##0, (k) + 12))

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

/* The state s, to which the first round key has not been added, becomes the output block. */
EVC_INLINE void encrypt_columns(const struct evc_aes_fips197_key *key, uint32_t *p0, uint32_t *p1,
                                uint32_t *p2, uint32_t *p3)
{
    const uint8_t(*rk)[16] = key->enc;
    const uint32_t rounds = key->head.rounds; /* even */
    uint32_t s0 = *p0 ^ load_word(rk[0]), s1 = *p1 ^ load_word(rk[0] + 4);
    uint32_t s2 = *p2 ^ load_word(rk[0] + 8), s3 = *p3 ^ load_word(rk[0] + 12);
    uint32_t u0, u1, u2, u3, r = 1;

    for (;; r += 2) {
        ROUND(u, s, rk[r]);
        if (r + 1 == rounds)
            break;
        ROUND(s, u, rk[r + 1]);
    }
    *p0 = LAST(u0, u1, u2, u3, rk[rounds]);
    *p1 = LAST(u1, u2, u3, u0, rk[rounds] + 4);
    *p2 = LAST(u2, u3, u0, u1, rk[rounds] + 8);
    *p3 = LAST(u3, u0, u1, u2, rk[rounds] + 12);
}

EVC_INLINE void decrypt_columns(const struct evc_aes_fips197_key *key, uint32_t *p0, uint32_t *p1,
                                uint32_t *p2, uint32_t *p3)
{
    const uint8_t(*rk)[16] = key->dec;
    const uint32_t rounds = key->head.rounds; /* even */
    uint32_t s0 = *p0 ^ load_word(rk[0]), s1 = *p1 ^ load_word(rk[0] + 4);
    uint32_t s2 = *p2 ^ load_word(rk[0] + 8), s3 = *p3 ^ load_word(rk[0] + 12);
    uint32_t u0, u1, u2, u3, r = 1;

    for (;; r += 2) {
        INV_ROUND(u, s, rk[r]);
        if (r + 1 == rounds)
            break;
        INV_ROUND(s, u, rk[r + 1]);
    }
    *p0 = INV_LAST(u0, u3, u2, u1, rk[rounds]);
    *p1 = INV_LAST(u1, u0, u3, u2, rk[rounds] + 4);
    *p2 = INV_LAST(u2, u1, u0, u3, rk[rounds] + 8);
    *p3 = INV_LAST(u3, u2, u1, u0, rk[rounds] + 12);
}

static void encrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    for (; n_blocks; n_blocks--, in += 16, out += 16) {
        uint32_t s0 = evc_load32_ne(in), s1 = evc_load32_ne(in + 4);
        uint32_t s2 = evc_load32_ne(in + 8), s3 = evc_load32_ne(in + 12);

        encrypt_columns(vkey, &s0, &s1, &s2, &s3);
        evc_store32_ne(out, s0);
        evc_store32_ne(out + 4, s1);
        evc_store32_ne(out + 8, s2);
        evc_store32_ne(out + 12, s3);
    }
}

static void decrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    for (; n_blocks; n_blocks--, in += 16, out += 16) {
        uint32_t s0 = evc_load32_ne(in), s1 = evc_load32_ne(in + 4);
        uint32_t s2 = evc_load32_ne(in + 8), s3 = evc_load32_ne(in + 12);

        decrypt_columns(vkey, &s0, &s1, &s2, &s3);
        evc_store32_ne(out, s0);
        evc_store32_ne(out + 4, s1);
        evc_store32_ne(out + 8, s2);
        evc_store32_ne(out + 12, s3);
    }
}

/* CBC encryption with the chain in registers; out == NULL: only the chain, which is CBC-MAC. The
 * composed loop would pass each block through memory in pieces of other sizes, a stall each. */
EVC_INLINE void chain_blocks(const void *vkey, uint8_t chain[16], const uint8_t *in, uint8_t *out,
                             size_t n_blocks)
{
    uint32_t s0 = evc_load32_ne(chain), s1 = evc_load32_ne(chain + 4);
    uint32_t s2 = evc_load32_ne(chain + 8), s3 = evc_load32_ne(chain + 12);

    for (; n_blocks; n_blocks--, in += 16) {
        s0 ^= evc_load32_ne(in), s1 ^= evc_load32_ne(in + 4);
        s2 ^= evc_load32_ne(in + 8), s3 ^= evc_load32_ne(in + 12);
        encrypt_columns(vkey, &s0, &s1, &s2, &s3);
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

const struct evc_aes evc_aes_c_ttable4 = {
    .kernel = EVC_KERNEL_HEAD(c_ttable4, ANY, VARTIME, SERIAL, 1, struct evc_aes_fips197_key,
                              EVC_KEY_FIPS197),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .cbc_encrypt = cbc_encrypt,
    .cbcmac = cbcmac,
};
