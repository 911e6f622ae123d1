/* SPDX-License-Identifier: MIT */
/*
 * AES with one table of 1 KiB per direction: a round is 16 look-ups and 12 rotations.
 *
 * Method:   the table maps a byte of row 0 to what it adds to its column after SubBytes and
 *           MixColumns; other rows add the same, rotated; one block at a time.
 * Source:   Daemen and Rijmen, The Design of Rijndael (2002), section 4.2; FIPS 197 (2023), 5.
 * Needs:    ANY.   Timing: VARTIME (the tables are indexed by secrets).
 * Key form: fips197.
 */
#include "aes/kernel.h"

#include "aes/columns.h"
#include "aes/sbox.h"

/* s: an S-box value. The first column of MixColumns's matrix (section 5.1.3), times s. */
#define MIX(s) EVC_COLUMN(EVC_TIMES2(s), s, s, EVC_TIMES3(s)),
static const EVC_ALIGN(64) uint32_t mix[256] = {EVC_AES_SBOX(MIX)};

/* s: an inverse S-box value. The first column of InvMixColumns's matrix (5.3.3), times s. */
#define INV_MIX(s) EVC_COLUMN(EVC_TIMES14(s), EVC_TIMES9(s), EVC_TIMES13(s), EVC_TIMES11(s)),
static const EVC_ALIGN(64) uint32_t inv_mix[256] = {EVC_AES_INV_SBOX(INV_MIX)};

typedef const uint32_t *tables;
#define TABLES mix
#define INV_TABLES inv_mix

#define COLUMN(t, a, b, c, d, k)                                                               \
    (evc_barrier32(load_word(k) ^ (t)[EVC_ROW(a, 0)]) ^ evc_rows_down((t)[EVC_ROW(b, 1)], 1) ^ \
     evc_rows_down((t)[EVC_ROW(c, 2)], 2) ^ evc_rows_down((t)[EVC_ROW(d, 3)], 3))
#define INV_COLUMN COLUMN

/* Without MixColumns: row 1 of the table of encryption is the S-box itself. */
#define SBOX(t, byte) EVC_ROW((t)[byte], 1)
#define LAST(t, a, b, c, d, k)                                                                     \
    (load_word(k) ^ EVC_COLUMN(SBOX(t, EVC_ROW(a, 0)), SBOX(t, EVC_ROW(b, 1)),                     \
                               SBOX(t, EVC_ROW(c, 2)), SBOX(t, EVC_ROW(d, 3))))

#include "aes/table_steps.h"

const struct evc_aes evc_aes_c_ttable1 = {
    .kernel = EVC_KERNEL_HEAD(c_ttable1, ANY, VARTIME, SERIAL, 1, struct evc_aes_fips197_key,
                              EVC_KEY_FIPS197, BASELINE, 512),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .cbc_encrypt = cbc_encrypt,
    .cbcmac = cbcmac,
};
