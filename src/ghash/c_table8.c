/* SPDX-License-Identifier: MIT */
/*
 * GHASH with a table of 256 multiples of H, a byte of the block at a time: the generic form of many
 * libraries. Its keys are 4 KiB, so it is for those who name it.
 *
 * Method:   as c_table4, by bytes; 16 steps a block.
 * Source:   McGrew, Viega: The Galois/Counter Mode of Operation (GCM), 2005, section 4.1.
 * Needs:    ANY.   Timing: VARTIME (both tables are indexed by secrets).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/bytes.h"
#include "ghash/table_steps.h"

struct key {
    struct evc_ghash_head head;
    EVC_ALIGN(16) struct evc_ghash_element multiple[256]; /* byte times H */
};

static void set_key(void *vkey, const uint8_t h[16])
{
    struct key *key = vkey;

    evc_ghash_multiples(key->multiple, 256, h);
}

/* What a byte that falls out of an element adds to its upper 16 bits: its lower 4 bits go further. */
#define BACK(b) (uint16_t)(EVC_GHASH_BACK((b) >> 4, 4) ^ (EVC_GHASH_BACK((b) & 15, 4) >> 4))
#define BACK4(b) BACK(b), BACK((b) + 1), BACK((b) + 2), BACK((b) + 3)
#define BACK16(b) BACK4(b), BACK4((b) + 4), BACK4((b) + 8), BACK4((b) + 12)
#define BACK64(b) BACK16(b), BACK16((b) + 16), BACK16((b) + 32), BACK16((b) + 48)
static const uint16_t back[256] = {BACK64(0), BACK64(64), BACK64(128), BACK64(192)};

/* z * x^8 + multiple */
EVC_INLINE struct evc_ghash_element step(struct evc_ghash_element z, const struct evc_ghash_element *m)
{
    const unsigned out = (unsigned)(z.lo & 255);

    z.lo = ((z.hi << 56) | (z.lo >> 8)) ^ m->lo;
    z.hi = ((z.hi >> 8) ^ ((uint64_t)back[out] << 48)) ^ m->hi;
    return z;
}

static void blocks(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;
    uint8_t x[16];

    for (; n_blocks; n_blocks--, in += 16) {
        struct evc_ghash_element z;
        evc_xor16(x, y, in);
        z = key->multiple[x[15]];
        for (int i = 14; i >= 0; i--)
            z = step(z, &key->multiple[x[i]]);
        evc_store64_be(y, z.hi);
        evc_store64_be(y + 8, z.lo);
    }
    evc_wipe(x, sizeof x);
}

const struct evc_ghash evc_ghash_c_table8 = {
    .kernel = EVC_KERNEL_HEAD(c_table8, ANY, VARTIME, ANY, 1, struct key, 0),
    .set_key = set_key,
    .blocks = blocks,
};
