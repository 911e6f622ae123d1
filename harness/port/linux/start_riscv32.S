/* SPDX-License-Identifier: MIT */
/* 32-bit RISC-V under Linux: the start of a program, system calls, and what C has no words for. */
#include "common/any_asm.h"

#if defined(HARNESS_LINUX) && defined(__riscv) && __riscv_xlen == 32

.macro function name
    .text
    .p2align 2
    .globl \name
    .type \name, @function
\name:
.endm

/* s0 to s11, ra and sp. */
.macro each what
    \what s0, 0(a0)
    \what s1, 4(a0)
    \what s2, 8(a0)
    \what s3, 12(a0)
    \what s4, 16(a0)
    \what s5, 20(a0)
    \what s6, 24(a0)
    \what s7, 28(a0)
    \what s8, 32(a0)
    \what s9, 36(a0)
    \what s10, 40(a0)
    \what s11, 44(a0)
    \what ra, 48(a0)
    \what sp, 52(a0)
.endm

function _start
    .option push
    .option norelax
    lla gp, __global_pointer$
    .option pop
    mv a0, sp
    tail bare_start

/* long bare_call_system(long number, long a, long b, long c, long d, long e, long f) */
function bare_call_system
    mv a7, a0
    mv a0, a1
    mv a1, a2
    mv a2, a3
    mv a3, a4
    mv a4, a5
    mv a5, a6
    ecall
    ret

function bare_mark
    each sw
    li a0, 0
    ret

function bare_return_to
    each lw
    li a0, 1
    ret

/* void bare_on_stack(void (*f)(void *), void *arg, uint8_t *top) */
function bare_on_stack
    addi sp, sp, -16
    sw ra, 0(sp)
    sw s0, 4(sp)
    mv s0, sp
    andi sp, a2, -16
    mv t0, a0
    mv a0, a1
    jalr t0
    mv sp, s0
    lw ra, 0(sp)
    lw s0, 4(sp)
    addi sp, sp, 16
    ret
#endif
