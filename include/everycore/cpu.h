/* SPDX-License-Identifier: MIT */
/*
 * Detection of CPU features. A program need not link it: selection takes a feature word, a uint64_t
 * of EVC_CPU(...) bits, from any source, such as firmware or a hypervisor.
 */
#ifndef EVERYCORE_CPU_H
#define EVERYCORE_CPU_H

#include "everycore/everycore.h"
#include "everycore/isa.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The feature word of the CPU that runs this: EVC_CPU(...) bits of EVC_ARCH_HERE. Call it
 * once and keep the result: the library has no state to keep it in, and the call is slow. In
 * a virtual machine each of its CPUID instructions traps into the hypervisor, and the call
 * takes some ten microseconds.
 *
 * Source:
 *   x86                     CPUID, and XGETBV for the registers that the operating system keeps.
 *   Arm, Linux              HWCAP (getauxval).
 *   Arm, FreeBSD            HWCAP (elf_aux_info).
 *   A64, OpenBSD            HWCAP (elf_aux_info).
 *   A64, macOS and iOS      sysctlbyname.
 *   A64, Windows            IsProcessorFeaturePresent.
 *   PowerPC, Linux          HWCAP (getauxval).
 *   RISC-V, Linux           riscv_hwprobe, of Linux 6.8 and later.
 *   IBM Z, Linux            HWCAP (getauxval), STFLE, and the queries of instructions.
 *   PA-RISC, Linux          uname: whether the kernel has 64 bits.
 *   all others              none.
 * Features that the compiler may use (-march) are set as well, but not on x86. Compiled with
 * -DEVC_CPU_WITHOUT_OS, for kernels and firmware, src/cpu/ calls no operating system, but still
 * uses CPUID on x86.
 *
 * x86: a wide instruction (VAES, VPCLMULQDQ, GFNI, IFMA) counts only if each of its lanes
 * gives the result of the narrow instruction: QEMU 7.2 reports VAES and computes its second lane
 * wrongly. The call executes each instruction once to find out. A build without vector registers
 * (-mno-sse, -mgeneral-regs-only: kernels of operating systems) does not, and trusts CPUID.
 *
 * macOS on x86 keeps the registers of AVX-512 only for threads that have used them, and XCR0 does
 * not show them before. There the feature word has no AVX-512, and kernels for vectors of 256 bits
 * are selected.
 *
 * On machines with unlike cores (big.LITTLE) the tuning bits are those of the core on which the
 * call runs. All other bits hold for all cores, so every core can run the selected kernel. To tune
 * for a certain core, call this function there, or evc_a64_tuning() with its MIDR (Linux:
 * /sys/devices/system/cpu/cpuN/regs/identification/midr_el1).
 */
EVC_API uint64_t evc_cpu_features(void);

/*
 * The bit CT_MUL: this core multiplies 32 x 32 and 64 x 64 bits in a time that does not depend on
 * the operands. GHASH by multiplication of integers is constant-time on such cores only. On a CPU
 * with neither this bit nor vectors, the only constant-time GHASH is the bit-serial one (c_ref). It
 * is more than twenty times slower, and GCM with it. For big numbers c_ref is hundreds of times
 * slower. The policy EVC_ALLOW_VARTIME selects kernels that multiply nevertheless.
 *
 * evc_cpu_features() sets the bit if, for every core that may run the program, documents of the
 * maker say so, or no exception is known:
 *   x86-64                always: Intel documents it, for recent cores while DOITM is set; no core
 *                         of x86-64 is known to differ.
 *   A64                   always: Arm promises it while PSTATE.DIT is set (below), and no core is
 *                         known to differ without it.
 *   i386                  cores of x86-64, Intel's family 6 (Pentium Pro, Pentium
 *                         M, Core, Atom), AMD's K7.
 *   PowerPC               POWER8 and later: by -mcpu, or by Linux's word.
 *   RISC-V                cores with Zkt: by -march, or by the word of Linux 6.8 and later.
 *   PA-RISC               of 1.1 and later, by -march, in programs of an operating system: there
 *                         compilers multiply by xmpyu.
 * Elsewhere (s390x, A32, MIPS, LoongArch, SPARC, Alpha, older PowerPC, RISC-V without Zkt, ...)
 * some cores do and some do not, or nobody has published it, so the library does not guess. A
 * caller who knows the core, or has no secrets, can set the bit:
 *
 *     uint64_t features = evc_cpu_features() | EVC_CPU(CT_MUL);
 *
 * Cores that are known to end a multiplication early: 486, ARM7 to ARM9, Cortex-M3 (64-bit
 * products), PowerPC 7xx, 970, m68k. Source for these: T. Pornin, BearSSL, "Constant-Time Mul"
 * (2017), and src/cpu/common.h.
 */

/* ---- x86 by its CPUID leaves: src/cpu/x86_cpuid.c -------------------------------------------- */

/* Results of CPUID and XGETBV; 0 where the CPU has no such leaf. */
struct evc_x86_id {
    uint32_t max_leaf, vendor_ebx;              /* leaf 0: EAX, EBX */
    uint32_t leaf1_eax, leaf1_ecx, leaf1_edx;   /* leaf 1 */
    uint32_t leaf7_eax, leaf7_ebx, leaf7_ecx;   /* leaf 7, subleaf 0; EAX is the greatest subleaf */
    uint32_t leaf7_1_eax, leaf7_1_edx;         /* leaf 7, subleaf 1: EAX bit 23 is AVX-IFMA,
                                                * EDX bit 19 is AVX10 */
    uint32_t leaf24_ebx;                        /* leaf 24h, subleaf 0: AVX10's version
                                                 * and lengths of vectors */
    uint32_t max_extended_leaf, extended1_edx;  /* leaf 80000000h: EAX; leaf 80000001h:
                                                 * EDX; for 32-bit code only */
    uint32_t xcr0;                              /* XGETBV(0): EAX; 0 without
                                                 * OSXSAVE (leaf 1, ECX bit 27) */
    uint32_t mode64;                            /* 1 for a program of 64 bits,
                                                 * which CPUID does not know */
};

/*
 * The feature word of a CPU and a system with these values, on any host. A feature counts if its
 * flag is set, if the system keeps its registers, and if the features that it builds on
 * count: a hypervisor may mask any of them.
 *
 * AVX10 adds no feature: where its vectors have 512 bits, the CPU shows the flags of
 * AVX-512 as well. If leaf 24h says that they have at most 256, flags of AVX-512 do not
 * count, and kernels of AVX2 serve.
 *
 * Tuning bits follow from flags where these tell cores apart, and from family and model elsewhere:
 * a hypervisor may show the numbers of another core.
 */
EVC_API uint64_t evc_x86_features(const struct evc_x86_id *id);

#if EVC_X86
/* Fills *id from CPUID and XGETBV. The CPU must have CPUID, so it is no 386 and no early 486. */
EVC_API void evc_x86_read_id(struct evc_x86_id *id);
#endif

/* ---- A64 without an operating system: src/cpu/a64_idreg.c ------------------------------------ */

/* Values of MIDR_EL1, ID_AA64PFR0_EL1, ID_AA64ISAR0_EL1 and ID_AA64ZFR0_EL1 (0
 * where there is none). */
struct evc_a64_id {
    uint64_t midr, pfr0, isar0, zfr0;
};

/* The feature word of a core with these values, on any host. It says what the core has. The caller
 * checks whether vector registers may be used (CPACR_EL1, traps of higher levels), and clears
 * EVC_VECTOR_A64 if not. */
EVC_API uint64_t evc_a64_features(const struct evc_a64_id *id);

/* The tuning bits of the core with this MIDR_EL1, on any host; 0 if the core is not known. */
EVC_API uint64_t evc_a64_tuning(uint64_t midr);

#if EVC_A64
/* Fills *id from the identification registers: at EL1 or above; at EL0 only where the system
 * emulates it (Linux, HWCAP_CPUID). */
EVC_API void evc_a64_read_id(struct evc_a64_id *id);
#endif

/* ---- Data-independent timing ----------------------------------------------------------------- */

/*
 * PSTATE.DIT of A64 (FEAT_DIT, Armv8.4; Arm DDI 0487, 2024, section B1.3.6): while it is set, the
 * instructions that the manual lists take a time that does not depend on their data. Constant-time
 * kernels use no others on secrets. Without DIT cores behave so in practice, but Arm does not
 * promise it. Kernels do not set the bit: the caller does, around as many calls as it likes. At EL0
 * that is always allowed.
 *
 *     int was_set = evc_dit_begin(features);
 *     ... calls with secrets ...
 *     evc_dit_end(was_set);
 *
 * evc_dit_begin returns whether the bit was set, and evc_dit_end restores that, so pairs may be
 * nested. The bit belongs to the thread. Both functions do nothing if the feature word lacks
 * A64_DIT.
 */
static inline int evc_dit_begin(uint64_t features)
{
#if EVC_A64 && EVC_GNU_C
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
#if EVC_A64 && EVC_GNU_C
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
