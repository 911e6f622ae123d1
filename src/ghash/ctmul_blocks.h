/* SPDX-License-Identifier: MIT */
/*
 * The slots of GHASH by multiplications with holes, whatever the width of the
 * words. Include it after these:
 *
 *   word, BATCH, OPERANDS, HOLES   the words multiplied, blocks per reduction, words
 *                                  per block, every fourth bit
 *   struct key                     power[BATCH][OPERANDS][4]: H^BATCH ... H^1, bits
 *                                  0, 1, 2, 3 modulo 4 apart
 *   operands(o, w)                 the words of a block
 *   hash(key, x, n)                the sum of n blocks times the last n powers, reduced
 */
#ifndef EVC_GHASH_CTMUL_BLOCKS_H
#define EVC_GHASH_CTMUL_BLOCKS_H

#include "ghash/ctmul_steps.h"

static void set_key(void *vkey, const uint8_t h[16])
{
    struct key *key = vkey;
    struct evc_ghash_words power = evc_ghash_times_x(evc_ghash_load(h));
    word x[1][OPERANDS];

    for (int i = BATCH - 1; i >= 0; i--) {
        operands(x[0], power);
        for (int o = 0; o < OPERANDS; o++)
            for (int bit = 0; bit < 4; bit++)
                key->power[i][o][bit] = x[0][o] & (HOLES << bit);
        power = hash(key, x, 1); /* times H^1; once, H^1 is there */
    }
}

/* reversed: 1 if the bytes of all blocks are reversed, as POLYVAL has them; those of y are not. One
 * function for both, as it is long. */
EVC_OUT_OF_LINE void hash_blocks(const struct key *key, uint8_t y_bytes[16], const uint8_t *in,
                                 size_t n_blocks, int reversed)
{
    struct evc_ghash_words y = evc_ghash_load(y_bytes);
    word x[BATCH][OPERANDS];

    while (n_blocks) {
        const size_t n = n_blocks < BATCH ? n_blocks : BATCH;
        for (size_t i = 0; i < n; i++, in += 16) {
            struct evc_ghash_words w =
                reversed ? evc_ghash_load_reversed(in) : evc_ghash_load(in);
            if (i == 0)
                w.hi ^= y.hi, w.lo ^= y.lo;
            operands(x[i], w);
        }
        y = n == BATCH ? hash(key, x, BATCH) : hash(key, x, n);
        n_blocks -= n;
    }
    evc_ghash_store(y_bytes, y);
}

static void blocks(const void *key, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    hash_blocks(key, y, in, n_blocks, 0);
}

static void reversed_blocks(const void *key, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    hash_blocks(key, y, in, n_blocks, 1);
}

#endif
