/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 with look-ups of 16 bytes in a vector register of IBM Z.
 *
 * Method:   a byte for each cell, the most significant one first; VPERM is S-box, rho and every
 *           permutation (look_steps.h). omega is a table of 32 bytes, which leaves the cells that
 *           it does not step.
 * Source:   Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2; z/Architecture
 *           Principles of Operation, SA22-7832-12, chapter 21.
 * Needs:    S390X_VX.   Timing: CT (no tables in memory that secrets index, no secret branches).
 * Key form: private.
 */
#include "qarma/kernel.h"

#if EVC_BUILT(S390X_VX)

#include "common/bytes.h"

EVC_ISA_BEGIN(S390X_VX)

typedef uint8_t vec __attribute__((vector_size(16)));
typedef uint16_t vec_16 __attribute__((vector_size(16)));
typedef uint64_t vec_64 __attribute__((vector_size(16)));

#define TABLE(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) \
    {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p}
#define CELLS(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) \
    TABLE(p, o, n, m, l, k, j, i, h, g, f, e, d, c, b, a)
#define PLACES(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                                    \
    CELLS(15 - a, 15 - b, 15 - c, 15 - d, 15 - e, 15 - f, 15 - g, 15 - h, 15 - i, 15 - j, 15 - k, \
          15 - l, 15 - m, 15 - n, 15 - o, 15 - p)

/* Bytes of low, or of high where bit 4 of i is set, by the low 4 bits of i. */
EVC_INLINE vec look_32(vec low, vec high, vec i)
{
    vec to;

    __asm__("vperm %0, %1, %2, %3" : "=v"(to) : "v"(low), "v"(high), "v"(i));
    return to;
}

#define v_look(table, i) look_32(table, table, i)

EVC_INLINE vec v_cells(uint64_t number)
{
    vec v, cells;

    __asm__("vlvgp %0, %1, %1" : "=v"(v) : "r"(number));
    __asm__("vmrhb %0, %1, %2" : "=v"(cells) : "v"(v >> 4), "v"(v));
    return cells & 15;
}

EVC_INLINE uint64_t v_number(vec v)
{
    const vec in_lower_bytes = v | (vec)((vec_16)v >> 4);
    vec bytes;

    __asm__("vpkh %0, %1, %1" : "=v"(bytes) : "v"(in_lower_bytes));
    return ((vec_64)bytes)[0];
}

/* 16 for the cells that omega steps, whose bytes are looked up in the second table. */
#define OMEGA TABLE(0, 8, 9, 1, 2, 10, 11, 3, 4, 12, 13, 5, 6, 14, 15, 7)
#define STEPPED CELLS(0, 0, 16, 0, 16, 0, 0, 16, 0, 0, 0, 16, 16, 0, 16, 16)

EVC_INLINE vec v_omega(vec omega, vec stepped, vec moved)
{
    const vec same = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

    return look_32(same, omega, moved ^ stepped);
}

#include "qarma/look_steps.h"

const struct evc_qarma evc_qarma_s390x_vperm = {
    .kernel = EVC_KERNEL_HEAD(s390x_vperm, S390X_VX, CT, ANY, 1, struct key, 0, VX, 896),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
    .encrypt_many = encrypt_many,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
