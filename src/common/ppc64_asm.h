/* SPDX-License-Identifier: MIT */
/*
 * For assembly on 64-bit POWER, in both byte orders: src/<primitive>/<stem>_asm.S beside the
 * <stem>.c that holds banner and descriptor.
 *
 *     #include "common/ppc64_asm.h"
 *     #if EVC_ASM_PPC64
 *     evc_function evc_bn_ppc64_example     // r3, r4, ... r10: arguments
 *         ...
 *         blr
 *     evc_end evc_bn_ppc64_example
 *     #endif
 *
 *  - Functions are leaves and use neither data nor r2, so they need no entry of their own for local
 *    calls (Power Architecture 64-Bit ELF V2 ABI Specification, 2024, section 2.3.2.1). Under the
 *    older ABI, that of big-endian Linux, the name of a function stands for its descriptor (64-bit
 *    PowerPC ELF ABI Supplement 1.9, 2004, section 3.2.5); evc_function makes it.
 *  - r0, r3-r12, ctr, xer and cr0 are free; r14-r31 are the caller's: evc_save_r14_r31 and
 *    evc_restore_r14_r31. r1, r2 and r13 belong to the platform.
 *  - Registers are numbers, which may be symbols. Comments begin with two
 *    slashes or are those of C.
 */
#ifndef EVC_COMMON_PPC64_ASM_H
#define EVC_COMMON_PPC64_ASM_H

#include "common/any_asm.h"

#if defined(__powerpc64__) && defined(__LP64__) && defined(__ELF__)
#define EVC_ASM_PPC64 1

/* A function that the other objects of this library see, and none outside of it. */
.macro evc_function name
#if defined(_CALL_ELF) && _CALL_ELF == 2
    .text
    .p2align 5
    .globl \name
    .hidden \name
    .type \name, @function
\name:
#else
    .section .opd, "aw"
    .p2align 3
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    .quad .L.\name, .TOC.@tocbase, 0
    .text
    .p2align 5
.L.\name:
#endif
    EVC_ASM_CFI_BEGIN
.endm
.macro evc_end name
    EVC_ASM_CFI_END
#if defined(_CALL_ELF) && _CALL_ELF == 2
    .size \name, . - \name
#else
    .size \name, . - .L.\name
#endif
.endm

/* The registers of the caller, above EVC_ASM_FREE_BYTES bytes at EVC_ASM_FREE from r1. */
#define EVC_ASM_FREE 32
#define EVC_ASM_FREE_BYTES 16
#define EVC_ASM_FRAME_BYTES 192
.macro evc_save_r14_r31
    stdu 1, -EVC_ASM_FRAME_BYTES(1)
    EVC_ASM_CFI_ADJUST(EVC_ASM_FRAME_BYTES)
.irp i, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    std \i, (EVC_ASM_FRAME_BYTES - 8 * (32 - \i))(1)
    EVC_ASM_CFI_SAVED_AT(\i, EVC_ASM_FRAME_BYTES - 8 * (32 - \i))
.endr
.endm
.macro evc_restore_r14_r31
.irp i, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    ld \i, (EVC_ASM_FRAME_BYTES - 8 * (32 - \i))(1)
    EVC_ASM_CFI_RESTORED(\i)
.endr
    addi 1, 1, EVC_ASM_FRAME_BYTES
    EVC_ASM_CFI_ADJUST(-EVC_ASM_FRAME_BYTES)
.endm

#else
#define EVC_ASM_PPC64 0
#endif

#endif
