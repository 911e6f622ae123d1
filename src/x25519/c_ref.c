/* SPDX-License-Identifier: MIT */
/*
 * X25519 by doubling and adding, bit by bit: the oracle for every other kernel, and the kernel for
 * CPUs of which nobody knows whether they multiply in constant time.
 *
 * Method:   the Montgomery ladder (ladder_steps.h). a b: for each bit of a, from the highest, the
 *           sum is doubled and b or 0 is added, eight of them without a carry. No multiplication.
 * Source:   RFC 7748 section 5; Knuth: The Art of Computer Programming, volume 2, section 4.6.3
 *           (the binary method, for sums).
 * Needs:    ANY.   Timing: CT (no tables, no secret branches, no multiplications).
 * Key form: private.
 */
#include "x25519/kernel.h"

#include "common/each.h"

/* A limb has room for eight bits of the other factor. */
#define N_LIMBS 12
#define BITS_OF(i) ((i) < 3 ? 22 : 21)
#include "x25519/limbs_steps.h"

/* The number is the same modulo p, and less than 2^255 + 2^15. */
static void carry_limbs(struct fe *a)
{
    uint32_t carry = 0;

    for (int i = 0; i < N_LIMBS; i++) {
        carry += a->limb[i];
        a->limb[i] = carry & MASK_OF(i);
        carry >>= BITS_OF(i);
    }
    a->limb[0] += (carry << 4) + (carry << 1) + carry; /* 19 times */
    a->limb[1] += a->limb[0] >> BITS_OF(0);
    a->limb[0] &= MASK_OF(0);
}

/* a = 2^8 a + byte b. Limbs of a difference are at most 3 times 2^22: 256 2^22 + 255 (3 2^22) is
 * below 2^32. */
static void add_byte_times(struct fe *a, uint32_t byte, const struct fe *b)
{
    uint32_t mask[8]; /* of the highest bit first */

    EACH_UP_TO_8(8, mask[i] = (uint32_t)0 - evc_barrier32(byte >> (7 - i) & 1));
    for (int k = 0; k < N_LIMBS; k++) {
        const uint32_t limb = b->limb[k];
        uint32_t sum = a->limb[k];
        EACH_UP_TO_8(8, sum = (sum << 1) + (limb & mask[i]));
        a->limb[k] = sum;
    }
    carry_limbs(a);
}

static void fe_mul(struct fe *restrict out, const struct fe *a, const struct fe *b)
{
    struct fe x = *a;
    uint8_t bytes[32];

    carry_limbs(&x);
    fe_store(bytes, &x);
    fe_set(out, 0);
    for (int i = 31; i >= 0; i--)
        add_byte_times(out, bytes[i], b);
}

static void fe_times_121665(struct fe *restrict out, const struct fe *a)
{
    struct fe factor;

    fe_set(&factor, 121665);
    fe_mul(out, &factor, a);
}

#define fe_square(out, a) fe_mul(out, a, a)
#define LITTLE_CODE
#include "x25519/ladder_steps.h"

const struct evc_x25519 evc_x25519_c_ref = {
    .kernel = EVC_KEYLESS_HEAD(c_ref, ANY, CT, ANY, BASELINE, 1280),
    .multiply = multiply,
};
