/* SPDX-License-Identifier: MIT */
/*
 * GCM of whole messages, and of groups of vectors for pieces of messages.
 *
 * A message of more than 240 bytes is groups of 16 blocks and a tail of 0 to 16; shorter
 * ones are a tail alone, and one of at most a block has code of its own. There are no
 * frames, and nothing is kept on the stack. A group is hashed from memory while the next one
 * goes through AES: its ciphertext, which to seal is the output of the group before, to open
 * the input of the group itself.
 *
 * Tail:     r blocks of text, the last of which may be broken, and the lengths, in the last lanes
 *           of n = r/2 + 1 vectors. With r even, lane 0 of the first vector is the last block of
 *           associated data. The lane of the lengths has the counter 1, that of J_0, whose
 *           encryption is the tag mask.
 * Text:     accesses begin at its start or end at its end, and overlap:
 *           nothing around it is accessed.
 * Counters: the blocks of group g have the numbers 16g + 2 to 16g + 17. So they are a base,
 *           of 16g, plus (by XOR) the first 16 numbers, but for the last two, which have
 *           the base of the next group.
 *
 * Arguments as the System V ABI has them: key in rdi, iv in rsi, aad in rcx, aad_bytes in r8, in in
 * r9; out, len_bytes, tag and tag_bytes on the stack.
 */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64

#define KEY %rdi
#define POWERS %r10    /* the key, or so much below that a group meets the powers it should */
#define NUMBER %esi    /* 16g, or of pieces that of the first counter of the group */
#define OPENS %esi     /* of a tail: negative to open */

#define LO %ymm8       /* sums of products; MI lacks LO and HI, but for messages of one block */
#define MI %ymm9
#define HI %ymm10
#define LO_X %xmm8
#define MI_X %xmm9
#define HI_X %xmm10
#define ROUND_KEY %ymm11
#define A %ymm12
#define B %ymm13
#define P %ymm14
#define A_X %xmm12
#define B_X %xmm13
#define P_X %xmm14
#define BASE %ymm15    /* of counters, whitened; of a tail, behind AES: AROUND */
#define BASE_X %xmm15
#define AROUND %ymm15  /* the block before the text, and the lengths */
#define AROUND_X %xmm15

#include "gcm/x86_gcm_asm.h"
#include "gcm/x86_groups_asm.h"

.set opens, 63         /* bit of tag_bytes: the message is opened */
.set most_bytes, 240
.set pair_bytes, 96    /* of 4 powers: lower halves, upper halves, sums */
.set powers_end, 16 + 240 + 8*pair_bytes
.set last_pair, powers_end - pair_bytes

evc_constants
    .p2align 6
tables:
/* The counters of lanes. */
.set counters, 0
    .set at, 0
    .rept 18
    .fill 15, 1, 0
    .byte at
    .set at, at + 1
    .endr
/* Numbers as the CPU has them, in the first words of lanes: of two lanes, the step to the next
 * vector; and where the bytes of such a number are in a counter. */
.set lane_numbers, counters + 18*16
    .quad 0, 0, 1, 0
.set step, lane_numbers + 32
    .quad 2, 0, 2, 0
.set number_bytes, step + 32
    .rept 2
    .fill 12, 1, 128
    .byte 3, 2, 1, 0
    .endr
.set reversed, number_bytes + 32
    .rept 2
    .byte 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
    .endr
.set polynomial, reversed + 32
    .quad 0xc200000000000000, 0
    .quad 0xc200000000000000, 0
.set words_reversed, polynomial + 32
    .byte 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8
/* Places of bytes: n bytes further on they move a block n bytes down, and zeros in. */
    .fill 16, 1, 128
.set shifts, words_reversed + 32
    .byte 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .fill 16, 1, 128
/* The first bytes of a block: n of them, 16 - n bytes from here. */
.set block_bytes, shifts
.set first_bytes, shifts + 32
    .fill 16, 1, 255
    .fill 16, 1, 0
/* Places of H^1 to H^32 in the key, of each its lower half. */
.set power_places, first_bytes + 32
    .set at, 0
    .rept 32
    .short powers_end - pair_bytes*(at/4 + 1) + 16*(1 - at%2) + 8*(1 - at/2%2)
    .set at, at + 1
    .endr

/* ---- AES ---- */

/* A round of the last n of eight vectors; of 9, of BASE too. */
.macro round r, n
    vbroadcasti128 round_keys + 16*\r(KEY), ROUND_KEY
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    .if \i >= 8 - \n
    vaesenc ROUND_KEY, %ymm\i, %ymm\i
    .endif
    .endr
.if \n > 8
    vaesenc ROUND_KEY, BASE, BASE
.endif
.endm

/* Counters of a group, and the base of the next one. Changes edx, P. */
.macro group_counters base
    test ANY_NUMBER, ANY_NUMBER
    jz 1f
    call counters_of_piece
    jmp 2f
1:
    .irp i, 0, 1, 2, 3, 4, 5, 6
    vpxor counters + 32 + 32*\i(TABLES), BASE, %ymm\i
    .endr
    mov NUMBER, %edx
    add $16, NUMBER
    xor NUMBER, %edx
    number_as_counter %edx, P_X
    vinserti128 $1, P_X, P, P
    vpxor P, \base, \base
    vpxor counters(TABLES), BASE, %ymm7
2:
.endm
/* The last word of a block. */
.macro number_as_counter number, x
    bswap \number
    vmovd \number, \x
    vpslldq $12, \x, \x
.endm

/* The first rounds, all that follow, the last key. Changes edx. */
.macro last_round_key to
    mov rounds(KEY), %edx
    shl $4, %edx
    vbroadcasti128 round_keys(KEY,%rdx), \to
.endm

/* n vectors of a tail, of which the last is there already: all rounds but the last. */
.macro tail_vectors n
    .irp i, 0, 1, 2, 3, 4, 5, 6
    .if \i >= 8 - \n
    vpxor counters + 16 - 32*(7 - \i)(TABLES,BLOCKS), BASE, %ymm\i
    .endif
    .endr
    middle_rounds round, \n
    ret
.endm

/* Counters of a group of a piece, whose base has no number: it may come from a hash with the key,
 * so nothing branches on it. */
    .text
    .p2align 5
evc_local counters_of_piece
    vmovd NUMBER, P_X
    vpbroadcastd P_X, P
    vpaddd lane_numbers(TABLES), P, P
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    vpshufb number_bytes(TABLES), P, %ymm\i
    vpaddd step(TABLES), P, P
    vpxor BASE, %ymm\i, %ymm\i
    .endr
    add $16, NUMBER
    ret
evc_local_end counters_of_piece

    .p2align 5
evc_local aes_of_tail
    cmp $128, %eax
    jae 15f
    cmp $64, %eax
    jae 13f
    cmp $32, %eax
    jae 12f
    tail_vectors 1
12: tail_vectors 2
13: cmp $96, %eax
    jae 14f
    tail_vectors 3
14: tail_vectors 4
15: cmp $192, %eax
    jae 17f
    cmp $160, %eax
    jae 16f
    tail_vectors 5
16: tail_vectors 6
17: cmp $224, %eax
    jae 18f
    tail_vectors 7
18: tail_vectors 8
evc_local_end aes_of_tail

/* The same of 16 blocks of text. Of the first one the state is in xmm15, the others have the
 * lanes of a tail of 15. */
    .p2align 5
evc_local aes_of_16
    .irp i, 0, 1, 2, 3, 4, 5, 6
    vpxor counters + 48 + 32*\i(TABLES), BASE, %ymm\i
    .endr
    lea 16(%rsi), %edx    /* the number of the last block but one has a carry */
    xor NUMBER, %edx
    number_as_counter %edx, P_X
    vpxor BASE_X, P_X, P_X
    vinserti128 $1, P_X, %ymm6, %ymm6
    vpxor counters + 32(TABLES), BASE_X, BASE_X
    middle_rounds round, 9
    ret
evc_local_end aes_of_16

/* ---- The hash ---- */

/* Parts of the products of a pair of vectors with a pair of powers, in three steps, of vectors that
 * are reversed and halved: their lower halves in \lo, the upper ones in \hi. Changes \lo. */
.macro add_products part, powers, to, scratch
    vpclmulqdq $0x00, \powers, \part, \scratch
    vpxor \scratch, \to, \to
    vpclmulqdq $0x11, \powers, \part, \scratch
    vpxor \scratch, \to, \to
.endm
.macro add_pair a, b, powers, base
    vpshufb reversed(TABLES), \a, \a
    vpshufb reversed(TABLES), \b, \b
    vpunpcklqdq \b, \a, B
    vpunpckhqdq \b, \a, A
    add_products B, \powers(\base), LO, P
    add_products A, \powers + 32(\base), HI, P
    vpxor A, B, B
    add_products B, \powers + 64(\base), MI, P
.endm
/* The same without a first vector. */
.macro add_second v, powers
    vpshufb reversed(TABLES), \v, \v
    vpclmulqdq $0x10, \powers(KEY), \v, A
    vpclmulqdq $0x11, \powers + 32(KEY), \v, B
    vpshufd $0x4e, \v, P
    vpxor A, LO, LO
    vpxor B, HI, HI
    vpxor P, \v, \v
    vpclmulqdq $0x10, \powers + 64(KEY), \v, P
    vpxor P, MI, MI
.endm

/* HI = the sum divided by x^128, in each lane; MI is complete. Changes LO, MI, P. */
.macro reduce lo, mi, hi, scratch, polynomial
    vpclmulqdq $0x00, \polynomial, \lo, \scratch
    vpshufd $0x4e, \lo, \lo
    vpxor \lo, \mi, \mi
    vpxor \scratch, \mi, \mi
    vpclmulqdq $0x00, \polynomial, \mi, \scratch
    vpshufd $0x4e, \mi, \mi
    vpxor \mi, \hi, \hi
    vpxor \scratch, \hi, \hi
.endm
/* The sum as a block in HI_X. */
.macro hash_of_sum to
    vpxor LO, MI, MI
    vpxor HI, MI, MI
    reduce LO, MI, HI, P, polynomial(TABLES)
    vextracti128 $1, HI, P_X
    vpxor P_X, \to, \to
    vpshufb reversed(TABLES), \to, \to
.endm
.macro no_products
    vpxor LO_X, LO_X, LO_X
    vpxor MI_X, MI_X, MI_X
    vpxor HI_X, HI_X, HI_X
.endm

/* Plus the products of the block in A_X with the power whose lower half is at \power. */
.macro add_block power
    vpshufb reversed(TABLES), A_X, A_X
    vmovq (\power), B_X
    vpclmulqdq $0x00, B_X, A_X, P_X
    vpxor P, LO, LO
    vmovq 32(\power), B_X
    vpclmulqdq $0x01, B_X, A_X, P_X
    vpxor P, HI, HI
    vpshufd $0x4e, A_X, P_X
    vpxor P_X, A_X, A_X
    vmovq 64(\power), B_X
    vpclmulqdq $0x00, B_X, A_X, P_X
    vpxor P, MI, MI
.endm

/* Pair i of the group at HASHED; the first vector of the first one is in A. */
.macro pair_of_group i
.if \i
    vmovdqu 64*\i(HASHED), A
.endif
    vmovdqu 64*\i + 32(HASHED), B
    vpshufb reversed(TABLES), A, A
    vpshufb reversed(TABLES), B, B
    vpunpcklqdq B, A, P
    vpunpckhqdq B, A, B
.endm
.set group_powers, powers_end - 4*pair_bytes
.macro group_lo i, powers
    add_products P, (group_powers + pair_bytes*\i)(\powers), LO, A
.endm
.macro group_hi i, powers
    add_products B, (group_powers + pair_bytes*\i + 32)(\powers), HI, A
.endm
.macro group_mi i, powers
    vpxor B, P, P
    add_products P, (group_powers + pair_bytes*\i + 64)(\powers), MI, A
.endm

/* ---- Groups ---- */

.macro group_text
    last_round_key ROUND_KEY
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    vpxor 32*\i(IN), ROUND_KEY, P
    vaesenclast P, %ymm\i, %ymm\i
    vmovdqu %ymm\i, 32*\i(IN,OUT_LESS_IN)
    .endr
.endm

/* The first group to seal. */
    .p2align 5
evc_local first_group
    group_counters BASE
    middle_rounds round, 8
    group_text
    lea (IN,OUT_LESS_IN), HASHED
    add $256, IN
    ret
evc_local_end first_group

/* rax groups from IN on: encrypts each, and hashes the one at HASHED, which is as many bytes before
 * as it was at first: none to open. A: the hash before it, and behind the last one. Of two groups
 * in a row the first meets the higher powers, and both have one reduction. */
    .p2align 5
evc_local groups
4:  sub $1, BLOCKS
    jb 5f
    vpxor (HASHED), A, A
    xor %edx, %edx
    cmp IN, HASHED
    setne %dl
    add %eax, %edx        /* groups that will be hashed behind this one */
    lea -4*pair_bytes(KEY), POWERS
    test $1, %dl
    cmovz KEY, POWERS
    group_counters BASE
    pair_of_group 0
    round 1, 8
    group_lo 0, POWERS
    round 2, 8
    group_hi 0, POWERS
    round 3, 8
    group_mi 0, POWERS
    pair_of_group 1
    round 4, 8
    group_lo 1, POWERS
    group_hi 1, POWERS
    round 5, 8
    group_mi 1, POWERS
    pair_of_group 2
    round 6, 8
    group_lo 2, POWERS
    group_hi 2, POWERS
    round 7, 8
    group_mi 2, POWERS
    pair_of_group 3
    round 8, 8
    group_lo 3, POWERS
    round 9, 8
    mov rounds(KEY), %edx
    cmp $12, %edx
    jb 1f
    round 10, 8
    round 11, 8
    je 1f
    round 12, 8
    round 13, 8
1:  group_hi 3, POWERS
    group_mi 3, POWERS
    group_text
    vpxor A_X, A_X, A_X
    xor %edx, %edx
    cmp IN, HASHED
    setne %dl
    add %eax, %edx
    add $256, IN
    add $256, HASHED
    test $1, %dl
    jnz 4b
    hash_of_sum HI_X
    vmovdqa HI_X, A_X
    no_products
    jmp 4b
5:  ret
evc_local_end groups

/* Zeros in all vectors. */
.macro clear_vectors
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    vpxor %xmm\i, %xmm\i, %xmm\i
    .endr
    vzeroupper
.endm

/* ---- Associated data ---- */

/* Plus the products of rsi blocks at rcx, the first one with the power of H whose number is edx, at
 * most 32. xmm11 is added to the first one. Changes rax, rcx, rdx, rsi, xmm11, A, B, P. */
    .p2align 5
evc_local add_blocks
4:  mov %edx, %eax
    test $3, %al
    jnz 5f
    cmp $4, %rsi
    jb 5f
    lea (%rax,%rax,2), %rax
    shl $3, %rax
    neg %rax              /* so many bytes has a pair for 4 powers */
    add KEY, %rax
    vpxor (%rcx), %ymm11, A
    vmovdqu 32(%rcx), B
    vpxor %xmm11, %xmm11, %xmm11
    vpshufb reversed(TABLES), A, A
    vpshufb reversed(TABLES), B, B
    vpunpcklqdq B, A, P
    vpunpckhqdq B, A, B
    add_products P, powers_end(%rax), LO, A
    add_products B, powers_end + 32(%rax), HI, A
    vpxor B, P, P
    add_products P, powers_end + 64(%rax), MI, A
    add $64, %rcx
    sub $4, %edx
    sub $4, %rsi
    jnz 4b
    ret
    /* Two blocks that meet the second vector of a pair. */
6:  lea 6(%rax,%rax,2), %rax
    shl $3, %rax
    neg %rax
    add KEY, %rax
    vmovdqu (%rcx), A_X   /* by blocks, since a state holds them so */
    vinserti128 $1, 16(%rcx), A, A
    vpxor %ymm11, A, A
    vpxor %xmm11, %xmm11, %xmm11
    vpshufb reversed(TABLES), A, A
    vpclmulqdq $0x10, powers_end(%rax), A, B
    vpxor B, LO, LO
    vpclmulqdq $0x11, powers_end + 32(%rax), A, B
    vpxor B, HI, HI
    vpshufd $0x4e, A, P
    vpxor P, A, A
    vpclmulqdq $0x10, powers_end + 64(%rax), A, B
    vpxor B, MI, MI
    add $32, %rcx
    sub $2, %edx
    sub $2, %rsi
    jnz 4b
    ret
5:  test $1, %al
    jnz 7f
    test $2, %al
    jz 7f
    cmp $2, %rsi
    jae 6b
7:  vpxor (%rcx), %xmm11, A_X
    vpxor %xmm11, %xmm11, %xmm11
    movzwl power_places - 2(TABLES,%rax,2), %eax
    add KEY, %rax
    add_block %rax
    add $16, %rcx
    dec %edx
    dec %rsi
    jnz 4b
    ret
evc_local_end add_blocks

/* xmm15 = the last block of associated data: of 1 to 7 or more than 16 bytes. It will meet the
 * power of H whose number is esi: those before it are added to the sum, if there are powers enough,
 * and else their hash to the block. Changes rax, rcx, rdx, rsi, vectors 11 to 14. */
    .p2align 5
evc_local other_aad
    cmp $8, AAD_BYTES
    ja 4f
    load_part AAD, AAD_BYTES, AROUND_X, B_X, %rsi
    ret
4:  test AAD_BYTES, AAD_BYTES
    jns long_aad
    vmovdqu (AAD), AROUND_X
    ret

    .p2align 5
long_aad:
    mov AAD_BYTES, %rdx
    neg %edx
    and $15, %edx
    vmovdqu -16(AAD,AAD_BYTES), AROUND_X
    vpshufb shifts(TABLES,%rdx), AROUND_X, AROUND_X
    vpxor %xmm11, %xmm11, %xmm11
    mov %esi, %edx
    lea -1(AAD_BYTES), %rsi
    shr $4, %rsi          /* blocks before the last one */
    add %rsi, %rdx
    cmp $32, %rdx
    jbe add_blocks
5:  lea -1(%rsi), %edx
    and $15, %edx
    inc %edx              /* the first blocks; then 16 at a time */
6:  sub %rdx, %rsi        /* those behind */
    evc_save %rsi
    mov %edx, %esi
    call add_blocks
    hash_of_sum HI_X
    vmovdqa HI_X, %xmm11
    no_products
    evc_restore %rsi
    mov $16, %edx
    test %rsi, %rsi
    jnz 6b
    vpxor %xmm11, AROUND_X, AROUND_X
    ret
evc_local_end other_aad

/* xmm15 = the last block of associated data, as of other_aad; zeros without any. Those of 8 to 16
 * bytes are at label 5 at once, the others go by label 6. */
.macro last_of_aad to
    lea -8(AAD_BYTES), %rdx
    cmp $8, %rdx
    ja 6f
    vmovq (AAD), \to
    vmovq -8(AAD,AAD_BYTES), B_X
    mov TABLES, %rdx
    sub AAD_BYTES, %rdx
    vpshufb shifts + 16(%rdx), B_X, B_X
    vpunpcklqdq B_X, \to, \to
5:
.endm

/* ---- The text of a tail ---- */

/* Vector k from the end. */
.macro middle_text k, s
    vmovdqu -16 - 32*\k(IN,BLOCKS), A
    vpxor A, ROUND_KEY, P
    vaesenclast P, \s, \s
    vmovdqu \s, -16 - 32*\k(OUT,BLOCKS)
    test OPENS, OPENS
    jns 1f
    vmovdqa A, \s
1:
.endm
.macro first_text k, s
    test $16, %al
    jnz 2f
    vinserti128 $1, (IN), AROUND, A
    vpxor A, ROUND_KEY, P
    vaesenclast P, \s, \s
    vextracti128 $1, \s, (OUT)
    vpblendd $0x0f, AROUND, \s, \s
    test OPENS, OPENS
    jns 3f
    vmovdqa A, \s
    jmp 3f
2:  middle_text \k, \s
3:
.endm
/* The last vector, ymm7. xmm11 = the tag mask. Changes rcx, rdx. */
.macro last_text mask
    mov %eax, %edx
    sub %r10d, %edx       /* the bytes that the last block lacks */
    mov TABLES, %rcx
    sub %rdx, %rcx
    vmovdqu -16(IN,LEN), A_X
    vpshufb shifts(TABLES,%rdx), A_X, A_X
    vpxor A, ROUND_KEY, P
    vaesenclast P, %ymm7, %ymm7
    vmovdqu -32(OUT,BLOCKS), B_X /* the block before */
    vextracti128 $1, %ymm7, \mask
    vpshufb shifts(%rcx), %xmm7, P_X
    vpshufb shifts + 16(%rcx), B_X, B_X
    vpor B_X, P_X, P_X
    vmovdqu P_X, -16(OUT,LEN)
    vpand first_bytes(TABLES,%rdx), %xmm7, %xmm7
    test OPENS, OPENS
    jns 1f
    vmovdqa A_X, %xmm7
1:  vpblendd $0xf0, AROUND, %ymm7, %ymm7
.endm

/* The end of a message, whose tag is in xmm5. */
.macro put_tag
    mov tag(%rsp), %rcx
    mov tag_bytes(%rsp), %rdx
    xor %eax, %eax
    btr $opens, %rdx
    jc 2f
    cmp $16, %rdx
    jne 3f
    vmovdqu %xmm5, (%rcx)
1:  clear_vectors
    ret
2:  call compare_tag
    jmp 1b
3:  call store_tag
    jmp 1b
.endm

    .p2align 5
evc_local text_of_tail
    cmp $128, %eax
    jae 15f
    cmp $64, %eax
    jae 13f
    cmp $32, %eax
    jae 12f
    test %eax, %eax
    jz 20f
    last_text %xmm11
11: add_second %ymm7, last_pair
    jmp 19f
20: vaesenclast ROUND_KEY, %ymm7, %ymm7
    vextracti128 $1, %ymm7, %xmm11
    vmovdqa AROUND, %ymm7
    jmp 11b
18: first_text 7, %ymm0
    middle_text 6, %ymm1
    add_pair %ymm0, %ymm1, (powers_end - 4*pair_bytes), KEY
    middle_text 5, %ymm2
10: middle_text 4, %ymm3
    add_pair %ymm2, %ymm3, (powers_end - 3*pair_bytes), KEY
    middle_text 3, %ymm4
9:  middle_text 2, %ymm5
    add_pair %ymm4, %ymm5, (powers_end - 2*pair_bytes), KEY
    middle_text 1, %ymm6
8:  last_text %xmm11
    add_pair %ymm6, %ymm7, last_pair, KEY
19: hash_of_sum HI_X
    vpxor HI_X, %xmm11, %xmm5
    put_tag

12: first_text 1, %ymm6
    jmp 8b
13: cmp $96, %eax
    jae 14f
    first_text 2, %ymm5
    add_second %ymm5, (powers_end - 2*pair_bytes)
    middle_text 1, %ymm6
    jmp 8b
14: first_text 3, %ymm4
    jmp 9b
15: cmp $192, %eax
    jae 17f
    cmp $160, %eax
    jae 16f
    first_text 4, %ymm3
    add_second %ymm3, (powers_end - 3*pair_bytes)
    middle_text 3, %ymm4
    jmp 9b
16: first_text 5, %ymm2
    jmp 10b
17: cmp $224, %eax
    jae 18b
    first_text 6, %ymm1
    add_second %ymm1, (powers_end - 4*pair_bytes)
    middle_text 5, %ymm2
    jmp 10b
evc_local_end text_of_tail

    define_tag_functions %xmm5

/* ---- Long messages ---- */

/* rax = groups; to seal, 16 blocks at the end are a tail: the last group is hashed beside it. */
.macro count_groups
    mov tag_bytes + 4(%rsp), %eax
    shr $31, %eax
    lea -1(LEN,%rax), %rax
    shr $8, %rax
.endm
/* esi = the number of the power that the last block of associated data meets. Up to the first
 * reduction it may be followed by one group, or by a tail of 16 blocks and the lengths; before two
 * groups it has a reduction of its own. Changes rax, rdx. */
.macro power_of_aad
    count_groups
    lea (,AAD_BYTES,4), %rdx /* without the bit of EVC_GCM_HASHED_AAD */
    cmp $4*240, %rdx      /* else the powers would not suffice */
    ja 2f
    mov $18, %esi         /* by jumps: nothing waits for a count that is predicted */
    test %rax, %rax
    jz 1f
    mov $17, %esi
    test $1, %al
    jnz 1f
2:  mov $1, %esi
1:
.endm

    .p2align 5
evc_local long_message
    vmovdqa BASE_X, %xmm0
    no_products
    last_of_aad AROUND_X
    vmovdqa AROUND_X, A_X
    test AAD_BYTES, AAD_BYTES
    jz 4f
    power_of_aad
    cmp $1, %esi
    jne 13f
    lea last_pair + 24(KEY), %rdx
    add_block %rdx
    hash_of_sum HI_X
    vmovdqa HI_X, A_X
    no_products
    jmp 4f
13: movzwl power_places - 2(TABLES,%rsi,2), %edx
    add KEY, %rdx
    add_block %rdx
    vpxor A_X, A_X, A_X
4:  vinserti128 $1, %xmm0, %ymm0, BASE
    mov out(%rsp), %rdx
    mov AAD_BYTES, out(%rsp)
    mov %rdx, OUT_LESS_IN
    sub IN, OUT_LESS_IN
    count_groups
    xor NUMBER, NUMBER
    mov IN, HASHED
    evc_save %rbx
    xor ANY_NUMBER, ANY_NUMBER
    cmpl $0, tag_bytes + 8 + 4(%rsp)
    jl 7f
    test %rax, %rax
    jz 7f
    call first_group
    dec %rax
7:  call groups
    evc_restore %rbx

    /* The tail, which may be of 16 blocks here: then the first one is on its own. */
    mov len_bytes(%rsp), LEN
    mov NUMBER, %eax
    shl $4, %rax          /* bytes of the groups */
    sub %rax, LEN
    lea 15(LEN), %eax
    and $0x1f0, %eax
    mov %eax, %edx
    shr $4, %edx
    lea 1(%rsi,%rdx), %edx
    xor NUMBER, %edx
    number_as_counter %edx, %xmm7
    mov NUMBER, %edx
    xor $1, %edx
    number_as_counter %edx, P_X
    vinserti128 $1, P_X, %ymm7, %ymm7
    vpxor BASE, %ymm7, %ymm7
    cmp $240, %eax
    ja 9f
    call aes_of_tail
    cmp IN, HASHED
    je 8f
    call last_group
8:  add IN, OUT           /* OUT_LESS_IN was there */
    mov %eax, %edx
    shr $3, %edx
    movzwl power_places(TABLES,%rdx), %edx
    add KEY, %rdx
    add_block %rdx
    cmp $240, %eax
    jbe 10f
    sub $16, %eax
    sub $16, LEN
10: vmovq out(%rsp), AROUND_X
    vpinsrq $1, len_bytes(%rsp), AROUND_X, AROUND_X
    vpsllq $3, AROUND_X, AROUND_X
    vpshufb words_reversed(TABLES), AROUND_X, AROUND_X
    vpxor B_X, B_X, B_X
    vinserti128 $1, AROUND_X, B, AROUND
    last_round_key ROUND_KEY
    mov tag_bytes + 4(%rsp), OPENS
    jmp text_of_tail

9:  call aes_of_16
    cmp IN, HASHED
    je 11f
    call last_group
11: mov rounds(KEY), %edx
    shl $4, %edx
    vmovdqu (IN), B_X
    vpxor round_keys(KEY,%rdx), B_X, P_X
    vaesenclast P_X, BASE_X, BASE_X
    vmovdqu BASE_X, (IN,OUT_LESS_IN)
    cmpl $0, tag_bytes + 4(%rsp)
    jl 12f
    vmovdqa BASE_X, B_X
12: vpxor B_X, A_X, A_X
    add $16, IN
    jmp 8b

6:  vpxor AROUND_X, AROUND_X, AROUND_X
    test AAD_BYTES, AAD_BYTES
    jz 5b
    lea -49(AAD_BYTES), %rdx
    cmp $256 - 49, %rdx
    jbe 14f
    power_of_aad
    call other_aad
    jmp 5b

    /* 4 to 16 blocks: the last four, with powers 4 to 1 or 20 to 17, are two vectors. */
14: count_groups
    lea -1(AAD_BYTES), %rdx
    shr $4, %rdx          /* blocks before the last one */
    lea -3(%rdx), %rsi
    inc %edx
    test $1, %al
    jz 15f
    add $16, %edx
15: mov AAD_BYTES, %rax
    neg %eax
    and $15, %eax
    vmovdqu -16(AAD,AAD_BYTES), AROUND_X
    vpshufb shifts(TABLES,%rax), AROUND_X, AROUND_X
    test %esi, %esi
    jz 16f
    vpxor %xmm11, %xmm11, %xmm11
    call add_blocks
16: lea (%rdx,%rdx,2), %rax
    shl $3, %eax
    neg %rax
    add KEY, %rax
    vmovdqu (%rcx), A
    vmovdqu 32(%rcx), B_X
    vinserti128 $1, AROUND_X, B, B
    vpshufb reversed(TABLES), A, A
    vpshufb reversed(TABLES), B, B
    vpunpcklqdq B, A, P
    vpunpckhqdq B, A, B
    add_products P, powers_end(%rax), LO, A
    add_products B, powers_end + 32(%rax), HI, A
    vpxor B, P, P
    add_products P, powers_end + 64(%rax), MI, A
    vpxor A_X, A_X, A_X
    cmp $4, %edx
    jne 4b
    hash_of_sum HI_X
    vmovdqa HI_X, A_X
    no_products
    jmp 4b
evc_local_end long_message

/* A = the hash, with that of the group that has been sealed last. */
evc_local last_group
    vpxor (HASHED), A, A
    .irp i, 0, 1, 2, 3
    pair_of_group \i
    group_lo \i, KEY
    group_hi \i, KEY
    group_mi \i, KEY
    .endr
    hash_of_sum HI_X
    vmovdqa HI_X, A_X
    no_products
    ret
evc_local_end last_group

/* Groups of a piece of a message. */
evc_function evc_gcm_x86_vaes256_groups
    lea tables(%rip), TABLES
    vmovdqu (%rdx), A_X
    vmovq (%rsi), BASE_X
    vpinsrd $2, 8(%rsi), BASE_X, BASE_X
    begin_piece ANY_NUMBER
    vpxor round_keys(KEY), BASE_X, BASE_X
    vinserti128 $1, BASE_X, BASE, BASE
    no_products
    groups_of_piece opening+16(%rsp)
    vmovdqu A_X, (%rdx)
    clear_vectors
    ret
evc_end evc_gcm_x86_vaes256_groups

/* ---- Messages ---- */

/* Plus the product of a block, reversed, with a power of H from 1 to 3, whose place is in the last
 * pair; MI is complete before and behind it. low, high: which halves vpclmulqdq takes for the lower
 * half of the block, and for the upper. */
.macro add_power_1 a
    add_power \a, (last_pair+16), 0x10, 0x11
.endm
.macro add_power_2 a
    add_power \a, last_pair, 0x10, 0x11
.endm
.macro add_power_3 a
    add_power \a, (last_pair+16), 0x00, 0x01
.endm
.macro add_power a, place, low, high
    vpclmulqdq $\low, \place(KEY), \a, A_X
    vpclmulqdq $\high, \place(KEY), \a, B_X
    vpxor A_X, LO_X, LO_X
    vpxor B_X, MI_X, MI_X
    vpclmulqdq $\low, \place + 32(KEY), \a, A_X
    vpclmulqdq $\high, \place + 32(KEY), \a, B_X
    vpxor A_X, MI_X, MI_X
    vpxor B_X, HI_X, HI_X
.endm

/* At most one block. xmm3: tag mask; xmm4: text. */
    .p2align 5
evc_local message_of_a_block
    vpxor counters + 16(TABLES), BASE_X, %xmm3
    vpxor counters + 32(TABLES), BASE_X, %xmm4
    middle_rounds round_of_two_blocks, 2
    vmovdqu round_keys(KEY,%rdx), %xmm1
    no_products
    vaesenclast %xmm1, %xmm3, %xmm3
    last_of_aad AROUND_X
    vmovq AAD_BYTES, %xmm7
    vpinsrq $1, LEN, %xmm7, %xmm7
    vpsllq $3, %xmm7, %xmm7
    vpshufd $0x4e, %xmm7, %xmm7
    add_power_1 %xmm7
    vpshufb reversed(TABLES), AROUND_X, AROUND_X
    test LEN, LEN
    jz 8f
    add_power_3 AROUND_X
    mov tag_bytes + 4(%rsp), OPENS
    mov out(%rsp), OUT
    cmp $16, %r10d
    jne 10f
    vmovdqu (IN), %xmm0
    vpxor %xmm1, %xmm0, %xmm1
    vaesenclast %xmm1, %xmm4, %xmm4
    vmovdqu %xmm4, (OUT)
    test OPENS, OPENS
    js 12f
    vmovdqa %xmm4, %xmm0
12: vpshufb reversed(TABLES), %xmm0, %xmm0
    add_power_2 %xmm0
4:  reduce LO_X, MI_X, HI_X, P_X, polynomial(TABLES)
    vpshufb reversed(TABLES), HI_X, HI_X
    vpxor HI_X, %xmm3, %xmm5
    put_tag
8:  add_power_2 AROUND_X
    jmp 4b
10: load_part IN, LEN, %xmm0, %xmm2, %rdx
    vpxor %xmm1, %xmm0, %xmm1
    vaesenclast %xmm1, %xmm4, %xmm4
    store_part %xmm4, OUT, LEN, %xmm2
    test OPENS, OPENS
    js 12b
    mov TABLES, %rdx
    sub LEN, %rdx
    vpand first_bytes + 16(%rdx), %xmm4, %xmm0
    jmp 12b

6:  vpxor AROUND_X, AROUND_X, AROUND_X
    test AAD_BYTES, AAD_BYTES
    jz 5b
    js 25f
    cmp $1, LEN
    sbb %esi, %esi
    add $3, %esi          /* without text one power lower */
    call other_aad
    vpxor LO, MI, MI      /* the sum of more blocks in one lane, and complete */
    vpxor HI, MI, MI
    .irp i, 8, 9, 10
    vextracti128 $1, %ymm\i, A_X
    vpxor A_X, %xmm\i, %xmm\i
    .endr
    jmp 5b
25: vmovdqu (AAD), AROUND_X
    jmp 5b
evc_local_end message_of_a_block

    define_open evc_gcm_x86_vaes256, btsq $opens, tag_bytes(%rsp)

evc_function evc_gcm_x86_vaes256_seal, message
    mov len_bytes(%rsp), LEN
    lea tables(%rip), TABLES
    load_iv BASE_X
    vpxor round_keys(KEY), BASE_X, BASE_X
    cmp $16, LEN
    jbe message_of_a_block
    cmp $most_bytes, LEN
    ja long_message
    vinserti128 $1, BASE_X, BASE, BASE
    lea 15(LEN), %eax
    and $-16, %eax
    vmovdqu counters + 16(TABLES,BLOCKS), %xmm7
    vinserti128 $1, counters + 16(TABLES), %ymm7, %ymm7
    vpxor BASE, %ymm7, %ymm7
    call aes_of_tail
    no_products
    last_of_aad AROUND_X
    vmovq AAD_BYTES, A_X
    vpinsrq $1, LEN, A_X, A_X
    vpsllq $3, A_X, A_X
    vpshufb words_reversed(TABLES), A_X, A_X
    vinserti128 $1, A_X, AROUND, AROUND
    test $16, %al
    jnz 9f
4:  last_round_key ROUND_KEY
    mov tag_bytes + 4(%rsp), OPENS
    mov out(%rsp), OUT
    jmp text_of_tail
9:  test AAD_BYTES, AAD_BYTES /* it has no lane before the text */
    jz 4b
    vmovdqa AROUND_X, A_X
    mov %eax, %edx
    shr $3, %edx
    movzwl power_places + 2(TABLES,%rdx), %edx
    add KEY, %rdx
    add_block %rdx
    jmp 4b

6:  vpxor AROUND_X, AROUND_X, AROUND_X
    test AAD_BYTES, AAD_BYTES
    jz 5b
    js 25f
    mov %eax, %esi
    shr $4, %esi
    add $2, %esi
    call other_aad
    lea 15(LEN), %eax
    and $-16, %eax
    jmp 5b
25: vmovdqu (AAD), AROUND_X
    jmp 5b
evc_end evc_gcm_x86_vaes256_seal

#endif
