/* SPDX-License-Identifier: MIT */
/*
 * abi_trampoline(run, argument) for 64-bit POWER: r14 to r31, cr2 to cr4, f14 to f31, and v20 to
 * v31 where there are vector registers. See abi.h and frame.h.
 */
#include "common/ppc64_asm.h"

#include "abi/frame.h"

#if defined(ABI_PPC64)

#define FREE_BYTES 512 /* below the registers of evc_save_r14_r31 */
#define CONDITION_AT 120
#define VECTORS_AT 272

.macro each what, base, at
.irp i, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \what \i, \at + 8 * (\i - 14)(\base)
.endr
.endm
/* To or from `at` behind base, if there are vector registers; 7 and 8 are in use. */
.macro each_vector what, base, at, frame
    ld 7, ABI_HAS_ALTIVEC(\frame)
    cmpdi 7, 0
    beq 9f
    li 8, \at
    .machine push
    .machine altivec
.irp i, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \what \i, 8, \base
    addi 8, 8, 16
.endr
    .machine pop
9:
.endm
.macro frame_address to
    addis \to, 2, abi_frame@toc@ha
    addi \to, \to, abi_frame@toc@l
.endm

evc_function abi_trampoline // r3: run, r4: argument
    mflr 0
    std 0, 16(1)
    evc_save_r14_r31
    stdu 1, -FREE_BYTES(1)
    each stfd, 1, 128
    std 2, 112(1)
    mfcr 6
    stw 6, CONDITION_AT(1)
    frame_address 5
    each_vector stvx, 1, VECTORS_AT, 5
    std 1, ABI_STACK_OWN(5)
    clrrdi 6, 1, 6
    addi 6, 6, -240 // 16 modulo 64
    std 1, 0(6)
    mr 1, 6
    std 1, ABI_STACK_BEFORE(5)
#if defined(_CALL_ELF) && _CALL_ELF == 2
    mr 12, 3
#else
    ld 12, 0(3)
    ld 2, 8(3)
#endif
    mtctr 12
    mr 3, 4
    each_vector lvx, 5, ABI_VECTORS_BEFORE + 8 * 18, 5
    ld 6, ABI_INTEGERS_BEFORE + 8 * 18(5)
    rlwinm 6, 6, 0, 8, 19
    std 6, ABI_INTEGERS_BEFORE + 8 * 18(5)
    mtcrf 0x38, 6
    each ld, 5, ABI_INTEGERS_BEFORE
    each lfd, 5, ABI_VECTORS_BEFORE
    bctrl
    frame_address 5
    std 1, ABI_STACK_AFTER(5)
    each std, 5, ABI_INTEGERS_AFTER
    each stfd, 5, ABI_VECTORS_AFTER
    mfcr 6
    rlwinm 6, 6, 0, 8, 19
    std 6, ABI_INTEGERS_AFTER + 8 * 18(5)
    each_vector stvx, 5, ABI_VECTORS_AFTER + 8 * 18, 5
    ld 1, ABI_STACK_OWN(5)
    ld 2, 112(1)
    each lfd, 1, 128
    each_vector lvx, 1, VECTORS_AT, 5
    lwz 6, CONDITION_AT(1)
    mtcrf 0x38, 6
    addi 1, 1, FREE_BYTES
    evc_restore_r14_r31
    ld 0, 16(1)
    mtlr 0
    blr
evc_end abi_trampoline
#endif
