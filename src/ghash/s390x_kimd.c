/* SPDX-License-Identifier: MIT */
/*
 * GHASH with the instruction of IBM Z that hashes text in memory.
 *
 * Method:   one instruction for all blocks of a call.
 * Source:   SP 800-38D (2007); z/Architecture Principles of Operation, SA22-7832-12, chapter 7,
 *           KIMD-GHASH.
 * Needs:    S390X_MSA4.   Timing: CT (the instruction).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/bytes.h"

#if EVC_BUILT(S390X_MSA4)

#include "common/s390x.h"

struct key {
    struct evc_ghash_head head;
    EVC_ALIGN(8) uint8_t h[16];
};

static void set_key(void *vkey, const uint8_t h[16])
{
    struct key *key = vkey;

    memcpy(key->h, h, 16);
}

static void blocks(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;
    struct {
        uint8_t y[16], h[16];
    } p;

    memcpy(p.y, y, 16);
    memcpy(p.h, key->h, 16);
    evc_s390x_kimd(EVC_S390X_GHASH, &p, in, 16 * n_blocks);
    memcpy(y, p.y, 16);
}

const struct evc_ghash evc_ghash_s390x_kimd = {
    .kernel = EVC_KERNEL_HEAD(s390x_kimd, S390X_MSA4, CT, ANY, 1, struct key, 0, BASELINE, 320),
    .set_key = set_key,
    .blocks = blocks,
};
#else
EVC_EMPTY_UNIT
#endif
