/* SPDX-License-Identifier: MIT */
/*
 * For assembly on A64: src/<primitive>/<stem>_asm.S beside the <stem>.c that
 * holds banner and descriptor.
 *
 *     #include "common/a64_asm.h"
 *     #if EVC_ASM_A64
 *     evc_isa_crypto
 *     evc_function evc_aes_a64_example_ctr32   // x0: key, x1: in, x2: out, x3: n_blocks > 0
 *         ...
 *         ret
 *     evc_end evc_aes_a64_example_ctr32
 *     #endif
 *
 * Assembled by GCC and clang, for ELF, Mach-O and COFF; elsewhere the file is
 * an empty unit. The rules:
 *
 *  - Functions are leaves: they call nothing and do not save x30, so return
 *    addresses need no signature.
 *  - x0-x17 and v0-v7, v16-v31 are free. x18 belongs to the platform, x19-x29 and the low halves of
 *    v8-v15 to the caller (AAPCS64, 2024, sections 6.1.1 and 6.1.2): evc_save_d8_d15 and
 *    evc_restore_d8_d15 keep the latter; what one of v8-v15 had above its low half may be lost.
 *  - Data is loaded and stored by bytes (ld1 {v0.16b}), or turned with rev where it is an integer:
 *    q registers as a whole, and integers of memory, are turned around on big-endian cores. What
 *    the function itself saves and loads again may use any form.
 *  - Stack below the caller's: at most 1 KiB, 16 bytes aligned, nothing below sp; secrets
 *    in it are wiped, or the kernel's `clear` (common/clear.h) reaches them. Vector
 *    registers are left to `clear`.
 *  - Constants stand in evc_constants and are found by evc_address.
 *  - One statement a line, comments begin with two slashes: clang's assembler for Mach-O and GNU's
 *    have no other in common.
 *  - No branch and no address made of secrets: assembly is looked at by
 *    `everycore ct` like all else.
 */
#ifndef EVC_COMMON_A64_ASM_H
#define EVC_COMMON_A64_ASM_H

#include "common/any_asm.h"

#if defined(__aarch64__) || defined(_M_ARM64)
#define EVC_ASM_A64 1

/* Integers in memory are turned around (rev) where this is 1. */
#if defined(__AARCH64EB__)
#define EVC_ASM_BIG_ENDIAN 1
#else
#define EVC_ASM_BIG_ENDIAN 0
#endif

/* Makes the assembler accept these instructions, whatever the flags of the build. */
.macro evc_isa_neon
    .arch armv8-a
.endm
.macro evc_isa_crypto
    .arch armv8-a+crypto
.endm
.macro evc_isa_crypto_sha3
    .arch armv8.2-a+crypto+sha3
.endm
.macro evc_isa_sha3
    .arch armv8.2-a+sha3
.endm

.macro evc_code
    .text
.endm
.macro evc_constants
#if defined(__APPLE__)
    .section __TEXT,__const
#elif defined(__ELF__)
    .section .rodata, "a", %progbits
#else
    .section .rdata, "dr"
#endif
    .p2align 4
.endm

/* \to = the address of a label of this file. */
.macro evc_address to, label
#if defined(__APPLE__)
    adrp \to, \label@PAGE
    add \to, \to, \label@PAGEOFF
#else
    adrp \to, \label
    add \to, \to, :lo12:\label
#endif
.endm

/* A function that the other objects of this library see, and none outside of it. It begins with bti
 * c, which older cores take for a nop (Arm DDI 0487, 2024, BTI in chapter C6). */
.macro evc_function name
    .text
    .p2align 5
#if defined(__APPLE__)
    .globl _\name
    .private_extern _\name
_\name:
#elif defined(__ELF__)
    .globl \name
    .hidden \name
    .type \name, %function
\name:
#else
    .globl \name
    .def \name
    .scl 2
    .type 32
    .endef
\name:
#endif
    EVC_ASM_CFI_BEGIN
    hint #34
.endm
.macro evc_end name
    EVC_ASM_CFI_END
#if defined(__ELF__)
    .size \name, . - \name
#endif
.endm

/* Two of x19-x28, and back in the opposite order. */
.macro evc_save_pair first, second
    stp \first, \second, [sp, #-16]!
    EVC_ASM_CFI_ADJUST(16)
    EVC_ASM_CFI_SAVED(\first)
    EVC_ASM_CFI_SAVED_AT(\second, 8)
.endm
.macro evc_restore_pair first, second
    ldp \first, \second, [sp], #16
    EVC_ASM_CFI_ADJUST(-16)
    EVC_ASM_CFI_RESTORED(\first)
    EVC_ASM_CFI_RESTORED(\second)
.endm

.macro evc_save_d8_d15
    stp d8, d9, [sp, #-64]!
    EVC_ASM_CFI_ADJUST(64)
    stp d10, d11, [sp, #16]
    stp d12, d13, [sp, #32]
    stp d14, d15, [sp, #48]
.endm
.macro evc_restore_d8_d15
    ldp d10, d11, [sp, #16]
    ldp d12, d13, [sp, #32]
    ldp d14, d15, [sp, #48]
    ldp d8, d9, [sp], #64
    EVC_ASM_CFI_ADJUST(-64)
.endm

/* The object keeps branch targets and return addresses as those of the compilers do that protect
 * them: linkers turn the protection off for a program with one object that does not say so (ELF for
 * the Arm 64-bit architecture, 2024, section 6.2: bit 0 BTI, bit 1 PAC, bit 2 GCS). */
#if defined(__ELF__)
#if defined(__ARM_FEATURE_GCS_DEFAULT)
#define EVC_ASM_PROPERTY 7
#else
#define EVC_ASM_PROPERTY 3
#endif
    .pushsection .note.gnu.property, "a", %note
    .p2align 3
    .word 4, 16, 5
    .asciz "GNU"
    .word 0xc0000000, 4, EVC_ASM_PROPERTY, 0
    .popsection
#endif

#else
#define EVC_ASM_A64 0
#endif

#endif
