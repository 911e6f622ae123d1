/* SPDX-License-Identifier: MIT */
/* Declarations for a kernel of bn: the descriptor's type, all descriptors,
 * and the parts of a key. */
#ifndef EVC_BN_KERNEL_H
#define EVC_BN_KERNEL_H

#include "everycore/bn.h"

#include "common/registry.h"

/* Bytes in whole pieces of 16. */
#define EVC_BN_ROUND16(n_bytes) (((n_bytes) + 15u) & ~(size_t)15)

/* Start of the part of a key that is the kernel's own, behind the head. */
#define EVC_BN_HEAD_BYTES EVC_BN_ROUND16(sizeof(struct evc_bn_modulus))
#define EVC_BN_PRIVATE(key) ((void *)((uint8_t *)(key) + EVC_BN_HEAD_BYTES))
#define EVC_BN_PRIVATE_CONST(key) ((const void *)((const uint8_t *)(key) + EVC_BN_HEAD_BYTES))

EVC_INLINE size_t evc_bn_n_bytes(const void *key)
{
    return ((const struct evc_bn_modulus *)key)->n_bytes;
}

#endif
