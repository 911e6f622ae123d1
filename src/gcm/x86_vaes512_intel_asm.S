/* SPDX-License-Identifier: MIT */
/*
 * GCM of whole messages, and of groups of vectors for pieces of messages, in few instructions.
 *
 * Blocks:   those of associated data, those of text, and one of lengths are N in all. Block
 *           i, from 0 on, meets H^(N-i). Vectors of text begin with the text. Powers are
 *           blocks in a row, so those for a vector are loaded from any of them on; the lanes
 *           behind the text are zeros.
 * J_0:      its encryption, the tag mask, is in the last lane of the last vector, if text leaves
 *           that free; else it is a block of its own.
 * Order:    AES comes first in short messages, since it takes longest; then associated data and
 *           lengths are hashed. Then text is, which waits for AES if it is sealed, and all
 *           products have one reduction.
 * Parts:    the last vector is taken by a mask. If such an access would reach into another
 *           page than the text does, code out of line takes bytes up to the end of the text
 *           instead, and VPERMB moves them to their place: the repair of a masked access
 *           takes hundreds of cycles.
 * Powers:   35 blocks in the key: H^32 to H^1, and then H^35, H^34, H^33 (struct powers). H^n
 *           begins 16 n bytes before powers_end, where H^1 ends; H^33, H^34 and H^35 are `wrap`
 *           bytes behind the place that this names.
 *
 * Texts of at most 256 bytes are here, others in x86_intel_long_asm.h.
 *
 * Arguments as the System V ABI has them: key in rdi, iv in rsi, aad in rcx, aad_bytes in r8, in in
 * r9; out, len_bytes, tag and tag_bytes on the stack. r10 = len_bytes, rax = the same, whole
 * blocks, r11 = the tables. From the end of AES on, r8 = out.
 */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64

#include "gcm/x86_gcm_asm.h"

.set most_bytes, 256
.set powers_end, 16 + 240 + 512     /* behind the head and the round keys */
.set wrap, 35 * 16
.set power_33, powers_end - 33*16 + wrap

evc_constants
    .p2align 6
tables:
.set block_bytes, 16
    .quad 0, 0
    .set at, 0
    .rept 16
    .byte at
    .set at, at + 1
    .endr
    .fill 16, 1, 128
/* The bytes of a block from number n on, zeros behind. */
.set bytes_from, block_bytes
    .fill 16, 1, 128
.set reversed, 64
    .rept 4
    .byte 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
    .endr
/* The counters of vectors. */
.set counters, 128
    .set at, 2
    .rept 64
    .fill 15, 1, 0
    .byte at
    .set at, at + 1
    .endr
/* The same of a last vector with J_0. */
.set last_counters, counters + 1024
    .set at, 2
    .rept 4
    .irp i, 0, 1, 2
    .fill 15, 1, 0
    .byte at + \i
    .endr
    .fill 15, 1, 0
    .byte 1
    .set at, at + 4
    .endr
.set counter_1, last_counters + 256
    .fill 15, 1, 0
    .byte 1
.set counter_2, counters
.set polynomial, counter_1 + 16
    .quad 0xc200000000000000, 0
/* The first bytes of a block: n of them, 16 - n bytes from here. */
.set first_bytes, polynomial + 16
    .fill 16, 1, 255
    .fill 16, 1, 0
/* The last blocks of a group of long messages, of which two have the next number of the group. */
.set group_end_counters, first_bytes + 32
    .irp i, 30, 31, 0, 1
    .fill 15, 1, 0
    .byte \i
    .endr
.set group_step, group_end_counters + 64
    .rept 4
    .long 0, 0, 0, 32
    .endr
.set words_of_counters, group_step + 64
    .rept 4
    .fill 12, 1, 128
    .byte 15, 14, 13, 12
    .endr
.set byte_numbers, words_of_counters + 64
    .set at, 0
    .rept 128
    .byte at
    .set at, at + 1
    .endr
/* Lanes of pieces, and the step from one vector to the next. */
.set lane_numbers, byte_numbers + 128
    .long 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3
.set vector_step, lane_numbers + 64
    .rept 4
    .long 0, 0, 0, 4
    .endr

    .text

/* ---- The hash: zmm9, zmm10, zmm11 are sums of the products of lower halves, of upper
 * ones, and of both kinds */

/* Plus the products of a vector, bytes reversed, with powers. p, q: scratch. width: x, y, z;
 * sums: that of the sums. */
.macro products width, e, powers, p, q, sums=z
    vpclmulqdq $0x00, %\width\()mm\powers, %\width\()mm\e, %\width\()mm\p
    vpclmulqdq $0x11, %\width\()mm\powers, %\width\()mm\e, %\width\()mm\q
    vpxorq %\sums\()mm\p, %\sums\()mm9, %\sums\()mm9
    vpxorq %\sums\()mm\q, %\sums\()mm10, %\sums\()mm10
    vpclmulqdq $0x01, %\width\()mm\powers, %\width\()mm\e, %\width\()mm\p
    vpclmulqdq $0x10, %\width\()mm\powers, %\width\()mm\e, %\width\()mm\q
    vpternlogq $0x96, %\sums\()mm\p, %\sums\()mm\q, %\sums\()mm11
.endm
/* The sums are the products of the first vector. */
.macro set_products width, e, powers, p
    vpclmulqdq $0x01, %\width\()mm\powers, %\width\()mm\e, %\width\()mm\p
    vpclmulqdq $0x10, %\width\()mm\powers, %\width\()mm\e, %\width\()mm11
    vpclmulqdq $0x00, %\width\()mm\powers, %\width\()mm\e, %\width\()mm9
    vpclmulqdq $0x11, %\width\()mm\powers, %\width\()mm\e, %\width\()mm10
.ifc \width, z
    vpxorq %zmm\p, %zmm11, %zmm11
.else
    vpxor %ymm\p, %ymm11, %ymm11
.endif
.endm
.macro no_sums
    vpxor %xmm9, %xmm9, %xmm9
    vpxor %xmm10, %xmm10, %xmm10
    vpxor %xmm11, %xmm11, %xmm11
.endm
/* Plus the products of two vectors, with the powers in zmm13 and zmm14. */
.macro products_of_pair a, b
    vpclmulqdq $0x00, %zmm13, %zmm\a, %zmm2
    vpclmulqdq $0x00, %zmm14, %zmm\b, %zmm7
    vpternlogq $0x96, %zmm2, %zmm7, %zmm9
    vpclmulqdq $0x01, %zmm13, %zmm\a, %zmm2
    vpclmulqdq $0x10, %zmm13, %zmm\a, %zmm7
    vpternlogq $0x96, %zmm2, %zmm7, %zmm11
    vpclmulqdq $0x01, %zmm14, %zmm\b, %zmm2
    vpclmulqdq $0x10, %zmm14, %zmm\b, %zmm7
    vpternlogq $0x96, %zmm2, %zmm7, %zmm11
    vpclmulqdq $0x11, %zmm13, %zmm\a, %zmm2
    vpclmulqdq $0x11, %zmm14, %zmm\b, %zmm7
    vpternlogq $0x96, %zmm2, %zmm7, %zmm10
.endm
/* The same with powers from \at(\base) on. */
.macro pair_products a, b, at, base
    vmovdqu64 \at(\base), %zmm13
    vmovdqu64 \at + 64(\base), %zmm14
    products_of_pair \a, \b
.endm

/* xmm10 = all products, divided by x^128. Scratch: 2, 14. The argument is for
 * assemblers of Apple, as below. */
.macro reduce_products sum=10
    vbroadcasti32x4 polynomial(%r11), %zmm14
    vpclmulqdq $0x00, %zmm14, %zmm9, %zmm2
    vpshufd $0x4e, %zmm9, %zmm9
    vpternlogq $0x96, %zmm9, %zmm2, %zmm11
    vpclmulqdq $0x00, %zmm14, %zmm11, %zmm2
    vpshufd $0x4e, %zmm11, %zmm11
    vpternlogq $0x96, %zmm11, %zmm2, %zmm\sum
    vextracti64x4 $1, %zmm\sum, %ymm2
    vpxor %ymm2, %ymm\sum, %ymm\sum
    vextracti128 $1, %ymm\sum, %xmm2
    vpxor %xmm2, %xmm\sum, %xmm\sum
.endm

/* ---- Associated data and lengths ---- */

/* zmm\x = \n bytes (1 to 64) at rcx, zeros behind. Changes rsi, k1, k2, vector 13. */
.macro load_bytes x, n, page_end
    mov $-1, %rsi
    bzhi \n, %rsi, %rsi
    kmovq %rsi, %k1
    mov %ecx, %esi
    and $4095, %esi
    cmp $4096 - 64, %esi
    ja \page_end
    vmovdqu8 (%rcx), %zmm\x{%k1}{z}
.endm
/* The same where 64 bytes would reach into the next page: of those before it. Changes \n, too. */
.macro load_bytes_at_page_end x, n, n_low
    neg \n_low
    and $63, \n_low       /* what the vector lacks */
    mov $-1, %rsi
    shlx \n, %rsi, %rsi
    kmovq %rsi, %k2
    mov %rcx, %rsi
    sub \n, %rsi
    vmovdqu64 byte_numbers(%r11,\n), %zmm13
    vmovdqu8 (%rsi), %zmm\x{%k2}{z}
    vpermb %zmm\x, %zmm13, %zmm\x{%k1}{z}
.endm

/* xmm2 = the lengths. Assemblers of Apple want a macro with immediate
 * values to have an argument. */
.macro load_lengths lengths=2
    vmovq %r8, %xmm13
    vmovq 8 + len_bytes(%rsp), %xmm\lengths
    vpunpcklqdq %xmm13, %xmm\lengths, %xmm\lengths
    vpsllq $3, %xmm\lengths, %xmm\lengths
.endm

/* The sums of products of associated data and of lengths. Changes rcx, rdx, rsi, r8, k1, k2,
 * vectors 1, 2, 7, 12 to 14. The second name is for texts of more than 256 and at most 512 bytes,
 * whose first powers stand behind the others. */
    .p2align 4
aad_and_lengths_of_long:
    EVC_ASM_CFI_BEGIN
    mov %rdi, %rdx
    sub %rax, %rdx
    cmp $480, %eax
    jbe 71f
    add $wrap, %rdx
    jmp 71f
    EVC_ASM_CFI_END
    .p2align 4
aad_and_lengths:
    EVC_ASM_CFI_BEGIN
    mov %rdi, %rdx
    sub %rax, %rdx
71: lea -1(%r8), %rsi
    cmp $16, %rsi
    jae 61f
    cmp $15, %rsi
    jne 64f
    vmovdqu (%rcx), %xmm1
    /* One block: beside the lengths. */
62: vpshufb reversed(%r11), %xmm1, %xmm1
72: load_lengths
    vmovdqu powers_end - 32(%rdx), %xmm13
    vinserti128 $1, %xmm2, %ymm1, %ymm1
    vinserti128 $1, powers_end - 16(%rdi), %ymm13, %ymm13
    set_products y, 1, 13, 7
    ret
64: load_part %rcx, %r8, %xmm1, %xmm13, %rsi
    jmp 62b
61: test %r8, %r8
    jz 63f
    jns 65f
    vmovdqu (%rcx), %xmm1 /* the bit of aad_bytes is shifted out of the lengths */
    jmp 62b
63: vmovq 8 + len_bytes(%rsp), %xmm2
    vmovdqu powers_end - 16(%rdi), %xmm13
    vpsllq $3, %xmm2, %xmm2
    vpxor %xmm10, %xmm10, %xmm10
    vpclmulqdq $0x00, %xmm13, %xmm2, %xmm9
    vpclmulqdq $0x10, %xmm13, %xmm2, %xmm11
    ret
    /* More blocks: from where their powers begin. */
65: lea 15(%r8), %rsi
    and $-16, %rsi
    sub %rsi, %rdx
    lea 16(%rax,%rsi), %rsi
    cmp $512, %rsi
    ja 66f
    cmp $48, %r8
    ja 68f
    /* Up to three: beside the lengths. */
    load_bytes 1, %r8, 70f
67: load_lengths
    vpshufb reversed(%r11), %zmm1, %zmm1
    vmovdqu64 powers_end - 16(%rdx), %zmm13
    vinserti32x4 $3, %xmm2, %zmm1, %zmm1
    vinserti32x4 $3, powers_end - 16(%rdi), %zmm13, %zmm13
    set_products z, 1, 13, 7
    ret
70: push %r8
    EVC_ASM_CFI_ADJUST(8)
    load_bytes_at_page_end 1, %r8, %r8d
    pop %r8
    EVC_ASM_CFI_ADJUST(-8)
    jmp 67b
68: load_lengths
    vmovdqu powers_end - 16(%rdi), %xmm13
    set_products x, 2, 13, 7
    jmp products_of_aad
    /* More than there are powers: their hash. */
66: push %r8
    EVC_ASM_CFI_ADJUST(8)
    call hash_of_aad
    pop %r8
    EVC_ASM_CFI_ADJUST(-8)
    mov %rdi, %rdx
    sub %rax, %rdx
    vmovdqa %xmm10, %xmm1
    add $16, %rdx
    cmp $512, %eax
    jb 72b
    add $wrap, %rdx
    jmp 72b
    EVC_ASM_CFI_END

/* Plus the products of r8 bytes at rcx (1 at least), zeros behind, with the powers from
 * powers_end - 16(rdx) on. Then rcx is where the last vector begins. Changes rdx, rsi, r8, k1, k2,
 * vectors 1, 2, 7, 12 to 14. */
    .p2align 4
products_of_aad:
    EVC_ASM_CFI_BEGIN
    cmp $128, %r8
    ja 1f
2:  cmp $64, %r8
    ja 3f
    load_bytes 1, %r8, 5f
products_of_vector:
    vpshufb reversed(%r11), %zmm1, %zmm1
    vmovdqu64 powers_end - 16(%rdx), %zmm13
    products z, 1, 13, 7, 2
    ret
    .p2align 4
1:  vmovdqu64 (%rcx), %zmm1
    vmovdqu64 64(%rcx), %zmm12
    vpshufb reversed(%r11), %zmm1, %zmm1
    vpshufb reversed(%r11), %zmm12, %zmm12
    pair_products 1, 12, (powers_end - 16), %rdx
    sub $-128, %rcx
    sub $-128, %rdx
    add $-128, %r8
    cmp $128, %r8
    ja 1b
    jmp 2b
3:  vmovdqu64 (%rcx), %zmm1
    add $64, %rcx
    sub $64, %r8
    load_bytes 12, %r8, 6f
4:  vpshufb reversed(%r11), %zmm1, %zmm1
    vpshufb reversed(%r11), %zmm12, %zmm12
    pair_products 1, 12, (powers_end - 16), %rdx
    ret
5:  load_bytes_at_page_end 1, %r8, %r8d
    jmp products_of_vector
6:  load_bytes_at_page_end 12, %r8, %r8d
    jmp 4b
    EVC_ASM_CFI_END

/* xmm10 = the hash of r8 bytes at rcx (1 at least), zeros behind. Changes rcx, rdx, rsi, r8, k1,
 * k2, vectors 1, 2, 7, 9, 11 to 14. */
    .p2align 4
hash_of_aad:
    EVC_ASM_CFI_BEGIN
    no_sums
    cmp $512, %r8
    ja 62f
61: lea 15(%r8), %rdx
    and $-16, %rdx
    neg %rdx
    lea 16(%rdi,%rdx), %rdx
    call products_of_aad
    reduce_products
    ret
    /* As many as there are powers. The next block meets their hash. */
62: push %r8
    EVC_ASM_CFI_ADJUST(8)
    mov $512, %r8d
    lea 16 - 512(%rdi), %rdx
    call products_of_aad
    reduce_products
    pop %r8
    EVC_ASM_CFI_ADJUST(-8)
    add $64, %rcx
    sub $512, %r8
    mov $512, %edx
    cmp %rdx, %r8
    cmovb %r8, %rdx
    add $15, %rdx
    and $-16, %rdx
    neg %rdx
    vmovdqa %xmm10, %xmm1
    vmovdqu powers_end(%rdi,%rdx), %xmm13
    set_products x, 1, 13, 7
    cmp $512, %r8
    ja 62b
    jmp 61b
    EVC_ASM_CFI_END

/* ---- Ends of messages ---- */

    define_tag_functions %xmm5

/* xmm5, the tag, goes to rcx, or is compared with what is there; eax = 0, or an error. Then these
 * vectors are cleared. rdx: tag_bytes; if they are not 16, on to tag_of_other_length, which
 * stands behind the return. */
.macro finish_tag opens, vectors:vararg
    cmp $16, %rdx
    jne 72f
.if \opens
    vpxor (%rcx), %xmm5, %xmm5
    mov $error_of_tag, %edx
    vptest %xmm5, %xmm5
    cmovnz %edx, %eax
.else
    vmovdqu %xmm5, (%rcx)
.endif
71:
    .irp i, \vectors
    vpxor %xmm\i, %xmm\i, %xmm\i
    .endr
.endm
.macro tag_of_other_length opens
72:
.if \opens
    btr $tells_tag, %rdx
    jnc 73f
    vmovdqu %xmm5, (%rcx)
    jmp 71b
73: call compare_tag
.else
    call store_tag
.endif
    jmp 71b
.endm

/* xmm10 = the hash, xmm8 = the tag mask; the tag is put to memory, or compared. */
.macro put_tag opens
    vpshufb reversed(%r11), %xmm10, %xmm5
    mov tag_bytes(%rsp), %rdx
    mov tag(%rsp), %rcx
    xor %eax, %eax
    vpxor %xmm8, %xmm5, %xmm5
    finish_tag \opens, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    vzeroupper
    ret
    tag_of_other_length \opens
.endm
    .p2align 4
open_end:
    EVC_ASM_CFI_BEGIN
    reduce_products
    put_tag 1
    EVC_ASM_CFI_END
    .p2align 4
seal_end:
    EVC_ASM_CFI_BEGIN
    reduce_products
    put_tag 0
    EVC_ASM_CFI_END
.macro end_message opens
.if \opens
    jmp open_end
.else
    jmp seal_end
.endif
.endm

#include "gcm/x86_intel_long_asm.h"

/* ---- Messages of at most a block ---- */

/* 1 to 16 bytes of text. Without associated data, all is in xmm0 to xmm5 from beginning to end. One
 * or two blocks of associated data, text and lengths are hashed as one vector. */
.macro message_of_block opens
    vpxor counter_1(%r11), %xmm0, %xmm3
    vpxor counter_2(%r11), %xmm0, %xmm4
    middle_rounds round_of_two_blocks, 2
    vmovdqu round_keys(%rdi,%rdx), %xmm0
    mov out(%rsp), %rax
    vaesenclast %xmm0, %xmm3, %xmm3
    cmp $16, %r10d
    jne 92f
    vmovdqu (%r9), %xmm1
    vpxor %xmm1, %xmm0, %xmm0
    vaesenclast %xmm0, %xmm4, %xmm4
    vmovdqu %xmm4, (%rax)
91: test %r8, %r8
    jnz 93f
    vmovq len_bytes(%rsp), %xmm2
.if \opens
    vpshufb reversed(%r11), %xmm1, %xmm1
.else
    vpshufb reversed(%r11), %xmm4, %xmm1
.endif
    vpsllq $3, %xmm2, %xmm2
    vpclmulqdq $0x00, powers_end - 32(%rdi), %xmm1, %xmm5
    vpclmulqdq $0x00, powers_end - 16(%rdi), %xmm2, %xmm0
    vpclmulqdq $0x10, powers_end - 16(%rdi), %xmm2, %xmm2
    vpclmulqdq $0x10, powers_end - 32(%rdi), %xmm1, %xmm4
    vpxor %xmm0, %xmm5, %xmm5
    vpclmulqdq $0x01, powers_end - 32(%rdi), %xmm1, %xmm0
    vpternlogq $0x96, %xmm0, %xmm2, %xmm4
    vpclmulqdq $0x00, polynomial(%r11), %xmm5, %xmm0
    vpclmulqdq $0x11, powers_end - 32(%rdi), %xmm1, %xmm1
    vpshufd $0x4e, %xmm5, %xmm5
    mov tag_bytes(%rsp), %rdx
    vpternlogq $0x96, %xmm0, %xmm5, %xmm4
    mov tag(%rsp), %rcx
    vpclmulqdq $0x00, polynomial(%r11), %xmm4, %xmm0
    vpshufd $0x4e, %xmm4, %xmm4
    xor %eax, %eax
    vpternlogq $0x96, %xmm0, %xmm1, %xmm4
    vpshufb reversed(%r11), %xmm4, %xmm5
    vpxor %xmm3, %xmm5, %xmm5
    finish_tag \opens, 0, 1, 2, 3, 4, 5
    ret
    tag_of_other_length \opens
92: mov %r9d, %esi
    mov %eax, %edx
    and $4095, %esi
    and $4095, %edx
    cmp $4096 - 16, %esi
    ja 98f
    cmp $4096 - 16, %edx
    ja 98f
    mov $-1, %esi
    bzhi %r10d, %esi, %esi
    kmovd %esi, %k1
    vmovdqu8 (%r9), %xmm1{%k1}{z}
    vpxor %xmm1, %xmm0, %xmm0
    vaesenclast %xmm0, %xmm4, %xmm4
    vmovdqu8 %xmm4, (%rax){%k1}
.if !\opens
    vmovdqu8 %xmm4, %xmm4{%k1}{z}
.endif
    jmp 91b
    /* A mask would reach into another page. */
98: load_part %r9, %r10, %xmm1, %xmm2, %rsi
    vpxor %xmm1, %xmm0, %xmm0
    vaesenclast %xmm0, %xmm4, %xmm4
    store_part %xmm4, %rax, %r10, %xmm2
.if !\opens
    mov %r11, %rdx
    sub %r10, %rdx
    vpand first_bytes + 16(%rdx), %xmm4, %xmm4
.endif
    jmp 91b
93: cmp $16, %r8
    jb 96f
    vmovdqu (%rcx), %xmm2
    jne 97f
95: vmovq %r8, %xmm13
    vmovq %r10, %xmm7
.if \opens
    vinserti128 $1, %xmm1, %ymm2, %ymm1
.else
    vinserti128 $1, %xmm4, %ymm2, %ymm1
.endif
    vpunpcklqdq %xmm13, %xmm7, %xmm7
    vpshufb reversed(%r11), %ymm1, %ymm1
    vpsllq $3, %xmm7, %xmm7
    vmovdqu64 powers_end - 48(%rdi), %zmm13
    vinserti32x4 $2, %xmm7, %zmm1, %zmm1
    vmovdqa %xmm3, %xmm8
    set_products z, 1, 13, 7
    end_message \opens
96: load_part %rcx, %r8, %xmm2, %xmm5, %rsi
    jmp 95b
97: test %r8, %r8
    js 95b                /* the bit of aad_bytes is shifted out of the lengths */
    vmovdqu -16(%rcx,%r8), %xmm7
    mov %r8d, %esi
    neg %esi
    and $15, %esi         /* the bytes that the second block lacks */
    vmovq %r8, %xmm13
    vpshufb bytes_from(%r11,%rsi), %xmm7, %xmm7
    vmovq %r10, %xmm5
    vinserti128 $1, %xmm7, %ymm2, %ymm2
    vpunpcklqdq %xmm13, %xmm5, %xmm5
.if \opens
    vinserti32x4 $2, %xmm1, %zmm2, %zmm1
.else
    vinserti32x4 $2, %xmm4, %zmm2, %zmm1
.endif
    vpshufb reversed(%r11), %zmm1, %zmm1
    vpsllq $3, %xmm5, %xmm5
    vmovdqu64 powers_end - 64(%rdi), %zmm13
    vinserti32x4 $3, %xmm5, %zmm1, %zmm1
    vmovdqa %xmm3, %xmm8
    set_products z, 1, 13, 7
    end_message \opens
.endm

/* No text. */
.macro round_of_mask r, n
    vaesenc round_keys + 16*\r(%rdi), %xmm8, %xmm8
.endm
.macro empty_message opens
    xor %eax, %eax
    vpxor counter_1(%r11), %xmm0, %xmm8
    middle_rounds round_of_mask, 1
    vaesenclast round_keys(%rdi,%rdx), %xmm8, %xmm8
    call aad_and_lengths
    end_message \opens
.endm

/* ---- Messages of n vectors: the last one is zmm3, those before it zmm4 to zmm6 ---- */

.macro with_vector i, what:vararg
.if \i == 0
    \what %zmm4
.elseif \i == 1
    \what %zmm5
.else
    \what %zmm6
.endif
.endm
.macro counter_of i, s
    vpxorq counters + 64*\i(%r11), %zmm0, \s
.endm
.macro round_with r, n, own
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
.if \own
    vaesenc %xmm13, %xmm8, %xmm8
.endif
.endm
.macro round_and_mask r, n
    round_with \r, \n, 1
.endm
.macro round_of r, n
    round_with \r, \n, 0
.endm
/* Counters of n vectors through all rounds but the last, whose key is zmm15 then; rax = the bytes
 * of whole blocks. own: J_0 is a block of its own, xmm8. */
.macro define_aes n, own
    .p2align 4
aes_of_\n\()_\own:
    EVC_ASM_CFI_BEGIN
    vshufi32x4 $0, %zmm0, %zmm0, %zmm0
    .irp i, 0, 1, 2
    .if \i < \n - 1
    with_vector \i, counter_of \i,
    .endif
    .endr
    lea 15(%r10), %eax
    and $-16, %eax
.if \own
    vpxorq counters + 64*\n - 64(%r11), %zmm0, %zmm3
    vpxor counter_1(%r11), %xmm0, %xmm8
    middle_rounds round_and_mask, \n
.else
    vpxorq last_counters + 64*\n - 64(%r11), %zmm0, %zmm3
    middle_rounds round_of, \n
.endif
    vbroadcasti32x4 round_keys(%rdi,%rdx), %zmm15
    ret
    EVC_ASM_CFI_END
.endm
    .text
    .irp n, 1, 2, 3, 4
    define_aes \n, 0
    define_aes \n, 1
    .endr

/* The last round of vector number \i; e: what is hashed of it, bytes reversed. */
.macro middle_text i, opens, e, s
    vmovdqu64 64*\i(%r9), %zmm\e
    vpxorq %zmm\e, %zmm15, %zmm2
    vaesenclast %zmm2, \s, \s
    vmovdqu64 \s, 64*\i(%r8)
.if \opens
    vpshufb reversed(%r11), %zmm\e, %zmm\e
.else
    vpshufb reversed(%r11), \s, %zmm\e
.endif
.endm
/* Two vectors are hashed together: of three the first is alone. With three or more, associated
 * data is hashed before AES: behind it, instructions that wait would fill the core, and the next
 * message could not begin. */
.macro message n, own, opens
.if \n > 2
    lea 15(%r10), %eax
    and $-16, %eax
    call aad_and_lengths
    call aes_of_\n\()_\own
.else
    call aes_of_\n\()_\own
    call aad_and_lengths
.endif
    mov %rdi, %rsi
    mov out(%rsp), %r8
    sub %rax, %rsi
.if \n > 2
    middle_text 0, \opens, 1, %zmm4
.endif
.if \n == 3
    vmovdqu64 powers_end - 16(%rsi), %zmm13
    products z, 1, 13, 7, 2
.elseif \n == 4
    middle_text 1, \opens, 12, %zmm5
    pair_products 1, 12, (powers_end - 16), %rsi
.endif
.if \n > 1
    with_vector (\n-2), middle_text (\n-2), \opens, 12,
    add $64*\n - 64, %r9
    add $64*\n - 64, %r8
    add $64*\n - 64, %rsi
    jmp last_pair_\own\()_\opens
.else
    jmp last_alone_\own\()_\opens
.endif
.endm

/* The last vector, of text from r9 and to r8, and the end of the message; name is `pair` if zmm12
 * is the vector before it, which is not hashed yet. No masked access crosses a page. */
.macro define_last_vector name, own, opens
    .p2align 4
last_\name\()_\own\()_\opens:
    EVC_ASM_CFI_BEGIN
    mov %r10d, %ecx
    mov $-1, %rdx
    neg %ecx
    shrx %rcx, %rdx, %rdx
    mov %r9d, %eax
    kmovq %rdx, %k1
    and $4095, %eax
    mov %r8d, %edx
    and $4095, %edx
    cmp $4096 - 64, %eax
    ja 82f
    vmovdqu8 (%r9), %zmm1{%k1}{z}
81: vpxorq %zmm1, %zmm15, %zmm2
    vaesenclast %zmm2, %zmm3, %zmm3
    cmp $4096 - 64, %edx
    ja 84f
    vmovdqu8 %zmm3, (%r8){%k1}
83:
.if \own
    vaesenclast %xmm15, %xmm8, %xmm8
.else
    vextracti32x4 $3, %zmm3, %xmm8
.endif
.if \opens
    vpshufb reversed(%r11), %zmm1, %zmm1
.else
    vmovdqu8 %zmm3, %zmm1{%k1}{z}
    vpshufb reversed(%r11), %zmm1, %zmm1
.endif
.ifc \name, pair
    pair_products 12, 1, (powers_end - 16 - 64), %rsi
.else
    vmovdqu64 powers_end - 16(%rsi), %zmm13
    products z, 1, 13, 7, 2
.endif
    end_message \opens
82: call load_at_page_end
    jmp 81b
84: call store_at_page_end
    jmp 83b
    EVC_ASM_CFI_END
.endm
    .irp i, 0, 1
    define_last_vector alone, \i, 0
    define_last_vector alone, \i, 1
    define_last_vector pair, \i, 0
    define_last_vector pair, \i, 1
    .endr

/* zmm1 = the bytes of the last vector that are text, at r9, zeros behind; none behind them is
 * accessed. ecx: minus the length of text. Changes rcx, rax, vector 13, k2. */
    .p2align 4
load_at_page_end:
    EVC_ASM_CFI_BEGIN
    and $63, %ecx         /* what the vector lacks */
    mov $-1, %rax
    shlx %rcx, %rax, %rax
    kmovq %rax, %k2
    mov %r9, %rax
    sub %rcx, %rax
    vmovdqu64 byte_numbers(%r11,%rcx), %zmm13
    vmovdqu8 (%rax), %zmm1{%k2}{z}
    vpermb %zmm1, %zmm13, %zmm1{%k1}{z}
    ret
    EVC_ASM_CFI_END
/* The same bytes of zmm3 to r8. */
    .p2align 4
store_at_page_end:
    EVC_ASM_CFI_BEGIN
    and $63, %ecx
    mov $-1, %rax
    shlx %rcx, %rax, %rax
    kmovq %rax, %k2
    mov %r11, %rax
    sub %rcx, %rax
    vmovdqu64 byte_numbers + 64(%rax), %zmm13
    mov %r8, %rax
    sub %rcx, %rax
    vpermb %zmm3, %zmm13, %zmm13
    vmovdqu8 %zmm13, (%rax){%k2}
    ret
    EVC_ASM_CFI_END

.macro message_by_length opens
    mov len_bytes(%rsp), %r10
    lea tables(%rip), %r11
    load_iv %xmm0
    cmp $most_bytes, %r10
    ja 50f
    vpxor round_keys(%rdi), %xmm0, %xmm0
    cmp $64, %r10d
    ja 34f
    cmp $48, %r10d
    ja 33f
    cmp $16, %r10d
    ja 32f
    test %r10d, %r10d
    jz 31f
    cmp $32, %r8
    ja 35f
30: message_of_block \opens
    /* More associated data, or that of a state: one block. */
35: test %r8, %r8
    js 30b
    jmp 32f
31: empty_message \opens
32: message 1, 0, \opens
33: message 1, 1, \opens
34: cmp $128, %r10d
    ja 37f
    cmp $112, %r10d
    ja 36f
    message 2, 0, \opens
36: message 2, 1, \opens
37: cmp $192, %r10d
    ja 40f
    cmp $176, %r10d
    ja 39f
    message 3, 0, \opens
39: message 3, 1, \opens
40: cmp $240, %r10d
    ja 42f
    message 4, 0, \opens
42: message 4, 1, \opens
50:
.if \opens
    jmp open_long_message
.else
    jmp seal_long_message
.endif
.endm

evc_function evc_gcm_x86_vaes512_intel_seal
    message_by_length 0
evc_end evc_gcm_x86_vaes512_intel_seal

evc_function evc_gcm_x86_vaes512_intel_open_output_tag
    btsq $tells_tag, tag_bytes(%rsp)
    jmp open_message
evc_end evc_gcm_x86_vaes512_intel_open_output_tag

evc_function evc_gcm_x86_vaes512_intel_open, open_message
    message_by_length 1
evc_end evc_gcm_x86_vaes512_intel_open

#endif
