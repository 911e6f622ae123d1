/* SPDX-License-Identifier: MIT */
/*
 * SHA-2 with the instruction of IBM Z that hashes text in memory.
 *
 * Method:   one instruction for all blocks of a call; its parameters are the words of the state,
 *           where the caller has them.
 * Source:   FIPS 180-4 (2015); z/Architecture Principles of Operation, SA22-7832-12, chapter 7,
 *           KIMD-SHA-256 and KIMD-SHA-512.
 * Needs:    S390X_SHA2.   Timing: CT (the instruction).
 * Key form: private.
 */
#include "sha2/kernel.h"

#include "common/bytes.h"

#if EVC_BUILT(S390X_SHA2)

#include "common/s390x.h"

static void blocks256(uint32_t h[8], const uint8_t *in, size_t n_blocks)
{
    evc_s390x_kimd(EVC_S390X_SHA_256, h, in, 64 * n_blocks);
}

static void blocks512(uint64_t h[8], const uint8_t *in, size_t n_blocks)
{
    evc_s390x_kimd(EVC_S390X_SHA_512, h, in, 128 * n_blocks);
}

const struct evc_sha2 evc_sha2_s390x_kimd = {
    .kernel = EVC_KEYLESS_HEAD(s390x_kimd, S390X_SHA2, CT, ANY, BASELINE, 320),
    .blocks256 = blocks256,
    .blocks512 = blocks512,
};
#else
EVC_EMPTY_UNIT
#endif
