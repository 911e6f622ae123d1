/* SPDX-License-Identifier: MIT */
/*
 * SHA-2 in portable C, fast where general registers have 64 bits.
 *
 * Method:   words_steps.h, of words of 32 and of 64 bits.
 * Source:   FIPS 180-4 (2015) sections 4.1, 6.2.2 and 6.4.2.
 * Needs:    SHA2_WORDS64.   Timing: CT (no branch or address depends on the message).
 * Key form: private.
 */
#define EVC_BY_PRESSURE
#include "common/few_spills.h"

#include "sha2/kernel.h"

#if EVC_BUILT(SHA2_WORDS64)
#include "sha2/words256.h"

#define ROTR64(x, n) ((x) >> (n) | (x) << (64 - (n)))

#if defined(__riscv)
#define ODD_IN_MEMORY
#define ROUNDS_APART
#endif
#define WORD uint64_t
#define WORD_BYTES 8
#define LOAD evc_load64_be
#define BLOCK_FUNCTION block512
#define N_ROUNDS 80
#define BIG0(x) (ROTR64(x, 28) ^ ROTR64(x, 34) ^ ROTR64(x, 39))
#define BIG1(x) (ROTR64(x, 14) ^ ROTR64(x, 18) ^ ROTR64(x, 41))
#define SMALL0(x) (ROTR64(x, 1) ^ ROTR64(x, 8) ^ (x) >> 7)
#define SMALL1(x) (ROTR64(x, 19) ^ ROTR64(x, 61) ^ (x) >> 6)
#include "sha2/words_steps.h"

static void blocks512(uint64_t h[8], const uint8_t *in, size_t n_blocks)
{
    for (; n_blocks; n_blocks--, in += 128)
        block512(h, in, evc_sha2_k512);
}

const struct evc_sha2 evc_sha2_c_words64 = {
    .kernel = EVC_KEYLESS_HEAD(c_words64, SHA2_WORDS64, CT, ANY, BASELINE, 640),
    .blocks256 = blocks256,
    .blocks512 = blocks512,
};

#else
EVC_EMPTY_UNIT
#endif
