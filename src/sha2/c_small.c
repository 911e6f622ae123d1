/* SPDX-License-Identifier: MIT */
/*
 * SHA-256 in few bytes of portable code, for firmware.
 *
 * Method:   one round in a loop. One array has room for every word that the state ever has: each
 *           round writes two new ones, and none is moved. The words of the message have another.
 * Source:   FIPS 180-4 (2015) sections 4.1 and 6.2.2.
 * Needs:    ANY.   Timing: CT (no branch or address depends on the message).
 * Key form: private.
 */
#include "sha2/kernel.h"

#include "common/bytes.h"
#include "sha2/constants.h"

EVC_INLINE uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void block(uint32_t h[8], const uint8_t *in)
{
    uint32_t states[64 + 8], words[64];
    uint32_t *s = states + 64; /* s[0] to s[7]: a to h of the round before */
    uint32_t *w = words;       /* behind the words that are there */
    const uint32_t *k = evc_sha2_k256;

    evc_copy_secret((uint8_t *)s, (const uint8_t *)h, 32);
    do {
        uint32_t word, t1;
        if (w < words + 16) {
            word = evc_load32_be(in);
            in += 4;
        } else {
            const uint32_t x = w[-15], y = w[-2];
            word = w[-16] + (rotr(x, 7) ^ rotr(x, 18) ^ x >> 3) + w[-7] +
                   (rotr(y, 17) ^ rotr(y, 19) ^ y >> 10);
        }
        *w++ = word;
        t1 = s[7] + (rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25)) +
             ((s[4] & (s[5] ^ s[6])) ^ s[6]) + *k++ + word;
        s--;
        s[4] += t1; /* d, which becomes e */
        s[0] = t1 + (rotr(s[1], 2) ^ rotr(s[1], 13) ^ rotr(s[1], 22)) +
               ((s[1] & s[2]) | (s[3] & (s[1] | s[2])));
    } while (s != states);
    for (int i = 0; i < 8; i++)
        h[i] += s[i];
}

static void blocks256(uint32_t h[8], const uint8_t *in, size_t n_blocks)
{
    for (; n_blocks; n_blocks--, in += 64)
        block(h, in);
}

const struct evc_sha2 evc_sha2_c_small = {
    .kernel = EVC_KEYLESS_HEAD(c_small, ANY, CT, SHA256, BASELINE, 896),
    .blocks256 = blocks256,
};
