/* SPDX-License-Identifier: MIT */
/* Declarations for a kernel of word primitives: the descriptor's type, and all descriptors. */
#ifndef EVC_BN_WORDS_KERNEL_H
#define EVC_BN_WORDS_KERNEL_H

#include "everycore/bn_words.h"

#include "common/registry.h"

/* The head of a descriptor, as EVC_KERNEL_HEAD. Word primitives have no keys. */
#define EVC_BN_WORDS_HEAD(stem_, isa_, timing_, use_, registers_, stack_bytes_) \
    {.name = #stem_,                                                            \
     .needs = EVC_NEEDS_##isa_,                                                 \
     .key_align = 16,                                                           \
     .timing = EVC_TIMING_##timing_,                                            \
     .use = EVC_USE_##use_,                                                     \
     .batch = 1,                                                                \
     .registers = EVC_REGISTERS_##registers_,                                   \
     .stack_bytes = EVC_STACK_BYTES(registers_, stack_bytes_),                  \
     .clear = EVC_CLEAR_##registers_}

#endif
