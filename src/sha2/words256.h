/* SPDX-License-Identifier: MIT */
/* SHA-256 by words of 32 bits, for portable kernels. */
#ifndef EVC_SHA2_WORDS256_H
#define EVC_SHA2_WORDS256_H

#include "common/bytes.h"
#include "sha2/constants.h"

#define EVC_ROTR32(x, n) ((x) >> (n) | (x) << (32 - (n)))

#define WORD uint32_t
#define WORD_BYTES 4
#define LOAD evc_load32_be
#define BLOCK_FUNCTION evc_sha2_block256
#define N_ROUNDS 64
#define BIG0(x) (EVC_ROTR32(x, 2) ^ EVC_ROTR32(x, 13) ^ EVC_ROTR32(x, 22))
#define BIG1(x) (EVC_ROTR32(x, 6) ^ EVC_ROTR32(x, 11) ^ EVC_ROTR32(x, 25))
#define SMALL0(x) (EVC_ROTR32(x, 7) ^ EVC_ROTR32(x, 18) ^ (x) >> 3)
#define SMALL1(x) (EVC_ROTR32(x, 17) ^ EVC_ROTR32(x, 19) ^ (x) >> 10)
#include "sha2/words_steps.h"

static void blocks256(uint32_t h[8], const uint8_t *in, size_t n_blocks)
{
    for (; n_blocks; n_blocks--, in += 64)
        evc_sha2_block256(h, in, evc_sha2_k256);
}

#endif
