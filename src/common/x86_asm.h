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

/* Windows unwinds functions without an entry in its tables as if the return address was at the
 * stack pointer. So code that has pushed something has entries: each change of the stack pointer
 * ends one, and begins the next with all that is on the stack. Source: Microsoft, "x64 exception
 * handling". */
#if EVC_ASM_COFF
    .set evc_frame_depth, 0
.irp n, 1, 2, 3, 4, 5, 6, 7
    .set evc_frame_\n, 0
.endr

/* what: how many bytes a change moved the stack pointer by, or -1 to -6 for a register. */
.macro evc_frame_part what
.if \what > 0
    .seh_stackalloc \what
.elseif \what == -1
    .seh_pushreg %rbx
.elseif \what == -2
    .seh_pushreg %rbp
.elseif \what == -3
    .seh_pushreg %r12
.elseif \what == -4
    .seh_pushreg %r13
.elseif \what == -5
    .seh_pushreg %r14
.elseif \what == -6
    .seh_pushreg %r15
.endif
.endm
.macro evc_frame_change depth
.if evc_frame_depth
    .seh_endproc
.endif
    .set evc_frame_depth, evc_frame_depth + \depth
.if evc_frame_depth < 0 || evc_frame_depth > 7
    .error "too little or too much on the stack"
.endif
.endm
.macro evc_frame_begin
.if evc_frame_depth
.Lframe\@:
    .seh_proc .Lframe\@
.irp n, 1, 2, 3, 4, 5, 6, 7
.if evc_frame_depth >= \n
    evc_frame_part evc_frame_\n
.endif
.endr
    .seh_endprologue
.endif
.endm
.macro evc_frame_deeper what
    evc_frame_change 1
.irp n, 1, 2, 3, 4, 5, 6, 7
.if evc_frame_depth == \n
    .set evc_frame_\n, \what
.endif
.endr
    evc_frame_begin
.endm
.macro evc_frame_adjust n_bytes
.if \n_bytes > 0
    evc_frame_deeper \n_bytes
.else
    evc_frame_change -1
    evc_frame_begin
.endif
.endm
.macro evc_frame_saved register
.ifc \register, %rbx
    evc_frame_deeper -1
.else
.ifc \register, %rbp
    evc_frame_deeper -2
.else
.ifc \register, %r12
    evc_frame_deeper -3
.else
.ifc \register, %r13
    evc_frame_deeper -4
.else
.ifc \register, %r14
    evc_frame_deeper -5
.else
.ifc \register, %r15
    evc_frame_deeper -6
.else
    evc_frame_deeper 8
.endif
.endif
.endif
.endif
.endif
.endif
.endm
#undef EVC_ASM_CFI_ADJUST
#define EVC_ASM_CFI_ADJUST(n_bytes) evc_frame_adjust n_bytes
#endif

.macro evc_save register
    push \register
#if EVC_ASM_COFF
    evc_frame_saved \register
#else
    EVC_ASM_CFI_ADJUST(8)
    EVC_ASM_CFI_SAVED(\register)
#endif
.endm
.macro evc_restore register
    pop \register
    EVC_ASM_CFI_ADJUST(-8)
    EVC_ASM_CFI_RESTORED(\register)
.endm

/* All that a function has to keep for its caller. */
.macro evc_save_all
    evc_save %rbx
    evc_save %rbp
    evc_save %r12
    evc_save %r13
    evc_save %r14
    evc_save %r15
.endm
.macro evc_restore_all
    evc_restore %r15
    evc_restore %r14
    evc_restore %r13
    evc_restore %r12
    evc_restore %rbp
    evc_restore %rbx
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
