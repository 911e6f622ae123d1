/* SPDX-License-Identifier: MIT */
/* Selects the file of this folder that defines evc_cpu_features(), and names the features that are
 * known without asking anybody. */
#ifndef EVC_CPU_COMMON_H
#define EVC_CPU_COMMON_H

#include "everycore/cpu.h"

/* ---- The source of evc_cpu_features(): exactly one file has it ------------------------------- */

#define EVC_FROM_BUILD 0    /* none.c: what the compiler was told */
#define EVC_FROM_CPUID 1    /* x86_cpuid.c */
#define EVC_FROM_HWCAP 2    /* arm_hwcap.c: getauxval() of Linux */
#define EVC_FROM_ELF_AUX 3  /* arm_elf_aux.c: elf_aux_info() of FreeBSD and OpenBSD */
#define EVC_FROM_SYSCTL 4   /* a64_darwin.c: sysctlbyname() of macOS and iOS */
#define EVC_FROM_WINDOWS 5  /* a64_windows.c: IsProcessorFeaturePresent() */
#define EVC_FROM_PPC 6      /* ppc_hwcap.c: getauxval() of Linux */
#define EVC_FROM_HWPROBE 7  /* riscv_hwprobe.c: riscv_hwprobe() of Linux */
#define EVC_FROM_UNAME 8    /* hppa_uname.c: uname() of Linux */
#define EVC_FROM_IDREG 9    /* a64_idreg.c: the identification registers */
#define EVC_FROM_STFLE 10   /* s390x_stfle.c: facilities, and queries of instructions */

#if EVC_X86
#define EVC_FEATURES_FROM EVC_FROM_CPUID
#elif EVC_A64 && defined(EVC_CPU_BY_ID_REGISTERS) /* for firmware and kernels at EL1 or above */
#define EVC_FEATURES_FROM EVC_FROM_IDREG
/* for kernels and firmware: call no function of an operating system */
#elif defined(EVC_CPU_WITHOUT_OS)
#define EVC_FEATURES_FROM EVC_FROM_BUILD
#elif (EVC_A64 || EVC_A32) && defined(__linux__)
#define EVC_FEATURES_FROM EVC_FROM_HWCAP
#elif ((EVC_A64 || EVC_A32) && defined(__FreeBSD__)) || (EVC_A64 && defined(__OpenBSD__))
#define EVC_FEATURES_FROM EVC_FROM_ELF_AUX
#elif EVC_A64 && defined(__APPLE__)
#define EVC_FEATURES_FROM EVC_FROM_SYSCTL
#elif EVC_A64 && defined(_WIN32)
#define EVC_FEATURES_FROM EVC_FROM_WINDOWS
#elif defined(__powerpc__) && defined(__linux__)
#define EVC_FEATURES_FROM EVC_FROM_PPC
#elif defined(__riscv) && defined(__linux__)
#define EVC_FEATURES_FROM EVC_FROM_HWPROBE
#elif EVC_HPPA && defined(__linux__)
#define EVC_FEATURES_FROM EVC_FROM_UNAME
#elif EVC_S390X && defined(__linux__)
#define EVC_FEATURES_FROM EVC_FROM_STFLE
#else
#define EVC_FEATURES_FROM EVC_FROM_BUILD
#endif

/* ---- Facts of the build ---------------------------------------------------------------------- */

/*
 * Multiplications of 32 x 32 and 64 x 64 bits in a time that does not depend on the operands: on
 * every core that this binary may run on.
 *   x86-64   MUL, IMUL: Intel, Data Operand Independent Timing Instructions (2022), for Intel's
 *            cores; no other core is known to differ. 32-bit code: x86_cpuid.c.
 *   A64      MADD, UMULH: Arm DDI 0487 (2024), section B1.3.6, the instructions of PSTATE.DIT.
 *   RISC-V   Zkt: RISC-V Cryptography Extensions vol. I, 1.0.1 (2022), "Data Independent Execution
 *            Latency Subset": mul, mulh and their kind.
 *   PowerPC  POWER8 and later: GCC 12, gcc/config/rs6000/power8.md and power9.md (by IBM), models
 *            of the pipeline: one latency for products of all sizes. power4.md, power5.md and
 *            7xx.md have shorter ones for small operands.
 *   PA-RISC  1.1 and later: GCC 12, gcc/config/pa/pa.md: products are made by xmpyu, in the
 *            multiplier for floating point, with one latency in the models of all cores. Not with
 *            1.0, where a routine multiplies whose time depends on the operands, nor in kernels and
 *            firmware, which may have no such registers.
 * Not decided here, for no document says it of all cores: s390x (IBM publishes no timing), A32
 * (ARM7 to ARM9 and Cortex-M3 end early, Cortex-M4 does not), MIPS, LoongArch, Alpha, SPARC, m68k.
 * everycore/cpu.h tells the caller what to do there. General source: Pornin, BearSSL,
 * "Constant-Time Mul" (2017).
 */
#if EVC_X86_64 || EVC_A64 || defined(__riscv_zkt) || defined(_ARCH_PWR8) || \
    (EVC_HPPA && (defined(_PA_RISC1_1) || defined(_PA_RISC2_0)) && !defined(EVC_CPU_WITHOUT_OS))
#define EVC_CT_MUL_BY_BUILD 1
#else
#define EVC_CT_MUL_BY_BUILD 0
#endif

#if defined(__ARM_NEON)
#define EVC_NEON_BY_BUILD 1
#else
#define EVC_NEON_BY_BUILD 0
#endif
#if EVC_A32_DSP && defined(__ARM_ARCH) && __ARM_ARCH >= 6
#define EVC_UMAAL_BY_BUILD 1
#else
#define EVC_UMAAL_BY_BUILD 0
#endif
/* Arm C Language Extensions (2024): AES includes the product of 64 bits; CRYPTO is the older
 * name of AES with SHA-2. */
#if defined(__ARM_FEATURE_AES) || defined(__ARM_FEATURE_CRYPTO)
#define EVC_AES_BY_BUILD 1
#else
#define EVC_AES_BY_BUILD 0
#endif
#if defined(__ARM_FEATURE_SHA2) || defined(__ARM_FEATURE_CRYPTO)
#define EVC_SHA256_BY_BUILD 1
#else
#define EVC_SHA256_BY_BUILD 0
#endif
#if defined(__ARM_FEATURE_SHA512)
#define EVC_SHA512_BY_BUILD 1
#else
#define EVC_SHA512_BY_BUILD 0
#endif
#if defined(__ARM_FEATURE_SHA3)
#define EVC_SHA3_BY_BUILD 1
#else
#define EVC_SHA3_BY_BUILD 0
#endif
#if defined(__ARM_FEATURE_SVE)
#define EVC_SVE_BY_BUILD 1
#else
#define EVC_SVE_BY_BUILD 0
#endif
#if defined(__ARM_FEATURE_SVE2)
#define EVC_SVE2_BY_BUILD 1
#else
#define EVC_SVE2_BY_BUILD 0
#endif

#if EVC_PPC64_SIMD && defined(__VSX__) && defined(__CRYPTO__)
#define EVC_VCRYPTO_BY_BUILD 1
#else
#define EVC_VCRYPTO_BY_BUILD 0
#endif
#if EVC_PPC64_SIMD && defined(__ALTIVEC__)
#define EVC_ALTIVEC_BY_BUILD 1
#else
#define EVC_ALTIVEC_BY_BUILD 0
#endif

#if EVC_S390X && defined(__VX__)
#define EVC_VX_BY_BUILD 1
#else
#define EVC_VX_BY_BUILD 0
#endif

/* Linux runs on no PA-RISC 1.0. */
#if defined(_PA_RISC1_1) || defined(_PA_RISC2_0) || defined(__linux__)
#define EVC_PA11_BY_BUILD 1
#else
#define EVC_PA11_BY_BUILD 0
#endif
/* -mpa-risc-2-0 tells of the CPU. -DEVC_HPPA_KEEPS_64_BITS tells that the system keeps the
 * upper halves of registers, where nobody can be asked: for firmware, and under QEMU,
 * whose uname does not tell. */
#if defined(EVC_HPPA_KEEPS_64_BITS)
#define EVC_HPPA_WIDE_BY_BUILD 1
#else
#define EVC_HPPA_WIDE_BY_BUILD 0
#endif

/* MADDU of MIPS32. */
#if defined(__mips__) && !EVC_WORD64 && defined(__mips_isa_rev)
#define EVC_MULADD_BY_BUILD 1
#else
#define EVC_MULADD_BY_BUILD 0
#endif

/* Extensions of RISC-V. Source: RISC-V C API specification 1.0 (2025), architecture extension
 * test macros. */
#if defined(__riscv_zkne) && defined(__riscv_zknd)
#define EVC_RV_AES_BY_BUILD 1
#else
#define EVC_RV_AES_BY_BUILD 0
#endif
#if defined(__riscv_zbc) || defined(__riscv_zbkc)
#define EVC_RV_CLMUL_BY_BUILD 1
#else
#define EVC_RV_CLMUL_BY_BUILD 0
#endif
#if defined(__riscv_zbb) || defined(__riscv_zbkb)
#define EVC_RV_REV8_BY_BUILD 1
#else
#define EVC_RV_REV8_BY_BUILD 0
#endif
#if defined(__riscv_zbkx)
#define EVC_RV64_XPERM_BY_BUILD 1
#else
#define EVC_RV64_XPERM_BY_BUILD 0
#endif
#if defined(__riscv_v)
#define EVC_RV64_V_BY_BUILD 1
#else
#define EVC_RV64_V_BY_BUILD 0
#endif
#if defined(__riscv_zvkt)
#define EVC_RV64_ZVKT_BY_BUILD 1
#else
#define EVC_RV64_ZVKT_BY_BUILD 0
#endif
#if defined(__riscv_zvbb) || defined(__riscv_zvkb)
#define EVC_RV64_ZVKB_BY_BUILD 1
#else
#define EVC_RV64_ZVKB_BY_BUILD 0
#endif
#if defined(__riscv_zvkg)
#define EVC_RV64_ZVKG_BY_BUILD 1
#else
#define EVC_RV64_ZVKG_BY_BUILD 0
#endif
#if defined(__riscv_zvkned)
#define EVC_RV64_ZVKNED_BY_BUILD 1
#else
#define EVC_RV64_ZVKNED_BY_BUILD 0
#endif
#if defined(__riscv_zknh)
#define EVC_RV64_SHA2_BY_BUILD 1
#else
#define EVC_RV64_SHA2_BY_BUILD 0
#endif
#if defined(__riscv_zvknhb)
#define EVC_RV64_ZVKNHB_BY_BUILD 1
#else
#define EVC_RV64_ZVKNHB_BY_BUILD 0
#endif

/* The features that, by the compiler's flags, every CPU has which runs this binary. */
static inline uint64_t evc_features_of_build(void)
{
    uint64_t have = (EVC_WORD64 ? EVC_CPU(TUNE_WORD64) : 0) |
                    (EVC_CT_MUL_BY_BUILD ? EVC_CPU(CT_MUL) : 0) |
                    (EVC_MULADD_BY_BUILD ? EVC_CPU(TUNE_MULADD) : 0);

    if (EVC_A64)
        have |= (EVC_NEON_BY_BUILD ? EVC_CPU(A64_NEON) : 0) |
                (EVC_AES_BY_BUILD ? EVC_CPU(A64_AES) | EVC_CPU(A64_PMULL) : 0) |
                (EVC_SHA256_BY_BUILD ? EVC_CPU(A64_SHA256) : 0) |
                (EVC_SHA512_BY_BUILD ? EVC_CPU(A64_SHA512) : 0) |
                (EVC_SHA3_BY_BUILD ? EVC_CPU(A64_SHA3) : 0) |
                (EVC_SVE_BY_BUILD ? EVC_CPU(A64_SVE) : 0) |
                (EVC_SVE2_BY_BUILD ? EVC_CPU(A64_SVE2) : 0);
    if (EVC_A32)
        have |= (EVC_A32_THUMB2 ? EVC_CPU(A32_THUMB2) : 0) |
                (EVC_UMAAL_BY_BUILD ? EVC_CPU(A32_UMAAL) : 0) |
                (EVC_NEON_BY_BUILD ? EVC_CPU(A32_NEON) : 0) |
                (EVC_NEON_BY_BUILD && EVC_AES_BY_BUILD ? EVC_CPU(A32_AES) | EVC_CPU(A32_PMULL)
                                                       : 0) |
                (EVC_NEON_BY_BUILD && EVC_SHA256_BY_BUILD ? EVC_CPU(A32_SHA256) : 0);
    if (EVC_PPC64)
        have |= (EVC_ALTIVEC_BY_BUILD ? EVC_CPU(PPC_ALTIVEC) : 0) |
                (EVC_VCRYPTO_BY_BUILD ? EVC_CPU(PPC_VCRYPTO) : 0);
    if (EVC_S390X)
        have |= EVC_VX_BY_BUILD ? EVC_CPU(S390X_VX) : 0;
    if (EVC_RV64)
        have |= (EVC_RV_AES_BY_BUILD ? EVC_CPU(RV64_AES) : 0) |
                (EVC_RV_CLMUL_BY_BUILD ? EVC_CPU(RV64_CLMUL) : 0) |
                (EVC_RV_REV8_BY_BUILD ? EVC_CPU(RV64_REV8) : 0) |
                (EVC_RV64_XPERM_BY_BUILD ? EVC_CPU(RV64_XPERM) : 0) |
                (EVC_RV64_V_BY_BUILD ? EVC_CPU(RV64_V) : 0) |
                (EVC_RV64_ZVKT_BY_BUILD ? EVC_CPU(RV64_ZVKT) : 0) |
                (EVC_RV64_ZVKB_BY_BUILD ? EVC_CPU(RV64_ZVKB) : 0) |
                (EVC_RV64_ZVKG_BY_BUILD ? EVC_CPU(RV64_ZVKG) : 0) |
                (EVC_RV64_ZVKNED_BY_BUILD ? EVC_CPU(RV64_ZVKNED) : 0) |
                (EVC_RV64_SHA2_BY_BUILD ? EVC_CPU(RV64_SHA2) : 0) |
                (EVC_RV64_ZVKNHB_BY_BUILD ? EVC_CPU(RV64_ZVKNHB) : 0);
    if (EVC_RV32)
        have |= (EVC_RV_AES_BY_BUILD ? EVC_CPU(RV32_AES) : 0) |
                (EVC_RV_CLMUL_BY_BUILD ? EVC_CPU(RV32_CLMUL) : 0) |
                (EVC_RV_REV8_BY_BUILD ? EVC_CPU(RV32_REV8) : 0);
    if (EVC_HPPA)
        have |= (EVC_PA11_BY_BUILD ? EVC_CPU(HPPA_PA11) : 0) |
                (EVC_HPPA_WIDE_BY_BUILD ? EVC_CPU(HPPA_WIDE) : 0);
    return have;
}

#endif
