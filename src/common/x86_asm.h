/* SPDX-License-Identifier: MIT */
/*
 * For assembly on x86-64: src/<primitive>/<stem>_asm.S beside the <stem>.c that
 * holds banner and descriptor.
 *
 *     #include "common/x86_asm.h"
 *     #if EVC_ASM_X86_64
 *     evc_function evc_bn_words_x86_example
 *         ...
 *         ret
 *     evc_end evc_bn_words_x86_example
 *     #endif
 *
 *  - ELF, Mach-O and COFF, always with the System V ABI (0.99, 2013, figure 3.4): where Windows has
 *    another one, C declares the function with EVC_SYSV of everycore/isa.h.
 *  - Functions call none of another file. rax, rcx, rdx, rsi, rdi, r8-r11 and the vector
 *    registers are free; evc_save and evc_restore keep another register on the stack. Nothing is
 *    kept below the stack pointer.
 */
#ifndef EVC_COMMON_X86_ASM_H
#define EVC_COMMON_X86_ASM_H

#include "common/any_asm.h"

/* As in everycore/isa.h. */
#if defined(__x86_64__) && !defined(__ILP32__) && !(defined(__clang__) && defined(__CYGWIN__))
#define EVC_ASM_X86_64 1

/* A function that the other objects of this library see, and none outside of it. It begins with
 * endbr64, which is a nop to older cores. Functions of the same file jump to it by the name `here`:
 * objtool of Linux takes a jump behind the first instruction for a fault. */
.macro evc_function name, here
    .text
    .p2align 5
.ifnb \here
\here:
.endif
#if defined(__APPLE__)
    .globl _\name
    .private_extern _\name
_\name:
#else
    .globl \name
#if defined(__ELF__)
    .hidden \name
    .type \name, @function
#endif
\name:
#endif
    EVC_ASM_CFI_BEGIN
    .byte 0xf3, 0x0f, 0x1e, 0xfa
.endm
.macro evc_end name
    EVC_ASM_CFI_END
#if defined(__ELF__)
    .size \name, . - \name
#endif
.endm

/* A function of this file alone. It has a type and a size because objtool of Linux follows
 * calls to functions alone. */
.macro evc_local name
#if defined(__ELF__)
    .type \name, @function
#endif
\name:
    EVC_ASM_CFI_BEGIN
.endm
.macro evc_local_end name
    evc_end \name
.endm

/* A label inside of a function, which the object's table of symbols does not have. In macros, names
 * end with \@, the number of the expansion, or with an argument. */
#if defined(__APPLE__)
#define L(name) L##name
#else
#define L(name) .L##name
#endif

/* Constants follow, and then code. */
.macro evc_constants
#if defined(__APPLE__)
    .section __TEXT,__const
#elif EVC_ASM_COFF
    .section .rdata, "dr"
#else
    .section .rodata, "a", @progbits
#endif
.endm

.macro evc_save register
    push \register
    EVC_ASM_CFI_ADJUST(8)
    EVC_ASM_CFI_SAVED(\register)
.endm
.macro evc_restore register
    pop \register
    EVC_ASM_CFI_ADJUST(-8)
    EVC_ASM_CFI_RESTORED(\register)
.endm

/* Linux: returns as its mitigations want them, which objtool checks. */
#if defined(__KERNEL__)
.macro ret
#if defined(CONFIG_MITIGATION_RETHUNK) || defined(CONFIG_RETHUNK)
    jmp __x86_return_thunk
#else
    .byte 0xc3, 0xcc /* ret, int3 */
#endif
.endm
#endif

/* The object says that indirect branches reach endbr64 alone, and that a shadow stack suits it:
 * linkers turn both off for a program with one object that does not (System V ABI, x86-64
 * supplement 1.0, 2018, section 4.5). */
#if defined(__ELF__)
    .pushsection .note.gnu.property, "a", @note
    .p2align 3
    .long 4, 16, 5
    .asciz "GNU"
    .long 0xc0000002, 4, 3, 0
    .popsection
#endif

#else
#define EVC_ASM_X86_64 0
#endif

#endif
