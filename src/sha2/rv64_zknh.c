/* SPDX-License-Identifier: MIT */
/*
 * SHA-2 by the scalar SHA-2 instructions of RISC-V, 64 bits.
 *
 * Method:   each function that the standard writes with a sigma is one instruction.
 * Source:   FIPS 180-4 (2015) sections 6.2.2 and 6.4.2; RISC-V Cryptography Extensions vol. I,
 *           1.0.1 (2022), Zknh: the instructions take a time that does not depend on data.
 * Needs:    RV64_ZKNH.   Timing: CT (no branch or address depends on the message).
 * Key form: private.
 */
#include "sha2/kernel.h"

#if EVC_BUILT(RV64_ZKNH)
#include "common/rv_scalar.h"
#include "sha2/constants.h"

EVC_RV_OF_ONE(sha256sum0, 1, 0x100)
EVC_RV_OF_ONE(sha256sum1, 1, 0x101)
EVC_RV_OF_ONE(sha256sig0, 1, 0x102)
EVC_RV_OF_ONE(sha256sig1, 1, 0x103)
EVC_RV_OF_ONE(sha512sum0, 1, 0x104)
EVC_RV_OF_ONE(sha512sum1, 1, 0x105)
EVC_RV_OF_ONE(sha512sig0, 1, 0x106)
EVC_RV_OF_ONE(sha512sig1, 1, 0x107)

#define WORD uint32_t
#define WORD_BYTES 4
#define LOAD evc_load32_be
#define BLOCK_FUNCTION block256
#define N_ROUNDS 64
#define BIG0(x) (uint32_t)evc_rv_sha256sum0(x)
#define BIG1(x) (uint32_t)evc_rv_sha256sum1(x)
#define SMALL0(x) (uint32_t)evc_rv_sha256sig0(x)
#define SMALL1(x) (uint32_t)evc_rv_sha256sig1(x)
#include "sha2/words_steps.h"

#define WORD uint64_t
#define WORD_BYTES 8
#define LOAD evc_load64_be
#define BLOCK_FUNCTION block512
#define N_ROUNDS 80
#define BIG0(x) evc_rv_sha512sum0(x)
#define BIG1(x) evc_rv_sha512sum1(x)
#define SMALL0(x) evc_rv_sha512sig0(x)
#define SMALL1(x) evc_rv_sha512sig1(x)
#include "sha2/words_steps.h"

static void blocks256(uint32_t h[8], const uint8_t *in, size_t n_blocks)
{
    for (; n_blocks; n_blocks--, in += 64)
        block256(h, in, evc_sha2_k256);
}

static void blocks512(uint64_t h[8], const uint8_t *in, size_t n_blocks)
{
    for (; n_blocks; n_blocks--, in += 128)
        block512(h, in, evc_sha2_k512);
}

const struct evc_sha2 evc_sha2_rv64_zknh = {
    .kernel = EVC_KEYLESS_HEAD(rv64_zknh, RV64_ZKNH, CT, ANY, BASELINE, 640),
    .blocks256 = blocks256,
    .blocks512 = blocks512,
};

#else
EVC_EMPTY_UNIT
#endif
