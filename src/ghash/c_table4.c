/* SPDX-License-Identifier: MIT */
/*
 * GHASH with a table of 16 multiples of H, four bits of the block at a time.
 *
 * Method:   Horner's rule over the nibbles of the block, from the last; a nibble is one
 *           addition from the table, and 4 bits that fall out of the sum come back by a
 *           table of 16 multiples of R.
 * Source:   McGrew, Viega: The Galois/Counter Mode of Operation (GCM), 2005, section 4.1;
 *           Shoup: On Fast and Provably Secure Message Authentication Based on Universal
 *           Hashing, 1996, section 5.
 * Needs:    ANY.   Timing: VARTIME (both tables are indexed by secrets).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/bytes.h"
#include "ghash/table_steps.h"

struct key {
    struct evc_ghash_head head;
    EVC_ALIGN(16) struct evc_ghash_element multiple[16]; /* nibble times H */
};

static void set_key(void *vkey, const uint8_t h[16])
{
    struct key *key = vkey;

    evc_ghash_multiples(key->multiple, 16, h);
}

/* The term that 4 bits, shifted out of an element, add to its upper 16 bits. */
#define BACK(n) (uint16_t)(EVC_GHASH_BACK(n, 4))
static const uint16_t back[16] = {
    BACK(0), BACK(1), BACK(2), BACK(3), BACK(4), BACK(5), BACK(6), BACK(7),
    BACK(8), BACK(9), BACK(10), BACK(11), BACK(12), BACK(13), BACK(14), BACK(15),
};

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
#define NIBBLE(i) evc_ghash_step(&hi, &lo, &over, &out, 4, &m[x >> 4 * (i) & 15], back)
            NIBBLE(0), NIBBLE(1), NIBBLE(2), NIBBLE(3), NIBBLE(4), NIBBLE(5), NIBBLE(6), NIBBLE(7);
            NIBBLE(8), NIBBLE(9), NIBBLE(10), NIBBLE(11), NIBBLE(12), NIBBLE(13), NIBBLE(14),
                NIBBLE(15);
#undef NIBBLE
        }
    }
    evc_store64_be(y, hi);
    evc_store64_be(y + 8, lo);
}

const struct evc_ghash evc_ghash_c_table4 = {
    .kernel = EVC_KERNEL_HEAD(c_table4, ANY, VARTIME, ANY, 1, struct key, 0, BASELINE, 384),
    .set_key = set_key,
    .blocks = blocks,
};
