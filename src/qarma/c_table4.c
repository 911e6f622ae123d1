/* SPDX-License-Identifier: MIT */
/*
 * QARMA-64 with tables for nibbles: an inner step is 16 look-ups of 32 bits, in 512 bytes.
 *
 * Method:   a block in two words (table_words.h); for each place that tau has for a cell,
 *           there is a table of what the cell adds. The tables of an S-box are 576 bytes.
 *           Tweaks are stepped in a register.
 * Source:   Avanzi: The QARMA Block Cipher Family, ToSC 2017, issue 1, section 2.
 * Needs:    ANY.   Timing: VARTIME (the tables are indexed by secrets).
 * Key form: private.
 */
#include "qarma/kernel.h"

#include "common/bytes.h"
#include "common/ct.h"
#include "qarma/table_blocks.h"
#include "qarma/table_words.h"

struct box {
    uint32_t ways[4][2][16]; /* by the low, by the high nibble of a byte */
    uint32_t final[16];      /* the cell alone */
};

/* X(cell, row, high) of all cells in a list of 16. */
#define CELLS(X, row, high, ...) {CELLS_(X, row, high, __VA_ARGS__)}
#define CELLS_(X, row, high, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                 \
    X(a, row, high), X(b, row, high), X(c, row, high), X(d, row, high), X(e, row, high),     \
        X(f, row, high), X(g, row, high), X(h, row, high), X(i, row, high), X(j, row, high), \
        X(k, row, high), X(l, row, high), X(m, row, high), X(n, row, high), X(o, row, high), \
        X(p, row, high)

/* Rows and halves of bytes as EVC_QARMA_WAY0 to 3 have them. */
#define MIXED(row, high, ...) CELLS(EVC_QARMA_MIXED, row, high, __VA_ARGS__)
#define ALONE(cell, row, high) (cell) & 15
#define BOX(...)                                                \
    {                                                           \
        {{MIXED(0, 1, __VA_ARGS__), MIXED(1, 0, __VA_ARGS__)},  \
         {MIXED(3, 0, __VA_ARGS__), MIXED(2, 1, __VA_ARGS__)},  \
         {MIXED(2, 0, __VA_ARGS__), MIXED(3, 1, __VA_ARGS__)},  \
         {MIXED(1, 1, __VA_ARGS__), MIXED(0, 0, __VA_ARGS__)}}, \
            CELLS(ALONE, 0, 0, __VA_ARGS__),                    \
    }
static const EVC_ALIGN(64) struct box boxes[4] = {
    BOX(EVC_QARMA_SIGMA0_CELLS), BOX(EVC_QARMA_SIGMA1_CELLS), BOX(EVC_QARMA_SIGMA2_CELLS),
    BOX(EVC_QARMA_SIGMA2_INVERSE_CELLS)};

EVC_INLINE uint32_t look(const uint32_t way[2][16], size_t byte)
{
    return way[0][byte & 15] ^ way[1][byte >> 4];
}

EVC_INLINE size_t mixed(const struct box *box, uint32_t add, size_t a, size_t b, size_t c, size_t d)
{
    return evc_barrier32(add ^ look(box->ways[0], a) ^ look(box->ways[1], b)) ^
           evc_barrier32(look(box->ways[2], c) ^ look(box->ways[3], d));
}

EVC_INLINE uint32_t final_byte(const struct box *box, int way, size_t byte)
{
    const uint32_t low = box->final[byte & 15], high = box->final[byte >> 4];

    return way == 0 ? low | high << 24 : low << 24 | high;
}

static void tweaks_add(struct added *added, uint64_t tweak, int rounds)
{
    int i = 1;

    do {
        tweak = evc_qarma_next_tweak(tweak);
        added[i] = added_by(tweak);
    } while (++i <= rounds);
}

#include "qarma/table_steps.h"

const struct evc_qarma evc_qarma_c_table4 = {
    .kernel = EVC_KERNEL_HEAD(c_table4, ANY, VARTIME, ANY, 1, struct key, 0, BASELINE, 448),
    .set_key = set_key,
    .encrypt = encrypt,
    .decrypt = decrypt,
};
