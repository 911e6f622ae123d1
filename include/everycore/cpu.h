/* SPDX-License-Identifier: MIT */
/*
 * Detection of CPU features. Optional to link: selection takes a feature word from wherever the
 * program has it (an operating system, a hypervisor and firmware each learn it differently).
 */
#ifndef EVERYCORE_CPU_H
#define EVERYCORE_CPU_H

#include "everycore/everycore.h"
#include "everycore/isa.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The feature word of the CPU that runs this, EVC_CPU(...) bits of EVC_ARCH_HERE. On x86 by CPUID and
 * XGETBV (a feature counts only if the operating system keeps its registers), on Arm Linux by
 * HWCAP, elsewhere only what the compiler was told. No state: the caller keeps the result. */
EVC_API uint64_t evc_cpu_features(void);

#ifdef __cplusplus
}
#endif
#endif
