/* SPDX-License-Identifier: MIT */
/*
 * A64 at EL1 or EL2 without MMU: the start of the program, its exceptions, and semihosting.
 *
 * An exception is taken where TPIDR_EL1 holds an address: ESR_ELx, FAR_ELx and 1 are handed
 * on in x9 to x11, and execution goes on there. Elsewhere nobody expects one, and the
 * program ends with code 3.
 */
    .section .text.start, "ax"
    .global _start
_start:
    adr x0, vectors
    mrs x1, currentel
    tbnz x1, #3, 1f
    msr vbar_el1, x0
    b 2f
1:  msr vbar_el2, x0
2:  msr tpidr_el1, xzr
    isb
    adrp x0, stack_top
    add x0, x0, :lo12:stack_top
    mov sp, x0
    mov x29, xzr
    mov x30, xzr
    bl pac_el1_main
    mov x2, x0

/* The end; x2 is the exit code. SYS_EXIT of Semihosting for AArch32 and AArch64 (Arm, 2024). */
leave:
    adrp x1, exit_block
    add x1, x1, :lo12:exit_block
    str x2, [x1, #8]
    mov w0, #0x18
    hlt #0xf000
    b leave

/* uint64_t semihosting(unsigned operation, void *block) */
    .global semihosting
semihosting:
    hlt #0xf000
    ret

/* Branches of authenticated pointers arrive here: it says so, and goes on at x14. */
    .global landing
    .balign 16
landing:
    mov x0, #1
    br x14

on_synchronous:
    mrs x12, tpidr_el1
    cbz x12, unexpected
    mov x11, #1
    mrs x9, currentel
    tbnz x9, #3, 1f
    mrs x9, esr_el1
    mrs x10, far_el1
    msr elr_el1, x12
    eret
1:  mrs x9, esr_el2
    mrs x10, far_el2
    msr elr_el2, x12
    eret
unexpected:
    mov x2, #3
    b leave

/* 16 entries of 128 bytes; the fifth is synchronous, from this level on its own
 * stack (DDI 0487, D1). */
    .balign 2048
vectors:
    .rept 4
    b unexpected
    .balign 128
    .endr
    b on_synchronous
    .balign 128
    .rept 11
    b unexpected
    .balign 128
    .endr

    .data
    .balign 8
exit_block:
    .quad 0x20026, 0 /* ADP_Stopped_ApplicationExit */

    .bss
    .balign 16
    .skip 16384
stack_top:
