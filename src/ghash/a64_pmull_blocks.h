/* SPDX-License-Identifier: MIT */
/* The key and the slots of all GHASH kernels over a64_pmull_steps.h; include
 * it where that would be. */
#ifndef EVC_GHASH_A64_PMULL_BLOCKS_H
#define EVC_GHASH_A64_PMULL_BLOCKS_H

#include "ghash/a64_pmull_steps.h"

struct key {
    struct evc_ghash_head head;
    EVC_ALIGN(16) struct powers powers;
};

static void set_key(void *vkey, const uint8_t h[16])
{
    struct key *key = vkey;

    powers_of(&key->powers, h);
}

static void blocks(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;

    store1(y, hash_from(&key->powers, load1(y), in, n_blocks));
}

static void reversed_blocks(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;

    store1(y, hash_from_order(&key->powers, load1(y), in, n_blocks, 1));
}

#define PMULL_SLOTS .set_key = set_key, .blocks = blocks, .reversed_blocks = reversed_blocks

#endif
