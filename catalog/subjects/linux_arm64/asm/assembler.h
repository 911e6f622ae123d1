/* SPDX-License-Identifier: MIT */
/*
 * The kernel that the arm64 assembly of Linux expects around it, in as many instructions:
 * our own words, for programs of user space. Without pointer authentication and without
 * yielding to other tasks.
 */
#ifndef SUBJECT_ASM_ASSEMBLER_H
#define SUBJECT_ASM_ASSEMBLER_H

#ifdef __AARCH64EB__
#define CPU_BE(code...) code
#define CPU_LE(code...)
#else
#define CPU_BE(code...)
#define CPU_LE(code...) code
#endif

/* The address of a symbol, and what is there. */
.macro adr_l, to, symbol
    adrp \to, \symbol
    add \to, \to, :lo12:\symbol
.endm

.macro ldr_l, to, symbol, scratch
.ifb \scratch
    adrp \to, \symbol
    ldr \to, [\to, :lo12:\symbol]
.else
    adrp \scratch, \symbol
    ldr \to, [\scratch, :lo12:\symbol]
.endif
.endm

/* A constant of 64 bits. */
.macro mov_q, to, value
    movz \to, #((\value) >> 48 & 0xffff), lsl #48
    movk \to, #((\value) >> 32 & 0xffff), lsl #32
    movk \to, #((\value) >> 16 & 0xffff), lsl #16
    movk \to, #((\value) & 0xffff)
.endm

/* A frame record and \count registers from x19 on; pairs of them lie above it. */
.macro subject_frame, pair, single, count
    .set subject_left, \count
    .set subject_at, 16
    .irp first, 19, 21, 23, 25, 27
    .if subject_left > 1
    subject_pair \pair, \first
    .elseif subject_left == 1
    \single x\first, [sp, #subject_at]
    .endif
    .set subject_left, subject_left - 2
    .set subject_at, subject_at + 16
    .endr
.endm

.macro subject_pair, op, first
    .irp second, 20, 22, 24, 26, 28
    .if \second == \first + 1
    \op x\first, x\second, [sp, #subject_at]
    .endif
    .endr
.endm

.macro frame_push, count, extra = 0
    .set subject_count, \count
    .set .Lframe_local_offset, 16 + (\count + 1) / 2 * 16 /* where \extra bytes are */
    .set subject_bytes, .Lframe_local_offset + \extra
    stp x29, x30, [sp, #-subject_bytes]!
    mov x29, sp
    subject_frame stp, str, \count
.endm

.macro frame_pop
    subject_frame ldp, ldr, subject_count
    ldp x29, x30, [sp], #subject_bytes
.endm

/* Nobody waits. */
.macro cond_yield, to, scratch, scratch2
.endm

#endif
