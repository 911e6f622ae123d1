/* SPDX-License-Identifier: MIT */
/*
 * SHA-256 by the SHA extensions of x86.
 *
 * Method:   sha256rnds2 makes two rounds with the state as vectors ABEF and CDGH; sha256msg1 and
 *           sha256msg2 are the two halves of the message schedule, four words at once, and run
 *           beside the rounds of words that are ready.
 * Source:   FIPS 180-4 (2015) section 6.2.2; Intel SDM (2024) vol. 2B, SHA256RNDS2, SHA256MSG1,
 *           SHA256MSG2.
 * Needs:    X86_SHANI.   Timing: CT (no branch or address depends on the message).
 * Key form: private.
 */
#include "sha2/kernel.h"

#include "common/x86.h"

#if EVC_BUILT(X86_SHANI)
#include "sha2/constants.h"

EVC_ISA_BEGIN(X86_SHANI)
#include "sha2/x86_shani_blocks.h"
EVC_ISA_END

const struct evc_sha2 evc_sha2_x86_shani = {
    .kernel = EVC_KEYLESS_HEAD(x86_shani, X86_SHANI, CT, SHA256, XMM, 384),
    .blocks256 = blocks256,
};

#else
EVC_EMPTY_UNIT
#endif
