/* SPDX-License-Identifier: MIT */
/*
 * GHASH as the standard writes it, bit by bit: the oracle for every other kernel, and constant
 * time where nothing else is.
 *
 * Method:   one doubling of the key and one masked addition for each bit of the block.
 * Source:   SP 800-38D (2007) section 6.3, algorithm 1; section 6.4, algorithm 2.
 * Needs:    ANY.   Timing: CT (masks, no table).
 * Key form: private.
 */
#include "ghash/kernel.h"

#include "common/bytes.h"
#include "common/ct.h"

struct key {
    struct evc_ghash_head head;
    EVC_ALIGN(16) uint8_t h[16];
};

static void set_key(void *vkey, const uint8_t h[16])
{
    struct key *key = vkey;

    memcpy(key->h, h, 16);
}

/* Words of an element: bit 0 of the standard, the leftmost, is the highest bit of w[0]. */
struct element {
    uint32_t w[4];
};

/* v * x: to the right by one bit; the bit that falls out comes back as R = 11100001 || 0^120. */
static void times_x(struct element *v)
{
    const uint32_t out = (uint32_t)0 - evc_barrier32(v->w[3] & 1);

    for (int i = 3; i > 0; i--)
        v->w[i] = (v->w[i] >> 1) | (v->w[i - 1] << 31);
    v->w[0] = (v->w[0] >> 1) ^ (out & UINT32_C(0xe1000000));
}

/* y * h into y. */
static void multiply(uint8_t y[16], const uint8_t h[16])
{
    struct element z = {{0, 0, 0, 0}}, v;

    for (int i = 0; i < 4; i++)
        v.w[i] = evc_load32_be(h + 4 * i);
    for (int i = 0; i < 4; i++) {
        const uint32_t x = evc_load32_be(y + 4 * i);
        for (int bit = 31; bit >= 0; bit--, times_x(&v)) {
            const uint32_t mask = (uint32_t)0 - evc_barrier32(x >> bit & 1);
            for (int j = 0; j < 4; j++)
                z.w[j] ^= mask & v.w[j];
        }
    }
    for (int i = 0; i < 4; i++)
        evc_store32_be(y + 4 * i, z.w[i]);
}

static void blocks(const void *vkey, uint8_t y[16], const uint8_t *in, size_t n_blocks)
{
    const struct key *key = vkey;

    for (; n_blocks; n_blocks--, in += 16) {
        evc_xor16(y, y, in);
        multiply(y, key->h);
    }
}

const struct evc_ghash evc_ghash_c_ref = {
    .kernel = EVC_KERNEL_HEAD(c_ref, ANY, CT, ANY, 1, struct key, 0, BASELINE, 384),
    .set_key = set_key,
    .blocks = blocks,
};
