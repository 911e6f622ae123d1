/* SPDX-License-Identifier: MIT */
/*
 * A64 under Windows: IsProcessorFeaturePresent() of kernel32.
 *
 * Source: cpu/system_words.h. UEFI programs are compiled for the same target and have no kernel32:
 *         for them -DEVC_CPU_WITHOUT_OS.
 */
#include "cpu/common.h"
#include "cpu/system_words.h"

#if EVC_FEATURES_FROM == EVC_FROM_WINDOWS

int IsProcessorFeaturePresent(unsigned long number);

static int is_present(uint32_t number)
{
    return IsProcessorFeaturePresent(number);
}

uint64_t evc_cpu_features(void)
{
    return evc_features_of_build() | evc_a64_of_windows(is_present);
}

#else
EVC_EMPTY_UNIT
#endif
