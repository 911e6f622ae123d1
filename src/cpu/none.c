/* SPDX-License-Identifier: MIT */
/* CPUs without optional features that everycore knows: the facts of the build. */
#include "cpu/common.h"

#if !EVC_X86 && !EVC_A64 && !EVC_A32
uint64_t evc_cpu_features(void)
{
    return evc_features_of_build();
}
#else
EVC_EMPTY_UNIT
#endif
