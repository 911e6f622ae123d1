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
#include "aes/sbox.h"

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

typedef const uint32_t (*tables)[256];
#define TABLES mix
#define INV_TABLES inv_mix

#define COLUMN(t, a, b, c, d, k)                                                   \
    (evc_barrier32(load_word(k) ^ (t)[0][EVC_ROW(a, 0)]) ^ (t)[1][EVC_ROW(b, 1)] ^ \
     (t)[2][EVC_ROW(c, 2)] ^ (t)[3][EVC_ROW(d, 3)])
#define INV_COLUMN COLUMN

/* Without MixColumns: the value of the S-box stands in row r of table r + 2. */
#define LAST(t, a, b, c, d, k)                                                                     \
    (load_word(k) ^ ((t)[2][EVC_ROW(a, 0)] & EVC_IN_ROW(0xff, 0)) ^                                \
     ((t)[3][EVC_ROW(b, 1)] & EVC_IN_ROW(0xff, 1)) ^                                               \
     ((t)[0][EVC_ROW(c, 2)] & EVC_IN_ROW(0xff, 2)) ^                                               \
     ((t)[1][EVC_ROW(d, 3)] & EVC_IN_ROW(0xff, 3)))

#include "aes/table_steps.h"

#define HEAD                                                                                      \
    EVC_KERNEL_HEAD(c_ttable4, ANY, VARTIME, ANY, 1, struct evc_aes_fips197_key, EVC_KEY_FIPS197, \
                    BASELINE, 512)

const struct evc_aes evc_aes_c_ttable4 = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .cbc_encrypt = cbc_encrypt,
    .cbcmac = cbcmac,
};

const struct evc_aes evc_aes_c_ttable4_forward = {
    .kernel = HEAD,
    .set_key = set_key,
    .encrypt = encrypt,
};
