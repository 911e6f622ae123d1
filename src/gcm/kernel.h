/* SPDX-License-Identifier: MIT */
/* Declarations for a file of a GCM kernel: the descriptor's type, and all descriptors. */
#ifndef EVC_GCM_KERNEL_H
#define EVC_GCM_KERNEL_H

#include "everycore/gcm.h"

#include "common/registry.h"
#include "gcm/pieces.h"

#endif
