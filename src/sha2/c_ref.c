/* SPDX-License-Identifier: MIT */
/*
 * SHA-2 as the standard writes it: the oracle for every other kernel.
 *
 * Method:   the message schedule in an array, then a round at a time.
 * Source:   FIPS 180-4 (2015) sections 4.1, 6.2.2 and 6.4.2.
 * Needs:    ANY.   Timing: CT (no branch or address depends on the message).
 * Key form: private.
 */
#include "sha2/kernel.h"

#include "common/bytes.h"
#include "sha2/constants.h"

static uint32_t rotr32(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint64_t rotr64(uint64_t x, int n)
{
    return x >> n | x << (64 - n);
}

/* The functions of the standard, and one block of them; a to h are s[0] to s[7]. */
#define BLOCK(bits, n_rounds, S0, S1, s0, s1)                                                      \
    static uint##bits##_t ch##bits(uint##bits##_t x, uint##bits##_t y, uint##bits##_t z)           \
    {                                                                                              \
        return (x & y) ^ (~x & z);                                                                 \
    }                                                                                              \
                                                                                                   \
    static uint##bits##_t maj##bits(uint##bits##_t x, uint##bits##_t y, uint##bits##_t z)          \
    {                                                                                              \
        return (x & y) ^ (x & z) ^ (y & z);                                                        \
    }                                                                                              \
                                                                                                   \
    static void block##bits(uint##bits##_t h[8], const uint8_t *in, const uint##bits##_t *k)       \
    {                                                                                              \
        uint##bits##_t w[n_rounds], s[8];                                                          \
                                                                                                   \
        for (int t = 0; t < n_rounds; t++)                                                         \
            w[t] = t < 16 ? evc_load##bits##_be(in + t * bits / 8)                                 \
                          : s1(w[t - 2]) + w[t - 7] + s0(w[t - 15]) + w[t - 16];                   \
        evc_copy_secret((uint8_t *)s, (const uint8_t *)h, sizeof s);                               \
        for (int t = 0; t < n_rounds; t++) {                                                       \
            const uint##bits##_t t1 = s[7] + S1(s[4]) + ch##bits(s[4], s[5], s[6]) + k[t] + w[t];  \
            const uint##bits##_t t2 = S0(s[0]) + maj##bits(s[0], s[1], s[2]);                      \
            for (int i = 7; i > 0; i--) {                                                          \
                uint##bits##_t moved = s[i - 1];                                                   \
                EVC_KEEP(moved); /* no memmove, which leaves it in registers */                    \
                s[i] = moved;                                                                      \
            }                                                                                      \
            s[4] += t1;                                                                            \
            s[0] = t1 + t2;                                                                        \
        }                                                                                          \
        for (int i = 0; i < 8; i++)                                                                \
            h[i] += s[i];                                                                          \
    }

#define S0_256(x) (rotr32(x, 2) ^ rotr32(x, 13) ^ rotr32(x, 22))
#define S1_256(x) (rotr32(x, 6) ^ rotr32(x, 11) ^ rotr32(x, 25))
#define s0_256(x) (rotr32(x, 7) ^ rotr32(x, 18) ^ (x) >> 3)
#define s1_256(x) (rotr32(x, 17) ^ rotr32(x, 19) ^ (x) >> 10)
BLOCK(32, 64, S0_256, S1_256, s0_256, s1_256)

#define S0_512(x) (rotr64(x, 28) ^ rotr64(x, 34) ^ rotr64(x, 39))
#define S1_512(x) (rotr64(x, 14) ^ rotr64(x, 18) ^ rotr64(x, 41))
#define s0_512(x) (rotr64(x, 1) ^ rotr64(x, 8) ^ (x) >> 7)
#define s1_512(x) (rotr64(x, 19) ^ rotr64(x, 61) ^ (x) >> 6)
BLOCK(64, 80, S0_512, S1_512, s0_512, s1_512)

static void blocks256(uint32_t h[8], const uint8_t *in, size_t n_blocks)
{
    for (; n_blocks; n_blocks--, in += 64)
        block32(h, in, evc_sha2_k256);
}

static void blocks512(uint64_t h[8], const uint8_t *in, size_t n_blocks)
{
    for (; n_blocks; n_blocks--, in += 128)
        block64(h, in, evc_sha2_k512);
}

const struct evc_sha2 evc_sha2_c_ref = {
    .kernel = EVC_KEYLESS_HEAD(c_ref, ANY, CT, ANY, BASELINE, 1152),
    .blocks256 = blocks256,
    .blocks512 = blocks512,
};
