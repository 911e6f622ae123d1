/* SPDX-License-Identifier: MIT */
/*
 * The kernel x86_vaes512_intel: messages of more than 256 bytes of text, and groups of
 * vectors for pieces of messages.
 *
 * Groups of 8 vectors (32 blocks), as many as leave 1 to 32 blocks behind them: the tail, 1 to 8
 * vectors. A group goes through AES, and the one before it is hashed beside it. The tail goes
 * through AES by 4 vectors, and then the last 1 to 4, or of 8 twice 2; the last group goes by 4,
 * too, in front of a tail of at most 4 vectors, and in a message of at most 1024 bytes. The
 * products of 4 vectors stand between the rounds of the next ones. At the end of a message they
 * would wait for AES in such numbers that the core could not begin the next message. A group has
 * one reduction, and the tail has one.
 *
 * Hash:     without groups, associated data and lengths are hashed as those of shorter messages.
 *           Else one block of associated data meets H^33; the hash of more blocks is added to the
 *           first block of text. The hash of groups meets H^(t+1) in front of a tail of t blocks,
 *           in one vector with the lengths, which are multiplied while AES is under way.
 * Counters: that of block j of group k is 32 k + j + 2. One register has 32 k with the IV and the
 *           first round key added to it; the counters of the first 30 blocks are that xor
 *           constants, with k = 0 those of 64 blocks. The last two blocks have counters from 32
 *           (k + 1) on, which is in another register.
 * J_0:      is in the last lane of the last vector, if text leaves that free; else a block of its
 *           own beside the first four vectors.
 * End:      the last vector is taken by one access that ends where the text does,
 *           and moved into its place.
 *
 * rdi = key, r9 = in, r10 = len_bytes, r11 = tables; of the text: r8 = out, from where r9 is; rax:
 * groups. zmm0: the IV and the first key. zmm3: 32 k as a number. zmm4: the whitened counters of a
 * group, without constants. zmm6: the lengths. zmm8: J_0. zmm9, zmm10, zmm11: sums of products.
 * zmm15: the last round key.
 * zmm16 to zmm23: vectors of AES, the last one of a group or a tail in zmm23. zmm24 to zmm31: what
 * is hashed of a group. k3: the last two blocks of zmm23. Others are scratch.
 */
#ifndef EVC_GCM_X86_INTEL_LONG_ASM_H
#define EVC_GCM_X86_INTEL_LONG_ASM_H

/* ---- AES ---- */

/* A round of these vectors by the key zmm\k. with_j0: whether J_0 is beside them. */
.macro flat_round k, with_j0, vectors:vararg
    .irp i, \vectors
    vaesenc %zmm\k, %zmm\i, %zmm\i
    .endr
.if \with_j0
    vaesenc %xmm\k, %xmm8, %xmm8
.endif
.endm
/* All rounds but the last of these vectors; then rsi is where the last key is. rsi_is_set:
 * whether it is so before. */
.macro flat_rounds with_j0, rsi_is_set, vectors:vararg
.if \rsi_is_set
    lea round_keys + 32(%rdi), %rdx
    vbroadcasti32x4 round_keys + 16(%rdi), %zmm13
    sub %rsi, %rdx
.else
    mov rounds(%rdi), %esi
    mov $32, %edx
    vbroadcasti32x4 round_keys + 16(%rdi), %zmm13
    shl $4, %esi
    sub %rsi, %rdx
    lea round_keys(%rdi,%rsi), %rsi
.endif
    flat_round 13, \with_j0, \vectors
1:  vbroadcasti32x4 (%rsi,%rdx), %zmm13
    vbroadcasti32x4 16(%rsi,%rdx), %zmm14
    flat_round 13, \with_j0, \vectors
    flat_round 14, \with_j0, \vectors
    add $32, %rdx
    jnz 1b
.endm
/* Counters of the first vectors, for these registers. */
.macro flat_counters base, vectors:vararg
    .set at, counters
    .irp i, \vectors
    vpxorq at(%r11), \base, %zmm\i
    .set at, at + 64
    .endr
.endm
/* Those of a group behind another one, and the last ones alone, for a tail of 8 vectors,
 * too; changes zmm3, zmm5. */
.macro group_counters base
    flat_counters \base, 16, 17, 18, 19, 20, 21, 22
    end_of_group_counters \base
.endm
.macro end_of_group_counters base
    vpaddd group_step(%r11), %zmm3, %zmm3
    vpshufb words_of_counters(%r11), %zmm3, %zmm5
    vpxorq %zmm0, %zmm5, %zmm5
    vpxorq group_end_counters(%r11), \base, %zmm23
    vpxorq group_end_counters(%r11), %zmm5, %zmm23{%k3}
.endm
    .text
    .p2align 4
eight_rounds:
    EVC_ASM_CFI_BEGIN
    flat_rounds 0, 0, 16, 17, 18, 19, 20, 21, 22, 23
    ret
    EVC_ASM_CFI_END

/* The first group: J_0 is beside its first four, if the last vector of the
 * message has no lane for it. */
    .p2align 4
aes_of_first_group:
    EVC_ASM_CFI_BEGIN
    lea -1(%r10), %edx
    flat_counters %zmm0, 16, 17, 18, 19, 20, 21, 22, 23
    not %edx
    test $48, %edx
    jnz eight_rounds
    flat_rounds 1, 0, 16, 17, 18, 19
    flat_rounds 0, 1, 20, 21, 22, 23
    ret
    EVC_ASM_CFI_END

/* The first four vectors of a message of at most 1024 bytes; J_0 as above. */
    .p2align 4
aes_of_first_four:
    EVC_ASM_CFI_BEGIN
    lea -1(%r10), %edx
    flat_counters %zmm0, 20, 21, 22, 23
    not %edx
    test $48, %edx
    jz 2f
    flat_rounds 0, 0, 20, 21, 22, 23
    ret
    .p2align 4
2:  flat_rounds 1, 0, 20, 21, 22, 23
    ret
    EVC_ASM_CFI_END

/* ---- The hash ---- */

/* Two rounds of a group, and the products of two vectors of the one before it, so that
 * both units have work. */
.macro two_rounds r, a, b, powers
    vbroadcasti32x4 round_keys + 16*\r(%rdi), %zmm1
    vbroadcasti32x4 round_keys + 16*\r + 16(%rdi), %zmm12
    flat_round 1, 0, 16, 17, 18, 19, 20, 21, 22, 23
    flat_round 12, 0, 16, 17, 18, 19, 20, 21, 22, 23
.ifnb \a
    pair_products \a, \b, \powers, %rdi
.endif
.endm
/* All rounds but the last of a group, and xmm10 = the hash of the one before it,
 * as hash_group has it. */
    .p2align 4
rounds_and_hash:
    EVC_ASM_CFI_BEGIN
    vbroadcasti32x4 round_keys + 16(%rdi), %zmm1
    flat_round 1, 0, 16, 17, 18, 19, 20, 21, 22, 23
    two_rounds 2, 26, 27, (powers_end - 384)
    two_rounds 4, 28, 29, (powers_end - 256)
    two_rounds 6, 30, 31, (powers_end - 128)
    two_rounds 8, 24, 25, (powers_end - 512)
    reduce_products
    mov rounds(%rdi), %edx
    cmp $12, %edx
    jb 1f
    two_rounds 10
    je 1f
    two_rounds 12
1:  ret
    EVC_ASM_CFI_END
/* All rounds but the last of n vectors, and the products of the four before them, zmm24 to zmm27.
 * zmm4: whitened counters without constants, which are those of tables from rsi on; rax: 64 times
 * the number of the last vector from there; zmm23: that vector, with its counters; zmm13: the first
 * powers, from powers_end - 512(rdx) on. Changes ecx. */
.macro rounds_beside r, vectors:vararg
    vbroadcasti32x4 round_keys + 16*\r(%rdi), %zmm1
    vbroadcasti32x4 round_keys + 16*\r + 16(%rdi), %zmm12
    flat_round 1, 0, \vectors
    flat_round 12, 0, \vectors
.endm
.macro define_beside n, vectors:vararg
    .p2align 4
beside_\n:
    EVC_ASM_CFI_BEGIN
    .set at, counters - 64*(\n - 1)
    .irp i, \vectors
    .if \i < 23
    vpxorq at(%rsi,%rax), %zmm4, %zmm\i
    .set at, at + 64
    .endif
    .endr
    rounds_beside 1, \vectors
    rounds_beside 3, \vectors
    vmovdqu64 powers_end - 512 + 64(%rdx), %zmm14
    products_of_pair 24, 25
    rounds_beside 5, \vectors
    rounds_beside 7, \vectors
    pair_products 26, 27, (powers_end - 512 + 128), %rdx
    vbroadcasti32x4 round_keys + 16*9(%rdi), %zmm1
    flat_round 1, 0, \vectors
    mov rounds(%rdi), %ecx
    cmp $12, %ecx
    jb 1f
    rounds_beside 10, \vectors
    je 1f
    rounds_beside 12, \vectors
1:  ret
    EVC_ASM_CFI_END
.endm
    define_beside 1, 23
    define_beside 2, 22, 23
    define_beside 3, 21, 22, 23
/* J_0 to its lane, if text leaves that free. Assemblers of Apple want a macro with immediate
 * values to have an argument. */
.macro insert_j0 lane=48
    lea -1(%r10), %ecx
    not %ecx
    test $\lane, %ecx
    jz 2f
    vinserti32x4 $3, %xmm8, %zmm23, %zmm23
2:
.endm
/* Four that are not the last ones; zmm13 and zmm23 are set here. */
    .p2align 4
four_beside:
    EVC_ASM_CFI_BEGIN
    vpxorq counters(%rsi,%rax), %zmm4, %zmm23
    vmovdqu64 powers_end - 512(%rdx), %zmm13
    EVC_ASM_CFI_END
    define_beside 4, 20, 21, 22, 23
/* The last 1 to 4 of a message that does not end with 8 vectors; these, too. */
    .p2align 4
last_beside:
    EVC_ASM_CFI_BEGIN
    vpxorq counters(%rsi,%rax), %zmm4, %zmm23
    vmovdqu64 powers_end - 512(%rdx), %zmm13
    insert_j0
    mov %eax, %ecx
    and $192, %ecx
    jz beside_1
    cmp $128, %ecx
    jb beside_2
    je beside_3
    jmp beside_4
    EVC_ASM_CFI_END
/* Numbers 4 and 5 of 8 vectors, counted from 0. If the last one is full, the first
 * block of the 8 meets H^33. */
    .p2align 4
two_beside:
    EVC_ASM_CFI_BEGIN
    lea -1(%r10), %ecx
    mov $320, %eax
    and $48, %ecx
    vpxorq counters + 320(%rsi), %zmm4, %zmm23
    vmovdqu64 powers_end - 512(%rdx), %zmm13
    cmp $48, %ecx
    jne beside_2
    vmovdqu power_33(%rdi), %xmm13
    vinserti128 $1, powers_end - 512(%rdi), %ymm13, %ymm13
    vinserti64x4 $1, powers_end - 512 + 16(%rdi), %zmm13, %zmm13
    jmp beside_2
    EVC_ASM_CFI_END
/* Numbers 6 and 7, beside those two: few products are left then. */
    .p2align 4
last_two_beside:
    EVC_ASM_CFI_BEGIN
    vpxorq counters + 384(%rsi), %zmm4, %zmm22
    vpxorq counters + 448(%rsi), %zmm4, %zmm23
    cmp $1024, %r10
    jbe 1f
    end_of_group_counters %zmm4
1:  insert_j0
    rounds_beside 1, 22, 23
    rounds_beside 3, 22, 23
    pair_products 24, 25, (powers_end - 512 + 256), %rdx
    rounds_beside 5, 22, 23
    rounds_beside 7, 22, 23
    vbroadcasti32x4 round_keys + 16*9(%rdi), %zmm1
    flat_round 1, 0, 22, 23
    mov rounds(%rdi), %ecx
    cmp $12, %ecx
    jb 1f
    rounds_beside 10, 22, 23
    je 1f
    rounds_beside 12, 22, 23
1:  ret
    EVC_ASM_CFI_END

/* Plus the products of the first four vectors of a group, zmm24 to zmm27, where
 * the other four are then. */
    .p2align 4
hash_half:
    EVC_ASM_CFI_BEGIN
    pair_products 24, 25, (powers_end - 512), %rdi
    pair_products 26, 27, (powers_end - 384), %rdi
    vmovdqa64 %zmm28, %zmm24
    vmovdqa64 %zmm29, %zmm25
    vmovdqa64 %zmm30, %zmm26
    vmovdqa64 %zmm31, %zmm27
    mov %r11, %rsi
    ret
    EVC_ASM_CFI_END
/* xmm12 = the hash of that group; AES of the first four vectors of the last one. */
    .p2align 4
hash_other_half:
    EVC_ASM_CFI_BEGIN
    lea 256(%rdi), %rdx
    mov $192, %eax
    call four_beside
    reduce_products
    vmovdqa %xmm10, %xmm12
    no_sums
    ret
    EVC_ASM_CFI_END
/* xmm10 = the hash of a group, zmm24 to zmm31, and of what is in the sums. */
    .p2align 4
hash_group:
    EVC_ASM_CFI_BEGIN
    pair_products 26, 27, (powers_end - 384), %rdi
    pair_products 28, 29, (powers_end - 256), %rdi
    pair_products 30, 31, (powers_end - 128), %rdi
    pair_products 24, 25, (powers_end - 512), %rdi
    reduce_products
    ret
    EVC_ASM_CFI_END

/* xmm12 = the hash of associated data, if that is more than a block: else xmm1 = that block, or the
 * last one plus the hash of those before it, from a state. All have reversed bytes, and what is not
 * there is 0. xmm6 = the lengths; zmm15 = the last round key, from rsi. */
    .p2align 4
aad_of_long:
    EVC_ASM_CFI_BEGIN
    vmovq %r8, %xmm6
    vmovq 8 + len_bytes(%rsp), %xmm2
    vbroadcasti32x4 (%rsi), %zmm15
    lea -1(%r8), %rsi
    vpunpcklqdq %xmm6, %xmm2, %xmm6
    vpsllq $3, %xmm6, %xmm6
    vpxor %xmm12, %xmm12, %xmm12
    cmp $16, %rsi
    jae 64f
    cmp $15, %rsi
    jne 65f
    vmovdqu (%rcx), %xmm1
66: vpshufb reversed(%r11), %xmm1, %xmm1
    ret
65: load_part %rcx, %r8, %xmm1, %xmm2, %rsi
    jmp 66b
64: vpxor %xmm1, %xmm1, %xmm1
    test %r8, %r8
    js 67f
    jnz 68f
    ret
67: btr $hashed_aad, %r8
    vmovdqu (%rcx), %xmm1
    jmp 66b
68: call hash_of_aad
    vmovdqa %xmm10, %xmm12
    vpxor %xmm1, %xmm1, %xmm1
    ret
    EVC_ASM_CFI_END

/* ---- Text ---- */

/* The last round of a vector of text at number \at. e: what is hashed, bytes reversed. */
.macro flat_text opens, at, s, e
.if \opens
    vmovdqu64 \at(%r9), %zmm\e
    vpxorq %zmm\e, %zmm15, %zmm7
    vaesenclast %zmm7, %zmm\s, %zmm\s
    vmovdqu64 %zmm\s, \at(%r8)
    vpshufb reversed(%r11), %zmm\e, %zmm\e
.else
    vpxorq \at(%r9), %zmm15, %zmm7
    vaesenclast %zmm7, %zmm\s, %zmm\s
    vmovdqu64 %zmm\s, \at(%r8)
    vpshufb reversed(%r11), %zmm\s, %zmm\e
.endif
.endm
.macro define_group_texts opens
    .p2align 4
group_texts_\opens:
    EVC_ASM_CFI_BEGIN
    flat_text \opens, 0, 16, 24
    flat_text \opens, 64, 17, 25
    flat_text \opens, 128, 18, 26
    flat_text \opens, 192, 19, 27
    flat_text \opens, 256, 20, 28
    flat_text \opens, 320, 21, 29
    flat_text \opens, 384, 22, 30
    flat_text \opens, 448, 23, 31
    ret
    EVC_ASM_CFI_END
.endm
    define_group_texts 0
    define_group_texts 1
.macro define_texts_of_four opens
    .p2align 4
texts_of_four_\opens:
    EVC_ASM_CFI_BEGIN
    flat_text \opens, 0, 20, 24
    flat_text \opens, 64, 21, 25
    flat_text \opens, 128, 22, 26
    flat_text \opens, 192, 23, 27
    ret
    EVC_ASM_CFI_END
.endm
    define_texts_of_four 0
    define_texts_of_four 1

.macro define_long_message opens
    EVC_ASM_CFI_BEGIN
    vpxor round_keys(%rdi), %xmm0, %xmm0
    lea -1(%r10), %rax
    vshufi32x4 $0, %zmm0, %zmm0, %zmm0
    vpxor counter_1(%r11), %xmm0, %xmm8
    /* The schedulers are full of AES that waits for a key from far away before they
     * see a load of powers. */
    .set at, powers_end - 512
    .rept 9
    prefetcht0 at(%rdi)
    .set at, at + 64
    .endr
    cmp $1024, %r10
    ja by_eight_\opens
    /* By four vectors. */
    call aes_of_first_four
    vmovdqa64 %zmm0, %zmm4
    cmp $512, %r10d
    ja by_four_\opens
    vbroadcasti32x4 (%rsi), %zmm15
    lea 15(%r10), %eax
    and $-16, %eax
    call aad_and_lengths_of_long
    mov out(%rsp), %r8
    lea -1(%r10), %eax
    jmp text_of_tail_\opens
    /* Sealed text of at most 768 bytes has a reduction behind 4 vectors, other text behind 8. */
by_four_\opens:
    call aad_of_long
    mov out(%rsp), %r8
    mov $448, %eax
    mov %r11, %rsi
    vmovdqu power_33(%rdi), %xmm13
    mov %rdi, %rdx
.if !\opens
    cmp $768, %r10d
    ja 9f
    vmovdqu powers_end - 17*16(%rdi), %xmm13
    add $256, %rdx
9:
.endif
    set_products x, 1, 13, 7
    call texts_of_four_\opens
    vpxorq %zmm12, %zmm24, %zmm24
    call four_beside
    add $256, %r9
    add $256, %r8
.if !\opens
    lea -257(%r10), %ecx
    cmp $768, %r10d
    jbe reduce_groups_\opens
.endif
    call texts_of_four_\opens
    add $256, %r9
    add $256, %r8
    lea 512(%r11), %rsi
    jmp tail_\opens

    /* By eight. */
by_eight_\opens:
    call aes_of_first_group
    call aad_of_long
    lea -257(%r10), %rax
    shr $9, %rax          /* groups, but for a last one that goes by fours */
    vmovdqu power_33(%rdi), %xmm13
    set_products x, 1, 13, 7
    mov $0xf0, %edx
    vmovdqa64 group_step(%r11), %zmm3
    kmovd %edx, %k3
    mov out(%rsp), %r8
    vpshufb words_of_counters(%r11), %zmm3, %zmm4
    vpxorq %zmm0, %zmm4, %zmm4
    jmp 12f
    .p2align 5
11: group_counters %zmm4
    call rounds_and_hash
    vmovdqa64 %zmm5, %zmm4
    vmovdqa %xmm10, %xmm12
    no_sums
12: call group_texts_\opens
    vpxorq %zmm12, %zmm24, %zmm24
    add $512, %r9
    add $512, %r8
    dec %rax
    jnz 11b
    call hash_half
    lea -1(%r10), %ecx
    test $256, %ecx
    jnz tail_\opens
    call hash_other_half
    call texts_of_four_\opens
    vpxorq %zmm12, %zmm24, %zmm24
    end_of_group_counters %zmm4
    vmovdqu64 powers_end - 512(%rdi), %zmm13
    mov %rdi, %rdx
    mov $448, %eax
    call beside_4
    vmovdqa64 %zmm5, %zmm4
    add $256, %r9
    add $256, %r8
    call texts_of_four_\opens
    add $256, %r9
    add $256, %r8

    /* The tail behind the last four vectors of groups, zmm24 to zmm27. */
tail_\opens:
    lea -1(%r10), %eax
    lea 256(%rdi), %rdx
    and $448, %eax
    cmp $256, %eax
    jb 15f
    mov $192, %eax
    call four_beside
    lea -1(%r10), %ecx
    jmp reduce_groups_\opens
15: call last_beside
    lea -1(%r10), %ecx
reduce_groups_\opens:
    reduce_products
    vmovdqa %xmm10, %xmm1
    mov %ecx, %eax
    and $496, %ecx
    add $32, %ecx

    /* The hash of groups meets the power of number rcx / 16. */
    mov %rdi, %rsi
    sub %rcx, %rsi
    cmp $512, %ecx
    ja 19f
18: vmovdqu powers_end(%rsi), %xmm13
    vinserti128 $1, powers_end - 16(%rdi), %ymm13, %ymm13
    vinserti128 $1, %xmm6, %ymm1, %ymm1
    set_products y, 1, 13, 7
text_of_tail_\opens:
    mov %eax, %ecx
    and $48, %ecx
    mov %rdi, %rsi
    sub %rcx, %rsi
    and $448, %eax        /* the bytes in front of the last vector */
    cmp $256, %eax
    jb 17f
    call texts_of_four_\opens
    lea 480(%rsi), %rdx
    lea -1(%r10), %rcx    /* up to 1024 bytes counters go on behind those that were hashed */
    sub %rax, %rdx
    and $-256, %rcx
    lea -256(%r11,%rcx), %rsi
    cmp $1024, %r10
    cmova %r11, %rsi
    cmp $448, %eax
    je eight_vectors_\opens
    call last_beside
    lea -480(%rdx,%rax), %rsi
17: add %rax, %r9
    add %rax, %r8
    and $192, %eax
    jz one_vector_\opens
    cmp $128, %eax
    jb two_vectors_\opens
    je 22f
    flat_text \opens, -192, 20, 24
    flat_text \opens, -128, 21, 25
    pair_products 24, 25, (powers_end - 32 - 192), %rsi
    jmp two_vectors_\opens
19: add $wrap, %rsi
    jmp 18b
    /* 8 vectors. */
eight_vectors_\opens:
    call two_beside
    flat_text \opens, 256, 22, 24
    flat_text \opens, 320, 23, 25
    call last_two_beside
    lea -480 + 448(%rdx), %rsi
    add $448, %r9
    add $448, %r8
    jmp two_vectors_\opens
22: flat_text \opens, -128, 21, 1
    vmovdqu64 powers_end - 32 - 128(%rsi), %zmm13
    products z, 1, 13, 7, 2
two_vectors_\opens:
    flat_text \opens, -64, 22, 24
    /* The last vector. */
    test $63, %r10b
    jnz 31f
    flat_text \opens, 0, 23, 25
    vaesenclast %xmm15, %xmm8, %xmm8
29: pair_products 24, 25, (powers_end - 32 - 64), %rsi
end_of_long_\opens:
    .irp i, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    vpxord %xmm\i, %xmm\i, %xmm\i
    .endr
    end_message \opens
    /* One vector, in whole or in part. */
one_vector_\opens:
    test $63, %r10b
    jnz 32f
    flat_text \opens, 0, 23, 1
    vaesenclast %xmm15, %xmm8, %xmm8
33: vmovdqu64 (powers_end - 32)(%rsi), %zmm13
    products z, 1, 13, 7, 2
    jmp end_of_long_\opens
31: last_of_long \opens, 25
    jmp 29b
32: last_of_long \opens, 1
    jmp 33b
    EVC_ASM_CFI_END
.endm
/* A last vector whose bytes are not all text. */
.macro last_of_long opens, e
    mov %r10d, %eax
    and $63, %eax
    mov $-1, %rcx
    bzhi %rax, %rcx, %rdx
    kmovq %rdx, %k1
    mov %eax, %edx
    neg %edx
    shlx %rdx, %rcx, %rcx
    kmovq %rcx, %k2
    mov %r11, %rdx
    sub %rax, %rdx
    vmovdqu64 byte_numbers + 64(%rdx), %zmm13
    vmovdqu64 byte_numbers(%r11,%rax), %zmm14
    vpermb -64(%r9,%rax), %zmm13, %zmm\e{%k1}{z}
    vpxorq %zmm\e, %zmm15, %zmm7
    vaesenclast %zmm7, %zmm23, %zmm23
    vpermb %zmm23, %zmm14, %zmm14
    vmovdqu8 %zmm14, -64(%r8,%rax){%k2}
.if !\opens
    vmovdqu8 %zmm23, %zmm\e{%k1}{z}
.endif
    vpshufb reversed(%r11), %zmm\e, %zmm\e
    cmp $48, %eax
    ja 7f
    vextracti32x4 $3, %zmm23, %xmm8
    jmp 8f
7:  vaesenclast %xmm15, %xmm8, %xmm8
8:
.endm

    .p2align 4
seal_long_message:
    define_long_message 0
    .p2align 4
open_long_message:
    define_long_message 1

/* ---- Groups of a piece of a message ---- */

/* The next 8 vectors of counters: from any number on. */
.macro piece_counters vectors:vararg
    .irp i, \vectors
    vpshufb words_of_counters(%r11), %zmm3, %zmm\i
    vpaddd vector_step(%r11), %zmm3, %zmm3
    vpxorq %zmm0, %zmm\i, %zmm\i
    .endr
.endm
.macro piece_groups opens
    jmp 5f
    .p2align 5
4:  piece_counters 16, 17, 18, 19, 20, 21, 22, 23
    call rounds_and_hash
    vmovdqa %xmm10, %xmm12
    no_sums
5:  call group_texts_\opens
    vpxorq %zmm12, %zmm24, %zmm24
    add $512, %r9
    add $512, %r8
    dec %rax
    jnz 4b
.endm

/* key, counter, y in rdi, rsi, rdx; in, out in rcx, r8; the number of groups, at least one, in r9;
 * and whether to open on the stack. */
.set opening, 8
evc_function evc_gcm_x86_vaes512_intel_groups
    lea tables(%rip), %r11
    vmovq (%rsi), %xmm0
    vpinsrd $2, 8(%rsi), %xmm0, %xmm0
    vpxor round_keys(%rdi), %xmm0, %xmm0
    vshufi32x4 $0, %zmm0, %zmm0, %zmm0
    mov 12(%rsi), %eax
    bswap %eax
    vmovd %eax, %xmm3
    vpslldq $12, %xmm3, %xmm3
    vshufi32x4 $0, %zmm3, %zmm3, %zmm3
    vpaddd lane_numbers(%r11), %zmm3, %zmm3
    mov %rdx, %r10
    mov %r9, %rax
    mov %rcx, %r9
    piece_counters 16, 17, 18, 19, 20, 21, 22, 23
    call eight_rounds
    vbroadcasti32x4 (%rsi), %zmm15
    vmovdqu (%r10), %xmm12
    vpshufb reversed(%r11), %xmm12, %xmm12
    no_sums
    cmpl $0, opening(%rsp)
    jne 6f
    piece_groups 0
    jmp 7f
6:  piece_groups 1
7:  call hash_group
    vpshufb reversed(%r11), %xmm10, %xmm10
    vmovdqu %xmm10, (%r10)
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    vpxor %xmm\i, %xmm\i, %xmm\i
    .endr
    .irp i, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    vpxord %xmm\i, %xmm\i, %xmm\i
    .endr
    vzeroupper
    ret
evc_end evc_gcm_x86_vaes512_intel_groups

#endif
