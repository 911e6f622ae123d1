/* SPDX-License-Identifier: MIT */
/* abi_trampoline(run, argument) for RISC-V: s0 to s11, fs0 to fs11 where they are. See abi.h,
 * frame.h: each value has 8 bytes. */
#include "common/any_asm.h"

#include "abi/frame.h"

#if defined(ABI_RISCV)

#if __riscv_xlen == 64
#define STORE sd
#define LOAD ld
#else
#define STORE sw
#define LOAD lw
#endif

.macro each_integer what, base, at
    \what s0, \at+0(\base)
    \what s1, \at+8(\base)
    \what s2, \at+16(\base)
    \what s3, \at+24(\base)
    \what s4, \at+32(\base)
    \what s5, \at+40(\base)
    \what s6, \at+48(\base)
    \what s7, \at+56(\base)
    \what s8, \at+64(\base)
    \what s9, \at+72(\base)
    \what s10, \at+80(\base)
    \what s11, \at+88(\base)
.endm
.macro each_float what, base, at
#if defined(ABI_RISCV_FLOAT)
    \what fs0, \at+0(\base)
    \what fs1, \at+8(\base)
    \what fs2, \at+16(\base)
    \what fs3, \at+24(\base)
    \what fs4, \at+32(\base)
    \what fs5, \at+40(\base)
    \what fs6, \at+48(\base)
    \what fs7, \at+56(\base)
    \what fs8, \at+64(\base)
    \what fs9, \at+72(\base)
    \what fs10, \at+80(\base)
    \what fs11, \at+88(\base)
#endif
.endm

    .text
    .p2align 2
    .globl abi_trampoline
    .hidden abi_trampoline
    .type abi_trampoline, @function
abi_trampoline: /* a0: run, a1: argument */
    addi sp, sp, -208
    STORE ra, 0(sp)
    each_integer STORE, sp, 8
    each_float fsd, sp, 104
    lla t0, abi_frame
    mv t1, a0
    mv a0, a1
    STORE sp, ABI_STACK_OWN(t0)
    andi sp, sp, -64
    addi sp, sp, -48 /* 16 modulo 64 */
    STORE sp, ABI_STACK_BEFORE(t0)
    each_integer LOAD, t0, ABI_INTEGERS_BEFORE
    each_float fld, t0, ABI_VECTORS_BEFORE
    jalr t1
    lla t0, abi_frame
    STORE sp, ABI_STACK_AFTER(t0)
    each_integer STORE, t0, ABI_INTEGERS_AFTER
    each_float fsd, t0, ABI_VECTORS_AFTER
    LOAD sp, ABI_STACK_OWN(t0)
    each_float fld, sp, 104
    each_integer LOAD, sp, 8
    LOAD ra, 0(sp)
    addi sp, sp, 208
    ret
    .size abi_trampoline, . - abi_trampoline
#endif
