/* SPDX-License-Identifier: MIT */
/* What an AES kernel file includes: the descriptor's type, and the declarations of all descriptors by the
 * lines of kernels.def, so that a file defines exactly the symbol that its line promises. */
#ifndef EVC_AES_KERNEL_H
#define EVC_AES_KERNEL_H

#include "everycore/aes.h"

#include "common/registry.h"

#define EVC_DECLARE_aes(stem) extern EVC_API const struct evc_aes evc_aes_##stem;
#define KERNEL(primitive, stem, isa, timing, use)                                                  \
    EVC_WHEN(EVC_BUILT(isa), EVC_DECLARE_##primitive(stem))
#include "kernels.def"
#undef KERNEL

#endif
