/* SPDX-License-Identifier: MIT */
/* abi_trampoline(run, argument) for A64: x19 to x29, and the lower halves of v8 to v15.
 * See abi.h and frame.h. */
#include "common/a64_asm.h"

#include "abi/frame.h"

#if defined(ABI_A64)

evc_function abi_trampoline // x0: run, x1: argument
    stp x29, x30, [sp, #-160]!
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    stp x23, x24, [sp, #48]
    stp x25, x26, [sp, #64]
    stp x27, x28, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    evc_address x2, abi_frame
    mov x3, x0
    mov x0, x1
    mov x4, sp
    str x4, [x2, #ABI_STACK_OWN]
    and x4, x4, #-64
    sub x4, x4, #48 // 16 modulo 64
    mov sp, x4
    str x4, [x2, #ABI_STACK_BEFORE]
    ldp x19, x20, [x2, #ABI_INTEGERS_BEFORE]
    ldp x21, x22, [x2, #ABI_INTEGERS_BEFORE + 16]
    ldp x23, x24, [x2, #ABI_INTEGERS_BEFORE + 32]
    ldp x25, x26, [x2, #ABI_INTEGERS_BEFORE + 48]
    ldp x27, x28, [x2, #ABI_INTEGERS_BEFORE + 64]
    ldr x29, [x2, #ABI_INTEGERS_BEFORE + 80]
    ldp d8, d9, [x2, #ABI_VECTORS_BEFORE]
    ldp d10, d11, [x2, #ABI_VECTORS_BEFORE + 16]
    ldp d12, d13, [x2, #ABI_VECTORS_BEFORE + 32]
    ldp d14, d15, [x2, #ABI_VECTORS_BEFORE + 48]
    blr x3
    evc_address x2, abi_frame
    mov x4, sp
    str x4, [x2, #ABI_STACK_AFTER]
    stp x19, x20, [x2, #ABI_INTEGERS_AFTER]
    stp x21, x22, [x2, #ABI_INTEGERS_AFTER + 16]
    stp x23, x24, [x2, #ABI_INTEGERS_AFTER + 32]
    stp x25, x26, [x2, #ABI_INTEGERS_AFTER + 48]
    stp x27, x28, [x2, #ABI_INTEGERS_AFTER + 64]
    str x29, [x2, #ABI_INTEGERS_AFTER + 80]
    add x4, x2, #ABI_VECTORS_AFTER // stp reaches 504 bytes
    stp d8, d9, [x4]
    stp d10, d11, [x4, #16]
    stp d12, d13, [x4, #32]
    stp d14, d15, [x4, #48]
    ldr x4, [x2, #ABI_STACK_OWN]
    mov sp, x4
    ldp d14, d15, [sp, #144]
    ldp d12, d13, [sp, #128]
    ldp d10, d11, [sp, #112]
    ldp d8, d9, [sp, #96]
    ldp x27, x28, [sp, #80]
    ldp x25, x26, [sp, #64]
    ldp x23, x24, [sp, #48]
    ldp x21, x22, [sp, #32]
    ldp x19, x20, [sp, #16]
    ldp x29, x30, [sp], #160
    ret
evc_end abi_trampoline
#endif
