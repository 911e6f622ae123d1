/* SPDX-License-Identifier: MIT */
/* abi_trampoline(run, argument) for A32: r4 to r11 and d8 to d15. See abi.h and frame.h. */
#include "common/any_asm.h"

#include "abi/frame.h"

#if defined(ABI_A32)
    .syntax unified
    .fpu vfpv2

    .text
    .arm
    .p2align 2
    .globl abi_trampoline
    .hidden abi_trampoline
    .type abi_trampoline, %function
abi_trampoline: @ r0: run, r1: argument
    push {r4-r11, lr}
    sub sp, sp, #4
    vpush {d8-d15}
    mov r12, r0
    mov r0, r1
    ldr r2, 5f
3:  add r2, pc, r2
    str sp, [r2, #ABI_STACK_OWN]
    bic r3, sp, #63
    sub sp, r3, #56 @ 8 modulo 64
    str sp, [r2, #ABI_STACK_BEFORE]
    add r3, r2, #ABI_VECTORS_BEFORE
    vldm r3, {d8-d15}
    ldr r4, [r2, #ABI_INTEGERS_BEFORE + 8 * 0]
    ldr r5, [r2, #ABI_INTEGERS_BEFORE + 8 * 1]
    ldr r6, [r2, #ABI_INTEGERS_BEFORE + 8 * 2]
    ldr r7, [r2, #ABI_INTEGERS_BEFORE + 8 * 3]
    ldr r8, [r2, #ABI_INTEGERS_BEFORE + 8 * 4]
    ldr r9, [r2, #ABI_INTEGERS_BEFORE + 8 * 5]
    ldr r10, [r2, #ABI_INTEGERS_BEFORE + 8 * 6]
    ldr r11, [r2, #ABI_INTEGERS_BEFORE + 8 * 7]
    blx r12
    ldr r2, 6f
4:  add r2, pc, r2
    str sp, [r2, #ABI_STACK_AFTER]
    str r4, [r2, #ABI_INTEGERS_AFTER + 8 * 0]
    str r5, [r2, #ABI_INTEGERS_AFTER + 8 * 1]
    str r6, [r2, #ABI_INTEGERS_AFTER + 8 * 2]
    str r7, [r2, #ABI_INTEGERS_AFTER + 8 * 3]
    str r8, [r2, #ABI_INTEGERS_AFTER + 8 * 4]
    str r9, [r2, #ABI_INTEGERS_AFTER + 8 * 5]
    str r10, [r2, #ABI_INTEGERS_AFTER + 8 * 6]
    str r11, [r2, #ABI_INTEGERS_AFTER + 8 * 7]
    add r3, r2, #ABI_VECTORS_AFTER
    vstm r3, {d8-d15}
    ldr sp, [r2, #ABI_STACK_OWN]
    vpop {d8-d15}
    add sp, sp, #4
    pop {r4-r11, pc}
5:  .word abi_frame - (3b + 8)
6:  .word abi_frame - (4b + 8)
    .size abi_trampoline, . - abi_trampoline
#endif
