/* SPDX-License-Identifier: MIT */
/* What a GHASH kernel file includes: the descriptor's type, and the declarations of all descriptors. */
#ifndef EVC_GHASH_KERNEL_H
#define EVC_GHASH_KERNEL_H

#include "everycore/ghash.h"

#include "common/registry.h"

#endif
