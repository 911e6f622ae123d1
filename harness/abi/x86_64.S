/* SPDX-License-Identifier: MIT */
/* abi_trampoline(run, argument) for x86-64: the System V convention, and Microsoft's.
 * See abi.h and frame.h. */
#include "common/any_asm.h"

#include "abi/frame.h"

#if defined(ABI_X86_64_SYSV) || defined(ABI_X86_64_WINDOWS)

#if defined(__APPLE__)
#define NAME(symbol) _##symbol
#else
#define NAME(symbol) symbol
#endif

#if defined(ABI_X86_64_WINDOWS)
#define RUN %rcx
#define ARGUMENT %rdx
#define FIRST_ARGUMENT %rcx
#else
#define RUN %rdi
#define ARGUMENT %rsi
#define FIRST_ARGUMENT %rdi
#endif

/* One register of those that a function restores: integer register \n in the frame. */
.macro load_integer register, n
    movq ABI_INTEGERS_BEFORE+8*\n(%rax), \register
.endm
.macro store_integer register, n
    movq \register, ABI_INTEGERS_AFTER+8*\n(%rax)
.endm
.macro each_integer what
    \what %rbx, 0
    \what %rbp, 1
    \what %r12, 2
    \what %r13, 3
    \what %r14, 4
    \what %r15, 5
#if defined(ABI_X86_64_WINDOWS)
    \what %rdi, 6
    \what %rsi, 7
#endif
.endm

    .text
    .p2align 4
    .globl NAME(abi_trampoline)
NAME(abi_trampoline):
    pushq %rbx
    pushq %rbp
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
#if defined(ABI_X86_64_WINDOWS)
    pushq %rdi
    pushq %rsi
    subq $160, %rsp
    .irp n, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movups %xmm\n, 16*(\n-6)(%rsp)
    .endr
#endif
    leaq NAME(abi_frame)(%rip), %rax
    movq %rsp, ABI_STACK_OWN(%rax)
    movq RUN, %r10
    movq ARGUMENT, FIRST_ARGUMENT
    andq $-64, %rsp
    subq $48, %rsp /* 16 modulo 64; on Windows 32 bytes of it are the callee's */
    movq %rsp, ABI_STACK_BEFORE(%rax)
    each_integer load_integer
#if defined(ABI_X86_64_WINDOWS)
    .irp n, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movups ABI_VECTORS_BEFORE+16*(\n-6)(%rax), %xmm\n
    .endr
#endif
    callq *%r10
    leaq NAME(abi_frame)(%rip), %rax
    movq %rsp, ABI_STACK_AFTER(%rax)
    each_integer store_integer
#if defined(ABI_X86_64_WINDOWS)
    .irp n, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movups %xmm\n, ABI_VECTORS_AFTER+16*(\n-6)(%rax)
    .endr
#endif
    movq ABI_STACK_OWN(%rax), %rsp
    pushfq
    popq ABI_FLAGS(%rax)
    cld
#if defined(ABI_X86_64_WINDOWS)
    .irp n, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    movups 16*(\n-6)(%rsp), %xmm\n
    .endr
    addq $160, %rsp
    popq %rsi
    popq %rdi
#endif
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbp
    popq %rbx
    retq
#endif
