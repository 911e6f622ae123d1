/* SPDX-License-Identifier: MIT */
/*
 * Arm under FreeBSD and OpenBSD: the kernel's HWCAP words, from the auxiliary vector.
 *
 * Source: cpu/system_words.h; FreeBSD 12 and OpenBSD 7.6, elf_aux_info(3); sys/sys/elf_common.h
 *         and sys/sys/auxv.h for the numbers. The identification registers are not read, so
 *         there are no tuning bits.
 */
#include "cpu/common.h"
#include "cpu/system_words.h"

#if EVC_FEATURES_FROM == EVC_FROM_ELF_AUX

int elf_aux_info(int type, void *value, int n_bytes);
#define AT_HWCAP 25
#define AT_HWCAP2 26

static uint64_t word(int type)
{
    unsigned long value = 0;

    return elf_aux_info(type, &value, (int)sizeof value) == 0 ? value : 0;
}

uint64_t evc_cpu_features(void)
{
    const uint64_t cap = word(AT_HWCAP), cap2 = word(AT_HWCAP2);

    return evc_features_of_build() |
           (EVC_A64 ? evc_a64_of_hwcap(cap, cap2) : evc_a32_of_hwcap(cap, cap2));
}

#else
EVC_EMPTY_UNIT
#endif
