/* SPDX-License-Identifier: MIT */
/* The kernel that the arm assembly of Linux expects around it: our own words, for the
 * instruction set of Arm. */
#ifndef SUBJECT_ASM_ASSEMBLER_H
#define SUBJECT_ASM_ASSEMBLER_H

.syntax unified

#define ARM(code...) code
#define THUMB(code...)
#define W(instruction) instruction
#define __LINUX_ARM_ARCH__ 7

#ifdef __ARMEB__
#define ARM_BE8(code...) code
#else
#define ARM_BE8(code...)
#endif

/* The address of a symbol. */
.macro mov_l, to, symbol
    movw \to, #:lower16:\symbol
    movt \to, #:upper16:\symbol
.endm

/* The bytes of a word in reverse. */
.macro rev_l, value, scratch
    rev \value, \value
.endm

/* These replace instructions that a program may not execute, by as many others. */
.macro save_and_disable_irqs, old
    mrs \old, cpsr
    nop
.endm

.macro restore_irqs, old
    nop
.endm

#endif
