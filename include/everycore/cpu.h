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
 * HWCAP, elsewhere only what the compiler was told. No state: the caller keeps the result.
 *
 * On machines with unlike cores (big.LITTLE) the tuning bits, and they alone, are those of the core that the
 * caller runs on when it asks; what is selected is right on all of them. To tune for a certain core, ask there, or
 * use evc_a64_tuning() with its MIDR (Linux: /sys/devices/system/cpu/cpuN/regs/identification/midr_el1). */
EVC_API uint64_t evc_cpu_features(void);

/* ---- A64 without an operating system: src/cpu/a64_idreg.c ----------------------------------------- */

/* Values of MIDR_EL1, ID_AA64PFR0_EL1, ID_AA64ISAR0_EL1 and ID_AA64ZFR0_EL1 (0 where there is none). */
struct evc_a64_id {
    uint64_t midr, pfr0, isar0, zfr0;
};

/* The feature word of a core with these values; pure, on every host. It says what the core has: whether it may be used
 * (CPACR_EL1, and traps of higher levels) is for the caller to see to, who clears EVC_VECTOR_A64 if not. */
EVC_API uint64_t evc_a64_features(const struct evc_a64_id *id);

/* The tuning bits of the core with this MIDR_EL1; none of one that is not known. Pure, on every host. */
EVC_API uint64_t evc_a64_tuning(uint64_t midr);

#if EVC_A64
/* Reads them: at EL1 or above; at EL0 only where the system emulates it (Linux, HWCAP_CPUID). */
EVC_API void evc_a64_read_id(struct evc_a64_id *id);
#endif

/* ---- Data-independent timing ----------------------------------------------------------------------- */

/*
 * PSTATE.DIT of A64 (FEAT_DIT, Armv8.4; Arm DDI 0487, 2024, section B1.3.6): while it is set, the instructions that the
 * manual lists, all that the constant-time kernels are made of, take a time that does not depend on their data.
 * Without it that is the habit of cores, and no promise. Kernels do not set it: the caller does, around as
 * many calls as it likes, if its system lets it (at EL0 it is always allowed).
 *
 *     int was_set = evc_dit_begin(features);
 *     ... calls with secrets ...
 *     evc_dit_end(was_set);
 *
 * begin returns what end needs to put things back as they were, so pairs may be nested. The bit belongs to the thread,
 * and an operating system keeps it with its registers. Both are nothing where the feature word has no A64_DIT.
 */
static inline int evc_dit_begin(uint64_t features)
{
#if EVC_A64 && defined(__GNUC__)
    uint64_t dit;

    if (!(features & EVC_CPU(A64_DIT)))
        return 1;
    __asm__ volatile("mrs %0, s3_3_c4_c2_5" : "=r"(dit));
    if (!(dit >> 24 & 1))
        __asm__ volatile("msr s3_3_c4_c2_5, %0" : : "r"(UINT64_C(1) << 24) : "memory");
    return (int)(dit >> 24 & 1);
#else
    (void)features;
    return 1;
#endif
}

static inline void evc_dit_end(int was_set)
{
#if EVC_A64 && defined(__GNUC__)
    if (!was_set)
        __asm__ volatile("msr s3_3_c4_c2_5, xzr" : : : "memory");
#else
    (void)was_set;
#endif
}

#ifdef __cplusplus
}
#endif
#endif
