/* SPDX-License-Identifier: MIT */
/* The hash FNV-1a of Fowler, Noll and Vo, in 64 bits: by it outputs and inputs are compared over
 * machines. */
#ifndef SUBJECT_FNV1A_H
#define SUBJECT_FNV1A_H

#include <stddef.h>
#include <stdint.h>

#define FNV1A_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t fnv1a(const uint8_t *bytes, size_t n_bytes, uint64_t hash)
{
    for (size_t i = 0; i < n_bytes; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
