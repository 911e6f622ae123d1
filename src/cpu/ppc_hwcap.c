/* SPDX-License-Identifier: MIT */
/* PowerPC under Linux: the level of the Power ISA, from the auxiliary vector.
 * Source: cpu/system_words.h. */
#include "cpu/common.h"
#include "cpu/system_words.h"

#if EVC_FEATURES_FROM == EVC_FROM_PPC

unsigned long getauxval(unsigned long type);
#define AT_HWCAP2 26

uint64_t evc_cpu_features(void)
{
    return evc_features_of_build() | evc_ppc_of_hwcap2(getauxval(AT_HWCAP2));
}

#else
EVC_EMPTY_UNIT
#endif
