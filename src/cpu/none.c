/* SPDX-License-Identifier: MIT */
/* CPUs and systems that nobody is asked about: what the compiler was told. */
#include "cpu/common.h"

#if EVC_FEATURES_FROM == EVC_FROM_BUILD
uint64_t evc_cpu_features(void)
{
    return evc_features_of_build();
}
#else
EVC_EMPTY_UNIT
#endif
