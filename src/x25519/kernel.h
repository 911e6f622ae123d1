/* SPDX-License-Identifier: MIT */
/* Declarations for a file of an X25519 kernel: the descriptor's type, and all descriptors. */
#ifndef EVC_X25519_KERNEL_H
#define EVC_X25519_KERNEL_H

#include "everycore/x25519.h"

#include "common/registry.h"

#endif
