/* SPDX-License-Identifier: MIT */
#ifndef SUBJECT_LINUX_CACHE_H
#define SUBJECT_LINUX_CACHE_H

#include <asm/cache.h>

#define L1_CACHE_BYTES (1 << L1_CACHE_SHIFT)

#endif
