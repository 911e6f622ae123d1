/* SPDX-License-Identifier: MIT */
/* A64 Linux: the start of a program, system calls, and what C has no words for. */
#if defined(HARNESS_LINUX) && defined(__aarch64__)
#include "common/a64_asm.h"

evc_isa_neon

evc_function _start
    mov x29, xzr
    mov x30, xzr
    mov x0, sp
    b bare_start
evc_end _start

/* long bare_call_system(long number, long a, long b, long c, long d, long e, long f) */
evc_function bare_call_system
    mov x8, x0
    mov x0, x1
    mov x1, x2
    mov x2, x3
    mov x3, x4
    mov x4, x5
    mov x5, x6
    svc #0
    ret
evc_end bare_call_system

evc_function bare_mark
    stp x19, x20, [x0, #0]
    stp x21, x22, [x0, #16]
    stp x23, x24, [x0, #32]
    stp x25, x26, [x0, #48]
    stp x27, x28, [x0, #64]
    stp x29, x30, [x0, #80]
    stp d8, d9, [x0, #96]
    stp d10, d11, [x0, #112]
    stp d12, d13, [x0, #128]
    stp d14, d15, [x0, #144]
    mov x2, sp
    str x2, [x0, #160]
    mov w0, #0
    ret
evc_end bare_mark

evc_function bare_return_to
    ldp x19, x20, [x0, #0]
    ldp x21, x22, [x0, #16]
    ldp x23, x24, [x0, #32]
    ldp x25, x26, [x0, #48]
    ldp x27, x28, [x0, #64]
    ldp x29, x30, [x0, #80]
    ldp d8, d9, [x0, #96]
    ldp d10, d11, [x0, #112]
    ldp d12, d13, [x0, #128]
    ldp d14, d15, [x0, #144]
    ldr x2, [x0, #160]
    mov sp, x2
    mov w0, #1
    ret
evc_end bare_return_to

/* void bare_on_stack(void (*f)(void *), void *arg, uint8_t *top) */
evc_function bare_on_stack
    stp x29, x30, [sp, #-16]!
    mov x29, sp
    and x2, x2, #-16
    mov sp, x2
    mov x9, x0
    mov x0, x1
    blr x9
    mov sp, x29
    ldp x29, x30, [sp], #16
    ret
evc_end bare_on_stack
#endif
