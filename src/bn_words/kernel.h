/* SPDX-License-Identifier: MIT */
/* Declarations for a kernel of word primitives: the descriptor's type, and all descriptors. */
#ifndef EVC_BN_WORDS_KERNEL_H
#define EVC_BN_WORDS_KERNEL_H

#include "everycore/bn_words.h"

#include "common/registry.h"

#endif
