/* SPDX-License-Identifier: MIT */
/*
 * A64 in firmware, at EL1 or EL2: places to return to, a stack of one's own, a vector table, and a
 * change of the page tables in use. Elsewhere this file is an empty unit.
 *
 * Source: Arm DDI 0487 (2024): D1.3 exceptions and vectors; D8.16 "break-before-make": a block may
 *         become a table only while no translation uses it. With the MMU off none does.
 */
#if defined(HARNESS_UEFI) && defined(__aarch64__)
#include "common/a64_asm.h"

evc_isa_neon

/* int bare_mark(struct bare_place *) */
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
    mrs x2, fpcr
    str x2, [x0, #168]
    mov w0, #0
    ret
evc_end bare_mark

/* _Noreturn void bare_return_to(struct bare_place *) */
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
    ldr x2, [x0, #168]
    msr fpcr, x2
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

/* Sixteen entries of 128 bytes; all lead to the same place, on the stack of what
 * faulted, with interrupts off. */
    .text
    .p2align 11
    .globl cpu_vectors
    .hidden cpu_vectors
cpu_vectors:
    .rept 16
    b cpu_fault
    .p2align 7
    .endr

evc_function cpu_fault
    adrp x0, cpu_after_fault
    ldr x0, [x0, :lo12:cpu_after_fault]
    b bare_return_to
evc_end cpu_fault

/* void cpu_replace_entry(uint64_t *entry, uint64_t value): with the MMU off for the moment, and all
 * translations of this exception level forgotten. Code and entry are cleaned from the caches
 * before, since without the MMU the core reads memory itself. */
evc_function cpu_replace_entry
    mrs x9, daif
    msr daifset, #15
    adr x10, .Lmmu_off
    adr x11, .Lmmu_on
.Lclean:
    dc civac, x10
    add x10, x10, #16
    cmp x10, x11
    b.ls .Lclean
    dc civac, x0
    dsb sy
    isb
    mrs x12, CurrentEL
    cmp x12, #8
.Lmmu_off:
    b.eq .Lel2
    mrs x12, sctlr_el1
    bic x13, x12, #1
    msr sctlr_el1, x13
    isb
    str x1, [x0]
    dsb sy
    dc ivac, x0
    dsb sy
    tlbi vmalle1
    dsb sy
    isb
    msr sctlr_el1, x12
    b .Lmmu_on
.Lel2:
    mrs x12, sctlr_el2
    bic x13, x12, #1
    msr sctlr_el2, x13
    isb
    str x1, [x0]
    dsb sy
    dc ivac, x0
    dsb sy
    tlbi alle2
    dsb sy
    isb
    msr sctlr_el2, x12
.Lmmu_on:
    isb
    msr daif, x9
    ret
evc_end cpu_replace_entry
#endif
