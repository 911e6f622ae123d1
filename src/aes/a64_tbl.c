/* SPDX-License-Identifier: MIT */
/*
 * AES with the S-box in 16 vector registers.
 *
 * Method:   SubBytes is TBL and three TBX of 64 bytes each, ShiftRows a look-up of 16 bytes;
 *           MixColumns by rotations of columns; 4 blocks at a time. Decryption is the equivalent
 *           inverse cipher. For comparison: of the four look-ups each byte needs one, and no core
 *           does the other three for nothing.
 * Source:   FIPS 197 (2023) section 5; Arm Architecture Reference Manual for
 *           A-profile (DDI 0487), TBL, TBX;
 *           A. Biesheuvel, "Time invariant AES".
 * Needs:    A64_NEON.   Timing: CT (no tables in memory, no secret branches).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "common/arm.h"

#if EVC_BUILT(A64_NEON)

#include "aes/ct_keys.h"
#include "aes/fips197_key.h"
#include "aes/sbox.h"
#include "common/bytes.h"
#include "common/each.h"

EVC_ISA_BEGIN(A64_NEON)

#define WIDE 4

typedef uint8x16_t vec;

/* Byte r + 4 c of a block is in row r, column c. SHIFT: row r comes from r s columns further on. */
#define SHIFT(c, s)                                                          \
    4 * ((c) % 4), 1 + 4 * (((c) + (s)) % 4), 2 + 4 * (((c) + 2 * (s)) % 4), \
        3 + 4 * (((c) + 3 * (s)) % 4)
static const uint8_t shift_rows[16] = {SHIFT(0, 1), SHIFT(1, 1), SHIFT(2, 1), SHIFT(3, 1)};
static const uint8_t inv_shift_rows[16] = {SHIFT(0, 3), SHIFT(1, 3), SHIFT(2, 3), SHIFT(3, 3)};
static const uint8_t next_row[16] = {1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12};

/* The S-box in registers: variables of their own, or GCC keeps them in memory. */
typedef uint8x16x4_t quarter;
#define QUARTERS const quarter s0, const quarter s1, const quarter s2, const quarter s3
#define LOAD_QUARTERS(sbox)                                                 \
    vld1q_u8_x4(sbox), vld1q_u8_x4((sbox) + 64), vld1q_u8_x4((sbox) + 128), \
        vld1q_u8_x4((sbox) + 192)

/* SubBytes and ShiftRows, or their inverses: an index beyond 63 leaves what is there. */
EVC_INLINE vec sub_and_shift(QUARTERS, vec shift, vec x)
{
    const vec step = vdupq_n_u8(64);
    vec s = vqtbl4q_u8(s0, x);

    x -= step;
    s = vqtbx4q_u8(s, s1, x);
    x -= step;
    s = vqtbx4q_u8(s, s2, x);
    x -= step;
    s = vqtbx4q_u8(s, s3, x);
    return vqtbl1q_u8(s, shift);
}

EVC_INLINE vec times2(vec x)
{
    const vec high = vreinterpretq_u8_s8(vshrq_n_s8(vreinterpretq_s8_u8(x), 7));

    return (x + x) ^ (high & vdupq_n_u8(0x1b));
}

EVC_INLINE vec second_row(vec x)
{
    return vreinterpretq_u8_u16(vrev32q_u16(vreinterpretq_u16_u8(x)));
}

/* Row r is 2 x[r] + 3 x[r+1] + x[r+2] + x[r+3] (section 5.1.3). */
EVC_INLINE vec mix_columns(vec next, vec x)
{
    const vec y = times2(x) ^ second_row(x);

    return y ^ vqtbl1q_u8(x ^ y, next);
}

/* InvMixColumns (section 5.3.3) is MixColumns of x[r] + 4 (x[r] + x[r+2]). */
EVC_INLINE vec inv_mix_columns(vec next, vec x)
{
    return mix_columns(next, x ^ times2(times2(x ^ second_row(x))));
}

typedef vec mix_function(vec, vec);

/* The n blocks at s, n a constant; rk: rounds + 1 round keys. */
EVC_INLINE void rounds_of(vec *s, const int n, QUARTERS, const uint8_t shift_table[16],
                          const uint8_t (*rk)[16], uint32_t rounds, mix_function *mix)
{
    const vec shift = vld1q_u8(shift_table), next = vld1q_u8(next_row);
    vec k = vld1q_u8(*rk++);

    EACH(n, s[i] ^= k);
    for (; --rounds; rk++) {
        k = vld1q_u8(*rk);
        EACH(n, s[i] = sub_and_shift(s0, s1, s2, s3, shift, s[i]));
        EACH(n, s[i] = mix(next, s[i]) ^ k);
    }
    k = vld1q_u8(*rk);
    EACH(n, s[i] = sub_and_shift(s0, s1, s2, s3, shift, s[i]) ^ k);
}

EVC_INLINE void crypt(QUARTERS, const uint8_t shift[16], const uint8_t (*rk)[16], uint32_t rounds,
                      mix_function *mix, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    vec s[WIDE];

    for (; n_blocks >= WIDE; n_blocks -= WIDE, in += 16 * WIDE, out += 16 * WIDE) {
        EACH(WIDE, s[i] = vld1q_u8(in + 16 * i));
        rounds_of(s, WIDE, s0, s1, s2, s3, shift, rk, rounds, mix);
        EACH(WIDE, vst1q_u8(out + 16 * i, s[i]));
    }
    for (; n_blocks; n_blocks--, in += 16, out += 16) {
        s[0] = vld1q_u8(in);
        rounds_of(s, 1, s0, s1, s2, s3, shift, rk, rounds, mix);
        vst1q_u8(out, s[0]);
    }
}

static void set_key(void *vkey, const uint8_t *user_key)
{
    struct evc_aes_fips197_key *key = vkey;

    evc_ct_expand_key(key->enc, user_key, key->head.rounds);
    if (key->head.can_decrypt)
        evc_aes_invert_keys(key->dec, key->enc, key->head.rounds);
}

static void encrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct evc_aes_fips197_key *key = vkey;

    crypt(LOAD_QUARTERS(evc_aes_sbox), shift_rows, key->enc, key->head.rounds, mix_columns, in, out,
          n_blocks);
}

static void decrypt(const void *vkey, const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    const struct evc_aes_fips197_key *key = vkey;

    crypt(LOAD_QUARTERS(evc_aes_inv_sbox), inv_shift_rows, key->dec, key->head.rounds,
          inv_mix_columns, in, out, n_blocks);
}

/* out == NULL: only the chain, which is CBC-MAC. */
EVC_INLINE void chain_blocks(QUARTERS, const struct evc_aes_fips197_key *key, uint8_t chain[16],
                             const uint8_t *in, uint8_t *out, size_t n_blocks)
{
    vec s[1] = {vld1q_u8(chain)};

    for (; n_blocks; n_blocks--, in += 16) {
        s[0] ^= vld1q_u8(in);
        rounds_of(s, 1, s0, s1, s2, s3, shift_rows, key->enc, key->head.rounds, mix_columns);
        if (out) {
            vst1q_u8(out, s[0]);
            out += 16;
        }
    }
    vst1q_u8(chain, s[0]);
}

static void cbc_encrypt(const void *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                        size_t n_blocks)
{
    chain_blocks(LOAD_QUARTERS(evc_aes_sbox), key, iv, in, out, n_blocks);
}

static void cbcmac(const void *key, uint8_t chain[16], const uint8_t *in, size_t n_blocks)
{
    chain_blocks(LOAD_QUARTERS(evc_aes_sbox), key, chain, in, NULL, n_blocks);
}

EVC_ISA_END

const struct evc_aes evc_aes_a64_tbl = {
    .kernel = EVC_KERNEL_HEAD(a64_tbl, A64_NEON, CT, ANY, WIDE, struct evc_aes_fips197_key,
                              EVC_KEY_FIPS197, NEON, 128),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .cbc_encrypt = cbc_encrypt,
    .cbcmac = cbcmac,
};

#else
EVC_EMPTY_UNIT
#endif
