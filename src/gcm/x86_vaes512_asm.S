/* SPDX-License-Identifier: MIT */
/*
 * GCM of whole messages, and of groups of vectors for pieces of messages.
 *
 * A text of at most 288 bytes goes in one straight line, longer ones in groups: see "Long
 * messages". The reason for assembly: messages overlap in a core's window of some 450 instructions,
 * so that a short one costs about its latency times its instructions. Here are no frames, AES comes
 * first, and short messages use vectors 0 to 15 alone, so that no others have to be cleared. To
 * open, tag_bytes has the bit `opens`; long messages have k3, not 0 to seal.
 *
 * Lanes:    nothing, the last block of associated data (or zeros), text, lengths. The last block is
 *           in the last lane, so that each meets its power of H at a fixed place. The lane before
 *           the text has counter 1, that of J_0, whose encryption is the tag mask. Up to three
 *           blocks of associated data before its last one go into lanes that are left in front of
 *           it, and up to four that find none into a vector in front. More than these are hashed on
 *           their own. Where a vector of AES can be saved, or half of one, J_0 and associated data
 *           have other lanes: see even_message and half_message.
 * Text:     its accesses begin at its start or end at its end, and overlap: so nothing around it is
 *           accessed, and no masked access can reach into another page. One permutation of bytes
 *           moves text into its lanes, and one moves it back.
 *
 * Arguments as the System V ABI has them: key in rdi, iv in rsi, aad in rcx, aad_bytes in r8, in in
 * r9; out, len_bytes, tag and tag_bytes on the stack. r10 = len_bytes, rax = the same, whole
 * blocks, r11 = byte_numbers; of short messages, behind AES rsi = rax - r10, the bytes that the
 * last block lacks, and r8 = out.
 */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64

#include "gcm/x86_gcm_asm.h"

.set most_bytes, 288
.set powers_end, 16 + 240 + 1024
.set opens, 30        /* bit of tag_bytes: the message is opened */
.set has_front, 29    /* the same: associated data has a vector in front of others, too */
.set has_two, 27      /* the same: it has two vectors in front */
.set has_lanes, 28    /* the same: associated data has a vector, which a block alone has not */

evc_constants
    .p2align 6
/* Places of bytes, of text and in a pair of vectors; all tables are addressed from here. */
byte_numbers:
.set block_bytes, 0
    .set at, 0
    .rept 128
    .byte at
    .set at, at + 1
    .endr
/* The counters of lanes. Those before J_0 have no use; the step of a vector is there, where
 * its address is short. */
.set lanes, 128
    .long 4
    .fill 4*16 - 4, 1, 0
.set counters, 128 + 4*16
    .fill 3*16, 1, 0
    .set at, 1
    .rept 40
    .fill 15, 1, 0
    .byte at
    .set at, at + 1
    .endr
/* The same of a last vector of three blocks of text and J_0, from the last of one
 * vector to that of four. */
.set full_counters, counters + 43*16
    .set at, 0
    .rept 4
    .irp i, 2, 3, 4
    .fill 15, 1, 0
    .byte at + \i
    .endr
    .fill 15, 1, 0
    .byte 1
    .set at, at + 4
    .endr
/* The same where two blocks are in front of these vectors. */
.set half_counters, full_counters + 256
    .set at, 0
    .rept 3
    .irp i, 4, 5, 6
    .fill 15, 1, 0
    .byte at + \i
    .endr
    .fill 15, 1, 0
    .byte 1
    .set at, at + 4
    .endr
/* The bytes of the text in the first vector, which begins in lane 4, 3, 2, 1. */
.set text_masks, half_counters + 192
    .quad 0, 0
    .quad 0xffff000000000000, 0
    .quad 0xffffffff00000000, 0
    .quad 0xffffffffffff0000, 0
/* The bytes of the text in the last vector, whose last block lacks 0 to 15 bytes;
 * and in the only vector. */
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
.set reversed, only_text_masks + 128 + 16
    .fill 16, 1, 0 /* so that the next are aligned */
    .rept 4
    .byte 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
    .endr
.set quad_numbers, reversed + 64 /* of words of 64 bits in a pair of vectors */
    .set at, 0
    .rept 16
    .quad at
    .set at, at + 1
    .endr
/* The same where the first vector has its lanes as lanes before the text: the last one,
 * then those before it. */
.set aad_quads, quad_numbers + 128
    .quad 2, 3, 4, 5, 6, 7, 0, 1, 8, 9, 10, 11, 12, 13, 14, 15
.set words_reversed, aad_quads + 128
    .byte 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8
.set polynomial, words_reversed + 16
    .quad 0xc200000000000000, 0
.set counter_2, polynomial + 16
    .fill 15, 1, 0
    .byte 2
.set counter_1, counter_2 + 16
    .fill 15, 1, 0
    .byte 1
/* The first bytes of a block: n of them, 16 - n bytes from here. */
.set first_bytes, counter_1 + 16
    .fill 16, 1, 255
    .fill 16, 1, 0
/* Numbers of counters are the last words of blocks, in the order of the CPU: those of lanes,
 * and the bytes of one. */
.set lane_numbers, first_bytes + 32
    .fill 16, 1, 0
    .long 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3
.set counter_bytes, lane_numbers + 64
    .fill 12, 1, 128
    .byte 15, 14, 13, 12

/* ---- AES ---- */

.macro round r, n
    vbroadcasti32x4 round_keys + 16*\r(%rdi), %zmm13
    vaesenc %zmm13, %zmm3, %zmm3
    other_rounds \n
.endm
/* The same of half a vector, the first one. */
.macro half_round r, n
    vbroadcasti32x4 round_keys + 16*\r(%rdi), %zmm13
    vaesenc %ymm13, %ymm3, %ymm3
    other_rounds \n
.endm
.macro other_rounds n
.if \n > 1
    vaesenc %zmm13, %zmm4, %zmm4
.endif
.if \n > 2
    vaesenc %zmm13, %zmm5, %zmm5
.endif
.if \n > 3
    vaesenc %zmm13, %zmm6, %zmm6
.endif
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

/* \s = numbers plus the IV, zmm0, and the first key, zmm13: IVs come late, and meet no other
 * addition before this. */
.macro first_key s, numbers:vararg
    vmovdqa64 %zmm13, \s
    vpternlogq $0x96, \numbers, %zmm0, \s
.endm
.macro counter_of i, n, s, text
    first_key \s, counters + 80 - 64*\n + 64*\i(%r11,%rax)
.endm
.macro load_middle i, n, s, text
    vmovdqu64 64*\i - 64*\n + 16(%r9,%rax), \text
.endm
/* The last vector; also with the lengths behind it, as it will be hashed. */
.macro load_last s, text
    vmovdqu64 16(%r11,%rsi), %zmm13
    vpermb -64(%r9,%r10), %zmm13, \text
    vmovdqu8 \text, %zmm2{%k1}
.endm
.macro last_round s, text
    vpxorq \text, %zmm15, %zmm14
    vaesenclast %zmm14, \s, \s
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

/* \to = the bytes of \s, from that on whose number is the first in \to. */
.macro turn_last to, s, text
    vpermb \s, \to, \to
.endm

/* ---- The hash ---- */

/* The halves of the blocks of two vectors, as numbers: of each pair of blocks first that of \a. Not
 * vpermi2b, which is three instructions of Intel's cores. */
.macro halves_of a, b, lower, upper, scratch
    vpshufb reversed(%r11), \a, \lower
    vpshufb reversed(%r11), \b, \scratch
    vpunpckhqdq \scratch, \lower, \upper
    vpunpcklqdq \scratch, \lower, \lower
.endm

/* \hi = lo, mi, hi divided by x^128. poly, product: scratch. */
.macro reduce lo, mi, hi, poly, product
    vbroadcasti32x4 polynomial(%r11), \poly
    vpclmulqdq $0x00, \poly, \lo, \product
    vpshufd $0x4e, \lo, \lo
    vpternlogq $0x96, \lo, \product, \mi
    vpclmulqdq $0x00, \poly, \mi, \product
    vpshufd $0x4e, \mi, \mi
    vpternlogq $0x96, \mi, \product, \hi
.endm

/* The sum of the blocks of a vector, whose name is given for each width; and scratch. */
.macro fold z, y, x, y_scratch, x_scratch
    vextracti64x4 $1, \z, \y_scratch
    vpxor \y_scratch, \y, \y
    vextracti128 $1, \y, \x_scratch
    vpxor \x_scratch, \x, \x
.endm

/* Plus the products of one part of a pair of vectors with that of a pair of
 * powers. p, q: scratch. */
.macro add_products part, powers, to, p, q
    vpclmulqdq $0x00, \powers, \part, \p
    vpclmulqdq $0x11, \powers, \part, \q
    vpternlogq $0x96, \p, \q, \to
.endm

/* Clears vectors from 9 on that n vectors of text have, and others. */
.macro clear_text n, others:vararg
    .irp i, 9, 10, 11, 12
    .if \i < 8 + \n
    vpxor %xmm\i, %xmm\i, %xmm\i
    .endif
    .endr
    .irp i, \others
    .ifnb \i
    vpxor %xmm\i, %xmm\i, %xmm\i
    .endif
    .endr
.endm

/* zmm8 to zmm11 are hashed, then zmm2, the last vector; xmm0 = the tag mask. With
 * has_front zmm12 is in front. */
.macro finish n
.if \n == 1
    jmp finish_one
.elseif \n == 2
    jmp finish_two
.elseif \n == 3
    jmp finish_three
.elseif \n == 4
    jmp finish_four
.else
    jmp finish_five
.endif
.endm
.macro aad_out_of_line n
6:  vpxor %xmm1, %xmm1, %xmm1
    test %r8, %r8
    jz 5b
    call aad_before_text
.if \n == 1
    vmovdqa %xmm1, %xmm1
.endif
    jmp 5b
.endm
.macro hash_and_finish n
    hash_of_message \n
    clear_text \n,
    jmp finish_vectors
.endm
.macro if_front_jump to
    testb $1 << (has_front - 24), tag_bytes + 3(%rsp)
    jnz \to
.endm
/* The vectors before it have been moved up. */
.macro take_front front
    andq $~(1 << has_front | 1 << has_two), tag_bytes(%rsp)
    vmovdqa64 \front, %zmm8
    vpxor %xmm12, %xmm12, %xmm12
.endm
.macro if_two_jump to
    testb $1 << (has_two - 24), tag_bytes + 3(%rsp)
    jnz \to
.endm
.macro if_opened_jump to
    testb $1 << (opens - 24), tag_bytes + 3(%rsp)
    jnz \to
.endm
.macro define_finish computed_tag
    EVC_ASM_CFI_BEGIN
    .p2align 4
finish_one:
    if_front_jump 12f
    hash_and_finish 1
    .p2align 4
finish_two:
    if_front_jump 13f
hash_two:
    hash_and_finish 2
    .p2align 4
finish_three:
    if_front_jump 14f
hash_three:
    hash_and_finish 3
    .p2align 4
finish_four:
    if_front_jump 15f
hash_four:
    hash_and_finish 4
12: if_two_jump 16f
    take_front %zmm12
    jmp hash_two
16: vmovdqa64 %zmm11, %zmm9
    take_front %zmm12
    jmp hash_three
13: if_two_jump 17f
    vmovdqa64 %zmm8, %zmm9
    take_front %zmm12
    jmp hash_three
17: vmovdqa64 %zmm8, %zmm10
    vmovdqa64 %zmm11, %zmm9
    take_front %zmm12
    jmp hash_four
18: vmovdqa64 %zmm11, %zmm7
    vmovdqa64 %zmm9, %zmm11
    vmovdqa64 %zmm8, %zmm10
    vmovdqa64 %zmm7, %zmm9
    take_front %zmm12
    jmp finish_five
14: if_two_jump 18b
    vmovdqa64 %zmm9, %zmm10
    vmovdqa64 %zmm8, %zmm9
    take_front %zmm12
    jmp hash_four
15: vmovdqa64 %zmm10, %zmm11
    vmovdqa64 %zmm9, %zmm10
    vmovdqa64 %zmm8, %zmm9
    take_front %zmm12
    .p2align 4
finish_five:
    hash_and_finish 5
    .p2align 4
finish_vectors:
    vpshufb reversed(%r11), %xmm0, %xmm0
    vpclmulqdq $0x00, %zmm15, %zmm4, %zmm7
    vpshufd $0x4e, %zmm4, %zmm4
    vpternlogq $0x96, %zmm4, %zmm7, %zmm5
    vextracti32x4 $3, %zmm5, %xmm3
    vextracti32x4 $2, %zmm5, %xmm4
    vextracti128 $1, %ymm5, %xmm6
    vpternlogq $0x96, %xmm3, %xmm0, %xmm5
    vpternlogq $0x96, %xmm4, %xmm6, %xmm5
    vpshufb reversed(%r11), %xmm5, \computed_tag
    finish_block \computed_tag /* zmm15 has the polynomial alone */
    vpxor %xmm0, %xmm0, %xmm0
    vpxor %xmm8, %xmm8, %xmm8
    vpxor %xmm13, %xmm13, %xmm13
    vpxor %xmm14, %xmm14, %xmm14
    vpxor %xmm7, %xmm7, %xmm7
    vzeroupper
    ret
    tags_of_other_bytes
    EVC_ASM_CFI_END
.endm
/* Tags of fewer bytes, and those of messages to open: finish_block goes there. */
.macro tags_of_other_bytes error=$error_of_tag
19: call store_tag
    jmp 21b
20: btr $opens, %rdx
    jnc 19b
    cmp $16, %rdx
    jne 26f
    vpxor (%rcx), %xmm5, %xmm5
    mov \error, %edx
    vptest %xmm5, %xmm5
    cmovnz %edx, %eax
    jmp 21b
26: call compare_tag
    jmp 21b
.endm

/* computed_tag: xmm5. Clears xmm1 to xmm6. On Apple, a macro without arguments
 * would take $0 for one. */
.macro finish_block computed_tag
    mov tag(%rsp), %rcx
    mov tag_bytes(%rsp), %rdx
    xor %eax, %eax
    cmp $16, %rdx
    jne 20f
    vmovdqu \computed_tag, (%rcx)
21:
    vpxor %xmm1, %xmm1, %xmm1
    vpxor %xmm2, %xmm2, %xmm2
    vpxor %xmm3, %xmm3, %xmm3
    vpxor %xmm4, %xmm4, %xmm4
    vpxor %xmm5, %xmm5, %xmm5
    vpxor %xmm6, %xmm6, %xmm6
.endm

/* ---- Messages ---- */

/* xmm1 = the associated data. */
.macro load_aad aad_bytes
    lea -8(\aad_bytes), %rsi
    cmp $8, %rsi
    ja 6f
    vmovq (%rcx), %xmm1
    vmovq -8(%rcx,\aad_bytes), %xmm13
    mov %r11, %rsi
    sub \aad_bytes, %rsi
    vpshufb 16(%rsi), %xmm13, %xmm13
    vpunpcklqdq %xmm13, %xmm1, %xmm1
5:
.endm
/* xmm2 = the lengths, as they are hashed; r10 has those of text, r8 those of associated data, and
 * is changed. They go by memory, for moves from general registers take vector units. */
.macro lengths_as_hashed depth, bits=8
    shl $3, %r8
    lea (,%r10,\bits), %esi
    bswap %r8
    bswap %rsi
    mov %r8, \depth + len_bytes(%rsp)
    vmovq \depth + len_bytes(%rsp), %xmm2
    mov %rsi, \depth + len_bytes(%rsp)
    vpinsrq $1, \depth + len_bytes(%rsp), %xmm2, %xmm2
.endm
/* The same with all 16 bytes reversed. */
.macro lengths_reversed bits=3
    vmovq %r10, %xmm2
    vpinsrq $1, %r8, %xmm2, %xmm2
    vpsllq $\bits, %xmm2, %xmm2
.endm
.macro lengths_of aad_bytes
    vmovq \aad_bytes, %xmm2
    vpinsrq $1, %r10, %xmm2, %xmm2
    vpsllq $3, %xmm2, %xmm2
.endm

/* The beginning of messages of n vectors: all rounds but the last, whose key is in zmm15 then. AES
 * comes first: it takes longest. */
.macro begin_message iv
    vshufi32x4 $0, \iv, \iv, \iv
    vbroadcasti32x4 round_keys(%rdi), %zmm13
    lea 15(%r10), %eax
    and $-16, %eax
.endm
.macro aes_of_message n, round=round
    middle_rounds \round, \n
    vbroadcasti32x4 round_keys(%rdi,%rdx), %zmm15
.endm
/* The same in a loop, which costs no time with so many vectors; the first one
 * may be half a vector. */
.macro round_of_many n, key, half_key, half
.if \half
    vaesenc \half_key, %ymm3, %ymm3
.else
    vaesenc \key, %zmm3, %zmm3
.endif
    .irp i, 4, 5, 6, 7
    .if \i < 3 + \n
    vaesenc \key, %zmm\i, %zmm\i
    .endif
    .endr
.endm
.macro aes_of_many n, half=0
    vbroadcasti32x4 round_keys + 16(%rdi), %zmm13
    mov rounds(%rdi), %edx
    mov $32, %esi
    shl $4, %edx
    round_of_many \n, %zmm13, %ymm13, \half
1:  vbroadcasti32x4 round_keys(%rdi,%rsi), %zmm13
    vbroadcasti32x4 round_keys + 16(%rdi,%rsi), %zmm14
    add $32, %esi
    round_of_many \n, %zmm13, %ymm13, \half
    round_of_many \n, %zmm14, %ymm14, \half
    cmp %edx, %esi
    jb 1b
    vbroadcasti32x4 round_keys(%rdi,%rdx), %zmm15
.endm
/* The same of vectors whose first one is half a vector. */
.macro aes_of_half n
.if \n == 2
    call aes_of_half_two
.elseif \n == 3
    call aes_of_half_three
.elseif \n == 4
    call aes_of_half_four
.else
    aes_of_many \n, 1
.endif
.endm
/* The same of whole vectors, by functions where two kinds of messages have them. */
.macro aes_of_vectors n
.if \n == 2
    call aes_of_two
.elseif \n == 3
    call aes_of_three
.elseif \n == 4
    call aes_of_four
.elseif \n == 5
    aes_of_many 5
.else
    aes_of_message \n
.endif
.endm
.macro define_aes_of_vectors n
    EVC_ASM_CFI_BEGIN
.if \n >= 3
    aes_of_many \n
.else
    aes_of_message \n
.endif
    ret
    EVC_ASM_CFI_END
.endm
    .text
    .p2align 4
/* xmm1 = the last block of associated data, and others as aad_of_vectors has them; xmm2 = the
 * lengths; edx = 0 if there is no associated data. */
aad_and_lengths:
    EVC_ASM_CFI_BEGIN
    load_aad %r8
    lengths_as_hashed 8
    ret
6:  vpxor %xmm1, %xmm1, %xmm1
    mov %r8d, %edx
    test %r8, %r8
    jz 5b
    call aad_of_vectors
    mov $1, %edx
    jmp 5b
    EVC_ASM_CFI_END
    .p2align 4
aes_of_two:
    define_aes_of_vectors 2
    .p2align 4
aes_of_three:
    define_aes_of_vectors 3
    .p2align 4
aes_of_four:
    define_aes_of_vectors 4
    .p2align 4
aes_of_half_two:
    EVC_ASM_CFI_BEGIN
    aes_of_message 2, half_round
    ret
    .p2align 4
aes_of_half_three:
    aes_of_many 3, 1
    ret
    .p2align 4
aes_of_half_four:
    aes_of_many 4, 1
    ret
    EVC_ASM_CFI_END
/* esi = the bytes that the last block lacks; k1 = a mask of the last vector's text. */
.macro ends_of_text masks
    mov %eax, %esi
    sub %r10d, %esi
    kmovq \masks(%r11,%rsi,8), %k1
    mov out(%rsp), %r8
.endm

/* A message of n vectors, of which the first has the last block of associated data and some text,
 * two blocks at least if there are more. */
.macro message n
    begin_message %zmm0
    .irp i, 0, 1, 2, 3, 4
    .if \i < \n
    with_vector \i, counter_of \i, \n,
    .endif
    .endr
    aes_of_vectors \n
.if \n > 3
    call aad_and_lengths
.else
    load_aad %r8
    lengths_as_hashed 0
.endif
.if \n == 1
    ends_of_text only_text_masks
    /* what is hashed, but for the text: here, and in the last vector of several */
    vinserti32x4 $3, %xmm2, %zmm1, %zmm2
.else
    ends_of_text last_text_masks
    vshufi32x4 $0x15, %zmm2, %zmm2, %zmm2
    mov %r11, %rdx
    sub %rax, %rdx
    vmovdqu64 aad_quads + 80 - 64*\n(%r11,%rax), %zmm8
.endif
.if \n == 1
    vmovdqu -16(%r9,%r10), %xmm13
    vpshufb (%r11,%rsi), %xmm13, %xmm13
    vinserti32x4 $1, (%r9), %zmm1, %zmm8
    vinserti32x4 $2, %xmm13, %zmm8, %zmm8
    vmovdqu8 %zmm8, %zmm2{%k1}
.else
    vpermi2q (%r9), %zmm1, %zmm8
    .irp i, 1, 2, 3
    .if \i < \n - 1
    with_vector \i, load_middle \i, \n,
    .endif
    .endr
    with_vector (\n-1), load_last
.endif
    .irp i, 0, 1, 2, 3
    .if \i < \n - 1
    with_vector \i, last_round
    .endif
    .endr
    with_vector (\n-1), last_round

.if \n == 1
    mov %r11, %rcx
    sub %rsi, %rcx
    vmovdqu 32(%rcx), %xmm13
    vextracti128 $1, %ymm3, (%r8)
    vpermb %zmm3, %zmm13, %zmm13
    vmovdqu %xmm13, -16(%r8,%r10)
    vmovdqa %xmm3, %xmm0
.else
    vmovdqu 64*\n - 32(%rdx), %xmm14
    vpermb %zmm3, %zmm14, %zmm0
    vmovdqu64 quad_numbers + 64*\n - 16(%rdx), %zmm13
    vpermi2q %zmm4, %zmm3, %zmm13
    /* The last bytes go first: the others then take the place of those in front of them. */
    vmovdqu64 48(%rdx,%r10), %zmm14
    with_vector (\n-1), turn_last %zmm14,
    vmovdqu64 %zmm14, -64(%r8,%r10)
    vmovdqu64 %zmm13, (%r8)
    .irp i, 1, 2, 3
    .if \i < \n - 1
    with_vector \i, store_middle \i, \n,
    .endif
    .endr
.endif

    if_opened_jump 7f /* a branch: what is opened is hashed without waiting for AES */
.if \n > 1
    kmovq text_masks + 80 - 64*\n(%r11,%rax), %k2
    vmovdqu8 %zmm3, %zmm8{%k2}
.endif
    .irp i, 1, 2, 3
    .if \i < \n - 1
    with_vector \i, take_ciphertext
    .endif
    .endr
    with_vector (\n-1), take_last_ciphertext
7:  vpxor %xmm1, %xmm0, %xmm0
    finish \n
.if \n <= 3
    aad_out_of_line \n
.endif
.endm

/* The i-th of n vectors that are hashed, in the order in which they are known: the first of the
 * message is the last here, for it has associated data. */
.macro with_hashed i, n, what:vararg
.if \n == 1 || \i == \n - 1
    \what %zmm2
.elseif \i == \n
    \what %zmm8
.elseif \i == 1
    \what %zmm9
.elseif \i == 2
    \what %zmm10
.else
    \what %zmm11
.endif
.endm
.macro reverse_hashed v
    vpshufb reversed(%r11), \v, \v
.endm
/* \to = halves of \v times halves of its powers, those of the vector at place p from the end: 0 for
 * lo, 1 and 2 for mi, 3 for hi. */
.macro product half, p, to, v
    vpclmulqdq $((\p & 1) << 4 | (\half & 1)), \
        (powers_end - 64*(\p + (\p & 1)) + 64*(\half >> 1))(%rdi), \v, \to
.endm
/* The sum of these products of all n vectors, and of another term if n is 1. */
.macro sum_of_products half, n, sum, other
    .irp i, 1, 2, 3, 4, 5
    .if \i <= \n
    .if \i == 1
    with_hashed \i, \n, product \half, (\n - \i % \n), \sum,
    .elseif \i & 1
    with_hashed \i, \n, product \half, (\n - \i % \n), %zmm7,
    vpternlogq $0x96, %zmm6, %zmm7, \sum
    .else
    with_hashed \i, \n, product \half, (\n - \i % \n), %zmm6,
    .endif
    .endif
    .endr
.if !(\n & 1)
    vpxorq %zmm6, \sum, \sum
.endif
.ifnb \other
    vpxorq \other, \sum, \sum
.endif
.endm

/* mi, hi in zmm4, zmm5 of n vectors, where mi has half of the reduction, and zmm15 = the
 * polynomial. By four products for each pair of blocks, for Karatsuba's method adds halves first. A
 * core may start one product in two cycles alone: so those that the reduction begins with come
 * first, and those that it ends with come last. lo, hi, mi: other terms, if n is 1. */
.macro hash_of_message n, lo, hi, mi
    .irp i, 1, 2, 3, 4, 5
    .if \i <= \n
    with_hashed \i, \n, reverse_hashed
    .endif
    .endr
    vbroadcasti32x4 polynomial(%r11), %zmm15
    sum_of_products 0, \n, %zmm3, \lo
    vpclmulqdq $0x00, %zmm15, %zmm3, %zmm13
    vpshufd $0x4e, %zmm3, %zmm3
    .irp i, 1, 2, 3, 4, 5
    .if \i <= \n
    .if \i == 1
    with_hashed \i, \n, product 1, (\n - \i % \n), %zmm4,
    .else
    with_hashed \i, \n, product 1, (\n - \i % \n), %zmm7,
    vpternlogq $0x96, %zmm6, %zmm7, %zmm4
    .endif
    with_hashed \i, \n, product 2, (\n - \i % \n), %zmm6,
    .endif
    .endr
    vpternlogq $0x96, %zmm3, %zmm13, %zmm4
.ifb \mi
    vpxorq %zmm6, %zmm4, %zmm4
.else
    vpternlogq $0x96, %zmm6, \mi, %zmm4
.endif
    sum_of_products 3, \n, %zmm5, \hi
.endm

/* A message whose text begins where a vector does, from its first block on, or, if \alone, from its
 * second one. That first block is in half a vector, in front of J_0, and goes behind associated
 * data to be hashed. Else J_0 is in the lane of the lengths, and associated data has a vector of
 * its own to be hashed. So no vector goes through AES for lengths or associated data alone. */
.macro even_message n, alone
    begin_message %zmm0
.if \alone
    vmovdqa %ymm13, %ymm3
    vpternlogq $0x96, counter_2(%r11), %ymm0, %ymm3
.endif
    .irp i, 0, 1, 2, 3, 4
    .if \i >= \alone && \i < \n
    with_vector \i, even_counter \i, \n, \alone,
    .endif
    .endr
.if \alone
    aes_of_half \n
.else
    aes_of_vectors \n
.endif
.if \n > 3
    call aad_and_lengths
.else
    load_aad %r8
.if \n == 1 && !\alone
    multiply_aad %xmm1
3:
.endif
    lengths_as_hashed 0
.endif
    ends_of_text last_text_masks
.if \alone
    /* the lengths, and then the last vector of the text before them */
    vshufi32x4 $0x15, %zmm2, %zmm2, %zmm2
    vshufi32x4 $0x0e, %zmm1, %zmm1, %zmm14 /* the last three blocks of associated data first */
    vmovdqu (%r9), %xmm8
    vpxor %ymm8, %ymm15, %ymm13
    vaesenclast %ymm13, %ymm3, %ymm3
.else
    vshufi32x4 $0x15, %zmm2, %zmm2, %zmm7 /* the lengths; zmm2: the last vector of the text */
.if \n > 1
    vshufi32x4 $0x39, %zmm1, %zmm1, %zmm8
.endif
.endif
    mov %r11, %rcx
    sub %rsi, %rcx
.if \n == 1 + \alone
    vmovdqu -16(%r9,%r10), %xmm13
    vpshufb (%r11,%rsi), %xmm13, %xmm13
.if \alone
    vmovdqu 16(%r9), %ymm9
    vinserti32x4 $2, %xmm13, %zmm9, %zmm9
    vmovdqu8 %zmm9, %zmm2{%k1}
.else
    vmovdqu (%r9), %ymm2
    vinserti32x4 $2, %xmm13, %zmm2, %zmm2
    vmovdqu8 %zmm2, %zmm2{%k1}{z}
.endif
.else
    .irp i, 0, 1, 2, 3
    .if \i >= \alone && \i < \n - 1
    with_even \i, \alone, load_even \i, \alone,
    .endif
    .endr
    vmovdqu64 16(%r11,%rsi), %zmm13
.if \alone
    vpermb -64(%r9,%r10), %zmm13, %zmm2{%k1}
.else
    vpermb -64(%r9,%r10), %zmm13, %zmm2{%k1}{z}
.endif
.endif
    .irp i, 0, 1, 2, 3
    .if \i >= \alone && \i < \n - 1
    with_even \i, \alone, last_round_of_even
    .endif
    .endr
    vpxorq %zmm2, %zmm15, %zmm15
.if !\alone
    vporq %zmm7, %zmm2, %zmm2
.endif
    with_vector (\n-1), last_of_even \n, \alone,
.if \alone
    vmovdqu %xmm3, (%r8)
    vextracti128 $1, %ymm3, %xmm0
.endif

.if !\alone || \n == 2 || \n == 5 /* others are opened: see full_message */
    if_opened_jump 7f
.if \alone
    vmovdqa %xmm3, %xmm8
.endif
    .irp i, 0, 1, 2, 3
    .if \i >= \alone && \i < \n - 1
    with_even \i, \alone, take_ciphertext
    .endif
    .endr
    with_vector (\n-1), take_last_ciphertext
.endif
7:
.if \alone
    vinserti32x4 $3, %xmm8, %zmm14, %zmm8
.endif
.if \n == 1 && !\alone
    finish_with_aad %zmm8
.else
.if !\alone
    test %edx, %edx       /* 0 if there is no associated data: one vector less is hashed */
    jz 4f
.endif
    finish (\n+1-\alone)
.if !\alone
4:  vmovdqa64 %zmm9, %zmm8
.if \n == 2
    jmp hash_two
.else
    vmovdqa64 %zmm10, %zmm9
.if \n == 3
    jmp hash_three
.else
    vmovdqa64 %zmm11, %zmm10
    jmp hash_four
.endif
.endif
.endif
.if !\alone && \n <= 3
6:  vpxor %xmm1, %xmm1, %xmm1
    mov %r8d, %edx
    test %r8, %r8
    jz 5b
    call aad_before_text
    mov $1, %edx
    jmp 5b
.elseif \n <= 3
    aad_out_of_line 2
.endif
.endif
.endm
/* A block of associated data has no vector where text has one: xmm9, xmm10, xmm11 are lo, hi, mi of
 * its product with H^5. More have a vector, zmm8. */
.macro multiply_aad aad
    vpshufb reversed(%r11), \aad, %xmm13
    vpclmulqdq $0x00, powers_end - 80(%rdi), %xmm13, %xmm9
    vpclmulqdq $0x01, powers_end - 16(%rdi), %xmm13, %xmm10
    vpclmulqdq $0x00, powers_end - 16(%rdi), %xmm13, %xmm11
    vpclmulqdq $0x01, powers_end - 80(%rdi), %xmm13, %xmm13
    vpxor %xmm13, %xmm11, %xmm11
.endm
.macro finish_with_aad first
    testb $1 << (has_lanes - 24), tag_bytes + 3(%rsp)
    jnz 9f
    hash_of_message 1, %zmm9, %zmm10, %zmm11
    clear_text 4,
    jmp finish_vectors
9:  andq $~(1 << has_lanes), tag_bytes(%rsp)
    jmp finish_two
4:  vpxor %xmm9, %xmm9, %xmm9
    vpxor %xmm10, %xmm10, %xmm10
    vpxor %xmm11, %xmm11, %xmm11
    jmp 3b
6:  vpxor %xmm1, %xmm1, %xmm1
    test %r8, %r8
    jz 4b
    call aad_before_text
    cmp $16, %r8
    jbe 5b
    orq $1 << has_lanes, tag_bytes(%rsp)
    vshufi32x4 $0x39, %zmm1, %zmm1, \first
    jmp 3b
.endm
/* The first text that has a vector of its own is in zmm9. */
.macro with_even i, alone, what:vararg
.if \alone
    with_vector \i, \what
.elseif \i == 0
    \what %zmm3, %zmm9
.elseif \i == 1
    \what %zmm4, %zmm10
.else
    \what %zmm5, %zmm11
.endif
.endm
.macro even_counter i, n, alone, s, text
.if !\alone && \i == \n - 1
    first_key \s, full_counters + 64*\n - 64(%r11)
.else
    first_key \s, counters + 64 - 48*\alone + 64*\i(%r11)
.endif
.endm
.macro load_even i, alone, s, text
    vmovdqu64 64*\i - 48*\alone(%r9), \text
.endm
.macro last_round_of_even s, text
    vpxorq \text, %zmm15, %zmm13
    vaesenclast %zmm13, \s, \s
.endm
/* The block behind the text of the last vector is not written: that may be the tag mask, xmm0. */
.macro last_of_even n, alone, s, text
    vaesenclast %zmm15, \s, \s
.if \n == 1 + \alone
    vmovdqu 32(%rcx), %xmm13
.if \alone
    vmovdqu %ymm4, 16(%r8)
.else
    vmovdqu %ymm3, (%r8)
.endif
    vpermb \s, %zmm13, %zmm13
    vmovdqu %xmm13, -16(%r8,%r10)
.else
    vmovdqu64 48(%rcx), %zmm13
.if \n == 2
    vpermi2b \s, %zmm3, %zmm13
.elseif \n == 3
    vpermi2b \s, %zmm4, %zmm13
.elseif \n == 4
    vpermi2b \s, %zmm5, %zmm13
.else
    vpermi2b \s, %zmm6, %zmm13
.endif
    .irp i, 0, 1, 2, 3
    .if \i >= \alone && \i < \n - 1
    with_vector \i, store_even \i, \alone,
    .endif
    .endr
    vmovdqu64 %zmm13, -64(%r8,%r10)
.endif
.if !\alone
    vextracti32x4 $3, \s, %xmm0
.endif
.endm
.macro store_even i, alone, s, text
    vmovdqu64 \s, 64*\i - 48*\alone(%r8)
.endm

/* A message whose first two blocks are half a vector of AES, and the second half of a vector to be
 * hashed, behind the last two blocks of associated data. J_0 is in the lane of the lengths. */
.macro half_message n
    begin_message %zmm0
    vmovdqa %ymm13, %ymm3
    vpternlogq $0x96, counters + 64(%r11), %ymm0, %ymm3
    .irp i, 1, 2, 3
    .if \i < \n
    with_vector \i, half_counter \i, \n,
    .endif
    .endr
    aes_of_half \n
.if \n > 3
    call aad_and_lengths
.else
    load_aad %r8
    lengths_as_hashed 0
.endif
    ends_of_text last_text_masks
    vshufi32x4 $0x15, %zmm2, %zmm2, %zmm7 /* the lengths; zmm2: the last vector of the text */
    vshufi32x4 $0x03, %zmm1, %zmm1, %zmm14
    mov %r11, %rcx
    sub %rsi, %rcx
    vmovdqu (%r9), %ymm8
.if \n == 2
    vmovdqu -16(%r9,%r10), %xmm13
    vpshufb (%r11,%rsi), %xmm13, %xmm13
    vmovdqu 32(%r9), %ymm2
    vinserti32x4 $2, %xmm13, %zmm2, %zmm2
    vmovdqu8 %zmm2, %zmm2{%k1}{z}
.else
    .irp i, 1, 2
    .if \i < \n - 1
    with_vector \i, load_half \i,
    .endif
    .endr
    vmovdqu64 16(%r11,%rsi), %zmm13
    vpermb -64(%r9,%r10), %zmm13, %zmm2{%k1}{z}
.endif
    vpxor %ymm8, %ymm15, %ymm13
    vaesenclast %ymm13, %ymm3, %ymm3
    .irp i, 1, 2
    .if \i < \n - 1
    with_vector \i, last_round_of_even
    .endif
    .endr
    vpxorq %zmm2, %zmm15, %zmm15
    vporq %zmm7, %zmm2, %zmm2
    with_vector (\n-1), last_of_half \n,
    if_opened_jump 7f
    vmovdqa %ymm3, %ymm8
    .irp i, 1, 2
    .if \i < \n - 1
    with_vector \i, take_ciphertext
    .endif
    .endr
    with_vector (\n-1), take_last_ciphertext
7:  vinserti64x4 $1, %ymm8, %zmm14, %zmm8
    finish \n
.if \n <= 3
    aad_out_of_line 2
.endif
.endm
.macro half_counter i, n, s, text
.if \i == \n - 1
    first_key \s, half_counters + 64*\n - 128(%r11)
.else
    first_key \s, counters + 32 + 64*\i(%r11)
.endif
.endm
.macro load_half i, s, text
    vmovdqu64 64*\i - 32(%r9), \text
.endm
.macro store_half i, s, text
    vmovdqu64 \s, 64*\i - 32(%r8)
.endm
.macro last_of_half n, s, text
    vaesenclast %zmm15, \s, \s
.if \n == 2
    vmovdqu 32(%rcx), %xmm13
    vmovdqu %ymm3, (%r8)
    vmovdqu %ymm4, 32(%r8)
    vpermb \s, %zmm13, %zmm13
    vmovdqu %xmm13, -16(%r8,%r10)
.else
    vmovdqu64 48(%rcx), %zmm13
.if \n == 3
    vpermi2b \s, %zmm4, %zmm13
.else
    vpermi2b \s, %zmm5, %zmm13
.endif
    vmovdqu %ymm3, (%r8)
    .irp i, 1, 2
    .if \i < \n - 1
    with_vector \i, store_half \i,
    .endif
    .endr
    vmovdqu64 %zmm13, -64(%r8,%r10)
.endif
    vextracti32x4 $3, \s, %xmm0
.endm

/* The same of a message to seal, whose text fills k vectors (2 or 3) from its first block on. J_0
 * is half a vector of AES. Powers of H for text are one block from their places, since the lengths
 * come behind it; the last three blocks of associated data and the lengths are hashed as one more
 * vector, while AES is under way: zmm10, zmm7, \hi are lo, mi, hi of that. So less is left to hash
 * behind AES than by even_message; to open, that takes fewer instructions. */
.macro full_message k, hi
    begin_message %zmm0
    vmovdqa %xmm13, %xmm3
    vpternlogq $0x96, counter_1(%r11), %xmm0, %xmm3
    .irp i, 0, 1, 2
    .if \i < \k
    with_vector (\i+1), full_counter \i,
    .endif
    .endr
.if \k == 2
    aes_of_half 3
.else
    aes_of_half 4
.endif
    load_aad %r8
    lengths_as_hashed 0
    vshufi32x4 $0x0e, %zmm1, %zmm1, %zmm14
    vinserti32x4 $3, %xmm2, %zmm14, %zmm14
    vpshufb reversed(%r11), %zmm14, %zmm14
    powers_of_ends 0, (\k+1), %zmm13
    vpclmulqdq $0x10, %zmm13, %zmm14, %zmm10
    vpclmulqdq $0x11, %zmm13, %zmm14, %zmm7
    powers_of_ends 1, (\k+1), %zmm13
    vpclmulqdq $0x11, %zmm13, %zmm14, \hi
    vpclmulqdq $0x10, %zmm13, %zmm14, %zmm13
    vpxorq %zmm13, %zmm7, %zmm7
    mov %eax, %esi
    sub %r10d, %esi       /* the bytes that the last vector lacks */
    mov $-1, %rdx
    shrx %rsi, %rdx, %rdx
    kmovq %rdx, %k1
    mov out(%rsp), %r8
    mov %r11, %rcx
    sub %rsi, %rcx
    vmovdqu64 (%r11,%rsi), %zmm13
    vpermb -64(%r9,%r10), %zmm13, %zmm2{%k1}{z}
    .irp i, 0, 1
    .if \i < \k - 1
    with_full \i, load_even \i, 0,
    .endif
    .endr
    vaesenclast %xmm15, %xmm3, %xmm0
    .irp i, 0, 1
    .if \i < \k - 1
    with_full \i, last_round_of_even
    .endif
    .endr
    vpxorq %zmm2, %zmm15, %zmm13
    with_vector \k, last_of_full \k,
    .irp i, 0, 1
    .if \i < \k - 1
    with_full \i, take_ciphertext
    .endif
    .endr
    with_vector \k, take_last_of_full
    if_front_jump 9f
8:  hash_of_full \k, \hi
    clear_text 5,
    jmp finish_vectors
9:
.if \k == 2
    testb $1 << (has_two - 24), tag_bytes + 3(%rsp)
    jz 4f
    add_front (\k+3), \hi
    vmovdqa64 %zmm11, %zmm12
4:
.endif
    add_front (\k+2), \hi
    andq $~(1 << has_front | 1 << has_two), tag_bytes(%rsp)
    jmp 8b
    aad_out_of_line 2
.endm
.macro add_front p, hi
    vpshufb reversed(%r11), %zmm12, %zmm12
    product 0, \p, %zmm13, %zmm12
    vpxorq %zmm13, %zmm10, %zmm10
    product 1, \p, %zmm13, %zmm12
    product 2, \p, %zmm14, %zmm12
    vpternlogq $0x96, %zmm13, %zmm14, %zmm7
    product 3, \p, %zmm13, %zmm12
    vpxorq %zmm13, \hi, \hi
.endm
.macro full_counter i, s, text
    first_key \s, counters + 64 + 64*\i(%r11)
.endm
.macro with_full i, what:vararg
.if \i == 0
    \what %zmm4, %zmm8
.else
    \what %zmm5, %zmm9
.endif
.endm
.macro last_of_full k, s, text
    vaesenclast %zmm13, \s, \s
    vmovdqu64 64(%rcx), %zmm13
.if \k == 2
    vpermi2b \s, %zmm4, %zmm13
.else
    vpermi2b \s, %zmm5, %zmm13
.endif
    .irp i, 0, 1
    .if \i < \k - 1
    with_full \i, store_even \i, 0,
    .endif
    .endr
    vmovdqu64 %zmm13, -64(%r8,%r10)
.endm
.macro take_last_of_full s, text
    vmovdqu8 \s, %zmm2{%k1}{z}
.endm

/* Powers of the vector that has the last three blocks of associated data, at place p from the end,
 * and the lengths: all in upper halves. half: whether upper halves of H, or lower ones. */
.macro powers_of_ends half, p, to
.if \p & 1
    vmovdqu64 (powers_end - 64*\p - 64 + 64*\half)(%rdi), \to
.else
    vmovdqu64 (powers_end - 64*\p - 8 + 64*\half)(%rdi), \to
.endif
    vinserti32x4 $3, (powers_end - 128 + 48 + 64*\half)(%rdi), \to, \to
.endm
/* Powers of a vector whose last block is one block in front of place \p from the end: the first one
 * is the last of the place before. */
.macro powers_in_front half, p, to
.if \p & 1
    vmovdqu64 (powers_end - 64*\p - 64 - 16 + 64*\half)(%rdi), \to
    vinserti32x4 $0, (powers_end - 64*\p - 64 + 40 + 64*\half)(%rdi), \to, \to
.else
    vmovdqu64 (powers_end - 64*\p - 16 + 64*\half)(%rdi), \to
    vinserti32x4 $0, (powers_end - 64*\p - 128 + 56 + 64*\half)(%rdi), \to, \to
.endif
.endm
.macro with_powers i, k, what:vararg
.if \i == \k - 1
    \what %zmm1, %zmm2
.elseif \i == 0
    \what %zmm14, %zmm8
.else
    \what %zmm12, %zmm9
.endif
.endm
.macro load_powers_in_front half, p, powers, v
    powers_in_front \half, \p, \powers
.endm
.macro reverse_full powers, v
    vpshufb reversed(%r11), \v, \v
.endm
.macro product_of_full half, p, to, powers, v
    vpclmulqdq $((\p & 1) << 4 | \half), \powers, \v, \to
.endm
/* As hash_of_message. */
.macro hash_of_full k, hi
    .irp i, 0, 1, 2
    .if \i < \k
    with_powers \i, \k, load_powers_in_front 0, (\k - \i),
    with_powers \i, \k, reverse_full
    .endif
    .endr
    vbroadcasti32x4 polynomial(%r11), %zmm15
    with_powers 0, \k, product_of_full 0, \k, %zmm3,
    with_powers 1, \k, product_of_full 0, (\k - 1), %zmm6,
    vpternlogq $0x96, %zmm6, %zmm10, %zmm3
.if \k == 3
    with_powers 2, \k, product_of_full 0, 1, %zmm6,
    vpxorq %zmm6, %zmm3, %zmm3
.endif
    vpclmulqdq $0x00, %zmm15, %zmm3, %zmm13
    vpshufd $0x4e, %zmm3, %zmm3
    .irp i, 0, 1, 2
    .if \i < \k
.if \i == 0
    with_powers \i, \k, product_of_full 1, (\k - \i), %zmm4,
.else
    with_powers \i, \k, product_of_full 1, (\k - \i), %zmm5,
.endif
    with_powers \i, \k, load_powers_in_front 1, (\k - \i),
    with_powers \i, \k, product_of_full 0, (\k - \i), %zmm6,
.if \i == 0
    vpternlogq $0x96, %zmm6, %zmm7, %zmm4
.else
    vpternlogq $0x96, %zmm6, %zmm5, %zmm4
.endif
    .endif
    .endr
    vpternlogq $0x96, %zmm3, %zmm13, %zmm4
    with_powers 0, \k, product_of_full 1, \k, %zmm5,
    with_powers 1, \k, product_of_full 1, (\k - 1), %zmm6,
    vpternlogq $0x96, %zmm6, \hi, %zmm5
.if \k == 3
    with_powers 2, \k, product_of_full 1, 1, %zmm6,
    vpxorq %zmm6, %zmm5, %zmm5
.endif
.endm

/* Parts of \a times H^k. */
.macro multiply a, k, lo, hi, mi, scratch
    vpclmulqdq $0x10, powers_end - 64 - 16*\k(%rdi), \a, \lo
    vpclmulqdq $0x11, powers_end - 16*\k(%rdi), \a, \hi
    vpclmulqdq $0x10, powers_end - 16*\k(%rdi), \a, \mi
    vpclmulqdq $0x11, powers_end - 64 - 16*\k(%rdi), \a, \scratch
.endm

/* At most one block. Without text the block of associated data meets H^2, else H^3. */
.macro message_of_a_block iv
    vmovdqa counter_1(%r11), %xmm3
    vmovdqa counter_2(%r11), %xmm4
    vpternlogq $0x96, round_keys(%rdi), \iv, %xmm3
    vpternlogq $0x96, round_keys(%rdi), \iv, %xmm4
    middle_rounds round_of_two_blocks, 2
    load_aad %r8
    lengths_reversed
    vpshufb reversed(%r11), %xmm1, %xmm1
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
    if_opened_jump 12f
    vmovdqa %xmm4, %xmm0
12: vpshufb reversed(%r11), %xmm0, %xmm2
    vpternlogq $0x96, %xmm1, %xmm12, %xmm9
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
    finish_block %xmm5
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
    test %r8, %r8
    jz 5b
    lea -17(%r8), %rsi
    cmp $160 - 17, %rsi
    jbe 23f
    call other_aad
    jmp 5b
    /* 2 to 10 blocks of associated data: the last vector has the last ones, the
     * text, and the lengths. */
23: vmovdqu round_keys(%rdi,%rdx), %xmm15
    lea 15(%r10), %eax
    and $-16, %eax
    call aad_before_text
    lengths_as_hashed 0
    vaesenclast %xmm15, %xmm3, %xmm0
    test %r10d, %r10d
    jz 28f
    vshufi32x4 $0x03, %zmm1, %zmm1, %zmm14
    vinserti32x4 $3, %xmm2, %zmm14, %zmm14
    mov out(%rsp), %rcx
    cmp $16, %r10d
    jne 24f
    vmovdqu (%r9), %xmm8
25: vpxor %xmm15, %xmm8, %xmm5
    vaesenclast %xmm5, %xmm4, %xmm5
    mov %r10, %rdx
    call store_tag
    if_opened_jump 26f
    mov %r11, %rsi
    sub %r10, %rsi
    vpand first_bytes + 16(%rsi), %xmm5, %xmm8
26: vinserti32x4 $2, %xmm8, %zmm14, %zmm2
    jmp finish_one
28: vshufi32x4 $0x0e, %zmm1, %zmm1, %zmm14
    vinserti32x4 $3, %xmm2, %zmm14, %zmm2
    jmp finish_one
24: load_part %r9, %r10, %xmm8, %xmm13, %rsi
    jmp 25b
    tags_of_other_bytes

10: load_part %r9, %r10, %xmm0, %xmm2, %r8
    jmp 11b
7:  store_part %xmm4, %rsi, %r10, %xmm2
    mov %r11, %rdx
    sub %r10, %rdx
    if_opened_jump 12b
    vpand first_bytes + 16(%rdx), %xmm4, %xmm0
    jmp 12b
8:  multiply %xmm1, 2, %xmm10, %xmm11, %xmm12, %xmm1
    jmp 4b
.endm


/* The parts of the product of as many blocks as a register has, at rcx, with the
 * powers of H for them. */
.macro multiply_blocks width, at, lo, mi, hi, scratch
    vmovdqu64 \at(%rcx), %\width\()mm\scratch
    multiply_loaded \width, \at, \lo, \mi, \hi, \scratch
.endm
.macro multiply_loaded width, at, lo, mi, hi, scratch
    vpshufb reversed(%r11), %\width\()mm\scratch, %\width\()mm\scratch
    vpclmulqdq $0x10, powers_end - 64 + \at(%rsi), %\width\()mm\scratch, %\width\()mm\lo
    vpclmulqdq $0x10, powers_end + \at(%rsi), %\width\()mm\scratch, %\width\()mm\mi
    vpclmulqdq $0x11, powers_end + \at(%rsi), %\width\()mm\scratch, %\width\()mm\hi
    vpclmulqdq $0x11, powers_end - 64 + \at(%rsi), %\width\()mm\scratch, %\width\()mm\scratch
    vpxorq %\width\()mm\scratch, %\width\()mm\mi, %\width\()mm\mi
.endm

/* xmm1 = the last block of associated data, r8 bytes at rcx; the last lanes of zmm1 = up to three
 * blocks before it. If there are more than the text's first vector has lanes for, zmm12 = up to
 * four that have none, in its last lanes, and the bit has_front is set; or up to eight are in zmm12
 * and zmm11, and has_two is set, too. Of still more, xmm1 = the last one plus the hash of all
 * before it: see other_aad. Changes rdx, and what other_aad changes. */
    .text
    .p2align 4
aad_of_vectors:
    EVC_ASM_CFI_BEGIN
    vpxor %xmm1, %xmm1, %xmm1
    cmp $16, %r8
    jle 9f                /* if all but the last block is hashed, too */
    lea 32(%rax), %edx
    neg %edx
    and $48, %edx
    add $16, %edx         /* the bytes of lanes in front of the text */
    lea 15(%r8), %rsi
    and $-16, %rsi
    sub %rdx, %rsi        /* the bytes in front of them, if any */
    jle 1f
    cmp $64, %rsi
    ja 6f
    cmp $most_bytes, %eax
    ja 4f                 /* the text begins in the second vector */
    add %eax, %edx
    cmp $256 - 16, %edx   /* four vectors have lanes or text */
    ja other_aad
4:    orq $1 << has_front, 16 + tag_bytes(%rsp)
7:  vmovdqu (%rcx), %xmm13
    cmp $32, %esi
    jb 2f
    vmovdqu (%rcx), %ymm13
    je 2f
    vinserti32x4 $2, 32(%rcx), %zmm13, %zmm13
    cmp $48, %esi
    je 2f
    vinserti32x4 $3, 48(%rcx), %zmm13, %zmm13
2:  vmovdqu64 quad_numbers(%r11,%rsi), %zmm12
    vpermq %zmm13, %zmm12, %zmm12
1:  mov %r8d, %edx
    neg %edx
    and $15, %edx         /* the bytes that the last block lacks */
    cmp $64, %r8
    jb 3f
    vmovdqu64 -64(%rcx,%r8), %zmm14
    vmovdqu64 (%r11,%rdx), %zmm13
    vpermi2b %zmm1, %zmm14, %zmm13
    vshufi32x4 $0x93, %zmm13, %zmm13, %zmm1
    ret
3:  vmovdqu -16(%rcx,%r8), %xmm1
    vpshufb (%r11,%rdx), %xmm1, %xmm1
    vpand first_bytes(%r11,%rdx), %xmm1, %xmm1
    lea -1(%r8), %edx
    and $-16, %edx
    cmp $32, %edx
    ja 4f
    je 5f
    vinserti32x4 $3, -16(%rcx,%rdx), %zmm1, %zmm1
    ret
5:  vinserti32x4 $2, -32(%rcx,%rdx), %zmm1, %zmm1
    vinserti32x4 $3, -16(%rcx,%rdx), %zmm1, %zmm1
    ret
4:  vinserti32x4 $1, (%rcx), %zmm1, %zmm1
    vinserti64x4 $1, 16(%rcx), %zmm1, %zmm1
    ret
6:  cmp $128, %rsi
    ja other_aad
    add %eax, %edx
    cmp $192 - 16, %edx
    ja other_aad
    orq $1 << has_front | 1 << has_two, 16 + tag_bytes(%rsp)
    sub $64, %esi
    vmovdqu64 (%rcx,%rsi), %zmm11
    jmp 7b
9:  test %r8, %r8
    jns any_aad
    /* A block, plus the hash of those before it. */
aad_of_state:
    vmovdqu (%rcx), %xmm1
    btr $hashed_aad, %r8
    ret
    EVC_ASM_CFI_END

/* The same where one call less is on the stack. */
    .p2align 3
aad_before_text:
    EVC_ASM_CFI_BEGIN
    call aad_of_vectors
    ret
    EVC_ASM_CFI_END

/* xmm1 = the block of associated data: of 1 to 7 or more than 16 bytes, r8 at rcx. That is the last
 * one, plus the hash of those before it: so it meets their powers of H. any_aad: the same, or zeros
 * if there are no bytes. Changes rcx, rsi, vectors 2, 8 to 14, 29 and 30. */
    .text
    .p2align 3
any_aad:
    EVC_ASM_CFI_BEGIN
    vpxor %xmm1, %xmm1, %xmm1
    test %r8, %r8
    jnz other_aad
    ret
other_aad:
    cmp $8, %r8
    ja 4f
    load_part %rcx, %r8, %xmm1, %xmm13, %rsi
    ret
4:  cmp $80, %r8
    ja 11f
    lea -1(%r8), %esi
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
    vpxor %xmm11, %xmm11, %xmm11
    vinserti128 $1, (%rcx), %ymm11, %ymm11
    vinserti64x4 $1, 16(%rcx), %zmm11, %zmm11
    multiply_loaded z, -16, 8, 9, 10, 11
    jmp 9f
8:  multiply_blocks z, 0, 8, 9, 10, 11
9:  reduce %zmm8, %zmm9, %zmm10, %zmm2, %zmm1
    cmp $32, %r8d
    jbe 10f
    fold %zmm10, %ymm10, %xmm10, %ymm1, %xmm1
10: vpshufb reversed(%r11), %xmm10, %xmm1 /* behind more than 80 bytes, too */
    lea -16(%rcx,%r8), %rcx
    mov %r8d, %esi
    neg %esi
    and $15, %esi         /* the bytes that the last block lacks */
    vmovdqu (%rcx), %xmm13
16: vpshufb (%r11,%rsi), %xmm13, %xmm13
    vpand first_bytes(%r11,%rsi), %xmm13, %xmm13
    vpxor %xmm13, %xmm1, %xmm1
    vpxor %xmm9, %xmm9, %xmm9
    vpxor %xmm10, %xmm10, %xmm10
    vpxor %xmm11, %xmm11, %xmm11
    vpxor %xmm12, %xmm12, %xmm12
    ret

    /* More than 80 bytes, in pairs of vectors, with zeros in front: up to 144 in one. Of more, the
     * first pairs are as many as are left over by batches of 8 pairs. A batch has one reduction. */
11: cmp $144, %r8
    ja 17f
    lea -1(%r8), %esi
    and $-16, %esi
    vpxor %xmm8, %xmm8, %xmm8
    vmovdqu64 -64(%r11,%rsi), %zmm14
    vpermi2b (%rcx), %zmm8, %zmm14
    vmovdqu64 -64(%rcx,%rsi), %zmm13
    halves_of %zmm14, %zmm13, %zmm1, %zmm2, %zmm13
    vmovdqu64 powers_end - 128(%rdi), %zmm11
    vmovdqu64 powers_end - 64(%rdi), %zmm12
    vpclmulqdq $0x00, %zmm11, %zmm1, %zmm8
    vpclmulqdq $0x11, %zmm11, %zmm1, %zmm13
    vpclmulqdq $0x00, %zmm12, %zmm2, %zmm10
    vpxorq %zmm13, %zmm8, %zmm8
    vpclmulqdq $0x11, %zmm12, %zmm2, %zmm13
    vpxorq %zmm2, %zmm1, %zmm1
    vpxorq %zmm12, %zmm11, %zmm11
    vpxorq %zmm13, %zmm10, %zmm10
    vpclmulqdq $0x00, %zmm11, %zmm1, %zmm9
    vpclmulqdq $0x11, %zmm11, %zmm1, %zmm13
    vpternlogq $0x96, %zmm8, %zmm10, %zmm9
    vpxorq %zmm13, %zmm9, %zmm9
    vpxor %xmm14, %xmm14, %xmm14
    jmp 9b

17: test %r8, %r8
    js aad_of_state
    evc_save %rdx
    evc_save %rax
    lea -1(%r8), %rax
    and $-16, %rax        /* the bytes of the blocks before the last one */
    lea (%rcx,%rax), %rdx /* behind them */
    lea 127(%rax), %rsi
    neg %rax
    and $127, %eax
    neg %rax              /* minus the number of zeros: 0 to 112 */
    sub $128, %rsi
    and $896, %esi
    neg %rsi
    lea -128(%rdi,%rsi), %rsi
    vpxor %xmm8, %xmm8, %xmm8
    vpxor %xmm9, %xmm9, %xmm9
    vpxor %xmm10, %xmm10, %xmm10
    cmp $-64, %rax
    jle 12f
    vmovdqu64 64(%r11,%rax), %zmm14
    vpermi2b (%rcx), %zmm8, %zmm14
    vmovdqu64 64(%rcx,%rax), %zmm29
    jmp 13f
12: vpxor %xmm14, %xmm14, %xmm14
    vmovdqu64 128(%r11,%rax), %zmm29
    vpermi2b (%rcx), %zmm8, %zmm29
13: lea 128(%rcx,%rax), %rax
14:
    halves_of %zmm14, %zmm29, %zmm1, %zmm2, %zmm13
    vmovdqu64 powers_end(%rsi), %zmm11
    vmovdqu64 powers_end + 64(%rsi), %zmm12
    add_products %zmm1, %zmm11, %zmm8, %zmm13, %zmm30
    add_products %zmm2, %zmm12, %zmm10, %zmm13, %zmm30
    vpxorq %zmm2, %zmm1, %zmm1
    vpxorq %zmm12, %zmm11, %zmm11
    add_products %zmm1, %zmm11, %zmm9, %zmm13, %zmm30
    sub $-128, %rsi
    cmp %rdi, %rsi
    je 15f
    vmovdqu64 (%rax), %zmm14
    vmovdqu64 64(%rax), %zmm29
    sub $-128, %rax
    jmp 14b
15: vpternlogq $0x96, %zmm8, %zmm10, %zmm9
    reduce %zmm8, %zmm9, %zmm10, %zmm2, %zmm1
    fold %zmm10, %ymm10, %xmm10, %ymm1, %xmm1
    cmp %rdx, %rax
    je 16f
    vpshufb reversed(%r11), %xmm10, %xmm14
    vpxorq (%rax), %zmm14, %zmm14
    vmovdqu64 64(%rax), %zmm29
    sub $-128, %rax
    lea -1024(%rdi), %rsi
    vpxor %xmm8, %xmm8, %xmm8
    vpxor %xmm9, %xmm9, %xmm9
    vpxor %xmm10, %xmm10, %xmm10
    jmp 14b
16: vpxor %xmm8, %xmm8, %xmm8
    vpxor %xmm13, %xmm13, %xmm13
    vpxor %xmm14, %xmm14, %xmm14
    vpxord %xmm29, %xmm29, %xmm29
    vpxord %xmm30, %xmm30, %xmm30
    evc_restore %rax
    evc_restore %rdx
    jmp 10b
    EVC_ASM_CFI_END

    define_tag_functions %xmm5
    define_finish %xmm5

/* ---- Long messages ---- */

/*
 * More than 288 bytes of text: groups of 8 vectors and a tail of 2, 4, 6 or 8, so that pairs of
 * vectors meet pairs of powers. The lanes are as above, but all of the first vector's may be left
 * over: then text begins in the second one. A group goes through AES while the one before it is
 * hashed. Up to 8 blocks of associated data that find no lane are a pair of vectors in front, with
 * a power of its own, if text has at most 864 bytes.
 *
 * rcx: the place of lane 0 of a group's first vector in the text. r8: out - in. r9: in; behind the
 * first pair in + rax. zmm0: the whitened counter without its number.
 * zmm1: the last blocks of associated data, and then the tag mask. zmm18: those that go before
 * them, or zeros. zmm2: what is hashed of the last vector: the lengths, and then text too.
 * zmm4 to zmm11: what is hashed of a group.
 * zmm16: numbers of counters, zmm17: counter_bytes, both with more than 9 vectors; zmm19: the last
 * round key. zmm20 to zmm27: vectors of AES, the last one of a group or of the tail in zmm27.
 * zmm28, zmm29, zmm30: lo, mi, hi. Others are scratch.
 */
.macro long_counter s
    vpshufb %zmm17, %zmm16, \s
    vpaddd lanes(%r11){1to16}, %zmm16, %zmm16
    vpxorq %zmm0, \s, \s
.endm
/* Those of the first vectors, which are these registers. */
.macro first_counters vectors:vararg
    .set at, counters + 48
    .irp i, \vectors
    vpxorq at(%rdx), %zmm0, %zmm\i
    .set at, at + 64
    .endr
.endm
.macro long_round r, n
    vbroadcasti32x4 round_keys + 16*\r(%rdi), %zmm3
    .irp i, 20, 21, 22, 23, 24, 25, 26, 27
    .if \i >= 28 - \n
    vaesenc %zmm3, %zmm\i, %zmm\i
    .endif
    .endr
.endm
/* All rounds but the last of these vectors, two at a time; then edx = 16 times their number.
 * Changes rsi. Loops do not cost time here: the vectors are many. */
.macro rolled_rounds vectors:vararg
    vbroadcasti32x4 round_keys + 16(%rdi), %zmm3
    mov rounds(%rdi), %edx
    mov $32, %esi
    shl $4, %edx
    .irp i, \vectors
    vaesenc %zmm3, %zmm\i, %zmm\i
    .endr
1:  vbroadcasti32x4 round_keys(%rdi,%rsi), %zmm3
    vbroadcasti32x4 round_keys + 16(%rdi,%rsi), %zmm31
    add $32, %esi
    .irp i, \vectors
    vaesenc %zmm3, %zmm\i, %zmm\i
    .endr
    .irp i, \vectors
    vaesenc %zmm31, %zmm\i, %zmm\i
    .endr
    cmp %edx, %esi
    jb 1b
.endm
.macro long_counters n
    .irp i, 20, 21, 22, 23, 24, 25, 26, 27
    .if \i >= 28 - \n
    long_counter %zmm\i
    .endif
    .endr
.endm

/* All but zmm17. */
.macro clear_vectors
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    vpxor %xmm\i, %xmm\i, %xmm\i
    .endr
    .irp i, 16, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    vpxord %xmm\i, %xmm\i, %xmm\i
    .endr
    vzeroupper
.endm

/* The next n vectors of counters, through all rounds but the last; from the label `rounds` on
 * without the counters. */
.macro long_vectors n, rounds, vectors:vararg
    EVC_ASM_CFI_BEGIN
    long_counters \n
\rounds:
    rolled_rounds \vectors
    ret
    EVC_ASM_CFI_END
.endm
/* The same of some of a message's vectors, whose counters are there: its first
 * ones, or the last four. */
.macro first_vectors vectors:vararg
    EVC_ASM_CFI_BEGIN
    rolled_rounds \vectors
    ret
    EVC_ASM_CFI_END
.endm
    .p2align 4
first_two:
    first_vectors 20, 21
    .p2align 4
first_three:
    first_vectors 21, 22, 23
    .p2align 4
first_four:
    first_vectors 20, 21, 22, 23
    .p2align 4
rounds_of_four:
    first_vectors 24, 25, 26, 27
    .p2align 4
eight_vectors:
    long_vectors 8, rounds_of_eight, 20, 21, 22, 23, 24, 25, 26, 27
    .p2align 4
first_five:
    first_vectors 21, 22, 23, 24, 25
    .p2align 4
rounds_of_seven:
    first_vectors 21, 22, 23, 24, 25, 26, 27

.macro long_operands a, b, powers, base
    halves_of \a, \b, %zmm12, %zmm13, %zmm14
    vmovdqu64 \powers(\base), %zmm14
    vmovdqu64 \powers + 64(\base), %zmm15
.endm
.macro long_lo
    add_products %zmm12, %zmm14, %zmm28, %zmm31, %zmm18
.endm
.macro long_hi
    add_products %zmm13, %zmm15, %zmm30, %zmm31, %zmm18
.endm
.macro long_mi
    vpxorq %zmm13, %zmm12, %zmm12
    vpxorq %zmm15, %zmm14, %zmm14
    add_products %zmm12, %zmm14, %zmm29, %zmm31, %zmm18
.endm
.macro long_pair a, b, powers, base
    long_operands \a, \b, \powers, \base
    long_lo
    long_hi
    long_mi
.endm
/* Pairs of a group and powers, which are powers_end bytes behind rdx. */
    .p2align 3
hash_first_pair:
    EVC_ASM_CFI_BEGIN
    long_pair %zmm4, %zmm5, powers_end, %rdx
    ret
/* The first pair of a message: with k4 its first vector is empty, and the other
 * one has four products. */
    .p2align 3
hash_first_text:
    kortestw %k4, %k4
    jz hash_first_pair
    vpshufb reversed(%r11), %zmm5, %zmm12
    vpclmulqdq $0x10, powers_end(%rdx), %zmm12, %zmm14
    vpclmulqdq $0x11, powers_end + 64(%rdx), %zmm12, %zmm15
    vpclmulqdq $0x11, powers_end(%rdx), %zmm12, %zmm31
    vpclmulqdq $0x10, powers_end + 64(%rdx), %zmm12, %zmm12
    vpternlogq $0x96, %zmm12, %zmm31, %zmm29
    vpternlogq $0x96, %zmm14, %zmm15, %zmm29 /* as sums of halves have it */
    vpxorq %zmm14, %zmm28, %zmm28
    vpxorq %zmm15, %zmm30, %zmm30
    ret
    .p2align 3
hash_second_pair:
    long_pair %zmm6, %zmm7, powers_end, %rdx
    ret
    .p2align 3
hash_third_pair:
    long_pair %zmm8, %zmm9, powers_end, %rdx
    ret
    EVC_ASM_CFI_END
.macro no_products
    vpxord %xmm28, %xmm28, %xmm28
    vpxord %xmm29, %xmm29, %xmm29
    vpxord %xmm30, %xmm30, %xmm30
.endm

/* A vector of text at `from`, whose place in the output is r8 bytes from there. r: what is
 * hashed. That is chosen by a branch, on eax that is 0 to open, so that what is opened
 * does not wait for AES. */
.macro tail_text s, r, at, from
    open_text \s, \r, \at, \from
    test %eax, %eax
    jz 7f
    vmovdqa64 \s, \r
7:
.endm

/* The same of two or four vectors, one branch for all: numbers of s and r. is_sealed:
 * a register, 0 to open. */
.macro tail_texts at, from, vectors:vararg
    long_texts %eax, \at, \from, \vectors
.endm
.macro long_texts is_sealed, at, from, s1, r1, s2, r2, s3, r3, s4, r4
    open_text %zmm\s1, %zmm\r1, (\at), \from
    open_text %zmm\s2, %zmm\r2, (\at + 64), \from
.ifnb \s3
    open_text %zmm\s3, %zmm\r3, (\at + 128), \from
    open_text %zmm\s4, %zmm\r4, (\at + 192), \from
.endif
    test \is_sealed, \is_sealed
    jz 7f
    vmovdqa64 %zmm\s1, %zmm\r1
    vmovdqa64 %zmm\s2, %zmm\r2
.ifnb \s3
    vmovdqa64 %zmm\s3, %zmm\r3
    vmovdqa64 %zmm\s4, %zmm\r4
.endif
7:
.endm
.macro open_text s, r, at, from
    vmovdqu64 \at(\from), \r
    vpxorq \r, %zmm19, %zmm13
    vaesenclast %zmm13, \s, \s
    vmovdqu64 \s, \at(\from,%r8)
.endm

/* The first vector with lanes, zmm20; its text begins rsi (16, 32, 48, 64) bytes from its start.
 * zmm4 = what is hashed of it. Changes rdx, k2, zmm12, zmm13. */
.macro define_first_text s, r
    mov %r11, %rdx
    sub %rsi, %rdx
    vmovdqu64 aad_quads + 64(%rdx), \r
    vpermi2q (%r9), %zmm1, \r
    kmovq text_masks + 64(%rdx), %k2
    vpxorq \r, %zmm19, %zmm13
    vaesenclast %zmm13, \s, \s
    vmovdqu64 -16(%r11,%rsi), %zmm12
    vpermb \s, %zmm12, %zmm12
    vpxor %xmm12, %xmm1, %xmm1
    kortestw %k3, %k3
    jz 7f
    vmovdqu8 \s, \r{%k2}
7:  lea (%r9,%r8), %rdx
    sub %rsi, %rdx
    cmp $48, %esi
    ja 5f
    vextracti32x4 $3, \s, 48(%rdx)
    je 5f
    vextracti32x4 $2, \s, 32(%rdx)
    cmp $16, %esi
    ja 5f
    vextracti32x4 $1, \s, 16(%rdx)
5:  ret
.endm
    .p2align 3
first_text:
    EVC_ASM_CFI_BEGIN
    define_first_text %zmm20, %zmm4

/* The first pair of vectors, zmm20 and zmm21. zmm4, zmm5 = what is hashed of it. Changes rdx,
 * rsi, k2, zmm12, zmm13. */
    .p2align 3
first_pair:
    mov %r9, %rsi
    sub %rcx, %rsi
    cmp $64, %esi
    ja 4f
    call first_text
    mov %rax, %rsi
    kmovd %k3, %eax
    tail_text %zmm21, %zmm5, 64, %rcx
    mov %rsi, %rax
    ret
4:  sub $64, %esi
    vmovdqa64 %zmm21, %zmm20
    call first_text
    vmovdqa64 %zmm4, %zmm5
    vmovdqa64 %zmm18, %zmm4
    testb $1 << (has_front - 24), 8 + tag_bytes + 3(%rsp)
    jnz 5f
    kxnorw %k4, %k4, %k4
    ret
5:  andq $~(1 << has_front), 8 + tag_bytes(%rsp)
    ret
    EVC_ASM_CFI_END

/* A group's text, at rcx. */
    .p2align 4
group_text:
    EVC_ASM_CFI_BEGIN
    kmovd %k3, %edx
    long_texts %edx, 0, %rcx, 20, 4, 21, 5, 22, 6, 23, 7
    long_texts %edx, 256, %rcx, 24, 8, 25, 9, 26, 10, 27, 11
    ret
    EVC_ASM_CFI_END

/* One of twelve steps that add the products of a group, zmm4 to zmm11, with powers, which are
 * powers_end bytes behind rsi. The first pair comes last, for the hash so far comes late. */
.macro hash_step i
.if \i == 0
    long_operands %zmm6, %zmm7, (powers_end+128), %rsi
.elseif \i == 3
    long_operands %zmm8, %zmm9, (powers_end+256), %rsi
.elseif \i == 6
    long_operands %zmm10, %zmm11, (powers_end+384), %rsi
.elseif \i == 9
    long_operands %zmm4, %zmm5, powers_end, %rsi
.endif
.if \i % 3 == 0
    long_lo
.elseif \i % 3 == 1
    long_hi
.else
    long_mi
.endif
.endm
/* All rounds but the first and the last of n vectors, and these steps. A step goes with a round, as
 * far as there are some: so the multiplier is at work while AES is. */
.macro rounds_and_hash n
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    long_round (\i+2), \n
    hash_step \i
    .endr
    mov rounds(%rdi), %edx
    cmp $12, %edx
    jb 1f
    long_round 10, \n
    hash_step 8
    long_round 11, \n
    hash_step 9
    je 2f
    long_round 12, \n
    hash_step 10
    long_round 13, \n
    hash_step 11
    jmp 3f
1:  hash_step 8
    hash_step 9
2:  hash_step 10
    hash_step 11
3:
.endm

/* The next n vectors of counters, and the group before them is hashed. */
.macro tail_and_hash n
    EVC_ASM_CFI_BEGIN
    long_counters \n
    long_round 1, \n
    rounds_and_hash \n
    ret
    EVC_ASM_CFI_END
.endm
    .p2align 4
tail_of_two:
    tail_and_hash 2
    .p2align 4
tail_of_four:
    tail_and_hash 4
    .p2align 4
tail_of_six:
    tail_and_hash 6
    .p2align 4
tail_of_eight:
    EVC_ASM_CFI_BEGIN
    long_counters 8
    long_round 1, 8
eight_and_hash:
    rounds_and_hash 8
    ret
    EVC_ASM_CFI_END

/* Four vectors of text, and then the next vectors in their places through the first round. */
.macro texts_and_counters at, s1, r1, s2, r2, s3, r3, s4, r4
    long_texts %edx, \at, %rcx, \s1, \r1, \s2, \r2, \s3, \r3, \s4, \r4
    .irp i, \s1, \s2, \s3, \s4
    long_counter %zmm\i
    vaesenc %zmm3, %zmm\i, %zmm\i
    .endr
.endm
/* xmm12 = the hash of all products so far. */
    .p2align 3
hash_of_products:
    EVC_ASM_CFI_BEGIN
    vpternlogq $0x96, %zmm28, %zmm30, %zmm29
    reduce %zmm28, %zmm29, %zmm30, %zmm12, %zmm13
    vmovdqa64 %zmm30, %zmm12
    fold %zmm12, %ymm12, %xmm12, %ymm13, %xmm13
    vpshufb reversed(%r11), %xmm12, %xmm12
    ret
    EVC_ASM_CFI_END
/* One reduction for two groups in a row, behind the second one. */
.macro reduce_second is_second
    test $1, \is_second
    jz 7f
    call hash_of_products
    vpxorq %zmm12, %zmm4, %zmm4
    no_products
7:
.endm

/* rax groups from rcx on, the first of which has been encrypted: encrypts the others, and hashes
 * all but the last one, which rcx is behind then. Of two in a row the first meets the higher
 * powers, and both have one reduction. */
    .p2align 5
groups:
    EVC_ASM_CFI_BEGIN
    add $512, %rcx
    dec %rax
    jz 5f
    long_counters 8
    long_round 1, 8
4:  lea -1024(%rdi), %rsi
    lea -512(%rdi), %rdx
    test $1, %al
    cmovnz %rdx, %rsi
    call eight_and_hash
    cmp $1, %rax
    je 6f
    vbroadcasti32x4 round_keys + 16(%rdi), %zmm3
    kmovd %k3, %edx
    texts_and_counters 0, 20, 4, 21, 5, 22, 6, 23, 7
    texts_and_counters 256, 24, 8, 25, 9, 26, 10, 27, 11
    reduce_second %al
    add $512, %rcx
    dec %rax
    jmp 4b
6:  call group_text
    reduce_second %al
    add $512, %rcx
5:  ret
    EVC_ASM_CFI_END

/* The products of a pair of vectors in front of all others: its last blocks are the first rdx bytes
 * (16 to 128) of associated data. They are taken from r8 bytes at rcx. Changes rdx, vectors 4, 5
 * and those of hash_first_pair. */
    .p2align 3
pair_in_front:
    EVC_ASM_CFI_BEGIN
    vpxor %xmm4, %xmm4, %xmm4
    cmp $64, %edx
    ja 1f
    vmovdqu (%rcx), %xmm13
    cmp $32, %edx
    jb 2f
    vmovdqu (%rcx), %ymm13
    je 2f
    vinserti32x4 $2, 32(%rcx), %zmm13, %zmm13
    cmp $48, %edx
    je 2f
    vinserti32x4 $3, 48(%rcx), %zmm13, %zmm13
2:  vmovdqu64 quad_numbers(%r11,%rdx), %zmm5
    vpermq %zmm13, %zmm5, %zmm5
    jmp 3f
1:  vmovdqu64 -64(%r11,%rdx), %zmm12
    vmovdqu64 -64(%rcx,%rdx), %zmm5
    vpermi2b (%rcx), %zmm4, %zmm12
    vmovdqa64 %zmm12, %zmm4
3:  add %rdx, %rcx
    sub %rdx, %r8
    lea 32 + 127 + 128(%rax), %edx
    and $-128, %edx
    neg %rdx
    add %rdi, %rdx
    jmp hash_first_pair
    EVC_ASM_CFI_END

    .p2align 4
long_message:
    EVC_ASM_CFI_BEGIN
    kxorw %k4, %k4, %k4
    kxnorw %k3, %k3, %k3
    testb $1 << (opens - 24), tag_bytes + 3(%rsp)
    jz 1f
    kxorw %k3, %k3, %k3
1:
    /* With many keys, the next one is in memory. All its powers are needed soon, so their
     * lines are fetched at once. */
    cmp $1024, %r10
    jbe 1f
    .set at, powers_end - 1024
    .rept 1024/64
    prefetcht0 at(%rdi)
    .set at, at + 64
    .endr
1:
    vpxor round_keys(%rdi), %xmm0, %xmm0
    vshufi32x4 $0, %zmm0, %zmm0, %zmm0
    lea 15(%r10), %rax
    and $-16, %rax
    mov %eax, %esi
    neg %esi
    sub $32, %esi
    and $127, %esi        /* the bytes of lanes left over */
    mov %r11, %rdx
    sub %rsi, %rdx        /* their counters are in the table, from here on */
    cmp $384 - 32, %rax
    ja 1f
    first_counters 20, 21, 24, 25, 26, 27
    call first_two
    jmp 2f
1:  first_counters 20, 21, 22, 23, 24, 25, 26, 27
    cmp $512 - 32, %rax
    ja 4f
    cmp $448 - 32, %rax
    ja 10f
    call first_three
    jmp 2f
10: call first_four
2:  vbroadcasti32x4 round_keys(%rdi,%rdx), %zmm19
    lengths_of %r8
    vpshufb words_reversed(%r11), %xmm2, %xmm2
    vshufi32x4 $0x15, %zmm2, %zmm2, %zmm2
    no_products
17: vpxord %xmm18, %xmm18, %xmm18
    lea -8(%r8), %rsi
    cmp $8, %rsi
    ja 6f
    vmovq (%rcx), %xmm1
    vmovq -8(%rcx,%r8), %xmm13
    mov %r11, %rsi
    sub %r8, %rsi
    vpshufb 16(%rsi), %xmm13, %xmm13
    vpunpcklqdq %xmm13, %xmm1, %xmm1
    jmp 7f
6:  lea 32(%rax), %esi
    neg %esi
    and $112, %esi
    add $16, %esi         /* the bytes of lanes in front of the text */
    cmp %rsi, %r8
    ja 5f
    vpxor %xmm1, %xmm1, %xmm1
    test %r8, %r8
    jz 7f
    call aad_before_text
    testb $1 << (has_front - 24), tag_bytes + 3(%rsp)
    jz 7f
    vmovdqa64 %zmm12, %zmm18
    jmp 7f
5:  lea 15(%r8), %rdx
    and $-16, %rdx
    sub %rsi, %rdx        /* the bytes that find no lane */
    cmp $128, %rdx
    ja 18f
    cmp $1024 - 128 - 32, %rax
    ja 18f
    call pair_in_front
    jmp 17b
18: vmovdqa64 %zmm2, %zmm3
    call any_aad
    vmovdqa64 %zmm3, %zmm2
    jmp 7f
4:  cmp $640 - 32, %rax
    ja 8f
    cmp $64, %esi
    jb 8f
    call first_five
    jmp 2b
8:  vbroadcasti32x4 counter_bytes(%r11), %zmm17
    shr $4, %esi
    neg %esi
    add $33, %esi         /* the number of the first lane behind 8 vectors; J_0 has 1 */
    vpbroadcastd %esi, %zmm16
    vpaddd lane_numbers(%r11), %zmm16, %zmm16
    cmp $29, %esi         /* text begins in the second vector */
    jbe 3f
    call rounds_of_eight
    jmp 2b
3:  call rounds_of_seven
    jmp 2b
7:  mov out(%rsp), %r8
    sub %r9, %r8
    lea 32 + 127(%rax), %rdx
    and $-128, %rdx       /* the bytes of all vectors */
    lea 16(%r9,%rax), %rcx
    sub %rdx, %rcx
    mov %rdx, %r10        /* a register is free */
    call first_pair
    add %rax, %r9
    cmp $512, %r10
    ja 3f
    call rounds_of_four
    mov %rdi, %rdx
    sub %r10, %rdx
    call hash_first_text
    lea -128(%r10), %edx
    jmp 8f

3:  mov %r9, %rsi
    sub %rax, %rsi
    sub %rcx, %rsi        /* where the text begins */
    kmovd %k3, %eax
    tail_texts 128, %rcx, 22, 6, 23, 7, 24, 8, 25, 9
    cmp $64, %esi
    jbe 2f
    cmp $640, %r10
    jne 2f
    mov %r11, %rdx
    sub %rsi, %rdx
    .set at, counters + 64 + 6*64 /* those behind the first six */
    .irp i, 24, 25, 26, 27
    vpxorq at(%rdx), %zmm0, %zmm\i
    .set at, at + 64
    .endr
    test %eax, %eax       /* what is opened is hashed first: it does not wait for AES */
    jz 5f
    call rounds_of_four
5:  mov %rdi, %rdx
    sub %r10, %rdx
    call hash_first_text
    sub $-128, %rdx
    call hash_second_pair
    sub $-128, %rdx
    call hash_third_pair
    test %eax, %eax
    jnz 6f
    call rounds_of_four
6:  mov $256, %edx
    jmp 8f

2:  tail_texts 384, %rcx, 26, 10, 27, 11
    lea -128(%r10), %rax
    shr $9, %rax          /* groups */
    call groups

    /* The tail, and the group before it. */
    lea 16(%r9), %r10
    sub %rcx, %r10        /* the bytes of the tail's vectors */
    lea -512(%rdi), %rsi
    sub %r10, %rsi
    cmp $256, %r10d
    ja 12f
    je 11f
    call tail_of_two
    jmp 14f
11: call tail_of_four
    jmp 14f
12: cmp $384, %r10d
    ja 13f
    call tail_of_six
    jmp 14f
13: call tail_of_eight
14:
    mov %r10d, %edx

    /* edx: the bytes of the vectors left, the last ones. The last one is read before
     * others are written to. */
8:  mov len_bytes(%rsp), %esi
    neg %esi
    and $15, %esi         /* the bytes that the last block lacks */
    kmovq last_text_masks(%r11,%rsi,8), %k1
    kmovd %k3, %eax
    mov %r9, %rcx
    sub %rsi, %rcx
    vmovdqu64 16(%r11,%rsi), %zmm12
    vpermb -64(%rcx), %zmm12, %zmm12
    vmovdqu8 %zmm12, %zmm2{%k1}
    vpxorq %zmm12, %zmm19, %zmm13
    vaesenclast %zmm13, %zmm27, %zmm27
    test %eax, %eax
    jz 1f
    vmovdqu8 %zmm27, %zmm2{%k1}
1:  cmp $256, %edx
    jb 9f
    je 10f
    cmp $384, %edx
    je 11f
    tail_texts (16-512), %r9, 20, 4, 21, 5
    lea -512(%rdi), %rdx
    call hash_first_pair
11: tail_texts (16-384), %r9, 22, 6, 23, 7
    lea -384(%rdi), %rdx
    call hash_second_pair
10: tail_texts (16-256), %r9, 24, 8, 25, 9
    lea -256(%rdi), %rdx
    call hash_third_pair
9:  tail_text %zmm26, %zmm10, (16-128), %r9
    mov %r11, %rdx
    sub %rsi, %rdx
    vmovdqu64 48(%rdx), %zmm12
    vpermi2b %zmm27, %zmm26, %zmm12
    vmovdqu64 %zmm12, -64(%rcx,%r8)
    long_pair %zmm10, %zmm2, (powers_end-128), %rdi
    call hash_of_products
    vpxor %xmm1, %xmm12, %xmm5
    mov tag(%rsp), %rcx
    mov tag_bytes(%rsp), %rdx
    test %eax, %eax
    jz 15f
    xor %eax, %eax
    call store_tag
    jmp 16f
15: btr $opens, %rdx
    call compare_tag
16:
clear_and_return:
    clear_vectors
    ret
    EVC_ASM_CFI_END

/* Groups of a piece of a message: key, counter, y in rdi, rsi, rdx; in, out in rcx, r8; their
 * number, at least one, in r9; and whether to open on the stack. */
.set opening, 8
evc_function evc_gcm_x86_vaes512_groups
    lea byte_numbers(%rip), %r11
    vmovq (%rsi), %xmm0
    vpinsrd $2, 8(%rsi), %xmm0, %xmm0
    vpxor round_keys(%rdi), %xmm0, %xmm0
    vshufi32x4 $0, %zmm0, %zmm0, %zmm0
    vbroadcasti32x4 counter_bytes(%r11), %zmm17
    mov 12(%rsi), %eax
    bswap %eax
    vpbroadcastd %eax, %zmm16
    vpaddd lane_numbers(%r11), %zmm16, %zmm16
    kxnorw %k3, %k3, %k3
    cmpl $0, opening(%rsp)
    je 1f
    kxorw %k3, %k3, %k3
1:  mov %rdx, %r10
    mov %r9, %rax
    sub %rcx, %r8
    call eight_vectors
    vbroadcasti32x4 round_keys(%rdi,%rdx), %zmm19
    no_products
    call group_text
    vmovdqu (%r10), %xmm12
    vpxorq %zmm12, %zmm4, %zmm4
    call groups
    lea -384(%rdi), %rdx
    call hash_second_pair
    sub $-128, %rdx
    call hash_third_pair
    long_pair %zmm10, %zmm11, (powers_end-128), %rdi
    lea -512(%rdi), %rdx
    call hash_first_pair
    call hash_of_products
    vmovdqu %xmm12, (%r10)
    jmp clear_and_return
evc_end evc_gcm_x86_vaes512_groups

    define_open evc_gcm_x86_vaes512, orq $1 << opens, tag_bytes(%rsp)

evc_function evc_gcm_x86_vaes512_seal, message
    mov len_bytes(%rsp), %r10
    lea byte_numbers(%rip), %r11
    load_iv %xmm0
    cmp $most_bytes, %r10
    ja long_message
    cmp $64, %r10d
    ja 34f
    cmp $32, %r10d
    ja 32f
    cmp $16, %r10d
    ja 31f
    message_of_a_block %xmm0
31: message 1
32: cmp $48, %r10d
    ja 33f
    even_message 1, 0
33: even_message 2, 1
34: cmp $128, %r10d
    ja 45f
    cmp $112, %r10d
    ja 36f
    cmp $96, %r10d
    ja 35f
    cmp $80, %r10d
    ja 46f
    half_message 2
46: message 2
35: even_message 2, 0
36: if_opened_jump 37f
    full_message 2, %zmm9
37: even_message 3, 1
45: cmp $192, %r10d
    ja 41f
    cmp $176, %r10d
    ja 39f
    cmp $160, %r10d
    ja 38f
    cmp $144, %r10d
    ja 47f
    half_message 3
47: message 3
38: even_message 3, 0
39: if_opened_jump 40f
    full_message 3, %zmm11
40: even_message 4, 1
41: cmp $240, %r10d
    ja 43f
    cmp $224, %r10d
    ja 42f
    cmp $208, %r10d
    ja 48f
    half_message 4
48: message 4
42: even_message 4, 0
43: cmp $256, %r10d
    ja 44f
    even_message 5, 1
44: message 5
evc_end evc_gcm_x86_vaes512_seal

#endif
