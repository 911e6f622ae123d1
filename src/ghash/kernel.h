/* SPDX-License-Identifier: MIT */
/* Declarations for a file of a GHASH kernel: the descriptor's type, and all descriptors. */
#ifndef EVC_GHASH_KERNEL_H
#define EVC_GHASH_KERNEL_H

#include "everycore/ghash.h"

#include "common/registry.h"

#endif
