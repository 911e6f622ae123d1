/* SPDX-License-Identifier: MIT */
/*
 * Arm under Linux: the kernel's HWCAP words, from the auxiliary vector.
 *
 * Source: cpu/system_words.h; Linux Documentation/arch/arm64/cpu-feature-registers.rst (which
 *         registers programs may read where HWCAP_CPUID is set).
 */
#include "cpu/common.h"
#include "cpu/system_words.h"

#if EVC_FEATURES_FROM == EVC_FROM_HWCAP

unsigned long getauxval(unsigned long type);
#define AT_HWCAP 16
#define AT_HWCAP2 26

#if EVC_A64
#define HWCAP_CPUID 11

/* The tuning bits of the core that this runs on now. Other cores of the machine may want other
 * tuning, and nothing else: the HWCAP words are what all of them have. */
static uint64_t tuning(unsigned long cap)
{
    uint64_t midr;

    if (!(cap >> HWCAP_CPUID & 1))
        return 0;
    __asm__ volatile("mrs %0, midr_el1" : "=r"(midr));
    return evc_a64_tuning(midr);
}

uint64_t evc_cpu_features(void)
{
    unsigned long cap = getauxval(AT_HWCAP);

    return evc_features_of_build() | tuning(cap) | evc_a64_of_hwcap(cap, getauxval(AT_HWCAP2));
}
#else
uint64_t evc_cpu_features(void)
{
    return evc_features_of_build() | evc_a32_of_hwcap(getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
}
#endif

#else
EVC_EMPTY_UNIT
#endif
