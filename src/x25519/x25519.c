/* SPDX-License-Identifier: MIT */
/*
 * X25519 on the multiplication of a kernel: bits of scalars and points, and the check for zero.
 *
 * Source: RFC 7748 (2016) sections 5 and 6.1.
 */
#include "everycore/x25519.h"

#include "common/bytes.h"
#include "common/clear.h"
#include "common/ct.h"

/* EVC_ERR_PEER if out is 0. out may overlap the others; nothing of a secret stays. The status comes
 * without a branch: only the caller learns it. */
static enum evc_status multiply(const struct evc_x25519 *kernel, const uint8_t *secret,
                                const uint8_t *u, uint8_t *out)
{
    uint8_t scalar[EVC_X25519_BYTES], point[EVC_X25519_BYTES], product[EVC_X25519_BYTES];
    uint32_t all = 0;

    evc_copy_secret(scalar, secret, sizeof scalar);
    evc_copy_secret(point, u, sizeof point);
    scalar[0] &= 0xf8;
    scalar[31] = (uint8_t)((scalar[31] & 0x7f) | 0x40);
    point[31] &= 0x7f;
    kernel->multiply(product, scalar, point);
    for (size_t i = 0; i < sizeof product; i++)
        all |= product[i];
    evc_copy_secret(out, product, sizeof product);
    evc_wipe(scalar, sizeof scalar);
    evc_wipe(point, sizeof point);
    evc_wipe(product, sizeof product);
    evc_clear(&kernel->kernel);
    return (enum evc_status)(~evc_mask_nonzero32(all) & (uint32_t)EVC_ERR_PEER);
}

enum evc_status evc_x25519_public(const struct evc_x25519 *kernel,
                                  const uint8_t secret[EVC_X25519_BYTES],
                                  uint8_t mine[EVC_X25519_BYTES])
{
    static const uint8_t base[EVC_X25519_BYTES] = {9};

    if (!kernel)
        return EVC_ERR_KERNEL;
    if (!secret || !mine)
        return EVC_ERR_PARAMETER;
    return multiply(kernel, secret, base, mine);
}

enum evc_status evc_x25519_shared(const struct evc_x25519 *kernel,
                                  const uint8_t secret[EVC_X25519_BYTES],
                                  const uint8_t theirs[EVC_X25519_BYTES],
                                  uint8_t shared[EVC_X25519_BYTES])
{
    if (!kernel)
        return EVC_ERR_KERNEL;
    if (!secret || !theirs || !shared)
        return EVC_ERR_PARAMETER;
    return multiply(kernel, secret, theirs, shared);
}
