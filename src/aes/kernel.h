/* SPDX-License-Identifier: MIT */
/* What an AES kernel file includes: the descriptor's type, and the declarations of all descriptors. */
#ifndef EVC_AES_KERNEL_H
#define EVC_AES_KERNEL_H

#include "everycore/aes.h"

#include "common/registry.h"

#endif
