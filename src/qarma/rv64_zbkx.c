/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 with look-ups of 16 cells at once in a register of 64 bits.
 *
 * Method:   xperm4 is S-box, rho and every permutation of cells (look_steps.h).
 * Source:   Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2; RISC-V
 *           Cryptography Extensions vol. I, 1.0.1 (2022): xperm4, and Zkt, which promises its time.
 * Needs:    RV64_ZBKX.   Timing: CT (no tables in memory that secrets index, no secret branches).
 * Key form: private.
 */
#include "qarma/kernel.h"

#if EVC_BUILT(RV64_ZBKX)

#include "common/rv_scalar.h"

typedef uint64_t vec; /* a number is its cells */
#define v_look evc_rv_xperm4
#define v_cells(number) (number)
#define v_number(v) (v)

#define CELLS(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                                 \
    (UINT64_C(a) | UINT64_C(b) << 4 | UINT64_C(c) << 8 | UINT64_C(d) << 12 |                  \
     UINT64_C(e) << 16 | UINT64_C(f) << 20 | UINT64_C(g) << 24 | UINT64_C(h) << 28 |          \
     UINT64_C(i) << 32 | UINT64_C(j) << 36 | UINT64_C(k) << 40 | UINT64_C(l) << 44 |          \
     UINT64_C(m) << 48 | UINT64_C(n) << 52 | UINT64_C(o) << 56 | UINT64_C(p) << 60)
#define TABLE CELLS
#define PLACES CELLS

/* The sum of x and omega(x), for each x; 15 for the cells that omega steps. */
#define OMEGA TABLE(0, 9, 11, 2, 6, 15, 13, 4, 12, 5, 7, 14, 10, 3, 1, 8)
#define STEPPED CELLS(0, 0, 15, 0, 15, 0, 0, 15, 0, 0, 0, 15, 15, 0, 15, 15)
EVC_INLINE uint64_t v_omega(uint64_t omega, uint64_t stepped, uint64_t moved)
{
    return moved ^ v_look(omega, moved & stepped);
}

#include "qarma/look_steps.h"

const struct evc_qarma evc_qarma_rv64_zbkx = {
    .kernel = EVC_KERNEL_HEAD(rv64_zbkx, RV64_ZBKX, CT, ANY, 1, struct key, 0, NONE, 448),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .encrypt_many = encrypt_many,
};

#else
EVC_EMPTY_UNIT
#endif
