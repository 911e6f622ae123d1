/* SPDX-License-Identifier: MIT */
/*
 * The tables of QARMA-64, for a block in two words of 32 bits.
 *
 * Nibble 4 r + c of a number, counted from its low end, is in row r and column c. Byte r of a word
 * holds row r of two columns, one in its low and one in its high nibble. On the way there those
 * are columns 0 and 1 in the first word, 2 and 3 in the second; on the way back, columns 0 and 2,
 * and 1 and 3. On the way back it is also not the block that is in the words, but tau of it, as
 * the reflector leaves it:
 *
 *     x = M tau S(x) + M tau (k_i + t_i)       r steps; the last with w1 and t_r
 *     y = M tau S(x) + k1                      the reflector; y is tau x
 *     y = M tau^-1 S^-1(y) + tau (k_i + t_i)   r steps back; the first with w0 and t_r
 *     x = tau^-1 S^-1(y)
 *
 * Then tau there, and tau^-1 back, send the cells of a byte to two columns of one word: what a byte
 * adds to the sums of M is a word. And they do so in four ways, each of them that of two bytes, the
 * same four there and back: 4 tables of words serve the 8 bytes.
 *
 * Source: Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2; all numbers
 * here follow from spec.h.
 */
#ifndef EVC_QARMA_TABLE_WORDS_H
#define EVC_QARMA_TABLE_WORDS_H

#include <stdint.h>

/* S(0) to S(15), each with what M makes of it in the rows below: s, rho s, rho^2 s and rho s are
 * the bytes from the lowest on. */
#define EVC_QARMA_SIGMA0_CELLS                                                                     \
    0x00000000u, 0x0d0b0d0eu, 0x04080402u, 0x050a050au, 0x03060309u, 0x0f0f0f0fu, 0x01020108u,     \
        0x070e070bu, 0x0c090c06u, 0x08010804u, 0x060c0603u, 0x0e0d0e07u, 0x0b070b0du, 0x0903090cu, \
        0x02040201u, 0x0a050a05u
#define EVC_QARMA_SIGMA1_CELLS                                                                     \
    0x050a050au, 0x0b070b0du, 0x0d0b0d0eu, 0x0c090c06u, 0x0f0f0f0fu, 0x0e0d0e07u, 0x060c0603u,     \
        0x0a050a05u, 0x03060309u, 0x01020108u, 0x00000000u, 0x0903090cu, 0x070e070bu, 0x02040201u, \
        0x04080402u, 0x08010804u
#define EVC_QARMA_SIGMA2_CELLS                                                                     \
    0x070e070bu, 0x0c090c06u, 0x01020108u, 0x0f0f0f0fu, 0x0903090cu, 0x00000000u, 0x03060309u,     \
        0x0d0b0d0eu, 0x060c0603u, 0x0e0d0e07u, 0x08010804u, 0x0a050a05u, 0x0b070b0du, 0x04080402u, \
        0x02040201u, 0x050a050au
#define EVC_QARMA_SIGMA2_INVERSE_CELLS                                                             \
    0x0a050a05u, 0x0d0b0d0eu, 0x0b070b0du, 0x01020108u, 0x050a050au, 0x070e070bu, 0x02040201u,     \
        0x03060309u, 0x04080402u, 0x0c090c06u, 0x0f0f0f0fu, 0x00000000u, 0x08010804u, 0x0903090cu, \
        0x0e0d0e07u, 0x060c0603u

/* M applied to such a cell, which tau has moved to a row, and to the low or
 * the high nibbles (0, 1). */
#define EVC_QARMA_MIXED(cell, row, high)                                                     \
    ((((cell) & 0xffffff00u) << 8 * (row) | ((cell) & 0xffffff00u) >> (32 - 8 * (row)) % 32) \
     << 4 * (high))

/* The four ways, of the cells in a byte's low and high nibble. */
#define EVC_QARMA_WAY0(low, high) EVC_QARMA_MIXED(low, 0, 1) ^ EVC_QARMA_MIXED(high, 1, 0)
#define EVC_QARMA_WAY1(low, high) EVC_QARMA_MIXED(low, 3, 0) ^ EVC_QARMA_MIXED(high, 2, 1)
#define EVC_QARMA_WAY2(low, high) EVC_QARMA_MIXED(low, 2, 0) ^ EVC_QARMA_MIXED(high, 3, 1)
#define EVC_QARMA_WAY3(low, high) EVC_QARMA_MIXED(low, 1, 1) ^ EVC_QARMA_MIXED(high, 0, 0)

/* In the end, without M, there are two ways, to half a block; shifts by a nibble and
 * rotations make others of them. */
#define EVC_QARMA_END0(low, high) ((low)&15) | ((high)&15) << 24
#define EVC_QARMA_END1(low, high) ((low)&15) << 24 | ((high)&15)

#endif
