/* SPDX-License-Identifier: MIT */
/* x86-64 in firmware: places to return to, a stack of one's own, and the entries of the interrupt
 * table. Elsewhere this file is an empty unit. */
#if defined(HARNESS_UEFI) && defined(__x86_64__)
#include "common/x86_asm.h"

/* int bare_mark(struct bare_place *) */
evc_function bare_mark
    mov (%rsp), %rax
    mov %rbx, 0(%rdi)
    mov %rbp, 8(%rdi)
    mov %r12, 16(%rdi)
    mov %r13, 24(%rdi)
    mov %r14, 32(%rdi)
    mov %r15, 40(%rdi)
    mov %rsp, 48(%rdi)
    mov %rax, 56(%rdi)
    stmxcsr 64(%rdi)
    fnstcw 68(%rdi)
    xor %eax, %eax
    ret
evc_end bare_mark

/* _Noreturn void bare_return_to(struct bare_place *) */
evc_function bare_return_to
    mov 0(%rdi), %rbx
    mov 8(%rdi), %rbp
    mov 16(%rdi), %r12
    mov 24(%rdi), %r13
    mov 32(%rdi), %r14
    mov 40(%rdi), %r15
    mov 48(%rdi), %rsp
    mov 56(%rdi), %rax
    ldmxcsr 64(%rdi)
    fldcw 68(%rdi)
    mov %rax, (%rsp)
    cld
    mov $1, %eax
    ret
evc_end bare_return_to

/* void bare_on_stack(void (*f)(void *), void *arg, uint8_t *top) */
evc_function bare_on_stack
    push %rbp
    mov %rsp, %rbp
    and $-16, %rdx
    mov %rdx, %rsp
    mov %rdi, %rax
    mov %rsi, %rdi
    call *%rax
    mov %rbp, %rsp
    pop %rbp
    ret
evc_end bare_on_stack

/* The entry of the interrupt table for faults: on the stack of what
 * faulted, with interrupts off. */
evc_function cpu_fault
    mov cpu_after_fault(%rip), %rdi
    jmp bare_return_to
evc_end cpu_fault
#endif
