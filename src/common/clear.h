/* SPDX-License-Identifier: MIT */
/*
 * The end of every public call. It clears, once, what the kernel's operations left in vector registers and on the
 * stack. The member `clear` of a kernel's descriptor does it.
 */
#ifndef EVC_COMMON_CLEAR_H
#define EVC_COMMON_CLEAR_H

#include "everycore/kernel.h"

#include "common/bytes.h"

/* To be called by the function that called the operations, or by one nearer to the public call: `clear` reaches only as
 * deep below its caller as operations do. */
EVC_INLINE void evc_clear(const struct evc_kernel *kernel)
{
    if (kernel->clear)
        kernel->clear();
}

/* After operations of two kernels. They are compared as numbers: for functions, PA-RISC calls a helper. */
EVC_INLINE void evc_clear_both(const struct evc_kernel *a, const struct evc_kernel *b)
{
    evc_clear(a);
    if ((uintptr_t)b->clear != (uintptr_t)a->clear)
        evc_clear(b);
}

#endif
