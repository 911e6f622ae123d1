/* SPDX-License-Identifier: MIT */
/*
 * A column of the AES state in a 32-bit word of the host's byte order: row r is byte r in memory
 * (FIPS 197 sections 3.4, 3.5), so columns are loaded and stored as they are. What depends on the
 * byte order (which bits are row r, which way rows move) is here.
 *
 * The macros are constant expressions if their arguments are.
 */
#ifndef EVC_AES_COLUMNS_H
#define EVC_AES_COLUMNS_H

#include "common/bytes.h"

#if EVC_BIG_ENDIAN
#define EVC_ROW_SHIFT(r) (24 - 8 * (r))
#else
#define EVC_ROW_SHIFT(r) (8 * (r))
#endif

/* Row r, an index into a table of 256 entries. */
#define EVC_ROW(column, r) (((column) >> EVC_ROW_SHIFT(r)) & 0xff)

/* A byte in row r, zeros in the others; and a column of four bytes. */
#define EVC_IN_ROW(byte, r) ((uint32_t)(byte) << EVC_ROW_SHIFT(r))
#define EVC_COLUMN(b0, b1, b2, b3)                                                                 \
    (EVC_IN_ROW(b0, 0) | EVC_IN_ROW(b1, 1) | EVC_IN_ROW(b2, 2) | EVC_IN_ROW(b3, 3))

/* Products in GF(2^8) with the constants of MixColumns and its inverse; s: a byte. */
#define EVC_TIMES2(s) ((((s) << 1) ^ (((s) >> 7) * 0x11b)) & 0xff)
#define EVC_TIMES3(s) (EVC_TIMES2(s) ^ (s))
#define EVC_TIMES4(s) ((((s) << 2) ^ (((s) >> 6 & 1) * 0x11b) ^ (((s) >> 7) * 0x236)) & 0xff)
#define EVC_TIMES8(s) EVC_TIMES2(EVC_TIMES4(s))
#define EVC_TIMES9(s) (EVC_TIMES8(s) ^ (s))
#define EVC_TIMES11(s) (EVC_TIMES8(s) ^ EVC_TIMES2(s) ^ (s))
#define EVC_TIMES13(s) (EVC_TIMES8(s) ^ EVC_TIMES4(s) ^ (s))
#define EVC_TIMES14(s) (EVC_TIMES8(s) ^ EVC_TIMES4(s) ^ EVC_TIMES2(s))

/* Row r moves to row r + n modulo 4; n is 1, 2 or 3. */
EVC_INLINE uint32_t evc_rows_down(uint32_t x, int n)
{
#if EVC_BIG_ENDIAN
    return (x >> (8 * n)) | (x << (32 - 8 * n));
#else
    return (x << (8 * n)) | (x >> (32 - 8 * n));
#endif
}

/* Row r moves to row r - n modulo 4. */
EVC_INLINE uint32_t evc_rows_up(uint32_t x, int n)
{
    return evc_rows_down(x, 4 - n);
}

/* Each of the four bytes times x in GF(2^8) (xTimes, section 4.2). */
EVC_INLINE uint32_t evc_times2_x4(uint32_t x)
{
    uint32_t high = x & UINT32_C(0x80808080);

    return ((x ^ high) << 1) ^ ((high - (high >> 7)) & UINT32_C(0x1b1b1b1b));
}

/* MixColumns of one column (section 5.1.3): row r is 2 x[r] + 3 x[r+1] + x[r+2] + x[r+3]. */
EVC_INLINE uint32_t evc_mix_column(uint32_t x)
{
    uint32_t y = evc_times2_x4(x) ^ evc_rows_up(x, 2);

    return y ^ evc_rows_up(x ^ y, 1);
}

/* InvMixColumns of one column (section 5.3.3): its matrix is that of MixColumns times that of
 * x[r] + 4 (x[r] + x[r+2]). */
EVC_INLINE uint32_t evc_inv_mix_column(uint32_t x)
{
    return evc_mix_column(x ^ evc_times2_x4(evc_times2_x4(x ^ evc_rows_up(x, 2))));
}

#endif
