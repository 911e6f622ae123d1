/* SPDX-License-Identifier: MIT */
/* Declarations for a file of an AES kernel: the descriptor's type, and all descriptors. */
#ifndef EVC_AES_KERNEL_H
#define EVC_AES_KERNEL_H

#include "everycore/aes.h"

#include "common/registry.h"

#endif
