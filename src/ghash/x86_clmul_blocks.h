/* SPDX-License-Identifier: MIT */
/* The key and the slots of all GHASH kernels over x86_clmul_steps.h; include
 * it where that would be. */
#ifndef EVC_GHASH_X86_CLMUL_BLOCKS_H
#define EVC_GHASH_X86_CLMUL_BLOCKS_H

#define POWER_SUMS 1
#include "ghash/x86_clmul_steps.h"

struct key {
    struct evc_ghash_head head;
    EVC_ALIGN(16) struct powers powers;
};

static void set_key(void *vkey, const uint8_t h[16])
{
    struct key *key = vkey;

    powers_of(&key->powers, h);
    v_clear_upper_halves();
}

static void blocks(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;

    store1(y, hash_from(&key->powers, load1(y), in, n_blocks));
    v_clear_upper_halves();
}

/* Out of line, since x86_siv_steps.h calls it, too. */
EVC_OUT_OF_LINE __m128i hash_reversed(const struct powers *h, __m128i y, const uint8_t *in,
                                      size_t n_blocks)
{
    return hash_from_reversed(h, y, in, n_blocks);
}

static void reversed_blocks(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;

    store1(y, reverse1(hash_reversed(&key->powers, reverse1(load1(y)), in, n_blocks)));
    v_clear_upper_halves();
}

#define CLMUL_SLOTS .set_key = set_key, .blocks = blocks, .reversed_blocks = reversed_blocks

#endif
