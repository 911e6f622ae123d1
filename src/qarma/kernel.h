/* SPDX-License-Identifier: MIT */
/* What a QARMA kernel file includes: the descriptor's type, and the declarations of all descriptors. */
#ifndef EVC_QARMA_KERNEL_H
#define EVC_QARMA_KERNEL_H

#include "everycore/qarma.h"

#include "common/registry.h"

#endif
