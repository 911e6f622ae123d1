/* SPDX-License-Identifier: MIT */
/* abi_trampoline(run, argument) for i386. See abi.h and frame.h. */
#include "common/any_asm.h"

#include "abi/frame.h"

#if defined(ABI_I386)

    .text
    .p2align 4
    .globl abi_trampoline
    .type abi_trampoline, @function
abi_trampoline:
    pushl %ebx
    pushl %esi
    pushl %edi
    pushl %ebp
    movl 20(%esp), %ecx /* run */
    movl 24(%esp), %edx /* argument */
    calll 1f
1:  popl %eax
    leal abi_frame-1b(%eax), %eax
    movl %esp, ABI_STACK_OWN(%eax)
    andl $-64, %esp
    subl $48, %esp /* 16 modulo 64, with the argument there */
    movl %edx, (%esp)
    movl %esp, ABI_STACK_BEFORE(%eax)
    movl ABI_INTEGERS_BEFORE+8*0(%eax), %ebx
    movl ABI_INTEGERS_BEFORE+8*1(%eax), %esi
    movl ABI_INTEGERS_BEFORE+8*2(%eax), %edi
    movl ABI_INTEGERS_BEFORE+8*3(%eax), %ebp
    calll *%ecx
    movl %esp, %ecx
    calll 2f
2:  popl %eax
    leal abi_frame-2b(%eax), %eax
    movl %ecx, ABI_STACK_AFTER(%eax)
    movl %ebx, ABI_INTEGERS_AFTER+8*0(%eax)
    movl %esi, ABI_INTEGERS_AFTER+8*1(%eax)
    movl %edi, ABI_INTEGERS_AFTER+8*2(%eax)
    movl %ebp, ABI_INTEGERS_AFTER+8*3(%eax)
    movl ABI_STACK_OWN(%eax), %esp
    pushfl
    popl ABI_FLAGS(%eax)
    cld
    popl %ebp
    popl %edi
    popl %esi
    popl %ebx
    retl
    .size abi_trampoline, . - abi_trampoline
#endif
