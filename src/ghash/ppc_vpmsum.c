/* SPDX-License-Identifier: MIT */
/*
 * GHASH with vpmsumd of POWER8 and later, 8 blocks with one reduction.
 *
 * Method:   8 blocks times H^8 ... H^1 by Karatsuba, two blocks at a time: vpmsumd adds up the
 *           products of two blocks by itself. One reduction of two multiplications; a rest of fewer
 *           blocks by the lower powers in the same way.
 * Source:   Gueron, Kounavis: Intel Carry-Less Multiplication Instruction and its Usage
 *           for Computing the GCM Mode, 2014; Montgomery: Modular Multiplication
 *           Without Trial Division, 1985; Power ISA 2.07 B (2018), section 6.11.4.
 * Needs:    PPC_VCRYPTO.   Timing: CT (no tables, no secret branches).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/bytes.h"

#if EVC_BUILT(PPC_VCRYPTO)
EVC_ISA_BEGIN(PPC_VCRYPTO)

#include "ghash/ppc_vpmsum_steps.h"

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

    evc_ppc_store(y, hash_behind(&key->powers, evc_ppc_load(y), in, n_blocks));
}

static void reversed_blocks(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;

    evc_ppc_store(y, hash_behind_reversed(&key->powers, evc_ppc_load(y), in, n_blocks));
}

EVC_ISA_END

const struct evc_ghash evc_ghash_ppc_vpmsum = {
    .kernel = EVC_KERNEL_HEAD(ppc_vpmsum, PPC_VCRYPTO, CT, ANY, GROUP, struct key, 0, VSX, 576),
    .set_key = set_key,
    .blocks = blocks,
    .reversed_blocks = reversed_blocks,
};
#else
EVC_EMPTY_UNIT
#endif
