/* SPDX-License-Identifier: MIT */
/* What a GCM kernel file includes: the descriptor's type, and the declarations of all descriptors. */
#ifndef EVC_GCM_KERNEL_H
#define EVC_GCM_KERNEL_H

#include "everycore/gcm.h"

#include "common/registry.h"

#endif
