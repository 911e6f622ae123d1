/* SPDX-License-Identifier: MIT */
/*
 * For assembly on IBM Z, 64 bits: src/<primitive>/<stem>_asm.S beside the <stem>.c that
 * holds banner and descriptor.
 *
 *     #include "common/s390x_asm.h"
 *     #if EVC_ASM_S390X
 *     evc_function evc_bn_s390x_example     // r2, r3, ... r6: arguments
 *         ...
 *         br %r14
 *     evc_end evc_bn_s390x_example
 *     #endif
 *
 *  - Functions are leaves. r0-r5 are free; r6-r13 are the caller's, and r14 holds the return
 *    address: evc_save_r6_r14 and evc_restore_r6_r14 (zSeries ELF Application Binary Interface
 *    Supplement, 2002, chapter 1).
 *  - No address of data and no call, so the code is position-independent as it stands.
 *  - Only instructions of the first z/Architecture (2000), which every such Linux has.
 */
#ifndef EVC_COMMON_S390X_ASM_H
#define EVC_COMMON_S390X_ASM_H

#include "common/any_asm.h"

#if defined(__s390x__) && defined(__ELF__)
#define EVC_ASM_S390X 1

/* A function that the other objects of this library see, and none outside of it. */
.macro evc_function name
    .text
    .p2align 4
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    EVC_ASM_CFI_BEGIN
.endm
.macro evc_end name
    EVC_ASM_CFI_END
    .size \name, . - \name
.endm

/* Registers go where the caller has left memory for them, and the function gets
 * n_bytes bytes from r15 on. */
#define EVC_ASM_SAVED_AT 48
.macro evc_save_r6_r14 n_bytes
    stmg %r6, %r14, EVC_ASM_SAVED_AT(%r15)
    EVC_ASM_CFI_SAVED_AT(%r6, 48)
    EVC_ASM_CFI_SAVED_AT(%r7, 56)
    EVC_ASM_CFI_SAVED_AT(%r8, 64)
    EVC_ASM_CFI_SAVED_AT(%r9, 72)
    EVC_ASM_CFI_SAVED_AT(%r10, 80)
    EVC_ASM_CFI_SAVED_AT(%r11, 88)
    EVC_ASM_CFI_SAVED_AT(%r12, 96)
    EVC_ASM_CFI_SAVED_AT(%r13, 104)
    EVC_ASM_CFI_SAVED_AT(%r14, 112)
    aghi %r15, -\n_bytes
    EVC_ASM_CFI_ADJUST(\n_bytes)
.endm
.macro evc_restore_r6_r14 n_bytes
    aghi %r15, \n_bytes
    EVC_ASM_CFI_ADJUST(-\n_bytes)
    lmg %r6, %r14, EVC_ASM_SAVED_AT(%r15)
.irp register, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14
    EVC_ASM_CFI_RESTORED(\register)
.endr
.endm

#else
#define EVC_ASM_S390X 0
#endif

#endif
