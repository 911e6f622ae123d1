/* SPDX-License-Identifier: MIT */
/* Declarations for a file of a SHA-2 kernel: the descriptor's type, and all descriptors. */
#ifndef EVC_SHA2_KERNEL_H
#define EVC_SHA2_KERNEL_H

#include "everycore/sha2.h"

#include "common/registry.h"

#endif
