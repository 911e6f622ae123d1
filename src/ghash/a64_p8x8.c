/* SPDX-License-Identifier: MIT */
/*
 * GHASH with PMULL of 8 bits, 8 blocks with one reduction: for cores without PMULL of 64 bits.
 *
 * Method:   three levels of Karatsuba down to 16 bits, blocks by pairs; products of bytes are
 *           summed over 8 blocks where they stand, then added up and reduced by shifts. Compilers
 *           keep some of the 17 sums in memory.
 * Source:   Karatsuba, Ofman: Multiplication of Many-Digital Numbers by Automatic Computers, 1962;
 *           Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage for
 *           Computing the GCM Mode, 2014.
 * Needs:    A64_NEON.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/arm.h"
#include "common/bytes.h"

#if EVC_BUILT(A64_NEON)
EVC_ISA_BEGIN(A64_NEON)

#include "ghash/a64_p8x8_steps.h"

void evc_ghash_a64_p8x8_blocks(const struct table *table, uint8_t y[16], const uint8_t *in,
                               size_t n_blocks);

static void blocks(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;

    if (n_blocks)
        evc_ghash_a64_p8x8_blocks(&key->table, y, in, n_blocks);
}

static void set_key(void *key, const uint8_t h[16])
{
    make_key(key, h, blocks);
}

const struct evc_ghash evc_ghash_a64_p8x8 = {
    .kernel = EVC_KERNEL_HEAD(a64_p8x8, A64_NEON, CT, ANY, GROUP, struct key, 0, NEON, 0),
    .set_key = set_key,
    .blocks = blocks,
};

EVC_ISA_END
#else
EVC_EMPTY_UNIT
#endif
