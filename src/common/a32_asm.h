/* SPDX-License-Identifier: MIT */
/*
 * For assembly on A32, in the instruction set that the build chose:
 * src/<primitive>/<stem>_asm.S beside the <stem>.c that holds banner and descriptor.
 * common/a64_asm.h shows the shape of such a file; here it is
 *
 *     #include "common/a32_asm.h"
 *     #if EVC_ASM_NEON
 *     evc_isa_neon
 *
 * or, for code that is Thumb-2 whatever the build chose, on Cortex-A and on Cortex-M3 and above,
 *
 *     #if EVC_ASM_THUMB2
 *     .thumb
 *     .thumb_func
 *     evc_function evc_aes_a32_example_encrypt
 *
 *  - Unified syntax. Functions are leaves; r0-r3, r12, q0-q3 and q8-q15 are free, all others and
 *    lr are the caller's to keep, r9 may be the platform's (AAPCS32, 2024, section 6.1): save what
 *    is used by push and vpush.
 *  - Data is loaded and stored by bytes (vld1.8), integers of memory only with rev where
 *    EVC_ASM_BIG_ENDIAN is 1.
 *  - Stack: at most 1 KiB, 8 bytes aligned, nothing below sp; secrets in it are wiped, or the
 *    kernel's `clear` (common/clear.h) reaches them.
 *  - Constants stand in the code, behind the function that reads them (adr): Cortex-M
 *    has no other near place.
 */
#ifndef EVC_COMMON_A32_ASM_H
#define EVC_COMMON_A32_ASM_H

#include "common/any_asm.h"

#if defined(__arm__)
#define EVC_ASM_A32 1
/* EVC_A32_SIMD and EVC_A32_THUMB2 of everycore/isa.h, which is C. */
#if !defined(__ARM_BIG_ENDIAN) &&                                                                  \
    (defined(__ARM_NEON) || (!defined(__clang__) && defined(__ARM_FP) && __ARM_ARCH >= 7 &&        \
                             defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'A'))
#define EVC_ASM_NEON 1
#else
#define EVC_ASM_NEON 0
#endif
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB >= 2 && !defined(__ARM_BIG_ENDIAN) && \
    defined(__ELF__)
#define EVC_ASM_THUMB2 1
#else
#define EVC_ASM_THUMB2 0
#endif
#if defined(__ELF__) && \
    (defined(__ARM_ARCH_ISA_ARM) || (EVC_ASM_THUMB2 && defined(__ARM_FEATURE_DSP)))
#define EVC_ASM_UMAAL 1
#else
#define EVC_ASM_UMAAL 0
#endif
#if defined(__ARMEB__)
#define EVC_ASM_BIG_ENDIAN 1
#else
#define EVC_ASM_BIG_ENDIAN 0
#endif

    .syntax unified
#if defined(__thumb__)
    .thumb
#else
    .arm
#endif

/* Makes the assembler accept these instructions, whatever the flags of the build. */
.macro evc_isa_neon
    .arch armv7-a
    .fpu neon
.endm
.macro evc_isa_crypto
    .arch armv8-a
    .fpu crypto-neon-fp-armv8
.endm

/* A function that the other objects of this library see, and none outside of it. It has a section
 * of its own, so that the linker may drop it (-Wl,--gc-sections). The pad is bti of Armv8.1-M and a
 * nop before (Arm DDI 0553, 2024, BTI in chapter C2). */
.macro evc_function name
#if defined(__ELF__)
    .section .text.\name, "ax", %progbits
#else
    .text
#endif
    .p2align 4
#if defined(__ELF__)
    .globl \name
    .hidden \name
    .type \name, %function
#else
    .globl \name
#endif
#if defined(__thumb__)
    .thumb_func
#endif
\name:
    EVC_ASM_CFI_BEGIN
#if defined(__ARM_FEATURE_BTI_DEFAULT)
    .inst.w 0xf3af800f
#endif
.endm
/* The same with umaal: in the instruction set with words of 32 bits where there is one, whatever
 * the build chose; so it ends by bx lr, or by a pop into pc. */
.macro evc_umaal_function name
    .text
#if defined(__ARM_ARCH_ISA_ARM)
    .arch armv6
    .arm
#endif
    .p2align 4
    .globl \name
    .hidden \name
    .type \name, %function
#if !defined(__ARM_ARCH_ISA_ARM)
    .thumb_func
#endif
\name:
    EVC_ASM_CFI_BEGIN
#if !defined(__ARM_ARCH_ISA_ARM) && defined(__ARM_FEATURE_BTI_DEFAULT)
    .inst.w 0xf3af800f
#endif
.endm
.macro evc_end name
    EVC_ASM_CFI_END
#if defined(__ELF__)
    .size \name, . - \name
#endif
.endm

#else
#define EVC_ASM_A32 0
#define EVC_ASM_NEON 0
#define EVC_ASM_THUMB2 0
#define EVC_ASM_UMAAL 0
#endif

#endif
