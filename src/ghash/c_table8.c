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

/* The term that a byte, shifted out of an element, adds to its upper 16 bits: its
 * lower 4 bits go further. */
#define BACK(b) (uint16_t)(EVC_GHASH_BACK((b) >> 4, 4) ^ (EVC_GHASH_BACK((b) & 15, 4) >> 4))
#define BACK4(b) BACK(b), BACK((b) + 1), BACK((b) + 2), BACK((b) + 3)
#define BACK16(b) BACK4(b), BACK4((b) + 4), BACK4((b) + 8), BACK4((b) + 12)
#define BACK64(b) BACK16(b), BACK16((b) + 16), BACK16((b) + 32), BACK16((b) + 48)
static const uint16_t back[256] = {BACK64(0), BACK64(64), BACK64(128), BACK64(192)};

static void blocks(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct evc_ghash_element *const m = ((const struct key *)vkey)->multiple;
    uint64_t hi = evc_load64_be(y), lo = evc_load64_be(y + 8);

    for (; n_blocks; n_blocks--, in += 16) {
        uint64_t x = lo ^ evc_load64_be(in + 8);
        const uint64_t x_hi = hi ^ evc_load64_be(in);
        uint64_t over = 0;
        unsigned out = 0;
        hi = lo = 0;
        for (int i = 0; i < 2; i++, x = x_hi) {
#define BYTE(i) evc_ghash_step(&hi, &lo, &over, &out, 8, &m[x >> 8 * (i) & 255], back)
            BYTE(0), BYTE(1), BYTE(2), BYTE(3), BYTE(4), BYTE(5), BYTE(6), BYTE(7);
#undef BYTE
        }
    }
    evc_store64_be(y, hi);
    evc_store64_be(y + 8, lo);
}

const struct evc_ghash evc_ghash_c_table8 = {
    .kernel = EVC_KERNEL_HEAD(c_table8, ANY, VARTIME, ANY, 1, struct key, 0, BASELINE, 384),
    .set_key = set_key,
    .blocks = blocks,
};
