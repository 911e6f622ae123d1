/* SPDX-License-Identifier: MIT */
/*
 * The parts that the paper fixes for QARMA-64: S-boxes, permutations, constants (Avanzi: The QARMA
 * Block Cipher Family, ToSC 2017, issue 1; section 2).
 *
 * A block is 16 cells of 4 bits; cell 0 is the most significant nibble of the number.
 */
#ifndef EVC_QARMA_SPEC_H
#define EVC_QARMA_SPEC_H

#include <stdint.h>

#include "common/bytes.h"

#define QARMA_CELLS 16

/* sigma 0, 1, 2: a nibble for each value, that for 0 the least significant. The
 * first two undo themselves. */
#define QARMA_SIGMA0 UINT64_C(0x51cd7346b8f9a2e0)
#define QARMA_SIGMA1 UINT64_C(0x421bc089537f6eda)
#define QARMA_SIGMA2 UINT64_C(0xa12d5473e90cf86b)
#define QARMA_SIGMA2_INVERSE UINT64_C(0x37c40f6291ba8de5)

/* tau: cell i comes from cell tau(i). */
#define QARMA_TAU {0, 11, 6, 13, 10, 1, 12, 7, 5, 14, 3, 8, 15, 4, 9, 2}

/* h: cell i of the next tweak comes from cell h(i); omega then steps those marked here. */
#define QARMA_H {6, 5, 14, 15, 0, 1, 2, 3, 7, 12, 13, 4, 8, 9, 10, 11}
#define QARMA_OMEGA {1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0}

/* Words of the fraction of pi: c_1 to c_5 are the second to the sixth, alpha the seventh,
 * then come c_6 and c_7. */
#define QARMA_C                    \
    {0,                            \
     UINT64_C(0x13198a2e03707344), \
     UINT64_C(0xa4093822299f31d0), \
     UINT64_C(0x082efa98ec4e6c89), \
     UINT64_C(0x452821e638d01377), \
     UINT64_C(0xbe5466cf34e90c6c), \
     UINT64_C(0x3f84d5b5b5470917), \
     UINT64_C(0x9216d5d98979fb1b)}
#define QARMA_ALPHA UINT64_C(0xc0ac29b7c97c50dd)

/* w1 = o(w0). */
EVC_INLINE uint64_t evc_qarma_w1(uint64_t w0)
{
    return ((w0 >> 1) | (w0 << 63)) ^ (w0 >> 63);
}

#endif
