/* SPDX-License-Identifier: MIT */
/* Seeded test data: splitmix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number
 * generators", figure 15). The same seed gives the same bytes on every machine. */
#ifndef HARNESS_RANDOM_H
#define HARNESS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* 0 <= result < n; the bias is below n / 2^64. */
static inline size_t random_below(struct random *r, size_t n)
{
    return (size_t)(random_next(r) % n);
}

static inline void random_bytes(struct random *r, uint8_t *out, size_t len_bytes)
{
    uint64_t x = 0;

    for (size_t i = 0; i < len_bytes; i++, x >>= 8) {
        if (i % 8 == 0)
            x = random_next(r);
        out[i] = (uint8_t)x;
    }
}

#endif
