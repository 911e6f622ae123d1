/* SPDX-License-Identifier: MIT */
/*
 * Registers that have the same use in GCM with vectors of one block and of two, and pieces
 * of messages. The including file has NUMBER, and functions first_group, groups,
 * last_group, which say what they do.
 *
 * Arguments of a piece as the System V ABI has them: key, counter, y in rdi, rsi, rdx; in, out in
 * rcx, r8; the number of groups, at least one, in r9; and whether to open on the stack.
 */
#ifndef EVC_GCM_X86_GROUPS_ASM_H
#define EVC_GCM_X86_GROUPS_ASM_H

#define AAD %rcx       /* then HASHED */
#define HASHED %rcx    /* the group to hash */
#define AAD_BYTES %r8  /* then OUT */
#define OUT %r8        /* of the tail; in groups OUT_LESS_IN */
#define OUT_LESS_IN %r8
#define IN %r9         /* text: of the group, or of the tail */
#define LEN %r10       /* bytes of the text, or of the tail; in groups POWERS */
#define TABLES %r11
#define BLOCKS %rax    /* 16 r: bytes of the tail, whole blocks; in groups, how many come */
#define ANY_NUMBER %ebx /* whether NUMBER may be any number: of pieces */

.set opening, 8

/* Macros with immediate values have an argument: without, Apple's assemblers take $1 for one. */

/* Behind the loads of y and of the counter but for its number. Saves rbx,
 * and rdx: the place of y. */
.macro begin_piece any_number
    mov %r9, BLOCKS
    mov %rcx, IN
    sub IN, OUT_LESS_IN
    mov 12(%rsi), NUMBER
    bswap NUMBER
    evc_save %rbx
    evc_save %rdx
    mov $1, \any_number
.endm

/* All its groups; y has been loaded, and the sums of products are zeros. */
.macro groups_of_piece is_opened
    mov IN, HASHED
    cmpl $0, \is_opened
    jne 7f
    call first_group
    dec BLOCKS
7:  call groups
    cmp IN, HASHED
    je 8f
    call last_group
8:  evc_restore %rdx
    evc_restore %rbx
.endm

#endif
