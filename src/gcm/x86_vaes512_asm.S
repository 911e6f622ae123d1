/* SPDX-License-Identifier: MIT */
/*
 * GCM of short messages in one straight line: at most 80 bytes of associated data, 288 of text, a tag of 16.
 * All others go on to `seal_long` and `open_long` of the descriptor. The reason for assembly: messages overlap in a
 * core's window of some 450 instructions, so that a short one costs about its latency times its instructions. Here are
 * no frames, AES comes first, and no more than vectors 0 to 15 are used and have to be cleared.
 *
 * Lanes:    nothing, the last block of associated data (or zeros), text, lengths. The last block is in the last lane,
 *           so that each meets its power of H at a fixed place. The lane before the text has counter 1, that of J_0,
 *           whose encryption is the tag mask. Associated data before its last block is hashed on its own.
 * Text:     its accesses begin at its start or end at its end, and overlap: so nothing around it is accessed, and no
 *           masked access can reach into another page. One permutation of bytes moves text into its lanes, and one
 *           moves it back.
 *
 * Arguments as the System V ABI has them: key in rdi, iv in rsi, aad in rcx, aad_bytes in r8, in in r9; out, len_bytes,
 * tag and tag_bytes on the stack. r10 = len_bytes, rax = the same, whole blocks, r11 = byte_numbers; behind AES
 * rdx = r11 - rax, rsi = rax - r10, the bytes that the last block lacks, and r8 = out.
 */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64

.set out, 8
.set len_bytes, 16
.set tag, 24
.set tag_bytes, 32
.set most_bytes, 288
.set most_aad_bytes, 80
.set error_of_tag, 6  /* the next six are checked in x86_vaes512.c */
.set seal_long, 0x70 /* of struct evc_gcm, whose address is the first word of the key */
.set open_long, 0x78
.set rounds, 8
.set round_keys, 16
.set powers_end, 16 + 240 + 1024

evc_constants
    .p2align 6
/* Places of bytes, of text and in a pair of vectors; all tables are addressed from here. */
byte_numbers:
    .set at, 0
    .rept 128
    .byte at
    .set at, at + 1
    .endr
/* The counters of lanes. Those before J_0 have no use. */
.set counters, 128
    .fill 3*16, 1, 0
    .set at, 1
    .rept 20
    .fill 15, 1, 0
    .byte at
    .set at, at + 1
    .endr
/* The bytes of the text in the first vector, which begins in lane 4, 3, 2, 1. */
.set text_masks, counters + 23*16
    .quad 0, 0
    .quad 0xffff000000000000, 0
    .quad 0xffffffff00000000, 0
    .quad 0xffffffffffff0000, 0
/* The bytes of the text in the last vector, whose last block lacks 0 to 15 bytes; and in the only vector. */
.set last_text_masks, text_masks + 64
.set only_text_masks, last_text_masks + 128
.macro masks_from first
    .set at, 48
    .rept 16
    .quad (1 << at) - (1 << \first)
    .set at, at - 1
    .endr
.endm
    masks_from 0
    masks_from 16
/* The halves of the blocks of two vectors, reversed. */
.macro halves first
    .set lane, 0
    .rept 4
    .set at, 7
    .rept 8
    .byte \first + lane + at
    .set at, at - 1
    .endr
    .set at, 7
    .rept 8
    .byte 64 + \first + lane + at
    .set at, at - 1
    .endr
    .set lane, lane + 16
    .endr
.endm
.set lower_halves, only_text_masks + 128 + 16
    .fill 16, 1, 0 /* so that the next are aligned */
    halves 8
.set upper_halves, lower_halves + 64
    halves 0
.set reversed, upper_halves + 64
    .rept 4
    .byte 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
    .endr
.set words_reversed, reversed + 64
    .byte 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8
.set polynomial, words_reversed + 16
    .quad 0xc200000000000000, 0
.set counter_1, polynomial + 16
    .fill 15, 1, 0
    .byte 1
.set counter_2, counter_1 + 16
    .fill 15, 1, 0
    .byte 2
/* The first bytes of a block: n of them, 16 - n bytes from here. */
.set first_bytes, counter_2 + 16
    .fill 16, 1, 255
    .fill 16, 1, 0

/* ---- Parts of a block ---- */

/* \x = n bytes (1 to 15) at \p, zeros behind. None of them goes through a general register. */
.macro load_part p, n, x, scratch, places
    cmp $8, \n
    jb 1f
    vmovq (\p), \x
    vmovq -8(\p,\n), \scratch
    mov %r11, \places
    sub \n, \places
    vpshufb 16(\places), \scratch, \scratch
    vpunpcklqdq \scratch, \x, \x
    jmp 3f
1:  cmp $4, \n
    jb 2f
    vmovd (\p), \x
    vmovd -4(\p,\n), \scratch
    mov %r11, \places
    sub \n, \places
    vpshufb 8(\places), \scratch, \scratch
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
    vpshufb -8(%r11,\n), \x, \scratch
    vmovq \x, (\p)
    vmovq \scratch, -8(\p,\n)
    jmp 3f
1:  cmp $4, \n
    jb 2f
    vpshufb -4(%r11,\n), \x, \scratch
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

/* ---- AES ---- */

.macro round r, n
    vbroadcasti32x4 round_keys + 16*\r(%rdi), %zmm13
    vaesenc %zmm13, %zmm3, %zmm3
.if \n > 1
    vaesenc %zmm13, %zmm4, %zmm4
.endif
.if \n > 2
    vaesenc %zmm13, %zmm5, %zmm5
.endif
.if \n > 3
    vaesenc %zmm13, %zmm6, %zmm6
.endif
.if \n > 4
    vaesenc %zmm13, %zmm7, %zmm7
.endif
.endm
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

/* ---- Text: zmm3 to zmm7 are vectors of AES, zmm8 to zmm12 those of the text ---- */

/* A vector from its number. */
.macro with_vector i, what:vararg
.if \i == 0
    \what %zmm3, %zmm8
.elseif \i == 1
    \what %zmm4, %zmm9
.elseif \i == 2
    \what %zmm5, %zmm10
.elseif \i == 3
    \what %zmm6, %zmm11
.else
    \what %zmm7, %zmm12
.endif
.endm

.macro counter_of i, n, s, text
    vpxorq counters + 80 - 64*\n + 64*\i(%r11,%rax), %zmm0, \s
.endm
.macro load_middle i, n, s, text
    vmovdqu64 64*\i - 64*\n + 16(%r9,%rax), \text
.endm
/* The last vector: sealing, its text; opening, with the lengths behind it, as it will be hashed. */
.macro load_last sealing, s, text
    vmovdqu64 16(%r11,%rsi), %zmm13
.if \sealing
    vpermb -64(%r9,%r10), %zmm13, \text
.else
    vpermb -64(%r9,%r10), %zmm13, %zmm2{%k1}
.endif
.endm
/* Less than a vector of text: its last blocks are in the lanes from the second one of two, or of one, on. */
.macro load_last_blocks n, sealing, s, text
    vmovdqu -16(%r9,%r10), %xmm13
    vpshufb (%r11,%rsi), %xmm13, %xmm13
.if \n == 1
    vinserti32x4 $1, (%r9), %zmm1, %zmm8
.else
    vmovdqu (%r9), %xmm9
    vpermi2b %zmm9, %zmm14, %zmm8
    vmovdqu -48(%r9,%rax), %ymm9
.endif
    vinserti32x4 $2, %xmm13, \text, \text
.if !\sealing
    vmovdqu8 \text, %zmm2{%k1}
.endif
.endm
.macro last_round s, text
    vpxorq \text, %zmm15, %zmm14
    vaesenclast %zmm14, \s, \s
.endm
.macro last_round_of_last sealing, s, text
.if \sealing
    last_round \s, \text
.else
    last_round \s, %zmm2
.endif
.endm
.macro store_middle i, n, s, text
    vmovdqu64 \s, 64*\i - 64*\n + 16(%r8,%rax)
.endm
.macro take_ciphertext s, text
    vmovdqa64 \s, \text
.endm
.macro take_last_ciphertext s, text
    vmovdqu8 \s, %zmm2{%k1}
.endm

/* \to = bytes of the vector before the last one and of the last one, by the places in \to. */
.macro join_last n, to
.if \n == 2
    vpermi2b %zmm4, %zmm3, \to
.elseif \n == 3
    vpermi2b %zmm5, %zmm4, \to
.elseif \n == 4
    vpermi2b %zmm6, %zmm5, \to
.else
    vpermi2b %zmm7, %zmm6, \to
.endif
.endm

/* ---- The hash ---- */

/* lo, mi, hi in zmm3, zmm4, zmm5: plus the products of two vectors with a pair of powers. mi lacks lo and hi. */
.macro add_pair a, b, powers, is_first
    vmovdqa64 lower_halves(%r11), %zmm14
    vmovdqa64 upper_halves(%r11), %zmm15
    vpermi2b \b, \a, %zmm14
    vpermi2b \b, \a, %zmm15
    vmovdqu64 \powers(%rdi), %zmm13
    vpxorq \powers + 64(%rdi), %zmm13, %zmm13
.if \is_first
    vpclmulqdq $0x00, \powers(%rdi), %zmm14, %zmm3
    vpclmulqdq $0x11, \powers(%rdi), %zmm14, %zmm4
    vpclmulqdq $0x00, \powers + 64(%rdi), %zmm15, %zmm5
    vpclmulqdq $0x11, \powers + 64(%rdi), %zmm15, %zmm6
    vpxorq %zmm14, %zmm15, %zmm15
    vpxorq %zmm4, %zmm3, %zmm3
    vpxorq %zmm6, %zmm5, %zmm5
    vpclmulqdq $0x00, %zmm13, %zmm15, %zmm4
    vpclmulqdq $0x11, %zmm13, %zmm15, %zmm6
    vpxorq %zmm6, %zmm4, %zmm4
.else
    vpclmulqdq $0x00, \powers(%rdi), %zmm14, %zmm6
    vpclmulqdq $0x11, \powers(%rdi), %zmm14, %zmm7
    vpternlogq $0x96, %zmm6, %zmm7, %zmm3
    vpclmulqdq $0x00, \powers + 64(%rdi), %zmm15, %zmm6
    vpclmulqdq $0x11, \powers + 64(%rdi), %zmm15, %zmm7
    vpxorq %zmm14, %zmm15, %zmm15
    vpternlogq $0x96, %zmm6, %zmm7, %zmm5
    vpclmulqdq $0x00, %zmm13, %zmm15, %zmm6
    vpclmulqdq $0x11, %zmm13, %zmm15, %zmm7
    vpternlogq $0x96, %zmm6, %zmm7, %zmm4
.endif
.endm

/* The same of \v with the second vector of a pair of powers; mi is complete before and behind it. */
.macro add_second v, powers, is_first
    vpshufb reversed(%r11), \v, %zmm14
.if \is_first
    vpclmulqdq $0x10, \powers(%rdi), %zmm14, %zmm3
    vpclmulqdq $0x11, \powers + 64(%rdi), %zmm14, %zmm5
    vpclmulqdq $0x11, \powers(%rdi), %zmm14, %zmm4
    vpclmulqdq $0x10, \powers + 64(%rdi), %zmm14, %zmm6
    vpxorq %zmm6, %zmm4, %zmm4
.else
    vpclmulqdq $0x10, \powers(%rdi), %zmm14, %zmm6
    vpclmulqdq $0x11, \powers + 64(%rdi), %zmm14, %zmm7
    vpxorq %zmm6, %zmm3, %zmm3
    vpxorq %zmm7, %zmm5, %zmm5
    vpclmulqdq $0x11, \powers(%rdi), %zmm14, %zmm6
    vpclmulqdq $0x10, \powers + 64(%rdi), %zmm14, %zmm7
    vpternlogq $0x96, %zmm6, %zmm7, %zmm4
.endif
.endm

/* \hi = lo, mi, hi divided by x^128. */
.macro reduce lo, mi, hi /* on Apple, a macro without arguments takes $0 for one */
    vbroadcasti32x4 polynomial(%r11), %zmm6
    vpclmulqdq $0x00, %zmm6, \lo, %zmm7
    vpshufd $0x4e, \lo, \lo
    vpternlogq $0x96, \lo, %zmm7, \mi
    vpclmulqdq $0x00, %zmm6, \mi, %zmm7
    vpshufd $0x4e, \mi, \mi
    vpternlogq $0x96, \mi, %zmm7, \hi
.endm

/* The hash in zmm5, the tag mask with the associated data in xmm0, the latter in xmm1. */
.macro finish n, sealing
    vextracti64x4 $1, %zmm5, %ymm3
    vpxor %ymm3, %ymm5, %ymm5
    vextracti128 $1, %ymm5, %xmm3
    vpxor %xmm3, %xmm5, %xmm5
    vpshufb reversed(%r11), %xmm5, %xmm5
    vpternlogq $0x96, %xmm0, %xmm1, %xmm5
    finish_block \sealing
.if \n > 3
    vpxor %xmm11, %xmm11, %xmm11
.endif
.if \n > 4
    vpxor %xmm12, %xmm12, %xmm12
.endif
.if \n > 2
    vpxor %xmm10, %xmm10, %xmm10
.endif
.if \n > 1
    vpxor %xmm9, %xmm9, %xmm9
.endif
    vpxor %xmm0, %xmm0, %xmm0
    vpxor %xmm7, %xmm7, %xmm7
    vpxor %xmm8, %xmm8, %xmm8
    vpxor %xmm13, %xmm13, %xmm13
    vpxor %xmm14, %xmm14, %xmm14
    vpxor %xmm15, %xmm15, %xmm15
    vzeroupper
    ret
6:  vpxor %xmm1, %xmm1, %xmm1
    test %r8d, %r8d
    jz 5b
    call other_aad
    jmp 5b
.endm

/* The tag is in xmm5. Clears xmm1 to xmm6. */
.macro finish_block sealing
    mov tag(%rsp), %rcx
    xor %eax, %eax
.if \sealing
    vmovdqu %xmm5, (%rcx)
.else
    vpxor (%rcx), %xmm5, %xmm5
    mov $error_of_tag, %edx
    vptest %xmm5, %xmm5
    cmovnz %edx, %eax
.endif
    vpxor %xmm1, %xmm1, %xmm1
    vpxor %xmm2, %xmm2, %xmm2
    vpxor %xmm3, %xmm3, %xmm3
    vpxor %xmm4, %xmm4, %xmm4
    vpxor %xmm5, %xmm5, %xmm5
    vpxor %xmm6, %xmm6, %xmm6
.endm

/* ---- Messages ---- */

/* xmm1 = the associated data, xmm2 = the lengths, each half reversed. */
.macro aad_and_lengths aad_bytes
    lea -8(\aad_bytes), %esi
    cmp $8, %esi
    ja 6f
    vmovq (%rcx), %xmm1
    vmovq -8(%rcx,\aad_bytes), %xmm13
    mov %r11, %rsi
    sub \aad_bytes, %rsi
    vpshufb 16(%rsi), %xmm13, %xmm13
    vpunpcklqdq %xmm13, %xmm1, %xmm1
5:  vmovq \aad_bytes, %xmm2
    vpinsrq $1, %r10, %xmm2, %xmm2
    vpsllq $3, %xmm2, %xmm2
.endm

/* A message of n vectors. fits: its text, in one vector. AES comes first: it takes longest. */
.macro message n, fits, sealing
    vshufi32x4 $0, %zmm0, %zmm0, %zmm0
    lea 15(%r10), %eax
    and $-16, %eax
    .irp i, 0, 1, 2, 3, 4
    .if \i < \n
    with_vector \i, counter_of \i, \n,
    .endif
    .endr
    middle_rounds round, \n
    vbroadcasti32x4 round_keys(%rdi,%rdx), %zmm15
    aad_and_lengths %r8
    mov %eax, %esi
    sub %r10d, %esi
.if \n == 1
    kmovq only_text_masks(%r11,%rsi,8), %k1
.else
    kmovq last_text_masks(%r11,%rsi,8), %k1
.endif
    mov %r11, %rdx
    sub %rax, %rdx
    vpshufb words_reversed(%r11), %xmm2, %xmm2
    mov out(%rsp), %r8
.if \n == 1
    vinserti32x4 $3, %xmm2, %zmm1, %zmm2 /* what is hashed, but for the text: here, and in the last vector of several */
.else
    vshufi32x4 $0x15, %zmm2, %zmm2, %zmm2
    kmovq text_masks + 80 - 64*\n(%r11,%rax), %k2
    vshufi32x4 $0x15, %zmm1, %zmm1, %zmm14 /* associated data in the last lane */
    vmovdqu64 80 - 64*\n(%r11,%rax), %zmm8
.endif
.if \fits
    with_vector (\n-1), load_last_blocks \n, \sealing,
.else
    vpermi2b (%r9), %zmm14, %zmm8
    .irp i, 1, 2, 3
    .if \i < \n - 1
    with_vector \i, load_middle \i, \n,
    .endif
    .endr
    with_vector (\n-1), load_last \sealing,
.endif
    .irp i, 0, 1, 2, 3
    .if \i < \n - 1
    with_vector \i, last_round
    .endif
    .endr
    with_vector (\n-1), last_round_of_last \sealing,

    mov %r11, %rcx
    sub %rsi, %rcx
.if \n == 1
    vmovdqu 32(%rcx), %xmm13
    vextracti128 $1, %ymm3, (%r8)
    vpermb %zmm3, %zmm13, %zmm13
    vmovdqu %xmm13, -16(%r8,%r10)
    vmovdqa %xmm3, %xmm0
.else
    vmovdqu 64*\n - 32(%rdx), %xmm14
    vpermb %zmm3, %zmm14, %zmm0
.if \fits
    vmovdqu 32(%rcx), %xmm13
    vpermb %zmm4, %zmm13, %zmm13
    cmp $48, %eax
    je 2f
    vextracti32x4 $3, %zmm3, (%r8)
2:  vmovdqu %ymm4, -48(%r8,%rax)
    vmovdqu %xmm13, -16(%r8,%r10)
.else
    vmovdqu64 64*\n - 16(%rdx), %zmm13
    vmovdqu64 48(%rcx), %zmm14
    vpermi2b %zmm4, %zmm3, %zmm13
    join_last \n, %zmm14
    vmovdqu64 %zmm13, (%r8)
    .irp i, 1, 2, 3
    .if \i < \n - 1
    with_vector \i, store_middle \i, \n,
    .endif
    .endr
    vmovdqu64 %zmm14, -64(%r8,%r10)
.endif
.endif

.if \sealing
.if \n > 1
    vmovdqu8 %zmm3, %zmm8{%k2}
.endif
    .irp i, 1, 2, 3
    .if \i < \n - 1
    with_vector \i, take_ciphertext
    .endif
    .endr
    with_vector (\n-1), take_last_ciphertext
.endif
.if \n == 1
    add_second %zmm2, (powers_end-128), 1
.else
.if \n == 2
    add_pair %zmm8, %zmm2, (powers_end-128), 1
.elseif \n == 3
    add_pair %zmm9, %zmm2, (powers_end-128), 1
.elseif \n == 4
    add_pair %zmm10, %zmm2, (powers_end-128), 1
    add_pair %zmm8, %zmm9, (powers_end-256), 0
.else
    add_pair %zmm11, %zmm2, (powers_end-128), 1
    add_pair %zmm9, %zmm10, (powers_end-256), 0
.endif
    vpternlogq $0x96, %zmm3, %zmm5, %zmm4
.if \n == 3
    add_second %zmm8, (powers_end-256), 0
.elseif \n == 5
    add_second %zmm8, (powers_end-384), 0
.endif
.endif
    reduce %zmm3, %zmm4, %zmm5
    finish \n, \sealing
.endm

/* Parts of \a times H^k. */
.macro multiply a, k, lo, hi, mi, scratch
    vpclmulqdq $0x10, powers_end - 64 - 16*\k(%rdi), \a, \lo
    vpclmulqdq $0x11, powers_end - 16*\k(%rdi), \a, \hi
    vpclmulqdq $0x10, powers_end - 16*\k(%rdi), \a, \mi
    vpclmulqdq $0x11, powers_end - 64 - 16*\k(%rdi), \a, \scratch
.endm

/* At most one block. Without text the block of associated data meets H^2, else H^3. */
.macro message_of_a_block sealing
    vpxor counter_1(%r11), %xmm0, %xmm3
    vpxor counter_2(%r11), %xmm0, %xmm4
    middle_rounds round_of_two_blocks, 2
    aad_and_lengths %r8
    vpshufb reversed(%r11), %xmm1, %xmm1
    vpshufd $0x4e, %xmm2, %xmm2
    vaesenclast round_keys(%rdi,%rdx), %xmm3, %xmm3
    multiply %xmm2, 1, %xmm7, %xmm8, %xmm9, %xmm5
    test %r10d, %r10d
    jz 8f
    mov out(%rsp), %rsi
    cmp $16, %r10d
    jne 10f
    vmovdqu (%r9), %xmm0
11: multiply %xmm1, 3, %xmm10, %xmm11, %xmm12, %xmm1
    vpxor round_keys(%rdi,%rdx), %xmm0, %xmm2
    vaesenclast %xmm2, %xmm4, %xmm4
    cmp $16, %r10d
    jne 7f
    vmovdqu %xmm4, (%rsi)
.if \sealing
    vpshufb reversed(%r11), %xmm4, %xmm2
.else
    vpshufb reversed(%r11), %xmm0, %xmm2
.endif
9:  vpternlogq $0x96, %xmm1, %xmm12, %xmm9
    multiply %xmm2, 2, %xmm6, %xmm4, %xmm12, %xmm1
    vpxor %xmm6, %xmm7, %xmm7
    vpxor %xmm4, %xmm8, %xmm8
4:  vmovdqa polynomial(%r11), %xmm6
    vpxor %xmm10, %xmm7, %xmm7
    vpternlogq $0x96, %xmm1, %xmm12, %xmm9
    vpclmulqdq $0x00, %xmm6, %xmm7, %xmm4
    vpxor %xmm5, %xmm9, %xmm9
    vpshufd $0x4e, %xmm7, %xmm7
    vpternlogq $0x96, %xmm7, %xmm4, %xmm9
    vpclmulqdq $0x00, %xmm6, %xmm9, %xmm4
    vpxor %xmm11, %xmm8, %xmm8
    vpshufd $0x4e, %xmm9, %xmm9
    vpternlogq $0x96, %xmm9, %xmm4, %xmm8
    vpshufb reversed(%r11), %xmm8, %xmm8
    vpxor %xmm8, %xmm3, %xmm5
    finish_block \sealing
    vpxor %xmm0, %xmm0, %xmm0
    vpxor %xmm7, %xmm7, %xmm7
    vpxor %xmm8, %xmm8, %xmm8
    vpxor %xmm9, %xmm9, %xmm9
    vpxor %xmm10, %xmm10, %xmm10
    vpxor %xmm11, %xmm11, %xmm11
    vpxor %xmm12, %xmm12, %xmm12
    vzeroupper
    ret
6:  vpxor %xmm1, %xmm1, %xmm1
    test %r8d, %r8d
    jz 5b
    call other_aad
    jmp 5b

10: load_part %r9, %r10, %xmm0, %xmm2, %r8
    jmp 11b
7:  store_part %xmm4, %rsi, %r10, %xmm2
    mov %r11, %rdx
    sub %r10, %rdx
.if \sealing
    vpand first_bytes + 16(%rdx), %xmm4, %xmm0
.endif
    vpshufb reversed(%r11), %xmm0, %xmm2
    jmp 9b
8:  multiply %xmm1, 2, %xmm10, %xmm11, %xmm12, %xmm1
    jmp 4b
.endm

.macro messages sealing
    mov len_bytes(%rsp), %r10
    cmp $most_aad_bytes, %r8
    ja 12f
    cmp $most_bytes, %r10
    ja 12f
    cmpq $16, tag_bytes(%rsp)
    jne 12f
    lea byte_numbers(%rip), %r11
    vmovq (%rsi), %xmm0
    vpinsrd $2, 8(%rsi), %xmm0, %xmm0
    vpxor round_keys(%rdi), %xmm0, %xmm0
    cmp $96, %r10d
    ja 14f
    cmp $64, %r10d
    ja 13f
    cmp $32, %r10d
    ja 15f
    cmp $16, %r10d
    ja 16f
    message_of_a_block \sealing
16: message 1, 1, \sealing
15: message 2, 1, \sealing
13: message 2, 0, \sealing
14: cmp $160, %r10d
    ja 17f
    message 3, 0, \sealing
17: cmp $224, %r10d
    ja 18f
    message 4, 0, \sealing
18: message 5, 0, \sealing
12: mov (%rdi), %rax
.endm

/* The parts of the product of as many blocks as a register has, at rcx, with the powers of H for them. */
.macro multiply_blocks width, at, lo, mi, hi, scratch
    vmovdqu64 \at(%rcx), %\width\()mm\scratch
    vpshufb reversed(%r11), %\width\()mm\scratch, %\width\()mm\scratch
    vpclmulqdq $0x10, powers_end - 64 + \at(%rsi), %\width\()mm\scratch, %\width\()mm\lo
    vpclmulqdq $0x10, powers_end + \at(%rsi), %\width\()mm\scratch, %\width\()mm\mi
    vpclmulqdq $0x11, powers_end + \at(%rsi), %\width\()mm\scratch, %\width\()mm\hi
    vpclmulqdq $0x11, powers_end - 64 + \at(%rsi), %\width\()mm\scratch, %\width\()mm\scratch
    vpxorq %\width\()mm\scratch, %\width\()mm\mi, %\width\()mm\mi
.endm

/* xmm1 = the block of associated data: of 1 to 7 or 17 to 80 bytes, r8 at rcx. That is the last one, plus the hash of
 * those before it: so it meets their powers of H. Changes rcx, rsi, vectors 2 and 8 to 13. */
    .text
    .p2align 5
other_aad:
    EVC_ASM_CFI_BEGIN
    cmp $8, %r8d
    ja 4f
    load_part %rcx, %r8, %xmm1, %xmm13, %rsi
    ret
4:  lea -1(%r8), %esi
    and $-16, %esi
    neg %rsi
    add %rdi, %rsi        /* the powers there, as multiply has them, are those of the first block */
    cmp $48, %r8d
    ja 7f
    cmp $32, %r8d
    ja 6f
    multiply_blocks x, 0, 8, 9, 10, 11
    jmp 9f
6:  multiply_blocks y, 0, 8, 9, 10, 11
    jmp 9f
7:  cmp $64, %r8d
    ja 8f
    multiply_blocks y, 0, 8, 9, 10, 11
    multiply_blocks x, 32, 1, 2, 12, 13
    vpxor %ymm1, %ymm8, %ymm8
    vpxor %ymm2, %ymm9, %ymm9
    vpxor %ymm12, %ymm10, %ymm10
    jmp 9f
8:  multiply_blocks z, 0, 8, 9, 10, 11
9:  vbroadcasti32x4 polynomial(%r11), %zmm2
    vpclmulqdq $0x00, %zmm2, %zmm8, %zmm1
    vpshufd $0x4e, %zmm8, %zmm8
    vpternlogq $0x96, %zmm8, %zmm1, %zmm9
    vpclmulqdq $0x00, %zmm2, %zmm9, %zmm1
    vpshufd $0x4e, %zmm9, %zmm9
    vpternlogq $0x96, %zmm9, %zmm1, %zmm10
    cmp $32, %r8d
    jbe 10f
    vextracti64x4 $1, %zmm10, %ymm1
    vpxor %ymm1, %ymm10, %ymm10
    vextracti128 $1, %ymm10, %xmm1
    vpxor %xmm1, %xmm10, %xmm10
10: vpshufb reversed(%r11), %xmm10, %xmm1
    lea -16(%rcx,%r8), %rcx
    mov %r8d, %esi
    neg %esi
    and $15, %esi         /* the bytes that the last block lacks */
    vmovdqu (%rcx), %xmm13
    vpshufb (%r11,%rsi), %xmm13, %xmm13
    vpand first_bytes(%r11,%rsi), %xmm13, %xmm13
    vpxor %xmm13, %xmm1, %xmm1
    vpxor %xmm9, %xmm9, %xmm9
    vpxor %xmm10, %xmm10, %xmm10
    vpxor %xmm11, %xmm11, %xmm11
    vpxor %xmm12, %xmm12, %xmm12
    ret
    EVC_ASM_CFI_END

evc_function evc_gcm_x86_vaes512_seal
    messages 1
    jmp *seal_long(%rax)
evc_end evc_gcm_x86_vaes512_seal

evc_function evc_gcm_x86_vaes512_open
    messages 0
    jmp *open_long(%rax)
evc_end evc_gcm_x86_vaes512_open

#endif
