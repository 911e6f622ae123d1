/* SPDX-License-Identifier: MIT */
/*
 * Arm Linux: the kernel's HWCAP words, read from the auxiliary vector.
 *
 * Source: Linux Documentation/arch/arm64/elf_hwcaps.rst and cpu-feature-registers.rst (which registers programs may
 *         read where HWCAP_CPUID is set); arch/arm/include/uapi/asm/hwcap.h.
 * Elsewhere on Arm (no getauxval): what the compiler was told.
 */
#include "cpu/common.h"

#if EVC_A64 || EVC_A32

#if defined(__linux__)
unsigned long getauxval(unsigned long type);
#define AT_HWCAP 16
#define AT_HWCAP2 26
#else
static unsigned long getauxval(unsigned long type)
{
    (void)type;
    return 0;
}
#define AT_HWCAP 0
#define AT_HWCAP2 0
#endif

#define HAS(name, word, bit) (((word) >> (bit) & 1) ? EVC_CPU(name) : 0)

#if EVC_A64
#define HWCAP_CPUID 11

/* Of the core that this runs on now: others of the machine may want other tuning, and nothing else, for the HWCAP
 * words are what all of them have. */
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
    unsigned long cap = getauxval(AT_HWCAP), cap2 = getauxval(AT_HWCAP2);

    /* Advanced SIMD is in every A64 core that Linux supports, and in the base of the compilers. */
    return evc_features_of_build() | tuning(cap) | EVC_CPU(A64_NEON) | HAS(A64_AES, cap, 3) |
           HAS(A64_PMULL, cap, 4) | HAS(A64_SHA3, cap, 17) | HAS(A64_DIT, cap, 24) |
           HAS(A64_SVE, cap, 22) | HAS(A64_SVE2, cap2, 1);
}
#else
uint64_t evc_cpu_features(void)
{
    unsigned long cap = getauxval(AT_HWCAP), cap2 = getauxval(AT_HWCAP2);

    return evc_features_of_build() | HAS(A32_NEON, cap, 12) | HAS(A32_AES, cap2, 0) |
           HAS(A32_PMULL, cap2, 1);
}
#endif

#else
EVC_EMPTY_UNIT
#endif
