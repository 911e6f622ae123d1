/* SPDX-License-Identifier: MIT */
/* Checks of the memory of a key: where it is set up, and where it is used. */
#ifndef EVC_COMMON_KEY_MEMORY_H
#define EVC_COMMON_KEY_MEMORY_H

#include "everycore/kernel.h"

#include "common/bytes.h"

/* Nonzero if the two pieces of memory have a byte in common. */
EVC_INLINE int evc_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    return (uintptr_t)b - (uintptr_t)a < a_bytes || (uintptr_t)a - (uintptr_t)b < b_bytes;
}

/* Kernels load keys as vectors, which fault elsewhere. */
EVC_INLINE int evc_is_aligned(const void *key)
{
    return ((uintptr_t)key & 15) == 0;
}

/* Nonzero if a key that begins with its kernel is set up, and stands where that can use it; else
 * evc_key_error has the status. */
#define EVC_IS_SET(key) (evc_is_aligned(key) && (key)->kernel)

/* The status of a call with a key that is not aligned, or not set up. */
EVC_INLINE enum evc_status evc_key_error(const void *key)
{
    return evc_is_aligned(key) ? EVC_ERR_KERNEL : EVC_ERR_ALIGNMENT;
}

/*
 * key: memory_bytes bytes of memory, which are wiped before the key is set. The key needs key_bytes
 * of them; 0 means that a kernel is NULL.
 * user_key: user_key_bytes bytes that it is made from.
 */
EVC_INLINE enum evc_status evc_check_key_memory(const void *key, size_t memory_bytes,
                                                size_t key_bytes, const void *user_key,
                                                size_t user_key_bytes)
{
    if (!key_bytes)
        return EVC_ERR_KERNEL;
    if (!evc_is_aligned(key))
        return EVC_ERR_ALIGNMENT;
    if (key_bytes > memory_bytes)
        return EVC_ERR_KERNEL;
    if (!user_key && user_key_bytes)
        return EVC_ERR_PARAMETER;
    return user_key_bytes && evc_overlap(key, memory_bytes, user_key, user_key_bytes)
               ? EVC_ERR_OVERLAP
               : EVC_OK;
}

/* The bytes of a key of this kernel, in whole blocks of 16: where the next key may begin. */
EVC_INLINE size_t evc_key_room(const struct evc_kernel *kernel)
{
    return ((size_t)kernel->key_bytes + 15) & ~(size_t)15;
}

#endif
