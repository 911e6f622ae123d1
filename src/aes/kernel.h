/* SPDX-License-Identifier: MIT */
/* Declarations for a file of an AES kernel: the descriptor's type, and all descriptors. */
#ifndef EVC_AES_KERNEL_H
#define EVC_AES_KERNEL_H

#include "everycore/aes.h"

#include "common/registry.h"

/* The forward cipher alone, of lines with the mark PAIR. */
#define EVC_FORWARD_OF_aes EVC_YES
#define EVC_FORWARD_OF_PAIR EVC_YES
#define EVC_DECLARE_FORWARD(mark, stem)              \
    EVC_WHEN(EVC_IS(EVC_CAT(EVC_FORWARD_OF_, mark)), \
             extern EVC_API const struct evc_aes evc_aes_##stem##_forward;)
#define KERNEL(primitive, stem, isa, timing, ...)                         \
    EVC_WHEN(EVC_BUILT(isa), EVC_WHEN(EVC_IS(EVC_FORWARD_OF_##primitive), \
                                      EVC_DECLARE_FORWARD(EVC_LINE_MARK(__VA_ARGS__), stem)))
#include "kernels.def"
#undef KERNEL

#endif
