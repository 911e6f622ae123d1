/* SPDX-License-Identifier: MIT */
/* Architectures whose instructions nobody has put into loops yet. */
#include "cpu_limits.h"

#include "everycore/isa.h"

#if !EVC_X86_64 && !EVC_A64
const struct limits limits_here = {NULL, 0, NULL, 0};
#else
EVC_EMPTY_UNIT
#endif
