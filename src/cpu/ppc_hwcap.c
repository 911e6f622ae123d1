/* SPDX-License-Identifier: MIT */
/* PowerPC under Linux: the level of the Power ISA and its vectors, from the auxiliary vector.
 * Source: cpu/system_words.h. */
#include "cpu/common.h"
#include "cpu/system_words.h"

#if EVC_FEATURES_FROM == EVC_FROM_PPC

unsigned long getauxval(unsigned long type);
#define AT_HWCAP 16
#define AT_HWCAP2 26

uint64_t evc_cpu_features(void)
{
    const uint64_t have = evc_ppc_of_hwcap(getauxval(AT_HWCAP), getauxval(AT_HWCAP2));

    /* in programs of 32 bits the bits of features are those of another architecture */
    return evc_features_of_build() | (EVC_PPC64 ? have : have & EVC_CPU(CT_MUL));
}

#else
EVC_EMPTY_UNIT
#endif
