/* SPDX-License-Identifier: MIT */
/*
 * AES in the least code: a template to begin a kernel from.
 *
 * Method:   bytes, one block at a time; the S-box is computed, not looked up.
 * Source:   FIPS 197 (2023) sections 4 and 5.
 * Needs:    ANY.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "aes/kernel.h"

#include "common/bytes.h"
#include "common/clear.h"

struct key {
    struct evc_aes_head head; /* kernel, rounds, can_decrypt: set before set_key is called */
    uint8_t w[EVC_AES_MAX_ROUNDS + 1][16];
};

/* a * b in GF(2^8) (section 4.2), by masks instead of branches. */
static uint8_t times(uint8_t a, uint8_t b)
{
    uint8_t product = 0;

    for (int i = 0; i < 8; i++) {
        product ^= (uint8_t)(a & (0 - (b >> i & 1)));
        a = (uint8_t)((a << 1) ^ (0x1b & (0 - (a >> 7))));
    }
    return product;
}

/* a^254 = 1/a, and 0 for 0. */
static uint8_t inverse(uint8_t a)
{
    uint8_t power = a;

    for (int i = 0; i < 6; i++)
        power = times(times(power, power), a); /* a^3, a^7, ... a^127 */
    return times(power, power);
}

static uint8_t rotate(uint8_t a, int n)
{
    return (uint8_t)((a << n) | (a >> (8 - n)));
}

static uint8_t sub(uint8_t a) /* S-box, section 5.1.1 */
{
    uint8_t b = inverse(a);

    return (uint8_t)(b ^ rotate(b, 1) ^ rotate(b, 2) ^ rotate(b, 3) ^ rotate(b, 4) ^ 0x63);
}

static uint8_t inv_sub(uint8_t a) /* section 5.3.2 */
{
    return inverse((uint8_t)(rotate(a, 1) ^ rotate(a, 3) ^ rotate(a, 6) ^ 0x05));
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct key *key = vkey;
    uint8_t *w = key->w[0], rcon = 1;
    const uint32_t nk = key->head.rounds - 6;

    evc_copy_secret(w, user_key, 4 * nk);
    for (uint32_t i = nk; i < 4 * (key->head.rounds + 1); i++) {
        const uint8_t *last = w + 4 * (i - 1);
        for (uint32_t j = 0; j < 4; j++) {
            uint8_t t = last[j];
            if (i % nk == 0)
                t = (uint8_t)(sub(last[(j + 1) % 4]) ^ (j == 0 ? rcon : 0));
            else if (nk > 6 && i % nk == 4)
                t = sub(t);
            w[4 * i + j] = w[4 * (i - nk) + j] ^ t;
        }
        if (i % nk == 0)
            rcon = times(rcon, 2);
    }
}

/* Byte r + 4c of the state is row r of column c. */
static void mix_columns(uint8_t s[16], const uint8_t m[4])
{
    uint8_t t[16];

    for (int i = 0; i < 16; i++) {
        const uint8_t *column = s + (i & ~3);
        t[i] = 0;
        for (int r = 0; r < 4; r++)
            t[i] ^= times(column[(i + r) & 3], m[r]);
    }
    memcpy(s, t, 16);
}

static void encrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct key *key = vkey;
    uint8_t s[16], t[16];

    for (; n_blocks; n_blocks--, in += 16, out += 16) {
        evc_xor16(s, in, key->w[0]);
        for (uint32_t round = 1; round <= key->head.rounds; round++) {
            for (int i = 0; i < 16; i++) /* SubBytes, ShiftRows */
                t[i] = sub(s[(i + 4 * (i & 3)) & 15]);
            if (round < key->head.rounds)
                mix_columns(t, (const uint8_t[4]){2, 3, 1, 1});
            evc_xor16(s, t, key->w[round]);
        }
        memcpy(out, s, 16);
    }
    evc_wipe(s, sizeof s);
    evc_wipe(t, sizeof t);
}

static void decrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct key *key = vkey;
    uint8_t s[16], t[16];

    for (; n_blocks; n_blocks--, in += 16, out += 16) {
        memcpy(s, in, 16);
        for (uint32_t round = key->head.rounds; round > 0; round--) {
            evc_xor16(s, s, key->w[round]);
            if (round < key->head.rounds)
                mix_columns(s, (const uint8_t[4]){14, 11, 13, 9});
            for (int i = 0; i < 16; i++) /* InvShiftRows, InvSubBytes */
                t[i] = inv_sub(s[(i - 4 * (i & 3)) & 15]);
            memcpy(s, t, 16);
        }
        evc_xor16(out, s, key->w[0]);
    }
    evc_wipe(s, sizeof s);
    evc_wipe(t, sizeof t);
}

const struct evc_aes evc_aes_c_template = {
    .kernel = EVC_KERNEL_HEAD(c_template, ANY, CT, SERIAL, 1, struct key, 0, BASELINE, 896),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
};
