/* SPDX-License-Identifier: MIT */
/*
 * The integers modulo p = 2^255 - 19 by limbs of 32 bits: what does not depend on how numbers are
 * multiplied. Limb number i counts BITS_OF(i) bits, 255 in all. A file defines N_LIMBS and BITS_OF
 * before it includes this one, and EACH_LIMB(statement), if loops are to be written out.
 *
 * A sum, and 2 p + a - b, are not carried. A number that is stored is below 2 p, and all its limbs
 * but limb 1 are below 2^BITS_OF.
 */
#include "common/bytes.h"
#include "common/ct.h"

typedef uint32_t limb_t;

struct fe {
    limb_t limb[N_LIMBS];
};

/* The statement for each i. */
#ifndef EACH_LIMB
#define EACH_LIMB(...)                  \
    for (int i = 0; i < N_LIMBS; i++) { \
        __VA_ARGS__;                    \
    }
#endif

#define MASK_OF(i) (((uint32_t)1 << BITS_OF(i)) - 1)

static void fe_set(struct fe *out, uint32_t value)
{
    for (int i = 1; i < N_LIMBS; i++)
        out->limb[i] = 0;
    out->limb[0] = value;
}

static void fe_choose(struct fe *out, const struct fe *a, uint32_t mask)
{
    EACH_LIMB(out->limb[i] ^= (out->limb[i] ^ a->limb[i]) & mask)
}

static void fe_add(struct fe *out, const struct fe *a, const struct fe *b)
{
    EACH_LIMB(out->limb[i] = a->limb[i] + b->limb[i])
}

static void fe_sub(struct fe *out, const struct fe *a, const struct fe *b)
{
    EACH_LIMB(out->limb[i] = a->limb[i] + 2 * (i ? MASK_OF(i) : MASK_OF(0) - 18) - b->limb[i])
}

static void fe_load(struct fe *out, const uint8_t *in)
{
    uint64_t bits = 0;

    for (int i = 0, n_bits = 0, at = 0; i < N_LIMBS; i++) {
        for (; n_bits < BITS_OF(i) && at < 32; n_bits += 8)
            bits |= (uint64_t)in[at++] << n_bits;
        out->limb[i] = (uint32_t)bits & MASK_OF(i);
        bits >>= BITS_OF(i);
        n_bits -= BITS_OF(i);
    }
}

/* 19 more carry out of bit 255 just where the number is not below p: then 19 are added, and bit 255
 * is dropped. */
static void fe_store(uint8_t *out, const struct fe *a)
{
    uint32_t carry = 19;
    uint64_t bits = 0;

    for (int i = 0; i < N_LIMBS; i++)
        carry = (a->limb[i] + carry) >> BITS_OF(i);
    carry *= 19;
    for (int i = 0, n_bits = 0, at = 0; i < N_LIMBS; i++) {
        carry += a->limb[i];
        bits |= (uint64_t)(carry & MASK_OF(i)) << n_bits;
        carry >>= BITS_OF(i);
        for (n_bits += BITS_OF(i); at < 32 && (n_bits >= 8 || i == N_LIMBS - 1); n_bits -= 8) {
            out[at++] = (uint8_t)bits;
            bits >>= 8;
        }
    }
}
