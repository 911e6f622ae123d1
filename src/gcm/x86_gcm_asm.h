/* SPDX-License-Identifier: MIT */
/*
 * Pieces of GCM in assembly that do not depend on the width of vectors: arguments, parts of blocks,
 * rounds, tags. The including file has common/x86_asm.h before this, and these in its tables, by
 * their distance from r11:
 *
 *   block_bytes              the numbers 0 to 15, and 8 bytes before and 16 bytes behind them
 *   first_bytes              n bytes of ones and zeros behind, 16 - n bytes from here
 *
 * The C file of the kernel checks the numbers from error_of_tag on.
 */
#ifndef EVC_GCM_X86_GCM_ASM_H
#define EVC_GCM_X86_GCM_ASM_H

/* Arguments on the stack. */
.set out, 8
.set len_bytes, 16
.set tag, 24
.set tag_bytes, 32
.set tells_tag, 62    /* bit of tag_bytes: the tag is written, though the message is opened */
.set hashed_aad, 63   /* bit of aad_bytes: EVC_GCM_HASHED_AAD */

.set error_of_tag, 6
.set rounds, 8
.set round_keys, 16

/* ---- Parts of a block ---- */

/* \x = n bytes (1 to 15) at \p, zeros behind. None of them goes through a general register. */
.macro load_part p, n, x, scratch, places
    cmp $8, \n
    jb 1f
    vmovq (\p), \x
    vmovq -8(\p,\n), \scratch
    mov %r11, \places
    sub \n, \places
    vpshufb block_bytes + 16(\places), \scratch, \scratch
    vpunpcklqdq \scratch, \x, \x
    jmp 3f
1:  cmp $4, \n
    jb 2f
    vmovd (\p), \x
    vmovd -4(\p,\n), \scratch
    mov %r11, \places
    sub \n, \places
    vpshufb block_bytes + 8(\places), \scratch, \scratch
    vpunpckldq \scratch, \x, \x
    jmp 3f
2:  mov \n, \places
    shr $1, \places
    vpxor \x, \x, \x
    vpinsrb $0, (\p), \x, \x
    vpinsrb $1, (\p,\places), \x, \x
    vpinsrb $2, -1(\p,\n), \x, \x
    cmp $2, \n      /* bytes 0 and 1 of 2, the same byte of 1 */
    ja 3f
    vpslldq $14, \x, \x
    vpsrldq $14, \x, \x
    je 3f
    vpslldq $15, \x, \x
    vpsrldq $15, \x, \x
3:
.endm

/* The first n bytes (1 to 15) of \x to \p. */
.macro store_part x, p, n, scratch
    cmp $8, \n
    jb 1f
    vpshufb block_bytes - 8(%r11,\n), \x, \scratch
    vmovq \x, (\p)
    vmovq \scratch, -8(\p,\n)
    jmp 3f
1:  cmp $4, \n
    jb 2f
    vpshufb block_bytes - 4(%r11,\n), \x, \scratch
    vmovd \x, (\p)
    vmovd \scratch, -4(\p,\n)
    jmp 3f
2:  vpextrb $0, \x, (\p)
    cmp $2, \n
    jb 3f
    vpextrb $1, \x, 1(\p)
    je 3f
    vpextrb $2, \x, 2(\p)
3:
.endm

/* \x = the 12 bytes of an IV at rsi, zeros behind. By words of 4 bytes: a wider load would wait
 * until stores to parts of it have left the core, and programs write a number of 8 bytes behind a
 * salt of 4, or copy 8 bytes and then 4. */
.macro load_iv x
    vmovd (%rsi), \x
    vpinsrd $1, 4(%rsi), \x, \x
    vpinsrd $2, 8(%rsi), \x, \x
.endm

/* ---- AES ---- */

/* A round of xmm3 and xmm4. */
.macro round_of_two_blocks r, n
    vaesenc round_keys + 16*\r(%rdi), %xmm3, %xmm3
    vaesenc round_keys + 16*\r(%rdi), %xmm4, %xmm4
.endm
/* All but the last; then edx = 16 times their number. */
.macro middle_rounds round, n
    \round 1, \n
    \round 2, \n
    \round 3, \n
    \round 4, \n
    \round 5, \n
    \round 6, \n
    \round 7, \n
    \round 8, \n
    \round 9, \n
    mov rounds(%rdi), %edx
    cmp $12, %edx
    jb 1f
    \round 10, \n
    \round 11, \n
    je 1f
    \round 12, \n
    \round 13, \n
1:  shl $4, %edx
.endm

/* ---- Entries ---- */

/* The functions that open messages: `opens` tells \name_seal's code at `message` so. */
.macro define_open name, opens:vararg
evc_function \name\()_open_output_tag
    btsq $tells_tag, tag_bytes(%rsp)
    \opens
    jmp message
evc_end \name\()_open_output_tag

evc_function \name\()_open
    \opens
    jmp message
evc_end \name\()_open
.endm

/* ---- Tags ---- */

/* computed_tag: xmm5. It is an argument since on Apple a macro without any
 * would take $1 for one. */
.macro define_tag_functions computed_tag
/* The first rdx bytes (1 to 16) of xmm5 to rcx. Changes xmm1. */
evc_local store_tag
    cmp $16, %rdx
    je 4f
    store_part \computed_tag, %rcx, %rdx, %xmm1
    ret
4:  vmovdqu \computed_tag, (%rcx)
    ret
evc_local_end store_tag

/* eax = an error unless they are at rcx, if it was 0; or they are stored there, if rdx has the bit
 * `tells_tag`. Changes edx, rsi, xmm1, xmm2, xmm5. */
evc_local compare_tag
    btr $tells_tag, %rdx
    jc store_tag
    cmp $16, %rdx
    je 4f
    load_part %rcx, %rdx, %xmm1, %xmm2, %rsi
    mov %r11, %rsi
    sub %rdx, %rsi
    vpand first_bytes + 16(%rsi), %xmm5, %xmm5
    jmp 5f
4:  vmovdqu (%rcx), %xmm1
5:  vpxor %xmm1, %xmm5, %xmm5
    mov $error_of_tag, %edx
    vptest %xmm5, %xmm5
    cmovnz %edx, %eax
    ret
evc_local_end compare_tag
.endm

#endif
