/* SPDX-License-Identifier: MIT */
/*
 * Masked accesses at the end of a page.
 *
 * A masked access is repaired by microcode, in hundreds of cycles, if a byte that is masked off lies on a page without
 * access. So an access that might reach into a page without a byte of its buffer is moved down to the end of the page
 * where its buffer ends, and the vector is permuted. Nor may an access have a mask of zeros: it is not done at all.
 */
#ifndef EVC_COMMON_X86_PAGE_H
#define EVC_COMMON_X86_PAGE_H

#include "common/bytes.h"

#define EVC_X86_PAGE 4096

/* Whether p lies in the last vector_bytes (32 or 64) of a page, and the n_bytes there do not leave it. The first
 * condition alone is false for most addresses, so that the second costs nothing. */
EVC_INLINE int evc_x86_ends_in_page(const void *p, size_t n_bytes, size_t vector_bytes)
{
    const uintptr_t at = (uintptr_t)p;

    return (~at & (EVC_X86_PAGE - vector_bytes)) == 0 && at % vector_bytes + n_bytes <= vector_bytes;
}

#endif
