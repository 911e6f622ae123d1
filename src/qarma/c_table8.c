/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 with tables for bytes: an inner step is 8 look-ups of 32 bits, in 4 KiB.
 *
 * Method:   a block in two words (table_words.h). A call uses 10 KiB of tables of its S-box (of
 *           sigma 0 and 1, which undo themselves, 6 KiB), and 20 KiB for tweaks: a row for each
 *           value of a cell has what it adds in the first five rounds.
 * Source:   Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2.
 * Needs:    ANY.   Timing: VARTIME (the tables are indexed by secrets).
 * Key form: private.
 */
#include "qarma/kernel.h"

#include "common/bytes.h"
#include "common/ct.h"
#include "common/each.h"
#include "qarma/table_blocks.h"
#include "qarma/table_words.h"

/* ---- The S-boxes ----------------------------------------------------------------------------- */

/* X(low, high) of all pairs from a list of 16: of the first as the high one with each as
 * the low one, and so on. */
#define PAIRS(X, ...) {PAIRS_(X, __VA_ARGS__, __VA_ARGS__)}
#define PAIRS_(X, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ...)                  \
    LOWS(X, a, __VA_ARGS__)                                                             \
    LOWS(X, b, __VA_ARGS__) LOWS(X, c, __VA_ARGS__) LOWS(X, d, __VA_ARGS__)             \
        LOWS(X, e, __VA_ARGS__) LOWS(X, f, __VA_ARGS__) LOWS(X, g, __VA_ARGS__)         \
            LOWS(X, h, __VA_ARGS__) LOWS(X, i, __VA_ARGS__) LOWS(X, j, __VA_ARGS__)     \
                LOWS(X, k, __VA_ARGS__) LOWS(X, l, __VA_ARGS__) LOWS(X, m, __VA_ARGS__) \
                    LOWS(X, n, __VA_ARGS__) LOWS(X, o, __VA_ARGS__) LOWS(X, p, __VA_ARGS__)
#define LOWS(X, high, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                       \
    X(a, high), X(b, high), X(c, high), X(d, high), X(e, high), X(f, high), X(g, high),     \
        X(h, high), X(i, high), X(j, high), X(k, high), X(l, high), X(m, high), X(n, high), \
        X(o, high), X(p, high),

struct box {
    uint32_t ways[4][256], final[2][256];
};
#define BOX(...)                                                                  \
    {                                                                             \
        {PAIRS(EVC_QARMA_WAY0, __VA_ARGS__), PAIRS(EVC_QARMA_WAY1, __VA_ARGS__),  \
         PAIRS(EVC_QARMA_WAY2, __VA_ARGS__), PAIRS(EVC_QARMA_WAY3, __VA_ARGS__)}, \
        {PAIRS(EVC_QARMA_END0, __VA_ARGS__), PAIRS(EVC_QARMA_END1, __VA_ARGS__)}, \
    }
static const EVC_ALIGN(64) struct box boxes[4] = {
    BOX(EVC_QARMA_SIGMA0_CELLS), BOX(EVC_QARMA_SIGMA1_CELLS), BOX(EVC_QARMA_SIGMA2_CELLS),
    BOX(EVC_QARMA_SIGMA2_INVERSE_CELLS)};

EVC_INLINE size_t mixed(const struct box *box, uint32_t add, size_t a, size_t b, size_t c, size_t d)
{
    return evc_barrier32(box->ways[0][a] ^ add ^ box->ways[1][b]) ^
           evc_barrier32(box->ways[2][c] ^ box->ways[3][d]);
}

EVC_INLINE uint32_t final_byte(const struct box *box, int way, size_t byte)
{
    return box->final[way][byte];
}

/* ---- The tweaks ------------------------------------------------------------------------------ */

/* X of each value of a cell: that, and what one to four steps of omega make of it; words as
 * those of table_words.h. */
#define VALUES(X, ...)                                                               \
    X(0x00000000u, 0x00000000u, 0x00000000u, 0x00000000u, 0x00000000u, __VA_ARGS__), \
    X(0x02040201u, 0x01020108u, 0x08010804u, 0x04080402u, 0x03060309u, __VA_ARGS__), \
    X(0x04080402u, 0x03060309u, 0x0903090cu, 0x0c090c06u, 0x070e070bu, __VA_ARGS__), \
    X(0x060c0603u, 0x02040201u, 0x01020108u, 0x08010804u, 0x04080402u, __VA_ARGS__), \
    X(0x08010804u, 0x04080402u, 0x03060309u, 0x0903090cu, 0x0c090c06u, __VA_ARGS__), \
    X(0x0a050a05u, 0x050a050au, 0x0b070b0du, 0x0d0b0d0eu, 0x0f0f0f0fu, __VA_ARGS__), \
    X(0x0c090c06u, 0x070e070bu, 0x0a050a05u, 0x050a050au, 0x0b070b0du, __VA_ARGS__), \
    X(0x0e0d0e07u, 0x060c0603u, 0x02040201u, 0x01020108u, 0x08010804u, __VA_ARGS__), \
    X(0x01020108u, 0x08010804u, 0x04080402u, 0x03060309u, 0x0903090cu, __VA_ARGS__), \
    X(0x03060309u, 0x0903090cu, 0x0c090c06u, 0x070e070bu, 0x0a050a05u, __VA_ARGS__), \
    X(0x050a050au, 0x0b070b0du, 0x0d0b0d0eu, 0x0f0f0f0fu, 0x0e0d0e07u, __VA_ARGS__), \
    X(0x070e070bu, 0x0a050a05u, 0x050a050au, 0x0b070b0du, 0x0d0b0d0eu, __VA_ARGS__), \
    X(0x0903090cu, 0x0c090c06u, 0x070e070bu, 0x0a050a05u, 0x050a050au, __VA_ARGS__), \
    X(0x0b070b0du, 0x0d0b0d0eu, 0x0f0f0f0fu, 0x0e0d0e07u, 0x060c0603u, __VA_ARGS__), \
    X(0x0d0b0d0eu, 0x0f0f0f0fu, 0x0e0d0e07u, 0x060c0603u, 0x02040201u, __VA_ARGS__), \
    X(0x0f0f0f0fu, 0x0e0d0e07u, 0x060c0603u, 0x02040201u, 0x01020108u, __VA_ARGS__)

/* The term that a cell of the tweak adds in a step: one of those words, for nibble n of tau t_i. */
#define THERE(cell, n) (uint64_t)EVC_QARMA_MIXED(cell, (n) / 4, (n) % 2) << (n) % 4 / 2 * 32
#define BACK(cell, n) (uint64_t)((cell)&15) << ((n) / 4 * 8 + (n) % 4 / 2 * 4 + (n) % 2 * 32)

/* The nibbles that h and tau move it to in t_1 to t_5: nibbles n1 to n5, after e1
 * to e5 steps of omega. */
#define TABLED 5
#define ROW(c0, c1, c2, c3, c4, e1, n1, e2, n2, e3, n3, e4, n4, e5, n5)                       \
    ADDS(STEPPED##e1(c0, c1, c2, c3, c4), n1), ADDS(STEPPED##e2(c0, c1, c2, c3, c4), n2),     \
        ADDS(STEPPED##e3(c0, c1, c2, c3, c4), n3), ADDS(STEPPED##e4(c0, c1, c2, c3, c4), n4), \
        ADDS(STEPPED##e5(c0, c1, c2, c3, c4), n5)
#define ADDS(cell, n) {THERE(cell, n), BACK(cell, n)}
#define STEPPED0(c0, c1, c2, c3, c4) c0
#define STEPPED1(c0, c1, c2, c3, c4) c1
#define STEPPED2(c0, c1, c2, c3, c4) c2
#define STEPPED3(c0, c1, c2, c3, c4) c3
#define STEPPED4(c0, c1, c2, c3, c4) c4
/* By cell, its value, and step. */
static const EVC_ALIGN(64) struct added tweaks[16 * 16 * TABLED] = {
    VALUES(ROW, 1, 5, 1, 8, 2, 4, 2, 9, 2, 1),
    VALUES(ROW, 0, 0, 0, 13, 1, 15, 2, 2, 3, 14),
    VALUES(ROW, 0, 11, 0, 6, 0, 0, 0, 13, 1, 15),
    VALUES(ROW, 0, 1, 1, 12, 1, 11, 1, 6, 1, 0),
    VALUES(ROW, 0, 3, 1, 5, 1, 8, 2, 4, 2, 9),
    VALUES(ROW, 0, 6, 0, 0, 0, 13, 1, 15, 2, 2),
    VALUES(ROW, 1, 12, 1, 11, 1, 6, 1, 0, 1, 13),
    VALUES(ROW, 0, 9, 0, 1, 1, 12, 1, 11, 1, 6),
    VALUES(ROW, 1, 4, 1, 9, 1, 1, 2, 12, 2, 11),
    VALUES(ROW, 1, 15, 2, 2, 3, 14, 3, 3, 4, 5),
    VALUES(ROW, 1, 10, 1, 7, 2, 10, 2, 7, 3, 10),
    VALUES(ROW, 1, 14, 1, 3, 2, 5, 2, 8, 3, 4),
    VALUES(ROW, 0, 8, 1, 4, 1, 9, 1, 1, 2, 12),
    VALUES(ROW, 0, 13, 1, 15, 2, 2, 3, 14, 3, 3),
    VALUES(ROW, 0, 7, 1, 10, 1, 7, 2, 10, 2, 7),
    VALUES(ROW, 1, 2, 2, 14, 2, 3, 3, 5, 3, 8),
};

/* A struct added as the registers of the CPU have it: compilers see that two words are
 * one at high levels only. */
#if EVC_GNU_C && (defined(__SSE2__) || defined(__ARM_NEON))
typedef uint64_t both __attribute__((vector_size(16), may_alias));

EVC_INLINE both sum_of(both a, both b)
{
    return a ^ b;
}
#else
typedef struct added both;

EVC_INLINE both sum_of(both a, both b)
{
    a.there ^= b.there;
    a.back ^= b.back;
    return a;
}
#endif

/* The row for a cell of the tweak, which is in bits 4 to 7. */
EVC_INLINE const both *row_of(const struct added *cell, uint64_t bits)
{
    const uint8_t *rows = (const uint8_t *)cell;

    return (const void *)(rows + (size_t)(bits & 0xf0) * (TABLED * sizeof *cell / 16));
}

/* Two cells at a time: their sums first, or compilers keep the addresses of all rows to the end. */
EVC_INLINE void tweaks_add(struct added *added, uint64_t tweak, int rounds)
{
    enum { ROWS_OF_CELL = 16 * TABLED };
    const struct added *cell = hide_pointer(tweaks), *end = cell + 16 * ROWS_OF_CELL;
    both sum[TABLED] = {{0, 0}};
    uint64_t rest = tweak;

    do {
        const both *a = row_of(cell, rest << 4), *b = row_of(cell + ROWS_OF_CELL, rest);
        EACH(TABLED, if (i < rounds) sum[i] = sum_of(sum[i], sum_of(a[i], b[i])));
        const both *c = row_of(cell + 2 * ROWS_OF_CELL, rest >> 4),
                   *d = row_of(cell + 3 * ROWS_OF_CELL, rest >> 8);
        EACH(TABLED, if (i < rounds) sum[i] = sum_of(sum[i], sum_of(c[i], d[i])));
        rest >>= 16;
        cell = hide_pointer(cell + 4 * ROWS_OF_CELL);
    } while (cell != end);
    EACH(TABLED, if (i < rounds || i == 0) *(both *)&added[i + 1] = sum[i]);
    for (int i = 1; i <= rounds && rounds > TABLED; i++) {
        tweak = evc_qarma_next_tweak(tweak);
        if (i > TABLED)
            added[i] = added_by(tweak);
    }
}

#include "qarma/table_steps.h"

const struct evc_qarma evc_qarma_c_table8 = {
    .kernel = EVC_KERNEL_HEAD(c_table8, ANY, VARTIME, ANY, 1, struct key, 0, BASELINE, 640),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
};
