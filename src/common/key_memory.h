/* SPDX-License-Identifier: MIT */
/* Checks that every function that sets up a key makes of the kernel and of the memory. */
#ifndef EVC_COMMON_KEY_MEMORY_H
#define EVC_COMMON_KEY_MEMORY_H

#include "everycore/kernel.h"

#include "common/bytes.h"

/* key_bytes: bytes of memory that the key needs, at `key`; memory_bytes: bytes that are there. */
EVC_INLINE enum evc_status evc_check_key_memory(const void *key, size_t memory_bytes, size_t key_bytes)
{
    if (((uintptr_t)key & 15) != 0)
        return EVC_ERR_ALIGNMENT;
    return key_bytes > memory_bytes ? EVC_ERR_KERNEL : EVC_OK;
}

/* The bytes of a key of this kernel, in whole blocks of 16: where the next key may begin. */
EVC_INLINE size_t evc_key_room(const struct evc_kernel *kernel)
{
    return ((size_t)kernel->key_bytes + 15) & ~(size_t)15;
}

#endif
