/* SPDX-License-Identifier: MIT */
/*
 * The x86 intrinsics, without libc: <immintrin.h> of GCC and clang pulls in <stdlib.h> through its
 * aligned allocation header, which a freestanding build does not have; its guard, defined here, keeps it out.
 */
#ifndef EVC_COMMON_X86_H
#define EVC_COMMON_X86_H

#include "everycore/isa.h"

#if EVC_X86 /* files include this before they know what is built */
#define _MM_MALLOC_H_INCLUDED 1
#define __MM_MALLOC_H 1
#include <immintrin.h>
#endif

#endif
