/* SPDX-License-Identifier: MIT */
/*
 * X25519 (RFC 7748): a key exchange on Curve25519, and its kernels.
 *
 *     const struct evc_x25519 *kernel = evc_x25519_select(evc_cpu_features(), 0);
 *     uint8_t secret[EVC_X25519_BYTES], mine[EVC_X25519_BYTES], shared[EVC_X25519_BYTES];
 *     ... secret: 32 random bytes ...
 *     enum evc_status status = evc_x25519_public(kernel, secret, mine);
 *     ... send mine, receive theirs ...
 *     status = evc_x25519_shared(kernel, secret, theirs, shared);
 *
 * Derive keys from the shared secret and both public values, as by everycore/hkdf.h: its bits are
 * not uniform. Take a new secret for each exchange, and evc_wipe() secrets that are not needed.
 *
 * Secrets may be any bytes: both calls clear bits 0 to 2 and 255 of a copy, and set its bit 254, as
 * the RFC says. Public values may be any bytes: bit 255 is ignored, and numbers from 2^255 - 19 on
 * are taken modulo 2^255 - 19. The time of a call depends neither on secrets nor on values that
 * the peer chose; kernels that multiply need a CPU that does so in constant time (CT_MUL,
 * everycore/cpu.h). Calls clear secrets and results from the stack below their caller and from
 * vector registers, as everycore/aes.h says. Buffers may have any alignment and overlap in any way.
 *
 * EVC_ERR_PARAMETER   secret, theirs or the output is NULL
 * EVC_ERR_KERNEL      the kernel is NULL
 * EVC_ERR_PEER        theirs is a point whose order is 2, 4 or 8: the shared secret is 0,
 *                     whatever the secret (RFC 7748 section 6.1)
 */
#ifndef EVERYCORE_X25519_H
#define EVERYCORE_X25519_H

#include "everycore/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct evc_x25519; /* a kernel's descriptor; its members are below, for authors of kernels */

#define EVC_X25519_BYTES 32u /* of secrets, public values and shared secrets */

/* ---- Choosing a kernel ----------------------------------------------------------------------- */

/* As evc_aes_select: a portable constant-time kernel always fits. */
EVC_API const struct evc_x25519 *evc_x25519_select(uint64_t features, unsigned policy);

/* As evc_aes_named and evc_aes_at. */
EVC_API const struct evc_x25519 *evc_x25519_named(const char *name);
EVC_API const struct evc_x25519 *evc_x25519_at(unsigned index);

/* Any descriptor begins with its struct evc_kernel. */
static inline const struct evc_kernel *evc_x25519_kernel(const struct evc_x25519 *x25519)
{
    return (const struct evc_kernel *)(const void *)x25519;
}

/* ---- The exchange ---------------------------------------------------------------------------- */

/* The public value of a secret. */
EVC_CHECKED enum evc_status evc_x25519_public(const struct evc_x25519 *kernel,
                                              const uint8_t secret[EVC_X25519_BYTES],
                                              uint8_t mine[EVC_X25519_BYTES]);

/* The secret that both sides share. EVC_ERR_PEER: it is 0, and so are its bytes; after other errors
 * they are unchanged. */
EVC_CHECKED enum evc_status evc_x25519_shared(const struct evc_x25519 *kernel,
                                              const uint8_t secret[EVC_X25519_BYTES],
                                              const uint8_t theirs[EVC_X25519_BYTES],
                                              uint8_t shared[EVC_X25519_BYTES]);

/* ---- For kernels and their harness ----------------------------------------------------------- */

/*
 * The descriptor. multiply: the u coordinate of scalar times the point of u, 0 for the point at
 * infinity, less than 2^255 - 19. Bits 0 to 2 and 255 of the scalar are 0, bit 254 is 1, and bit
 * 255 of u is 0. Numbers have their lowest byte first. out overlaps nothing.
 */
struct evc_x25519 {
    struct evc_kernel kernel;

    void (*multiply)(uint8_t out[EVC_X25519_BYTES], const uint8_t scalar[EVC_X25519_BYTES],
                     const uint8_t u[EVC_X25519_BYTES]);
};

#ifdef __cplusplus
}
#endif
#endif
