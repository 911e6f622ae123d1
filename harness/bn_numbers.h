/* SPDX-License-Identifier: MIT */
/* Moduli and operands for tests of bn: random ones, and those whose structure makes carries
 * run and limbs overflow. */
#ifndef HARNESS_BN_NUMBERS_H
#define HARNESS_BN_NUMBERS_H

#include <stdbool.h>
#include <string.h>

#include "everycore/bn.h"

#include "random.h"

/* Pieces of 1, 2, 4 or 8 bytes that are all ones, all zeros or random. */
static inline void bn_pieces(struct random *r, uint8_t *out, size_t n_bytes)
{
    const size_t piece = (size_t)1 << random_below(r, 4);

    for (size_t i = 0; i < n_bytes; i += piece) {
        const size_t kind = random_below(r, 3);
        for (size_t j = i; j < i + piece && j < n_bytes; j++)
            out[n_bytes - 1 - j] = (uint8_t)(kind == 0 ? 0xff : kind == 1 ? 0 : random_next(r));
    }
}

/* An odd number whose first byte is not zero. */
static inline void bn_random_modulus(struct random *r, uint8_t *n, size_t n_bytes)
{
    memset(n, 0, n_bytes);
    switch (random_below(r, 6)) {
    case 0: /* all ones, down from its highest bit */
        memset(n, 0xff, n_bytes);
        n[0] = (uint8_t)(0xff >> random_below(r, 8));
        break;
    case 1: /* just above a power of two: of 2^(8 n_bytes - 8) at the least */
        n[0] = (uint8_t)(1 << random_below(r, 8));
        n[n_bytes - 1] = (uint8_t)random_next(r);
        break;
    case 2: /* just below a power of two */
        memset(n, 0xff, n_bytes);
        n[n_bytes - 1] = (uint8_t)random_next(r);
        break;
    case 3:
        bn_pieces(r, n, n_bytes);
        break;
    default:
        random_bytes(r, n, n_bytes);
    }
    n[n_bytes - 1] |= 1;
    if (!n[0])
        n[0] = 1;
}

/* A number below n. */
static inline void bn_random_operand(struct random *r, uint8_t *a, const uint8_t *n, size_t n_bytes)
{
    memset(a, 0, n_bytes);
    switch (random_below(r, 8)) {
    case 0:
        break;
    case 1:
        a[n_bytes - 1] = 1;
        break;
    case 2: /* n - 1 */
        memcpy(a, n, n_bytes);
        a[n_bytes - 1] ^= 1;
        break;
    case 3: /* a power of two */
        a[random_below(r, n_bytes)] = (uint8_t)(1 << random_below(r, 8));
        break;
    case 4:
        memset(a, 0xff, n_bytes);
        break;
    case 5:
        bn_pieces(r, a, n_bytes);
        break;
    default:
        random_bytes(r, a, n_bytes);
    }
    if (memcmp(a, n, n_bytes) >= 0)
        a[0] = (uint8_t)(a[0] % n[0]);
}

#endif
