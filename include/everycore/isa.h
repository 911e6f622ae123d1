/* SPDX-License-Identifier: MIT */
/*
 * Architectures, CPU features, and the instruction sets that kernels are compiled for.
 *
 * For each ISA these facts are defined, for all architectures on every host:
 *
 *   EVC_PLACE_<ISA>  where its files are built: ALL or the name of one of the
 *                    EVC_<place> macros below
 *   EVC_CC_<ISA>     the string of the target attribute that enables it in the compiler; on Arm
 *                    GCC and clang have different strings
 *   EVC_NEEDS_<ISA>  the features that the CPU must have, as bits of that architecture
 *
 * (EVC_ARCH_<place> gives the architecture.) A new ISA needs these lines and nothing else. The
 * needs are plain constants, so any host can answer for any CPU.
 */
#ifndef EVERYCORE_ISA_H
#define EVERYCORE_ISA_H

#include <stdint.h>

/* Attributes, built-in functions and inline assembly of GNU C. clang has them also where it does
 * not say that it is GCC: for Windows and UEFI. */
#if defined(__GNUC__) || defined(__clang__)
#define EVC_GNU_C 1
#else
#define EVC_GNU_C 0
#endif

/* ---- Places: always defined, 0 or 1 ------------------------------------------------------- */

#define EVC_ALL 1
#if defined(__x86_64__) || defined(_M_X64)
#define EVC_X86_64 1
#else
#define EVC_X86_64 0
#endif
#if EVC_X86_64 || defined(__i386__) || defined(_M_IX86)
#define EVC_X86 1
#else
#define EVC_X86 0
#endif
#if defined(__aarch64__) || defined(_M_ARM64)
#define EVC_A64 1
#else
#define EVC_A64 0
#endif
#if defined(__arm__)
#define EVC_A32 1
#else
#define EVC_A32 0
#endif
/* Files of 32-bit Arm can be compiled for NEON here: not for M cores, not big-endian, nor without
 * registers for floating point. clang has the intrinsics of NEON only if the build allows NEON
 * everywhere. */
#if EVC_A32 && !defined(__ARM_BIG_ENDIAN) &&                                                       \
    (defined(__ARM_NEON) || (!defined(__clang__) && defined(__ARM_FP) && __ARM_ARCH >= 7 &&        \
                             defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'A'))
#define EVC_A32_SIMD 1
#else
#define EVC_A32_SIMD 0
#endif
/* Files of 32-bit Arm can be compiled for the Cryptography Extension here: with clang only if the
 * build allows it everywhere. */
#if EVC_A32_SIMD && (!defined(__clang__) || defined(__ARM_FEATURE_CRYPTO))
#define EVC_A32_CRYPTO 1
#else
#define EVC_A32_CRYPTO 0
#endif
/* Thumb-2, whatever set the compiler chose: Cortex-A, and Cortex-M from M3 on. Words may have to be
 * aligned to 4 bytes, which clang assumes for M cores. common/a32_asm.h has the same lines. */
#if EVC_A32 && defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB >= 2 && \
    !defined(__ARM_BIG_ENDIAN) && defined(__ELF__)
#define EVC_A32_THUMB2 1
#else
#define EVC_A32_THUMB2 0
#endif

/* Code with umaal: in the instruction set with words of 32 bits, which M cores lack, or in Thumb-2
 * of M cores with the DSP extension (Cortex-M4, M7, M33). common/a32_asm.h has the same lines. */
#if EVC_A32 && defined(__ELF__) && \
    (defined(__ARM_ARCH_ISA_ARM) || (EVC_A32_THUMB2 && defined(__ARM_FEATURE_DSP)))
#define EVC_A32_DSP 1
#else
#define EVC_A32_DSP 0
#endif

/* PA-RISC, 32 bits, where the GNU assembler's syntax and ELF are.
 * common/hppa_asm.h has the same line. */
#if defined(__hppa__) && !defined(__LP64__) && defined(__ELF__)
#define EVC_HPPA 1
#else
#define EVC_HPPA 0
#endif

/* 64-bit POWER and IBM Z, where the GNU assembler's syntax and ELF are. common/ppc64_asm.h and
 * common/s390x_asm.h have the same lines. */
#if defined(__powerpc64__) && defined(__LP64__) && defined(__ELF__)
#define EVC_PPC64 1
#else
#define EVC_PPC64 0
#endif
#if defined(__s390x__) && defined(__ELF__)
#define EVC_S390X 1
#else
#define EVC_S390X 0
#endif
/* Registers for floating point, which vectors share: GCC has no fma without them, as in the kernel
 * of Linux (-msoft-float). */
#if EVC_S390X && (defined(__clang__) || defined(__FP_FAST_FMA))
#define EVC_S390X_SIMD 1
#else
#define EVC_S390X_SIMD 0
#endif

/* RISC-V with registers of 64 or 32 bits, little-endian, where the assembler of GCC or clang takes
 * instructions by their fields (.insn): kernels need no flag for the extensions that they use. */
#if defined(__riscv) && __riscv_xlen == 64 && EVC_GNU_C && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define EVC_RV64 1
#else
#define EVC_RV64 0
#endif
#if defined(__riscv) && __riscv_xlen == 32 && EVC_GNU_C && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define EVC_RV32 1
#else
#define EVC_RV32 0
#endif

/* The vector registers of POWER can be used here: not where numbers with fractions are emulated,
 * nor where flags say that the CPU has no vectors. Little-endian systems have those of POWER8,
 * unless flags take them away. On others clang opens them for single functions if the build allows
 * AltiVec, its default; and GCC if the CPU is a POWER4 or later: not e5500, nor -mcpu=powerpc64,
 * which has the same macros. clang has no macro for -msoft-float, nor for -mno-vsx on big-endian
 * systems: both need -mno-altivec beside them. */
#if !EVC_PPC64 || !EVC_GNU_C || defined(_SOFT_FLOAT)
#define EVC_PPC64_SIMD 0
#elif defined(__POWER8_VECTOR__)
#define EVC_PPC64_SIMD 1
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define EVC_PPC64_SIMD 0
#elif defined(__clang__) ? defined(__ALTIVEC__) : defined(_ARCH_PWR4)
#define EVC_PPC64_SIMD 1
#else
#define EVC_PPC64_SIMD 0
#endif

/* General registers of 64 bits (not the same as 64-bit pointers: x32 has them). */
#if EVC_X86_64 || EVC_A64 || defined(__LP64__) || defined(_LP64) || defined(__mips64) ||           \
    defined(__powerpc64__) || defined(__s390x__) || (defined(__riscv) && __riscv_xlen == 64)
#define EVC_WORD64 1
#else
#define EVC_WORD64 0
#endif

/* Products of 128 bits in the language. */
#if defined(__SIZEOF_INT128__)
#define EVC_INT128 1
#else
#define EVC_INT128 0
#endif

/* Words of big numbers (everycore/bn_words.h) have the size of general registers;
 * -DEVC_BN_WORD_BITS=32 makes them smaller, in the library and in all that use it. */
#if !defined(EVC_BN_WORD_BITS)
#if EVC_WORD64
#define EVC_BN_WORD_BITS 64
#else
#define EVC_BN_WORD_BITS 32
#endif
#endif
#if EVC_BN_WORD_BITS == 64
#define EVC_BN_WORD64 1
#define EVC_BN_WORD32 0
#elif EVC_BN_WORD_BITS == 32
#define EVC_BN_WORD64 0
#define EVC_BN_WORD32 1
#else
#error "everycore: EVC_BN_WORD_BITS is 32 or 64"
#endif

/* Systems with COFF objects and Microsoft's calling convention. Cygwin and UEFI do not define
 * _WIN32. common/any_asm.h has the same line. */
#if defined(_WIN32) || defined(__CYGWIN__) || defined(__UEFI__)
#define EVC_COFF 1
#else
#define EVC_COFF 0
#endif

/* Assembly for x86-64. Its functions take their arguments as the System V ABI has them, on Windows
 * too: EVC_SYSV in their declarations says so to the compiler. That of big numbers has words of 64
 * bits. clang for Cygwin ignores the attribute. common/x86_asm.h has the same line. */
#if defined(__x86_64__) && !defined(__ILP32__) && !(defined(__clang__) && defined(__CYGWIN__))
#define EVC_X86_64_ASM 1
#define EVC_X86_64_BN_ASM EVC_BN_WORD64
#define EVC_SYSV __attribute__((sysv_abi))
#else
#define EVC_X86_64_ASM 0
#define EVC_X86_64_BN_ASM 0
#endif

/* Not 0 if functions have Microsoft's calling convention on x86-64: for the compiler, not for #if,
 * because -mabi=ms defines no macro. */
#if EVC_X86_64_ASM && !defined(__cplusplus)
#define EVC_MICROSOFT_CALLS                                                                        \
    (!__builtin_types_compatible_p(void (*)(void), void(EVC_SYSV *)(void)))
#else
#define EVC_MICROSOFT_CALLS (EVC_X86_64 && EVC_COFF)
#endif

/* Architectures, as numbers for evc_resolve(). The names are in EVC_ARCH_LIST. */
enum evc_arch {
    EVC_ARCH_OTHER = 0, /* portable kernels only */
    EVC_ARCH_X86,       /* i386 and x86-64 */
    EVC_ARCH_A64,
    EVC_ARCH_A32,
    EVC_ARCH_HPPA,
    EVC_ARCH_PPC64,
    EVC_ARCH_S390X,
    EVC_ARCH_RV64,
    EVC_ARCH_RV32,
    EVC_ARCH_N
};
#define EVC_ARCH_LIST(A) A(OTHER, "other") A(X86, "x86") A(A64, "a64") A(A32, "a32") \
    A(HPPA, "hppa") A(PPC64, "ppc64") A(S390X, "s390x") \
    A(RV64, "rv64") A(RV32, "rv32")
#define EVC_ARCH_ALL EVC_ARCH_OTHER
#define EVC_ARCH_INT128 EVC_ARCH_OTHER
#define EVC_ARCH_X86_64_ASM EVC_ARCH_X86
#define EVC_ARCH_X86_64_BN_ASM EVC_ARCH_X86
#define EVC_ARCH_WORD64 EVC_ARCH_OTHER
#define EVC_ARCH_BN_WORD64 EVC_ARCH_OTHER
#define EVC_ARCH_BN_WORD32 EVC_ARCH_OTHER
#define EVC_ARCH_X86_64 EVC_ARCH_X86
#define EVC_ARCH_A32_SIMD EVC_ARCH_A32
#define EVC_ARCH_A32_CRYPTO EVC_ARCH_A32
#define EVC_ARCH_A32_THUMB2 EVC_ARCH_A32
#define EVC_ARCH_A32_DSP EVC_ARCH_A32
#define EVC_ARCH_PPC64_SIMD EVC_ARCH_PPC64
#define EVC_ARCH_S390X_SIMD EVC_ARCH_S390X

#if EVC_X86
#define EVC_ARCH_HERE EVC_ARCH_X86
#elif EVC_A64
#define EVC_ARCH_HERE EVC_ARCH_A64
#elif EVC_A32
#define EVC_ARCH_HERE EVC_ARCH_A32
#elif EVC_HPPA
#define EVC_ARCH_HERE EVC_ARCH_HPPA
#elif EVC_PPC64
#define EVC_ARCH_HERE EVC_ARCH_PPC64
#elif EVC_S390X
#define EVC_ARCH_HERE EVC_ARCH_S390X
#elif EVC_RV64
#define EVC_ARCH_HERE EVC_ARCH_RV64
#elif EVC_RV32
#define EVC_ARCH_HERE EVC_ARCH_RV32
#else
#define EVC_ARCH_HERE EVC_ARCH_OTHER
#endif

/* ---- Features: one list; the bit numbers of one architecture are its own ------------------- */

/*  F(constant, architecture, bit, name used on command lines) */
#define EVC_FEATURE_LIST(F)                                                                        \
    F(X86_SSE2, X86, 0, "sse2")                                                                    \
    F(X86_SSSE3, X86, 1, "ssse3")                                                                  \
    F(X86_SSE41, X86, 2, "sse4.1")                                                                 \
    F(X86_AES, X86, 3, "aes")                                                                      \
    F(X86_PCLMUL, X86, 4, "pclmul")                                                                \
    F(X86_AVX, X86, 5, "avx")                                                                      \
    F(X86_AVX2, X86, 6, "avx2")                                                                    \
    F(X86_BMI2, X86, 7, "bmi2")                                                                    \
    F(X86_ADX, X86, 8, "adx")                                                                      \
    F(X86_VAES, X86, 9, "vaes")                                                                    \
    F(X86_VPCLMUL, X86, 10, "vpclmulqdq")                                                          \
    F(X86_GFNI, X86, 11, "gfni")                                                                   \
    F(X86_AVX512F, X86, 12, "avx512f")                                                             \
    F(X86_AVX512VL, X86, 13, "avx512vl")                                                           \
    F(X86_AVX512BW, X86, 14, "avx512bw")                                                           \
    F(X86_AVX512DQ, X86, 15, "avx512dq")                                                           \
    F(X86_AVX512VBMI, X86, 16, "avx512vbmi")                                                       \
    F(X86_AVX512VBMI2, X86, 17, "avx512vbmi2")                                                     \
    F(X86_AVX512IFMA, X86, 18, "avx512ifma")                                                       \
    F(X86_MODE64, X86, 19, "x86-64")                                                               \
    F(X86_AVXIFMA, X86, 20, "avx-ifma")                                                            \
    F(X86_SHA, X86, 21, "sha")                                                                     \
    F(X86_SHA512, X86, 22, "sha512")                                                               \
    F(A64_NEON, A64, 0, "neon")                                                                    \
    F(A64_AES, A64, 1, "aes")                                                                      \
    F(A64_PMULL, A64, 2, "pmull")                                                                  \
    F(A64_SHA3, A64, 3, "sha3")                                                                    \
    F(A64_DIT, A64, 4, "dit")                                                                      \
    F(A64_SVE, A64, 5, "sve")                                                                      \
    F(A64_SVE2, A64, 6, "sve2")                                                                    \
    F(A64_SHA256, A64, 7, "sha2")                                                                  \
    F(A64_SHA512, A64, 8, "sha512")                                                                \
    F(A32_NEON, A32, 0, "neon")                                                                    \
    F(A32_AES, A32, 1, "aes")                                                                      \
    F(A32_PMULL, A32, 2, "pmull")                                                                  \
    F(A32_THUMB2, A32, 3, "thumb2")                                                                \
    F(A32_UMAAL, A32, 4, "umaal")                                                                  \
    F(A32_SHA256, A32, 5, "sha2")                                                                  \
    F(HPPA_PA11, HPPA, 0, "pa1.1")                                                                 \
    F(HPPA_WIDE, HPPA, 1, "pa2.0-wide")                                                            \
    F(HPPA_FMPYADD, HPPA, 2, "fmpyadd")                                                            \
    F(PPC_VCRYPTO, PPC64, 0, "vcrypto")                                                            \
    F(PPC_ALTIVEC, PPC64, 1, "altivec")                                                            \
    /* CPACF: AES in all modes, and GHASH */                                                       \
    F(S390X_MSA4, S390X, 0, "msa4")                                                                \
    /* KMA: GCM in one instruction */                                                              \
    F(S390X_MSA8, S390X, 1, "msa8")                                                                \
    /* KIMD: SHA-256 and SHA-512 */                                                                \
    F(S390X_SHA2, S390X, 2, "sha2")                                                                \
    /* Vector registers */                                                                         \
    F(S390X_VX, S390X, 3, "vx")                                                                    \
    /* Zkne and Zknd: rounds of AES */                                                             \
    F(RV64_AES, RV64, 0, "aes")                                                                    \
    /* Zbc or Zbkc: clmul and clmulh */                                                            \
    F(RV64_CLMUL, RV64, 1, "clmul")                                                                \
    /* Zbb or Zbkb: rev8 */                                                                        \
    F(RV64_REV8, RV64, 2, "rev8")                                                                  \
    /* V, with registers of 128 to 1024 bits */                                                    \
    F(RV64_V, RV64, 3, "v")                                                                        \
    /* The time of instructions for vectors does not depend on data */                             \
    F(RV64_ZVKT, RV64, 4, "zvkt")                                                                  \
    F(RV64_ZVKB, RV64, 5, "zvkb")                                                                  \
    F(RV64_ZVKG, RV64, 6, "zvkg")                                                                  \
    F(RV64_ZVKNED, RV64, 7, "zvkned")                                                              \
    /* Zknh: functions of SHA-2 */                                                                 \
    F(RV64_SHA2, RV64, 8, "sha2")                                                                  \
    /* Zvknhb: SHA-256 and SHA-512 in vectors; Zvknha, which has SHA-256 alone, is not used */     \
    F(RV64_ZVKNHB, RV64, 9, "zvknhb")                                                              \
    /* The same extensions as of 64 bits, with the same bits */                                    \
    F(RV32_AES, RV32, 0, "aes")                                                                    \
    F(RV32_CLMUL, RV32, 1, "clmul")                                                                \
    F(RV32_REV8, RV32, 2, "rev8")                                                                  \
    /* Zbkx: xperm4 */                                                                             \
    F(RV64_XPERM, RV64, 10, "xperm")                                                               \
    EVC_TUNE_LIST(F)                                                                               \
    F(CT_MUL, OTHER, 63, "ct-mul")

/* Tuning bits: a CPU without the bit can run the code, but other code is faster there. Selection
 * treats the bits as needs; a kernel by name runs without them. */
#define EVC_TUNE_LIST(F)                                                                           \
    F(TUNE_ZMM, X86, 48, "tune-zmm")         /* 512-bit vectors do not lower the clock */          \
    F(TUNE_TBL8, A64, 49, "tune-tbl8")       /* a look-up of 16 bytes costs more than two of 8 */  \
    F(TUNE_INORDER, A64, 50, "tune-inorder") /* instructions start in the program's order */       \
    F(TUNE_CE5, A64, 51, "tune-ce5")         /* AES is fastest with five blocks in flight */       \
    F(TUNE_MUL32, A64, 52, "tune-mul32")     /* vectors multiply 32 bits faster than umulh 64 */   \
    /* general registers and vectors share ports */                                                \
    F(TUNE_SHARED_PORTS, X86, 53, "tune-shared-ports")                                             \
    F(TUNE_MULADD, OTHER, 61, "tune-muladd") /* one instruction adds a product to 64 bits */       \
    F(TUNE_WORD64, OTHER, 62, "tune-word64") /* general registers of 64 bits */

#define EVC_FEATURE_BIT(name, arch, bit, text) EVC_BIT_##name = (bit),
enum evc_feature_bit { EVC_FEATURE_LIST(EVC_FEATURE_BIT) EVC_BIT_N = 64 };
#undef EVC_FEATURE_BIT

/* EVC_CPU(X86_AES): the feature's bit in a feature word (uint64_t) of its architecture. Features of
 * architecture OTHER (tune-word64, ct-mul) mean the same in every feature word. */
#define EVC_CPU(name) (UINT64_C(1) << EVC_BIT_##name)
#define EVC_TUNE_MASK (UINT64_C(0x7fff) << 48)
/* The bits that do not change the results of a kernel: those for tuning, and ct-mul, without which
 * its time may depend on secrets (everycore/cpu.h). For tests and measurements. */
#define EVC_SAME_RESULTS_MASK (EVC_TUNE_MASK | EVC_CPU(CT_MUL))

/* The features whose code uses vector registers. Clear these bits where vector registers may not be
 * used (an interrupt, early boot): selection then returns integer code. */
#define EVC_VECTOR_X86 \
    (UINT64_C(0x7fffff) & ~(EVC_CPU(X86_BMI2) | EVC_CPU(X86_ADX) | EVC_CPU(X86_MODE64)))
#define EVC_VECTOR_A64 (UINT64_C(0x1ff) & ~EVC_CPU(A64_DIT))
#define EVC_VECTOR_A32 UINT64_C(0x27)
#define EVC_VECTOR_HPPA UINT64_C(0) /* the multiplier is among the registers for floating point */
#define EVC_VECTOR_PPC64 (EVC_CPU(PPC_VCRYPTO) | EVC_CPU(PPC_ALTIVEC))
#define EVC_VECTOR_RV64 (UINT64_C(0x2f8) & ~EVC_CPU(RV64_ZVKT))
#define EVC_VECTOR_RV32 UINT64_C(0)
#define EVC_VECTOR_S390X EVC_CPU(S390X_VX)
#define EVC_VECTOR_OTHER UINT64_C(0)

/* ---- ISAs ----------------------------------------------------------------------------------- */

#define EVC_PLACE_ANY ALL
#define EVC_CC_ANY ""
#define EVC_NEEDS_ANY UINT64_C(0)

/* Portable code that is written for 64-bit registers. */
#define EVC_PLACE_WORD64 ALL
#define EVC_CC_WORD64 ""
#define EVC_NEEDS_WORD64 EVC_CPU(TUNE_WORD64)

/* The same, built there alone: elsewhere it would be slow, and its frames large. */
#define EVC_PLACE_SHA2_WORDS64 WORD64
#define EVC_CC_SHA2_WORDS64 ""
#define EVC_NEEDS_SHA2_WORDS64 EVC_NEEDS_WORD64

/* Portable code that is constant-time if multiplications are, 32 x 32 and 64 x 64 bits. */
#define EVC_PLACE_CT_MUL32 ALL
#define EVC_CC_CT_MUL32 ""
#define EVC_NEEDS_CT_MUL32 EVC_CPU(CT_MUL)

#define EVC_PLACE_CT_MUL64 ALL
#define EVC_CC_CT_MUL64 ""
#define EVC_NEEDS_CT_MUL64 (EVC_CPU(CT_MUL) | EVC_CPU(TUNE_WORD64))

/* The same of 32 x 32 bits, where a product is added to 64 bits by one instruction. */
#define EVC_PLACE_CT_MULADD ALL
#define EVC_CC_CT_MULADD ""
#define EVC_NEEDS_CT_MULADD (EVC_CPU(CT_MUL) | EVC_CPU(TUNE_MULADD))

/* The same of 64 x 64 bits to 128. */
#define EVC_PLACE_CT_MUL128 INT128
#define EVC_CC_CT_MUL128 ""
#define EVC_NEEDS_CT_MUL128 EVC_NEEDS_CT_MUL64
/* The same, on words of big numbers. */
#define EVC_PLACE_BN_WORDS64 BN_WORD64
#define EVC_CC_BN_WORDS64 ""
#define EVC_NEEDS_BN_WORDS64 EVC_NEEDS_CT_MUL64

#define EVC_PLACE_BN_WORDS32 BN_WORD32
#define EVC_CC_BN_WORDS32 ""
#define EVC_NEEDS_BN_WORDS32 EVC_NEEDS_CT_MUL32

/* Vectors of 128 bits without a shuffle of bytes: each x86-64 has them. */
#define EVC_PLACE_X86_SSE2 X86
#define EVC_CC_X86_SSE2 "sse2"
#define EVC_NEEDS_X86_SSE2 EVC_CPU(X86_SSE2)

#define EVC_PLACE_X86_SSSE3 X86
#define EVC_CC_X86_SSSE3 "sse2,ssse3"
#define EVC_NEEDS_X86_SSSE3 (EVC_CPU(X86_SSE2) | EVC_CPU(X86_SSSE3))

/* Products of 32 bits in vectors. */
#define EVC_PLACE_X86_PMULUDQ X86
#define EVC_CC_X86_PMULUDQ "sse2"
#define EVC_NEEDS_X86_PMULUDQ (EVC_CPU(X86_SSE2) | EVC_CPU(CT_MUL))

/* Signed products of 32 bits in vectors of 256 bits. */
#define EVC_PLACE_X86_AVX2_MUL X86
#define EVC_CC_X86_AVX2_MUL "avx2"
#define EVC_NEEDS_X86_AVX2_MUL                                                    \
    (EVC_NEEDS_X86_SSSE3 | EVC_CPU(X86_SSE41) | EVC_CPU(X86_AVX) | EVC_CPU(X86_AVX2) | \
     EVC_CPU(CT_MUL))

#define EVC_PLACE_X86_AVX2 X86_64
#define EVC_CC_X86_AVX2 "avx2"
#define EVC_NEEDS_X86_AVX2                                                                         \
    (EVC_NEEDS_X86_SSSE3 | EVC_CPU(X86_SSE41) | EVC_CPU(X86_AVX) | EVC_CPU(X86_AVX2) |             \
     EVC_CPU(X86_MODE64))

/* The same, and rotations of BMI2; that feature includes BMI1, which has andn. */
#define EVC_PLACE_X86_AVX2_BMI2 X86_64
#define EVC_CC_X86_AVX2_BMI2 "avx2,bmi,bmi2"
#define EVC_NEEDS_X86_AVX2_BMI2 (EVC_NEEDS_X86_AVX2 | EVC_CPU(X86_BMI2))

#define EVC_PLACE_X86_AESNI X86
#define EVC_CC_X86_AESNI "sse4.1,aes"
#define EVC_NEEDS_X86_AESNI (EVC_NEEDS_X86_SSSE3 | EVC_CPU(X86_SSE41) | EVC_CPU(X86_AES))

#define EVC_PLACE_X86_SHANI X86
#define EVC_CC_X86_SHANI "sse4.1,sha"
#define EVC_NEEDS_X86_SHANI (EVC_NEEDS_X86_SSSE3 | EVC_CPU(X86_SSE41) | EVC_CPU(X86_SHA))

/* SHA-512. The instructions are written in bytes, as older compilers and assemblers lack them:
 * common/x86_vex.h. */
#define EVC_PLACE_X86_SHA512 X86_64
#define EVC_CC_X86_SHA512 EVC_CC_X86_AVX2
#define EVC_NEEDS_X86_SHA512 (EVC_NEEDS_X86_AVX2 | EVC_CPU(X86_SHA512))

#define EVC_PLACE_X86_VAES256 X86_64
#define EVC_CC_X86_VAES256 "avx2,aes,vaes"
#define EVC_NEEDS_X86_VAES256 (EVC_NEEDS_X86_AESNI | EVC_NEEDS_X86_AVX2 | EVC_CPU(X86_VAES))

/* The same, and products without carry for the tweaks of XTS. */
#define EVC_PLACE_X86_VAES256_CLMUL X86_64
#define EVC_CC_X86_VAES256_CLMUL EVC_CC_X86_GCM256
#define EVC_NEEDS_X86_VAES256_CLMUL EVC_NEEDS_X86_GCM256

#define EVC_PLACE_X86_VAES512 X86_64
#define EVC_CC_X86_VAES512 "avx2,aes,vaes,avx512f,avx512vl,avx512bw,avx512dq,bmi2"
#define EVC_NEEDS_X86_VAES512                                                                      \
    (EVC_NEEDS_X86_VAES256 | EVC_CPU(X86_AVX512F) | EVC_CPU(X86_AVX512VL) |                        \
     EVC_CPU(X86_AVX512BW) | EVC_CPU(X86_AVX512DQ) | EVC_CPU(X86_BMI2) | EVC_CPU(TUNE_ZMM))

#define EVC_PLACE_X86_VAES512_CLMUL X86_64
#define EVC_CC_X86_VAES512_CLMUL EVC_CC_X86_GCM512
#define EVC_NEEDS_X86_VAES512_CLMUL EVC_NEEDS_X86_GCM512

/* The same, for cores whose general registers share ports with vectors. Those with VAES
 * multiply without carry, too. */
#define EVC_PLACE_X86_AESNI_INTEL X86_64
#define EVC_CC_X86_AESNI_INTEL EVC_CC_X86_AESNI
#define EVC_NEEDS_X86_AESNI_INTEL \
    (EVC_NEEDS_X86_AESNI | EVC_CPU(X86_MODE64) | EVC_CPU(TUNE_SHARED_PORTS))

#define EVC_PLACE_X86_VAES256_INTEL X86_64
#define EVC_CC_X86_VAES256_INTEL EVC_CC_X86_GCM256
#define EVC_NEEDS_X86_VAES256_INTEL (EVC_NEEDS_X86_GCM256 | EVC_CPU(TUNE_SHARED_PORTS))

#define EVC_PLACE_X86_VAES512_INTEL X86_64
#define EVC_CC_X86_VAES512_INTEL EVC_CC_X86_GCM512
#define EVC_NEEDS_X86_VAES512_INTEL (EVC_NEEDS_X86_GCM512 | EVC_CPU(TUNE_SHARED_PORTS))

/* Any function of three bits, in vectors of 128 bits. */
#define EVC_PLACE_X86_AVX512VL X86_64
#define EVC_CC_X86_AVX512VL "avx2,avx512f,avx512vl"
#define EVC_NEEDS_X86_AVX512VL (EVC_NEEDS_X86_AVX2 | EVC_CPU(X86_AVX512F) | EVC_CPU(X86_AVX512VL))

/* The same in vectors of 512 bits, and shuffles of bytes; SHA-256 of one message by the SHA
 * extensions, and SHA-512 by AVX2 and BMI2: every CPU that is given TUNE_ZMM has them. */
#define EVC_PLACE_X86_AVX512_SHA X86_64
#define EVC_CC_X86_AVX512_SHA "avx2,bmi,bmi2,sha,avx512f,avx512vl,avx512bw"
#define EVC_NEEDS_X86_AVX512_SHA                                                                   \
    (EVC_NEEDS_X86_AVX512VL | EVC_NEEDS_X86_AVX2_BMI2 | EVC_NEEDS_X86_SHANI |                      \
     EVC_CPU(X86_AVX512BW) | EVC_CPU(TUNE_ZMM))

/* Permutations of bytes, and any 8 bits of 64 into each byte: VBMI. */
#define EVC_PLACE_X86_VBMI512 X86_64
#define EVC_CC_X86_VBMI512 "avx2,avx512f,avx512vl,avx512bw,avx512vbmi"
#define EVC_NEEDS_X86_VBMI512                                                                      \
    (EVC_NEEDS_X86_AVX512VL | EVC_CPU(X86_AVX512BW) | EVC_CPU(X86_AVX512VBMI) | EVC_CPU(TUNE_ZMM))

/* Carry-less multiplication, 64 x 64 bits in each 128 of a vector. */
#define EVC_PLACE_X86_CLMUL X86
#define EVC_CC_X86_CLMUL "sse2,ssse3,pclmul"
#define EVC_NEEDS_X86_CLMUL (EVC_NEEDS_X86_SSSE3 | EVC_CPU(X86_PCLMUL))

#define EVC_PLACE_X86_VCLMUL256 X86_64
#define EVC_CC_X86_VCLMUL256 "avx2,pclmul,vpclmulqdq"
#define EVC_NEEDS_X86_VCLMUL256 (EVC_NEEDS_X86_CLMUL | EVC_NEEDS_X86_AVX2 | EVC_CPU(X86_VPCLMUL))

#define EVC_PLACE_X86_VCLMUL512 X86_64
#define EVC_CC_X86_VCLMUL512 \
    "avx2,pclmul,vpclmulqdq,avx512f,avx512vl,avx512bw,avx512dq,avx512vbmi,bmi2"
#define EVC_NEEDS_X86_VCLMUL512                                                                    \
    (EVC_NEEDS_X86_VCLMUL256 | EVC_CPU(X86_AVX512F) | EVC_CPU(X86_AVX512VL) |                      \
     EVC_CPU(X86_AVX512BW) | EVC_CPU(X86_AVX512DQ) | EVC_CPU(X86_AVX512VBMI) |                     \
     EVC_CPU(X86_BMI2) | EVC_CPU(TUNE_ZMM))

/* AES and carry-less multiplication: what a kernel of GCM needs. */
#define EVC_PLACE_X86_GCM128 X86
#define EVC_CC_X86_GCM128 "sse4.1,aes,pclmul"
#define EVC_NEEDS_X86_GCM128 (EVC_NEEDS_X86_AESNI | EVC_NEEDS_X86_CLMUL)

#define EVC_PLACE_X86_GCM256 X86_64_ASM
#define EVC_CC_X86_GCM256 "avx2,aes,vaes,pclmul,vpclmulqdq"
#define EVC_NEEDS_X86_GCM256 (EVC_NEEDS_X86_VAES256 | EVC_NEEDS_X86_VCLMUL256)

#define EVC_PLACE_X86_GCM512 X86_64_ASM
#define EVC_CC_X86_GCM512 \
    "avx2,aes,vaes,pclmul,vpclmulqdq,avx512f,avx512vl,avx512bw,avx512dq,avx512vbmi,bmi2"
#define EVC_NEEDS_X86_GCM512 (EVC_NEEDS_X86_VAES512 | EVC_NEEDS_X86_VCLMUL512)

/* The same where each instruction costs room at the ports of vectors. */
#define EVC_PLACE_X86_GCM512_INTEL X86_64_ASM
#define EVC_CC_X86_GCM512_INTEL EVC_CC_X86_GCM512
#define EVC_NEEDS_X86_GCM512_INTEL (EVC_NEEDS_X86_GCM512 | EVC_CPU(TUNE_SHARED_PORTS))

/* Products that leave the flags alone, and sums with either of two carries. */
#define EVC_PLACE_X86_ADX X86_64_BN_ASM
#define EVC_CC_X86_ADX "bmi2,adx"
#define EVC_NEEDS_X86_ADX \
    (EVC_CPU(X86_BMI2) | EVC_CPU(X86_ADX) | EVC_CPU(X86_MODE64) | EVC_NEEDS_CT_MUL64)

/* The same, and vectors of 128 bits, in which tables are read. */
#define EVC_PLACE_X86_ADX_SSE2 X86_64_BN_ASM
#define EVC_CC_X86_ADX_SSE2 "sse2,bmi2,adx"
#define EVC_NEEDS_X86_ADX_SSE2 (EVC_NEEDS_X86_ADX | EVC_CPU(X86_SSE2))

/* The same where add and adc of many accumulators are faster than adcx and adox. */
#define EVC_PLACE_X86_ADX_INTEL X86_64_BN_ASM
#define EVC_CC_X86_ADX_INTEL EVC_CC_X86_ADX_SSE2
#define EVC_NEEDS_X86_ADX_INTEL (EVC_NEEDS_X86_ADX_SSE2 | EVC_CPU(TUNE_SHARED_PORTS))

/* Products of 52 bits in vectors of 256 without AVX-512, and mulx beside them. The instructions are
 * written in bytes, as older compilers and assemblers lack them: ifma_vectors.h. */
#define EVC_PLACE_X86_AVXIFMA X86_64
#define EVC_CC_X86_AVXIFMA "avx2,bmi2"
#define EVC_NEEDS_X86_AVXIFMA \
    (EVC_NEEDS_X86_AVX2 | EVC_CPU(X86_AVXIFMA) | EVC_CPU(X86_BMI2) | EVC_NEEDS_CT_MUL64)

/* Products of 52 bits in vectors of 512, and mulx beside them; registers 16 to 31 are cleared by
 * their lowest 128 bits, which is VL. */
#define EVC_PLACE_X86_IFMA X86_64
#define EVC_CC_X86_IFMA "avx2,avx512f,avx512ifma,bmi2"
#define EVC_NEEDS_X86_IFMA                                                                         \
    (EVC_NEEDS_X86_AVX512VL | EVC_CPU(X86_AVX512IFMA) | EVC_CPU(X86_BMI2) | EVC_CPU(TUNE_ZMM) |    \
     EVC_NEEDS_CT_MUL64)

/* Arm, 64 bits. What GCC calls crypto is AES, SHA-2 and the 64-bit polynomial multiplication. */
#if defined(__clang__)
#define EVC_CC_A64_NEON "neon"
#define EVC_CC_A64_CE "neon,aes"
#define EVC_CC_A64_SHA256 "neon,sha2"
#define EVC_CC_A64_SHA3 "neon,sha3"
#define EVC_CC_A64_CE_SHA3 "neon,aes,sha3"
#else
#define EVC_CC_A64_NEON "+simd"
#define EVC_CC_A64_CE "+crypto"
#define EVC_CC_A64_SHA256 EVC_CC_A64_CE
#define EVC_CC_A64_SHA3 "arch=armv8.2-a+simd+sha3"
#define EVC_CC_A64_CE_SHA3 "arch=armv8.2-a+crypto+sha3"
#endif

#define EVC_PLACE_A64_NEON A64
#define EVC_NEEDS_A64_NEON EVC_CPU(A64_NEON)

/* Integer registers alone. */
#define EVC_PLACE_A64_BASE A64
#define EVC_CC_A64_BASE EVC_CC_A64_NEON
#define EVC_NEEDS_A64_BASE UINT64_C(0)

/* Integer registers alone: mul and umulh, whose time must not depend on what they multiply. */
#define EVC_PLACE_A64_CT_MUL A64
#define EVC_CC_A64_CT_MUL ""
#define EVC_NEEDS_A64_CT_MUL EVC_CPU(CT_MUL)

/* Products of 32 bits in vectors, for cores on which those of 64 bits take several cycles. */
#define EVC_PLACE_A64_MUL32 A64
#define EVC_CC_A64_MUL32 EVC_CC_A64_NEON
#define EVC_NEEDS_A64_MUL32 (EVC_NEEDS_A64_NEON | EVC_CPU(CT_MUL) | EVC_CPU(TUNE_MUL32))

/* For cores on which a look-up of 16 bytes is several micro-operations. */
#define EVC_PLACE_A64_TBL8 A64
#define EVC_CC_A64_TBL8 EVC_CC_A64_NEON
#define EVC_NEEDS_A64_TBL8 (EVC_NEEDS_A64_NEON | EVC_CPU(TUNE_TBL8))

/* Exclusive or of three operands: of the SHA-3 extension, and of use without SHA-3. */
#define EVC_PLACE_A64_SHA3 A64
#define EVC_NEEDS_A64_SHA3 (EVC_NEEDS_A64_NEON | EVC_CPU(A64_SHA3))

/* AES instructions: of the Cryptography Extension, CE. */
#define EVC_PLACE_A64_CE A64
#define EVC_NEEDS_A64_CE (EVC_NEEDS_A64_NEON | EVC_CPU(A64_AES))

/* AES and the exclusive or of three. */
#define EVC_PLACE_A64_CE_SHA3 A64
#define EVC_NEEDS_A64_CE_SHA3 (EVC_NEEDS_A64_CE | EVC_NEEDS_A64_SHA3)

/* SHA-256; SHA-512, which compilers allow with SHA-3. */
#define EVC_PLACE_A64_SHA256 A64
#define EVC_NEEDS_A64_SHA256 (EVC_NEEDS_A64_NEON | EVC_CPU(A64_SHA256))
#define EVC_PLACE_A64_SHA512 A64
#define EVC_CC_A64_SHA512 EVC_CC_A64_SHA3
#define EVC_NEEDS_A64_SHA512 (EVC_NEEDS_A64_NEON | EVC_CPU(A64_SHA512))

#define EVC_PLACE_A64_CE5 A64
#define EVC_CC_A64_CE5 EVC_CC_A64_CE
#define EVC_NEEDS_A64_CE5 (EVC_NEEDS_A64_CE | EVC_CPU(TUNE_CE5))

#define EVC_PLACE_A64_CE_INORDER A64
#define EVC_CC_A64_CE_INORDER EVC_CC_A64_CE
#define EVC_NEEDS_A64_CE_INORDER (EVC_NEEDS_A64_CE | EVC_CPU(TUNE_INORDER))

/* Polynomial multiplication, 64 x 64 bits. */
#define EVC_PLACE_A64_PMULL A64
#define EVC_CC_A64_PMULL EVC_CC_A64_CE
#define EVC_NEEDS_A64_PMULL (EVC_NEEDS_A64_NEON | EVC_CPU(A64_PMULL))

/* Needs of a GCM kernel. */
#define EVC_PLACE_A64_GCM A64
#define EVC_CC_A64_GCM EVC_CC_A64_CE
#define EVC_NEEDS_A64_GCM (EVC_NEEDS_A64_CE | EVC_NEEDS_A64_PMULL)

#define EVC_PLACE_A64_GCM_SHA3 A64
#define EVC_CC_A64_GCM_SHA3 EVC_CC_A64_CE_SHA3
#define EVC_NEEDS_A64_GCM_SHA3 (EVC_NEEDS_A64_GCM | EVC_NEEDS_A64_SHA3)

/* Arm, 32 bits. GCC does not inline a function into a region that allows fewer instructions. If the
 * build allows them everywhere, the attribute is a word that changes nothing. */
#if defined(__thumb__)
#define EVC_CC_A32_SAME "thumb"
#else
#define EVC_CC_A32_SAME "arm"
#endif
#if defined(__clang__)
#define EVC_CC_A32_NEON "neon"
#define EVC_CC_A32_CE "neon,aes"
#else
#if defined(__ARM_NEON)
#define EVC_CC_A32_NEON EVC_CC_A32_SAME
#else
#define EVC_CC_A32_NEON "fpu=neon"
#endif
#if defined(__ARM_FEATURE_CRYPTO)
#define EVC_CC_A32_CE EVC_CC_A32_SAME
#elif defined(__ARM_ARCH) && __ARM_ARCH >= 8
#define EVC_CC_A32_CE "fpu=crypto-neon-fp-armv8"
#else
#define EVC_CC_A32_CE "arch=armv8-a,fpu=crypto-neon-fp-armv8"
#endif
#endif

/* Integer registers alone. */
#define EVC_PLACE_A32_THUMB2 A32_THUMB2
#define EVC_CC_A32_THUMB2 ""
#define EVC_NEEDS_A32_THUMB2 EVC_CPU(A32_THUMB2)

#define EVC_PLACE_A32_NEON A32_SIMD
#define EVC_NEEDS_A32_NEON EVC_CPU(A32_NEON)

#define EVC_PLACE_A32_CE A32_CRYPTO
#define EVC_NEEDS_A32_CE (EVC_NEEDS_A32_NEON | EVC_CPU(A32_AES))

#define EVC_PLACE_A32_SHA256 A32_CRYPTO
#if defined(__clang__)
#define EVC_CC_A32_SHA256 "neon,sha2"
#else
#define EVC_CC_A32_SHA256 EVC_CC_A32_CE
#endif
#define EVC_NEEDS_A32_SHA256 (EVC_NEEDS_A32_NEON | EVC_CPU(A32_SHA256))

#define EVC_PLACE_A32_PMULL A32_CRYPTO
#define EVC_CC_A32_PMULL EVC_CC_A32_CE
#define EVC_NEEDS_A32_PMULL (EVC_NEEDS_A32_NEON | EVC_CPU(A32_PMULL))

/* A product and two words more, of ARMv6 and of M cores with the DSP extension. */
#define EVC_PLACE_A32_UMAAL A32_DSP
#define EVC_CC_A32_UMAAL ""
#define EVC_NEEDS_A32_UMAAL (EVC_CPU(A32_UMAAL) | EVC_CPU(CT_MUL))

/* PA-RISC 1.1: products of words, in the unit for floating point. */
#define EVC_PLACE_HPPA_XMPYU HPPA
#define EVC_CC_HPPA_XMPYU ""
#define EVC_NEEDS_HPPA_XMPYU (EVC_CPU(HPPA_PA11) | EVC_CPU(CT_MUL))

/* PA-RISC 2.0 with registers of 64 bits, in a program of 32 bits: only a kernel of 64 bits
 * keeps their upper halves. */
#define EVC_PLACE_HPPA_WIDE HPPA
#define EVC_CC_HPPA_WIDE ""
#define EVC_NEEDS_HPPA_WIDE (EVC_NEEDS_HPPA_XMPYU | EVC_CPU(HPPA_WIDE))

/* PA-RISC 1.1: a product and a sum of doubles by one instruction, where that does as it is written
 * (some emulators do not: common/hppa_fmpyadd.h). */
#define EVC_PLACE_HPPA_FMPYADD HPPA
#define EVC_CC_HPPA_FMPYADD ""
#define EVC_NEEDS_HPPA_FMPYADD (EVC_NEEDS_HPPA_XMPYU | EVC_CPU(HPPA_FMPYADD))

/* 64-bit POWER: mulld and mulhdu. */
#define EVC_PLACE_PPC64_CT_MUL PPC64
#define EVC_CC_PPC64_CT_MUL ""
#define EVC_NEEDS_PPC64_CT_MUL EVC_CPU(CT_MUL)

/* AltiVec, of PowerPC 970, POWER6 and later: look-ups of 16 bytes in a register. */
#define EVC_PLACE_PPC_ALTIVEC PPC64_SIMD
#define EVC_CC_PPC_ALTIVEC "altivec"
#define EVC_NEEDS_PPC_ALTIVEC EVC_CPU(PPC_ALTIVEC)

/* POWER8 and later: instructions for AES, and products without carry in vectors. */
#define EVC_PLACE_PPC_VCRYPTO PPC64_SIMD
#if defined(__clang__)
#define EVC_CC_PPC_VCRYPTO "altivec,vsx,power8-vector,crypto"
#else
#define EVC_CC_PPC_VCRYPTO "altivec,vsx,crypto"
#endif
#define EVC_NEEDS_PPC_VCRYPTO EVC_CPU(PPC_VCRYPTO)

/* IBM Z, 64 bits: mlg. */
#define EVC_PLACE_S390X_CT_MUL S390X
#define EVC_CC_S390X_CT_MUL ""
#define EVC_NEEDS_S390X_CT_MUL EVC_CPU(CT_MUL)

/* IBM Z: instructions that encrypt and hash text in memory, of z196 and later. */
#define EVC_PLACE_S390X_MSA4 S390X
#define EVC_CC_S390X_MSA4 ""
#define EVC_NEEDS_S390X_MSA4 EVC_CPU(S390X_MSA4)

/* The same with one for all of GCM, of z14 and later. */
#define EVC_PLACE_S390X_MSA8 S390X
#define EVC_CC_S390X_MSA8 ""
#define EVC_NEEDS_S390X_MSA8 (EVC_CPU(S390X_MSA4) | EVC_CPU(S390X_MSA8))

/* One that hashes text in memory by SHA-256 and SHA-512, of z10 and later. */
#define EVC_PLACE_S390X_SHA2 S390X
#define EVC_CC_S390X_SHA2 ""
#define EVC_NEEDS_S390X_SHA2 EVC_CPU(S390X_SHA2)

/* The vector facility, of z13 and later. */
#define EVC_PLACE_S390X_VX S390X_SIMD
#if defined(__clang__)
#define EVC_CC_S390X_VX "vector"
#elif defined(__VX__) /* GCC inlines no function that may use more instructions */
#define EVC_CC_S390X_VX "vx"
#else
#define EVC_CC_S390X_VX "arch=z13,vx"
#endif
#define EVC_NEEDS_S390X_VX EVC_CPU(S390X_VX)

/* RISC-V: rounds of AES (Zkne, Zknd) and the order of bytes (Zbkb or Zbb), as Zkn has them. Each
 * core must execute aes64... and aes32... in a time that does not depend on data. */
#define EVC_PLACE_RV64_ZKN RV64
#define EVC_CC_RV64_ZKN ""
#define EVC_NEEDS_RV64_ZKN (EVC_CPU(RV64_AES) | EVC_CPU(RV64_REV8))
#define EVC_PLACE_RV32_ZKN RV32
#define EVC_CC_RV32_ZKN ""
#define EVC_NEEDS_RV32_ZKN (EVC_CPU(RV32_AES) | EVC_CPU(RV32_REV8))

/* Functions of SHA-2. */
#define EVC_PLACE_RV64_ZKNH RV64
#define EVC_CC_RV64_ZKNH ""
#define EVC_NEEDS_RV64_ZKNH EVC_CPU(RV64_SHA2)

/* Products without carry (Zbkc or Zbc), whose time is promised by Zkt as that of other products
 * is, and the order of bytes. */
#define EVC_PLACE_RV64_ZBC RV64
#define EVC_CC_RV64_ZBC ""
#define EVC_NEEDS_RV64_ZBC (EVC_CPU(RV64_CLMUL) | EVC_CPU(RV64_REV8) | EVC_CPU(CT_MUL))
#define EVC_PLACE_RV32_ZBC RV32
#define EVC_CC_RV32_ZBC ""
#define EVC_NEEDS_RV32_ZBC (EVC_CPU(RV32_CLMUL) | EVC_CPU(RV32_REV8) | EVC_CPU(CT_MUL))

/* Look-ups of 16 nibbles in a register (Zbkx), whose time Zkt promises, too. */
#define EVC_PLACE_RV64_ZBKX RV64
#define EVC_CC_RV64_ZBKX ""
#define EVC_NEEDS_RV64_ZBKX (EVC_CPU(RV64_XPERM) | EVC_CPU(CT_MUL))

/* RISC-V vectors, whose time Zvkt promises. */
#define EVC_PLACE_RV_V RV64
#define EVC_CC_RV_V ""
#define EVC_NEEDS_RV_V (EVC_CPU(RV64_V) | EVC_CPU(RV64_ZVKT))

/* RISC-V vectors with instructions for GHASH, and for AES: XTS needs both, as the suite Zvkng has
 * them. Each core must execute them in a time that does not depend on data; for all other
 * instructions of a kernel that is what Zvkt promises. */
#define EVC_PLACE_RV_ZVKG RV64
#define EVC_CC_RV_ZVKG ""
#define EVC_NEEDS_RV_ZVKG (EVC_NEEDS_RV_V | EVC_CPU(RV64_ZVKG))

#define EVC_PLACE_RV_ZVKNED RV64
#define EVC_CC_RV_ZVKNED ""
#define EVC_NEEDS_RV_ZVKNED \
    (EVC_NEEDS_RV_ZVKG | EVC_CPU(RV64_ZVKB) | EVC_CPU(RV64_ZVKNED))

/* RISC-V vectors with instructions for SHA-256 and SHA-512, and the order of bytes. */
#define EVC_PLACE_RV_ZVKNH RV64
#define EVC_CC_RV_ZVKNH ""
#define EVC_NEEDS_RV_ZVKNH (EVC_NEEDS_RV_V | EVC_CPU(RV64_ZVKB) | EVC_CPU(RV64_ZVKNHB))

/* ---- Opening an ISA inside a file ------------------------------------------------------------ */

#define EVC_CAT_(a, b) a##b
#define EVC_CAT(a, b) EVC_CAT_(a, b)
#define EVC_STR_(x) #x
#define EVC_STR(x) EVC_STR_(x)

/* 1 where the files of this ISA are built, else 0; usable in #if. */
#define EVC_BUILT(isa) EVC_CAT(EVC_, EVC_CAT(EVC_PLACE_, isa))
#define EVC_ARCH_OF(isa) EVC_CAT(EVC_ARCH_, EVC_CAT(EVC_PLACE_, isa))

/*
 * EVC_ISA_BEGIN(X86_AESNI) ... EVC_ISA_END: functions in between are compiled for that ISA,
 * whatever the flags of the build. Include system headers before it. With
 * -DEVC_ISA_BY_FLAGS both are empty and the build passes the flags itself (clang for COFF
 * targets hides intrinsics otherwise).
 */
#define EVC_PRAGMA(x) _Pragma(#x)
#if defined(EVC_ISA_BY_FLAGS)
#define EVC_ISA_BEGIN(isa)
#define EVC_ISA_END
#elif defined(__clang__)
#define EVC_ISA_PUSH_(str)                                                                         \
    EVC_PRAGMA(clang attribute push(__attribute__((target(str))), apply_to = function))
#define EVC_ISA_BEGIN(isa) EVC_ISA_PUSH_(EVC_CC_##isa)
#define EVC_ISA_END _Pragma("clang attribute pop")
#elif defined(__GNUC__)
#define EVC_ISA_PUSH_(str) _Pragma("GCC push_options") EVC_PRAGMA(GCC target(str))
#define EVC_ISA_BEGIN(isa) EVC_ISA_PUSH_(EVC_CC_##isa)
#define EVC_ISA_END _Pragma("GCC pop_options")
#else
#error "everycore: this compiler needs -DEVC_ISA_BY_FLAGS and the target flags of each file"
#endif

/* The content of a file with nothing to compile here: a translation unit may not be empty (C11
 * 6.9). */
#define EVC_EMPTY_UNIT typedef int evc_nothing_to_compile_here;

#endif
