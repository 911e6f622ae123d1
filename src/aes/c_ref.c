/* SPDX-License-Identifier: MIT */
/*
 * AES as the standard writes it: the oracle for every other kernel.
 *
 * Method:   the pseudo code of FIPS 197, step by step, one block at a time; S-box by look-up.
 * Source:   FIPS 197 (2023) section 5, algorithms 1 to 4.
 * Needs:    ANY.   Timing: VARTIME (the S-box is indexed by secrets).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "aes/fips197_key.h"
#include "aes/sbox.h"
#include "common/bytes.h"

typedef uint8_t state[16]; /* byte r + 4c is row r of column c (section 3.4) */

static uint8_t times_x(uint8_t a) /* xTimes, section 4.2 */
{
    return (uint8_t)((a << 1) ^ ((a >> 7) * 0x1b));
}

static uint32_t times(uint32_t a, uint8_t b) /* each byte of a, * b in GF(2^8), b below 16 */
{
    uint32_t product = 0;

    for (; b; b >>= 1) {
        product ^= (b & 1) * a;
        a = (a & 0x7f7f7f7f) << 1 ^ (a >> 7 & 0x01010101) * 0x1b; /* times_x of each */
    }
    return product;
}

static void add_round_key(state s, const uint8_t key[16])
{
    evc_xor16(s, s, key);
}

static void sub_bytes(state s, const uint8_t box[256])
{
    for (int i = 0; i < 16; i++)
        s[i] = box[s[i]];
}

/* Row r moves left by r columns (direction 1) or right (direction 3, since -1 = 3 modulo 4). */
static void shift_rows(state s, int direction)
{
    state t;

    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            t[r + 4 * c] = s[r + 4 * ((c + direction * r) % 4)];
    memcpy(s, t, 16);
}

/* Each column times the circulant matrix whose first row is m. The rows of a column are the bytes
 * of a word: row r of the result needs row r + i times m[i], so that the word turns by i bytes. */
static void mix_columns(state s, const uint8_t m[4])
{
    for (uint8_t *column = s; column < s + 16; column += 4) {
        const uint32_t a = evc_load32_le(column);
        uint32_t product = times(a, m[0]);

        for (int i = 1; i < 4; i++) {
            const uint32_t part = times(a, m[i]);
            product ^= part >> 8 * i | part << (32 - 8 * i);
        }
        evc_store32_le(column, product);
    }
}

static const uint8_t mix[4] = {2, 3, 1, 1}, inv_mix[4] = {14, 11, 13, 9};

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct evc_aes_fips197_key *key = vkey;
    uint8_t *w = key->enc[0]; /* word i of the schedule is w[4i .. 4i + 3] */
    const uint32_t rounds = key->head.rounds, nk = rounds - 6;
    uint8_t t[4], rcon = 1;

    evc_copy_secret(w, user_key, 4 * nk);
    for (uint32_t i = nk; i < 4 * (rounds + 1); i++) {
        memcpy(t, w + 4 * (i - 1), 4);
        if (i % nk == 0) {
            uint8_t first = t[0];
            t[0] = evc_aes_sbox[t[1]] ^ rcon;
            t[1] = evc_aes_sbox[t[2]];
            t[2] = evc_aes_sbox[t[3]];
            t[3] = evc_aes_sbox[first];
            rcon = times_x(rcon);
        } else if (nk > 6 && i % nk == 4) {
            for (int j = 0; j < 4; j++)
                t[j] = evc_aes_sbox[t[j]];
        }
        for (uint32_t j = 0; j < 4; j++)
            w[4 * i + j] = w[4 * (i - nk) + j] ^ t[j];
    }
    if (key->head.can_decrypt) {
        for (uint32_t r = 0; r <= rounds; r++) {
            memcpy(key->dec[r], key->enc[rounds - r], 16);
            if (r != 0 && r != rounds)
                mix_columns(key->dec[r], inv_mix);
        }
    }
}

static void encrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct evc_aes_fips197_key *key = vkey;
    const uint32_t rounds = key->head.rounds;
    state s;

    for (; n_blocks; n_blocks--, in += 16, out += 16) {
        memcpy(s, in, 16);
        add_round_key(s, key->enc[0]);
        for (uint32_t r = 1; r < rounds; r++) {
            sub_bytes(s, evc_aes_sbox);
            shift_rows(s, 1);
            mix_columns(s, mix);
            add_round_key(s, key->enc[r]);
        }
        sub_bytes(s, evc_aes_sbox);
        shift_rows(s, 1);
        add_round_key(s, key->enc[rounds]);
        memcpy(out, s, 16);
    }
}

/* InvCipher (algorithm 3), with the schedule of encryption. */
static void decrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct evc_aes_fips197_key *key = vkey;
    const uint32_t rounds = key->head.rounds;
    state s;

    for (; n_blocks; n_blocks--, in += 16, out += 16) {
        memcpy(s, in, 16);
        add_round_key(s, key->enc[rounds]);
        for (uint32_t r = rounds - 1; r > 0; r--) {
            shift_rows(s, 3);
            sub_bytes(s, evc_aes_inv_sbox);
            add_round_key(s, key->enc[r]);
            mix_columns(s, inv_mix);
        }
        shift_rows(s, 3);
        sub_bytes(s, evc_aes_inv_sbox);
        add_round_key(s, key->enc[0]);
        memcpy(out, s, 16);
    }
}

const struct evc_aes evc_aes_c_ref = {
    .kernel = EVC_KERNEL_HEAD(c_ref, ANY, VARTIME, SERIAL, 1, struct evc_aes_fips197_key,
                              EVC_KEY_FIPS197, BASELINE, 640),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
};
