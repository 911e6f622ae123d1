/* SPDX-License-Identifier: MIT */
/* Declarations for a file of a QARMA kernel: the descriptor's type, and all descriptors. */
#ifndef EVC_QARMA_KERNEL_H
#define EVC_QARMA_KERNEL_H

#include "everycore/qarma.h"

#include "common/registry.h"

#endif
