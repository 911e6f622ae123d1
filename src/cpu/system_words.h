/* SPDX-License-Identifier: MIT */
/*
 * From what operating systems say of a CPU to features. All functions are pure, for every
 * architecture on every host: the file of a system gives them its words or its function, and
 * a test gives them tables.
 */
#ifndef EVC_CPU_SYSTEM_WORDS_H
#define EVC_CPU_SYSTEM_WORDS_H

#include "everycore/cpu.h"

#define EVC_IF_BIT(name, word, bit) (((word) >> (bit) & 1) ? EVC_CPU(name) : 0)

/* The words AT_HWCAP and AT_HWCAP2 of A64. Source: Linux Documentation/arch/arm64/elf_hwcaps.rst;
 * FreeBSD 14 sys/arm64/include/elf.h and OpenBSD 7.6 sys/arch/arm64/include/elf.h number their bits
 * alike. Advanced SIMD is in every A64 core that these systems support. */
static inline uint64_t evc_a64_of_hwcap(uint64_t cap, uint64_t cap2)
{
    return EVC_CPU(A64_NEON) | EVC_IF_BIT(A64_AES, cap, 3) | EVC_IF_BIT(A64_PMULL, cap, 4) |
           EVC_IF_BIT(A64_SHA256, cap, 6) | EVC_IF_BIT(A64_SHA512, cap, 21) |
           EVC_IF_BIT(A64_SHA3, cap, 17) | EVC_IF_BIT(A64_SVE, cap, 22) |
           EVC_IF_BIT(A64_DIT, cap, 24) | EVC_IF_BIT(A64_SVE2, cap2, 1);
}

/* The same words of A32. Bit 15 is a register for the thread, which cores have from ARMv6K on.
 * Source: Linux arch/arm/include/uapi/asm/hwcap.h; FreeBSD 14 sys/arm/include/elf.h. */
static inline uint64_t evc_a32_of_hwcap(uint64_t cap, uint64_t cap2)
{
    return EVC_IF_BIT(A32_NEON, cap, 12) | EVC_IF_BIT(A32_UMAAL, cap, 15) |
           EVC_IF_BIT(A32_AES, cap2, 0) | EVC_IF_BIT(A32_PMULL, cap2, 1) |
           EVC_IF_BIT(A32_SHA256, cap2, 3);
}

/* The words AT_HWCAP and AT_HWCAP2 of PowerPC. Bit 31 of the second is Power ISA 2.07, which is
 * POWER8 and later; bit 25 the instructions of its vectors for cryptography, which count if the
 * system keeps both kinds of vector registers, bits 28 (AltiVec) and 7 (VSX) of the first. Source:
 * Linux arch/powerpc/include/uapi/asm/cputable.h (PPC_FEATURE2_ARCH_2_07, PPC_FEATURE2_VEC_CRYPTO,
 * PPC_FEATURE_HAS_ALTIVEC, PPC_FEATURE_HAS_VSX); cpu/common.h for the multiplier. */
static inline uint64_t evc_ppc_of_hwcap(uint64_t cap, uint64_t cap2)
{
    return EVC_IF_BIT(CT_MUL, cap2, 31) |
           EVC_IF_BIT(PPC_VCRYPTO, cap2 >> 25 & cap >> 28 & cap >> 7, 0) |
           EVC_IF_BIT(PPC_ALTIVEC, cap, 28);
}

/* The member `machine` of uname() of PA-RISC. Only a kernel of 64 bits keeps the upper halves of
 * registers, and it needs PA-RISC 2.0; a kernel of 32 bits runs on such CPUs as well. Source: Linux
 * arch/parisc/Makefile (UTS_MACHINE). Under the personality of 32 bits (setarch) the word is that
 * of the other kernel, and the features are fewer. */
static inline uint64_t evc_hppa_of_machine(const char *machine)
{
    const char *wide = "parisc64";

    while (*wide && *machine == *wide)
        machine++, wide++;
    return *machine == *wide ? EVC_CPU(HPPA_WIDE) : 0;
}

/* The value of key IMA_EXT_0 of riscv_hwprobe(): V 2, Zbb 4, Zbc 7, Zbkb 8, Zbkc 9, Zbkx 10,
 * Zknd 11, Zkne 12, Zknh 13, Zkt 16, Zvbb 17, Zvkb 19, Zvkg 20, Zvkned 21, Zvknhb 23, Zvkt 26.
 * Source: Linux Documentation/arch/riscv/hwprobe.rst and arch/riscv/include/uapi/asm/hwprobe.h
 * (6.8). */
static inline uint64_t evc_riscv_of_hwprobe(uint64_t ima_ext_0)
{
    return EVC_IF_BIT(CT_MUL, ima_ext_0, 16);
}

/* The same of RISC-V with registers of 64 bits. */
static inline uint64_t evc_rv64_of_hwprobe(uint64_t ima_ext_0)
{
    const uint64_t zknd_and_zkne = ima_ext_0 >> 11 & ima_ext_0 >> 12;

    return evc_riscv_of_hwprobe(ima_ext_0) | EVC_IF_BIT(RV64_AES, zknd_and_zkne, 0) |
           EVC_IF_BIT(RV64_CLMUL, ima_ext_0 >> 7 | ima_ext_0 >> 9, 0) |
           EVC_IF_BIT(RV64_REV8, ima_ext_0 >> 4 | ima_ext_0 >> 8, 0) |
           EVC_IF_BIT(RV64_XPERM, ima_ext_0, 10) | EVC_IF_BIT(RV64_SHA2, ima_ext_0, 13) |
           EVC_IF_BIT(RV64_V, ima_ext_0, 2) | EVC_IF_BIT(RV64_ZVKT, ima_ext_0, 26) |
           EVC_IF_BIT(RV64_ZVKB, ima_ext_0 >> 17 | ima_ext_0 >> 19, 0) |
           EVC_IF_BIT(RV64_ZVKG, ima_ext_0, 20) | EVC_IF_BIT(RV64_ZVKNED, ima_ext_0, 21) |
           EVC_IF_BIT(RV64_ZVKNHB, ima_ext_0, 23);
}

/* The same of RISC-V with registers of 32 bits, whose features have the same bits. */
static inline uint64_t evc_rv32_of_hwprobe(uint64_t ima_ext_0)
{
    return evc_rv64_of_hwprobe(ima_ext_0) &
           (EVC_CPU(RV32_AES) | EVC_CPU(RV32_CLMUL) | EVC_CPU(RV32_REV8) | EVC_CPU(CT_MUL));
}

/* These features without V if the process was told to do without vectors, of which hwprobe says
 * nothing: prctl(PR_RISCV_V_GET_CONTROL) then gives 1 in bits 0 and 1. A negative answer: the
 * system does not know the question. Source: Linux Documentation/arch/riscv/vector.rst. */
static inline uint64_t evc_rv64_with_control(uint64_t features, long control)
{
    return control >= 0 && (control & 3) == 1 ? features & ~EVC_CPU(RV64_V) : features;
}

/* These features without V if vector registers have a size with which the kernels were not tested:
 * less than 16 bytes, or more than 128. */
static inline uint64_t evc_rv64_with_registers(uint64_t features, size_t register_bytes)
{
    return register_bytes >= 16 && register_bytes <= 128 ? features : features & ~EVC_CPU(RV64_V);
}

/* Instructions of IBM Z that encrypt or hash text in memory. */
enum evc_s390x_instruction {
    EVC_S390X_KM,
    EVC_S390X_KMC,
    EVC_S390X_KMAC,
    EVC_S390X_KMCTR,
    EVC_S390X_KIMD,
    EVC_S390X_KMA
};

/* The functions that an instruction has: function n is bit n of 128, from the left. */
typedef void evc_s390x_query(enum evc_s390x_instruction instruction, uint64_t functions[2]);

/* `facilities`: as STFLE stores them, facility n is bit n from the left: message-security assist
 * is 17, its extension 4 is 77, 8 is 146. Hypervisors may hide functions of an instruction that is
 * there, so the facilities say what may be asked, and the answers what may be used. All functions
 * of an extension are one feature. Source: z/Architecture Principles of Operation, SA22-7832-12,
 * chapters 4 (facilities) and 7 (functions): AES of 128, 192 and 256 bits are 18 to 20, of KMA in
 * GCM; XTS of KM 50 and 52; of KIMD SHA-256 is 2, SHA-512 3, GHASH 65. */
static inline uint64_t evc_s390x_of_facilities(const uint64_t facilities[3], evc_s390x_query *query)
{
    const uint64_t aes = UINT64_C(7) << (63 - 20), xts = UINT64_C(5) << (63 - 52);
    const uint64_t sha2 = UINT64_C(3) << (63 - 3), ghash = UINT64_C(1) << (127 - 65);
    const uint64_t msa = facilities[0] >> (63 - 17) & 1;
    const uint64_t msa4 = msa & facilities[1] >> (127 - 77);
    const uint64_t msa8 = msa4 & facilities[2] >> (191 - 146);
    const struct {
        uint64_t feature, may_be_asked;
        enum evc_s390x_instruction instruction;
        uint64_t functions[2];
    } needed[] = {{EVC_CPU(S390X_MSA4), msa4, EVC_S390X_KM, {aes | xts, 0}},
                  {EVC_CPU(S390X_MSA4), msa4, EVC_S390X_KMC, {aes, 0}},
                  {EVC_CPU(S390X_MSA4), msa4, EVC_S390X_KMAC, {aes, 0}},
                  {EVC_CPU(S390X_MSA4), msa4, EVC_S390X_KMCTR, {aes, 0}},
                  {EVC_CPU(S390X_MSA4), msa4, EVC_S390X_KIMD, {0, ghash}},
                  {EVC_CPU(S390X_MSA8), msa8, EVC_S390X_KMA, {aes, 0}},
                  {EVC_CPU(S390X_SHA2), msa, EVC_S390X_KIMD, {sha2, 0}}};
    uint64_t features = EVC_CPU(S390X_MSA4) | EVC_CPU(S390X_MSA8) | EVC_CPU(S390X_SHA2);

    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        uint64_t has[2] = {0, 0};

        if (needed[i].may_be_asked)
            query(needed[i].instruction, has);
        if ((needed[i].functions[0] & ~has[0]) | (needed[i].functions[1] & ~has[1]))
            features &= ~needed[i].feature;
    }
    return features;
}

/* The word AT_HWCAP of IBM Z: bit 11 if the system keeps vector registers. Source: Linux
 * arch/s390/include/asm/elf.h (HWCAP_VXRS). */
static inline uint64_t evc_s390x_of_hwcap(uint64_t cap)
{
    return EVC_IF_BIT(S390X_VX, cap, 11);
}

/* A64 under macOS and iOS. `is_set(name)`: 1 if the integer of that name is there and not 0.
 * Source: Apple, "Determining Instruction Set Characteristics" (2024): FEAT_ names from macOS 12
 * on, armv8_2_sha3 and armv8_2_sha512 before. */
static inline uint64_t evc_a64_of_sysctl(int (*is_set)(const char *name))
{
    static const struct {
        const char *name;
        uint64_t feature;
    } names[] = {
        {"hw.optional.AdvSIMD", EVC_CPU(A64_NEON)},
        {"hw.optional.arm.FEAT_AES", EVC_CPU(A64_AES)},
        {"hw.optional.arm.FEAT_PMULL", EVC_CPU(A64_PMULL)},
        {"hw.optional.arm.FEAT_SHA256", EVC_CPU(A64_SHA256)},
        {"hw.optional.arm.FEAT_SHA512", EVC_CPU(A64_SHA512)},
        {"hw.optional.armv8_2_sha512", EVC_CPU(A64_SHA512)},
        {"hw.optional.arm.FEAT_SHA3", EVC_CPU(A64_SHA3)},
        {"hw.optional.armv8_2_sha3", EVC_CPU(A64_SHA3)},
        {"hw.optional.arm.FEAT_DIT", EVC_CPU(A64_DIT)},
    };
    uint64_t have = 0;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is_set(names[i].name))
            have |= names[i].feature;
    return have;
}

/* A64 under Windows. `is_present(number)`: not 0 if the processor feature is. Source: Microsoft,
 * IsProcessorFeaturePresent (processthreadsapi.h, 2025) and winnt.h:
 * PF_ARM_NEON_INSTRUCTIONS_AVAILABLE 19, PF_ARM_V8_CRYPTO_INSTRUCTIONS_AVAILABLE 30 (AES, PMULL,
 * SHA-1, SHA-2), PF_ARM_SVE_INSTRUCTIONS_AVAILABLE 46, SVE2 47, PF_ARM_SHA3_INSTRUCTIONS_AVAILABLE
 * 64, PF_ARM_SHA512_INSTRUCTIONS_AVAILABLE 65. A Windows that does not know a number answers 0. */
static inline uint64_t evc_a64_of_windows(int (*is_present)(uint32_t number))
{
    static const struct {
        uint32_t number;
        uint64_t feature;
    } numbers[] = {
        {19, EVC_CPU(A64_NEON)}, {30, EVC_CPU(A64_AES) | EVC_CPU(A64_PMULL) | EVC_CPU(A64_SHA256)},
        {46, EVC_CPU(A64_SVE)},  {47, EVC_CPU(A64_SVE2)},
        {64, EVC_CPU(A64_SHA3)}, {65, EVC_CPU(A64_SHA512)},
    };
    uint64_t have = 0;

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (is_present(numbers[i].number))
            have |= numbers[i].feature;
    return have;
}

#endif
