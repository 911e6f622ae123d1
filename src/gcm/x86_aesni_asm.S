/* SPDX-License-Identifier: MIT */
/*
 * GCM of whole messages, and of groups of blocks for pieces of messages, with vectors of one block.
 * The encoding is that of SSE: a CPU of this class may lack AVX.
 *
 * A message of more than 128 bytes is groups of 8 blocks and a tail of 1 to 8; shorter ones are
 * a tail alone, and one of at most a block has code of its own. There are no frames, and
 * nothing is kept on the stack. A group is hashed from memory while the blocks behind it go
 * through AES: its ciphertext, which to seal is the output of the group before, to open the
 * input of the group itself.
 *
 * Tail:     r blocks of text in xmm(8-r) to xmm7, the last of which may be broken, and J_0 in xmm8,
 *           whose encryption is the tag mask. Blocks are hashed in pairs, from the end: the last of
 *           the text and the lengths, the two before, and so on. With r even, the first block of
 *           text makes a pair with the last block of associated data.
 * Text:     accesses begin at its start or end at its end, and overlap:
 *           nothing around it is accessed.
 * Counters: the blocks of group g have the numbers 8g + 2 to 8g + 9. So they are a base,
 *           of 8g, plus (by XOR) the numbers 2 to 7, but for the last two, which have
 *           the base of the next group.
 *
 * Arguments as the System V ABI has them: key in rdi, iv in rsi, aad in rcx, aad_bytes in r8, in in
 * r9; out, len_bytes, tag and tag_bytes on the stack.
 */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64

#define KEY %rdi       /* then, of a tail behind AES, POWERS_OF_TAIL */
#define POWERS_OF_TAIL %rdi
#define HAS_LANE %ecx  /* of a tail: not 0 if the block before the text makes a
                        * pair with its first block */
#define POWERS %r10    /* the end of the powers that a group meets */
#define NUMBER %esi    /* 8g, or of pieces that of the first counter of the group */
#define OPENS %esi     /* negative to open */

#define BASE %xmm8     /* of counters, whitened; in a tail TAG_MASK */
#define TAG_MASK %xmm8
#define ROUND_KEY %xmm9
#define LO %xmm10      /* sums of products; MI lacks LO and HI, but for messages of one block */
#define MI %xmm11
#define HI %xmm12
#define A %xmm13       /* often the hash before a group, or the block before the text: reversed */
#define B %xmm14
#define P %xmm15

#include "gcm/x86_gcm_asm.h"
#include "gcm/x86_groups_asm.h"

.set opens, 63         /* bit of tag_bytes: the message is opened */
.set most_bytes, 128   /* of a tail */
.set group_bytes, 128
.set pair_bytes, 48    /* of 2 powers: lower halves, upper halves, sums */
.set powers_end, 16 + 240 + 8*pair_bytes

evc_constants
    .p2align 6
tables:
/* Often used: at distances from TABLES that a byte holds. */
.set reversed, -128
    .byte 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
.set polynomial, reversed + 16
    .quad 0xc200000000000000, 0
/* The numbers 0 to 9, as counters have them. */
.set counters, polynomial + 16
    .set at, 0
    .rept 10
    .fill 15, 1, 0
    .byte at
    .set at, at + 1
    .endr
/* The step to the next number, as the CPU has it, and where the bytes of such a
 * number are in a counter. */
.set step, counters + 10*16
    .quad 1, 0
.set number_bytes, step + 16
    .fill 12, 1, 128
    .byte 3, 2, 1, 0
/* Places of bytes: n bytes further on they move a block n bytes down, and zeros in. */
    .fill 16, 1, 128
.set shifts, number_bytes + 32
    .byte 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .fill 16, 1, 128
/* The first bytes of a block: n of them, 16 - n bytes from here. */
.set block_bytes, shifts
.set first_bytes, shifts + 32
    .fill 16, 1, 255
    .fill 16, 1, 0
/* Places of H^1 to H^16 in the key, of each its lower half. */
.set power_places, first_bytes + 32
    .set at, 0
    .rept 16
    .short powers_end - pair_bytes*(at/2 + 1) + 8*(1 - at%2)
    .set at, at + 1
    .endr

/* ---- Parts of a block ---- */

/* \x = n bytes (1 to 15) at \p, zeros behind. None of them goes through a general register. */
.macro load_bytes p, n, x, scratch, mask, places
    cmp $8, \n
    jb 1f
    movq (\p), \x
    movq -8(\p,\n), \scratch
    mov TABLES, \places
    sub \n, \places
    movdqu block_bytes + 16(\places), \mask
    pshufb \mask, \scratch
    punpcklqdq \scratch, \x
    jmp 3f
1:  cmp $4, \n
    jb 2f
    movd (\p), \x
    movd -4(\p,\n), \scratch
    mov TABLES, \places
    sub \n, \places
    movdqu block_bytes + 8(\places), \mask
    pshufb \mask, \scratch
    punpckldq \scratch, \x
    jmp 3f
2:  mov \n, \places
    shr $1, \places
    pxor \x, \x
    pinsrb $0, (\p), \x
    pinsrb $1, (\p,\places), \x
    pinsrb $2, -1(\p,\n), \x
    cmp $2, \n      /* bytes 0 and 1 of 2, the same byte of 1 */
    ja 3f
    pslldq $14, \x
    psrldq $14, \x
    je 3f
    pslldq $15, \x
    psrldq $15, \x
3:
.endm

/* The first n bytes (1 to 15) of \x to \p. */
.macro store_bytes x, p, n, scratch, mask
    cmp $8, \n
    jb 1f
    movdqu block_bytes - 8(TABLES,\n), \mask
    movdqa \x, \scratch
    pshufb \mask, \scratch
    movq \x, (\p)
    movq \scratch, -8(\p,\n)
    jmp 3f
1:  cmp $4, \n
    jb 2f
    movdqu block_bytes - 4(TABLES,\n), \mask
    movdqa \x, \scratch
    pshufb \mask, \scratch
    movd \x, (\p)
    movd \scratch, -4(\p,\n)
    jmp 3f
2:  pextrb $0, \x, (\p)
    cmp $2, \n
    jb 3f
    pextrb $1, \x, 1(\p)
    je 3f
    pextrb $2, \x, 2(\p)
3:
.endm

/* ---- AES ---- */

.macro round_key r
    movdqa round_keys + 16*\r(KEY), ROUND_KEY
.endm
/* A round of the last n of 8 blocks; of a tail, of J_0 too. */
.macro round_of_blocks n
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    .if \i >= 8 - \n
    aesenc ROUND_KEY, %xmm\i
    .endif
    .endr
.endm
.macro round_of_tail n
    round_of_blocks \n
    aesenc ROUND_KEY, TAG_MASK
.endm
.macro round r, n
    round_key \r
    round_of_blocks \n
.endm
/* Blocks 0 to 2, 3 to 5, or 6 and 7 of it. */
.macro third_of_round part, r, n
.if \part == 0
    round_key \r
.endif
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    .if \i >= 8 - \n && \i >= 3*\part && \i < 3*\part + 3
    aesenc ROUND_KEY, %xmm\i
    .endif
    .endr
.endm
.macro round_in_memory r, n
    aesenc round_keys + 16*\r(KEY), %xmm3
    aesenc round_keys + 16*\r(KEY), %xmm4
.endm

/* The last word of a block. */
.macro number_as_counter number, x
    bswap \number
    movd \number, \x
    pslldq $12, \x
.endm

/* Counters of a group, and the base of the next one. Changes edx, P. */
.macro group_counters to
    test ANY_NUMBER, ANY_NUMBER
    jz 1f
    call counters_of_piece
    jmp 2f
1:
    .irp i, 0, 1, 2, 3, 4, 5
    movdqa BASE, %xmm\i
    pxor counters + 32 + 16*\i(TABLES), %xmm\i
    .endr
    mov NUMBER, %edx
    add $8, NUMBER
    xor NUMBER, %edx
    number_as_counter %edx, P
    pxor P, \to
    movdqa BASE, %xmm6
    movdqa BASE, %xmm7
    pxor counters + 16(TABLES), %xmm7
2:
.endm

/* All rounds but the last, two at a time; then edx = 16 times the number of rounds.
 * Changes the register \index. */
.macro rolled_rounds blocks, n, index
    round_key 1
    \blocks \n
    mov rounds(KEY), %edx
    shl $4, %edx
    mov $32, %e\index
1:  movdqa round_keys(KEY,%r\index), ROUND_KEY
    \blocks \n
    movdqa round_keys + 16(KEY,%r\index), ROUND_KEY
    \blocks \n
    add $32, %e\index
    cmp %edx, %e\index
    jb 1b
.endm

/* Counters of a tail of n blocks. B: the base of the next group; P: J_0, less BASE. */
.macro tail_counters n
    .set at, 2
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    .if \i >= 8 - \n
    .if at < 8
    movdqa BASE, %xmm\i
    pxor counters + 16*at(TABLES), %xmm\i
    .elseif at == 8
    movdqa B, %xmm\i
    .else
    movdqa B, %xmm\i
    pxor counters + 16(TABLES), %xmm\i
    .endif
    .set at, at + 1
    .endif
    .endr
    pxor P, BASE
.endm
/* The last n places of a tail, of which there may be more than blocks; all have the
 * base of the first block. */
.macro counters_from_end n
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    .if \i >= 8 - \n
    movdqa BASE, %xmm\i
    pxor counters + 16 - 16*(7 - \i)(TABLES,BLOCKS), %xmm\i
    .endif
    .endr
.endm
/* The tag mask, and the last key; what comes behind AES. edx: 16 times the number of rounds. */
.macro end_of_rounds n
    movdqa round_keys(KEY,%rdx), ROUND_KEY
    aesenclast ROUND_KEY, TAG_MASK
    add $powers_end - 128, POWERS_OF_TAIL
.endm

/* Counters of a group of a piece, whose base has no number: it may come from a hash with the key,
 * so nothing branches on it. */
    .text
    .p2align 5
counters_of_piece:
    EVC_ASM_CFI_BEGIN
    movd NUMBER, P
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    movdqa P, %xmm\i
    paddd step(TABLES), P
    pshufb number_bytes(TABLES), %xmm\i
    pxor BASE, %xmm\i
    .endr
    add $8, NUMBER
    ret
    EVC_ASM_CFI_END

/* ---- The hash ---- */

/* The product of the lower halves of \x and a vector of powers, or with 0x11 of the upper ones. */
.macro add_product halves, x, powers, to
    movdqa \powers, P
    pclmulqdq $\halves, \x, P
    pxor P, \to
.endm
.macro add_products x, powers, to
    add_product 0x00, \x, \powers, \to
    add_product 0x11, \x, \powers, \to
.endm
/* Blocks a and b, reversed: their lower halves in \a, the upper ones in B. */
.macro halves_of_pair a, b
    movdqa \a, B
    punpcklqdq \b, \a
    punpckhqdq \b, B
.endm
/* Plus the products of halves with a pair of powers. Changes \a, P. */
.macro add_halves a, powers, base
    add_products \a, \powers(\base), LO
    add_products B, \powers + 16(\base), HI
    pxor B, \a
    add_products \a, \powers + 32(\base), MI
.endm
.macro add_pair a, b, powers, base
    halves_of_pair \a, \b
    add_halves \a, \powers, \base
.endm
/* The block \a, reversed, as the second one of a pair without a first. Changes B, P. */
.macro add_second a, powers, base
    movdqa \powers(\base), P
    pclmulqdq $0x01, \a, P
    pxor P, LO
    pshufd $0x4e, \a, B
    movdqa \powers + 16(\base), P
    pclmulqdq $0x11, \a, P
    pxor P, HI
    pxor \a, B
    movdqa \powers + 32(\base), P
    pclmulqdq $0x01, B, P
    pxor P, MI
.endm
/* The block in A, reversed, with the power whose lower half is at \power. */
.macro add_block power
    movq (\power), B
    pclmulqdq $0x00, A, B
    pxor B, LO
    movq 16(\power), B
    pclmulqdq $0x10, A, B
    pxor B, HI
    pshufd $0x4e, A, P
    pxor A, P
    movq 32(\power), B
    pclmulqdq $0x00, P, B
    pxor B, MI
.endm

/* HI = the sum divided by x^128; MI is complete. Changes LO, MI, P. */
.macro reduce_complete to
    movdqa polynomial(TABLES), P
    pclmulqdq $0x00, LO, P
    pshufd $0x4e, LO, LO
    pxor LO, MI
    pxor P, MI
    movdqa polynomial(TABLES), P
    pclmulqdq $0x00, MI, P
    pshufd $0x4e, MI, MI
    pxor MI, \to
    pxor P, \to
.endm
.macro reduce to
    pxor LO, MI
    pxor HI, MI
    reduce_complete \to
.endm
.macro no_products
    pxor LO, LO
    pxor MI, MI
    pxor HI, HI
.endm
.macro hash_of_sum to
    reduce HI
    movdqa HI, \to
    no_products
.endm

/* Pair i of the group at HASHED; A: of the first one, the hash before it. */
.macro pair_of_group i
.if \i
    movdqu 32*\i(HASHED), A
    pshufb reversed(TABLES), A
.else
    movdqu (HASHED), B
    pshufb reversed(TABLES), B
    pxor B, A
.endif
    movdqu 32*\i + 16(HASHED), P
    pshufb reversed(TABLES), P
    halves_of_pair A, P
.endm
/* Pair i beside two rounds, a product before each third of them: so both kinds of
 * units always have work. */
.macro pair_beside_rounds i, r, s, n, powers, end
    pair_of_group \i
    add_product 0x00, A, (\end - pair_bytes*(4 - \i))(\powers), LO
    third_of_round 0, \r, \n
    add_product 0x11, A, (\end - pair_bytes*(4 - \i))(\powers), LO
    third_of_round 1, \r, \n
    add_product 0x00, B, (\end - pair_bytes*(4 - \i) + 16)(\powers), HI
    third_of_round 2, \r, \n
    add_product 0x11, B, (\end - pair_bytes*(4 - \i) + 16)(\powers), HI
    third_of_round 0, \s, \n
    pxor B, A
    add_product 0x00, A, (\end - pair_bytes*(4 - \i) + 32)(\powers), MI
    third_of_round 1, \s, \n
    add_product 0x11, A, (\end - pair_bytes*(4 - \i) + 32)(\powers), MI
    third_of_round 2, \s, \n
.endm
/* Rounds 1 to 9 of the last n of 8 blocks, and the products of the group at HASHED with the 4 pairs
 * of powers that begin 4*pair_bytes before \end(\powers). */
.macro rounds_with_products n, powers, end
    round 1, \n
    pair_beside_rounds 0, 2, 3, \n, \powers, \end
    pair_beside_rounds 1, 4, 5, \n, \powers, \end
    pair_beside_rounds 2, 6, 7, \n, \powers, \end
    pair_beside_rounds 3, 8, 9, \n, \powers, \end
.endm
/* Rounds 10 and on but for the last; then edx = 16 times the number of rounds. */
.macro last_rounds n
    mov rounds(KEY), %edx
    cmp $12, %edx
    jb 1f
    round 10, \n
    round 11, \n
    je 1f
    round 12, \n
    round 13, \n
1:  shl $4, %edx
.endm

/* ---- Groups ---- */

.macro group_text key
    movdqa round_keys(\key,%rdx), ROUND_KEY
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    movdqu 16*\i(IN), P
    pxor ROUND_KEY, P
    aesenclast P, %xmm\i
    movdqu %xmm\i, 16*\i(IN,OUT_LESS_IN)
    .endr
.endm

/* The first group to seal. */
    .p2align 5
first_group:
    EVC_ASM_CFI_BEGIN
    group_counters BASE
    rolled_rounds round_of_blocks, 8, cx
    group_text KEY
    lea (IN,OUT_LESS_IN), HASHED
    add $group_bytes, IN
    ret
    EVC_ASM_CFI_END

/* Rounds 1 to 9 of 8 blocks, and the products of the group at HASHED with the
 * powers before POWERS. */
.set powers_of_group, 96 /* so far before POWERS: distances are short */
    .p2align 5
rounds_with_group:
    EVC_ASM_CFI_BEGIN
    rounds_with_products 8, POWERS, powers_of_group
    ret
    EVC_ASM_CFI_END

/* edx = how many groups will be hashed behind the one at HASHED; the zero flag is set
 * if that number is even. */
.macro groups_left to
    xor %edx, \to
    cmp IN, HASHED
    setne %dl
    add %eax, \to
    test $1, %dl
.endm

/* rax groups from IN on: encrypts each, and hashes the one at HASHED, which is as many bytes before
 * as it was at first: none to open. A: the hash before it, and behind the last one. Of two groups
 * in a row the first meets the higher powers, and both have one reduction. */
    .p2align 5
groups:
    EVC_ASM_CFI_BEGIN
4:  sub $1, BLOCKS
    jb 5f
    groups_left %edx
    lea powers_end - powers_of_group - 4*pair_bytes(KEY), POWERS
    jnz 6f
    add $4*pair_bytes, POWERS
6:  group_counters BASE
    call rounds_with_group
    groups_left %edx
    jnz 7f
    hash_of_sum A
8:  last_rounds 8
    group_text KEY
    add $group_bytes, IN
    add $group_bytes, HASHED
    jmp 4b
7:  pxor A, A
    jmp 8b
5:  ret
    EVC_ASM_CFI_END

/* A = the hash, with that of the group that has been sealed last. */
    .p2align 5
last_group:
    EVC_ASM_CFI_BEGIN
    lea powers_end - 4*pair_bytes(KEY), POWERS
    mov $4, %edx
4:  pair_of_group 0
    add_halves A, 0, POWERS
    pxor A, A
    add $32, HASHED
    add $pair_bytes, POWERS
    dec %edx
    jnz 4b
    hash_of_sum A
    ret
    EVC_ASM_CFI_END

/* Groups of a piece of a message. */
evc_function evc_gcm_x86_aesni_groups
    lea tables + 128(%rip), TABLES
    movdqu (%rdx), A
    pshufb reversed(TABLES), A
    movq (%rsi), BASE
    pinsrd $2, 8(%rsi), BASE
    begin_piece ANY_NUMBER
    pxor round_keys(KEY), BASE
    no_products
    groups_of_piece opening+16(%rsp)
    pshufb reversed(TABLES), A
    movdqu A, (%rdx)
    jmp clear_vectors
evc_end evc_gcm_x86_aesni_groups

/* Zeros in all vectors. */
    .p2align 5
clear_vectors:
    EVC_ASM_CFI_BEGIN
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    pxor %xmm\i, %xmm\i
    .endr
    ret
    EVC_ASM_CFI_END

/* ---- Associated data ---- */

/* Plus the products of rsi blocks at rcx, the first one with the power of H whose number is edx, at
 * most 16. xmm0, reversed, is added to the first one. Changes rax, rcx, rdx, rsi, xmm0, A, B, P. */
    .p2align 5
add_blocks:
    EVC_ASM_CFI_BEGIN
4:  mov %edx, %eax
    movdqu (%rcx), A
    pshufb reversed(TABLES), A
    pxor %xmm0, A
    pxor %xmm0, %xmm0
    test $1, %al
    jnz 5f
    cmp $2, %rsi
    jb 5f
    lea (%rax,%rax,2), %rax
    shl $3, %rax
    neg %rax              /* so many bytes have a number of powers */
    add KEY, %rax
    movdqu 16(%rcx), P
    pshufb reversed(TABLES), P
    add_pair A, P, powers_end, %rax
    add $32, %rcx
    sub $2, %edx
    sub $2, %rsi
    jnz 4b
    ret
5:  movzwl power_places - 2(TABLES,%rax,2), %eax
    add KEY, %rax
    add_block %rax
    add $16, %rcx
    dec %edx
    dec %rsi
    jnz 4b
    ret
    EVC_ASM_CFI_END

/* xmm1 = the last block of associated data: of 1 to 7 or more than 16 bytes. It will meet the power
 * of H whose number is esi: those before it are added to the sum, if there are powers enough, and
 * else their hash to the block. Changes rax, rcx, rdx, rsi, xmm0, A, B, P. */
    .p2align 5
other_aad:
    EVC_ASM_CFI_BEGIN
    cmp $8, AAD_BYTES
    ja long_aad
    load_bytes AAD, AAD_BYTES, %xmm1, B, P, %rsi
    pshufb reversed(TABLES), %xmm1
    ret
    EVC_ASM_CFI_END

/* The same of more than 16 bytes. */
    .p2align 5
long_aad:
    EVC_ASM_CFI_BEGIN
    mov AAD_BYTES, %rdx
    neg %edx
    and $15, %edx
    movdqu -16(AAD,AAD_BYTES), %xmm1
    movdqu shifts(TABLES,%rdx), P
    pshufb P, %xmm1
    pshufb reversed(TABLES), %xmm1
    pxor %xmm0, %xmm0
    mov %esi, %edx
    lea -1(AAD_BYTES), %rsi
    shr $4, %rsi          /* blocks before the last one */
    add %rsi, %rdx
    cmp $16, %rdx
    jbe add_blocks
5:  lea -1(%rsi), %edx
    and $15, %edx
    inc %edx              /* the first blocks; then 16 at a time */
6:  sub %rdx, %rsi        /* those behind */
    evc_save %rsi
    mov %edx, %esi
    call add_blocks
    hash_of_sum %xmm0
    evc_restore %rsi
    mov $16, %edx
    test %rsi, %rsi
    jnz 6b
    pxor %xmm0, %xmm1
    ret
    EVC_ASM_CFI_END

/* A = the last block of associated data, as of other_aad; zeros without any. Those of 8 to 16 bytes
 * are at label 5 at once, the others go by label 6. */
.macro last_of_aad to
    lea -8(AAD_BYTES), %rdx
    cmp $8, %rdx
    ja 6f
    movq (AAD), \to
    movq -8(AAD,AAD_BYTES), B
    mov TABLES, %rdx
    sub AAD_BYTES, %rdx
    movdqu shifts + 16(%rdx), P
    pshufb P, B
    punpcklqdq B, \to
    pshufb reversed(TABLES), \to
5:
.endm

/* ---- Tails ---- */

/* The text of a whole block, e before the last one. */
.macro text_to_seal e, s
    movdqu -16 - 16*\e(IN,BLOCKS), P
    pxor ROUND_KEY, P
    aesenclast P, \s
    movdqu \s, -16 - 16*\e(OUT,BLOCKS)
.endm
.macro text_to_open e, s
    aesenclast ROUND_KEY, \s
    movdqu -16 - 16*\e(IN,BLOCKS), P
    pxor P, \s
    movdqu \s, -16 - 16*\e(OUT,BLOCKS)
    movdqa P, \s
.endm
.macro text how, e, s
    text_to_\how \e, \s
    pshufb reversed(TABLES), \s
.endm
/* The last block, which is broken: edx bytes are missing. Its text is in xmm6, and in xmm7 what AES
 * made. Changes rcx, xmm5, xmm6, B, P. */
.macro broken_text how
    mov TABLES, %rcx
    sub %rdx, %rcx
    movdqu -16(IN,LEN), %xmm6
    movdqu shifts(TABLES,%rdx), P
    pshufb P, %xmm6
    aesenclast ROUND_KEY, %xmm7
    pxor %xmm6, %xmm7
    movdqu -32(OUT,BLOCKS), B /* the block before */
    movdqa %xmm7, %xmm5
    movdqu shifts(%rcx), P
    pshufb P, %xmm5
    movdqu shifts + 16(%rcx), P
    pshufb P, B
    por B, %xmm5
    movdqu %xmm5, -16(OUT,LEN)
.ifc \how, seal
    movdqu first_bytes(TABLES,%rdx), P
    pand P, %xmm7
.else
    movdqa %xmm6, %xmm7
.endif
    pshufb reversed(TABLES), %xmm7
.endm

/* Powers of pair j from the end, by their distance from POWERS_OF_TAIL. */
#define PAIR(j) (128 - pair_bytes*(j)), POWERS_OF_TAIL

/* A pair whose second block is the first one of the text. A: the one before, if it has a
 * lane; else it is added. */
.macro first_pair s, powers, base
    test HAS_LANE, HAS_LANE
    jz 1f
    halves_of_pair A, \s
    add_halves A, \powers, \base
    jmp 2f
1:  pxor A, \s
    add_second \s, \powers, \base
2:
.endm

/* The text and the hash of tails of 8 to 1 blocks, behind AES. */
.macro define_tails how
    .p2align 5
\how\()_8:
    EVC_ASM_CFI_BEGIN
    text \how, 7, %xmm0
    first_pair %xmm0, PAIR(5)
    text \how, 6, %xmm1
13: text \how, 5, %xmm2
    add_pair %xmm1, %xmm2, PAIR(4)
14: text \how, 4, %xmm3
15: text \how, 3, %xmm4
    add_pair %xmm3, %xmm4, PAIR(3)
16: text \how, 2, %xmm5
17: text \how, 1, %xmm6
    add_pair %xmm5, %xmm6, PAIR(2)
18: pxor A, A
\how\()_1:
    mov %eax, %edx
    sub %r10d, %edx
    jnz 20f
    text \how, 0, %xmm7
19: pxor A, %xmm7
    movq len_bytes(%rsp), %xmm6
    movhps out(%rsp), %xmm6
    psllq $3, %xmm6       /* the lengths, reversed */
    add_pair %xmm7, %xmm6, PAIR(1)
    reduce HI
    pshufb reversed(TABLES), HI
    pxor TAG_MASK, HI
    jmp put_tag_to_\how
20: broken_text \how
    jmp 19b

\how\()_7:
    text \how, 6, %xmm1
    pxor A, %xmm1
    jmp 13b
\how\()_6:
    text \how, 5, %xmm2
    first_pair %xmm2, PAIR(4)
    jmp 14b
\how\()_5:
    text \how, 4, %xmm3
    pxor A, %xmm3
    jmp 15b
\how\()_4:
    text \how, 3, %xmm4
    first_pair %xmm4, PAIR(3)
    jmp 16b
\how\()_3:
    text \how, 2, %xmm5
    pxor A, %xmm5
    jmp 17b
\how\()_2:
    text \how, 1, %xmm6
    first_pair %xmm6, PAIR(2)
    jmp 18b
    EVC_ASM_CFI_END
.endm

    define_tails seal
    define_tails open

/* The tag in HI. */
put_tag_to_open:
    EVC_ASM_CFI_BEGIN
    mov tag(%rsp), %rcx
    mov tag_bytes(%rsp), %rdx
    xor %eax, %eax
    btr $opens, %rdx
    btr $tells_tag, %rdx
    jc 7f
    cmp $16, %rdx
    jne 6f
    movdqu (%rcx), %xmm1
5:  pxor %xmm1, HI
    mov $error_of_tag, %edx
    ptest HI, HI
    cmovnz %edx, %eax
    jmp clear_vectors
6:  load_bytes %rcx, %rdx, %xmm1, %xmm2, P, %rsi
    mov TABLES, %rsi
    sub %rdx, %rsi
    movdqu first_bytes + 16(%rsi), P
    pand P, HI
    jmp 5b
put_tag_to_seal:
    mov tag(%rsp), %rcx
    mov tag_bytes(%rsp), %rdx
    xor %eax, %eax
7:  cmp $16, %rdx
    jne 8f
    movdqu HI, (%rcx)
    jmp clear_vectors
8:  store_bytes HI, %rcx, %rdx, %xmm1, P
    jmp clear_vectors
    EVC_ASM_CFI_END

/* AES of a tail, by the number of its blocks; not behind groups that are sealed. */
.macro tail_alone n
    tail_counters \n
    rolled_rounds round_of_tail, \n, si
    end_of_rounds \n
    mov tag_bytes + 4(%rsp), OPENS
    test OPENS, OPENS
    jns seal_\n
    jmp open_\n
.endm

    .p2align 5
aes_of_tail:
    EVC_ASM_CFI_BEGIN
    cmp $64, %eax
    ja 5f
    cmp $32, %eax
    ja 3f
    je 2f
    tail_alone 1
2:  tail_alone 2
3:  cmp $64, %eax
    je 4f
    tail_alone 3
4:  tail_alone 4
5:  cmp $96, %eax
    ja 7f
    je 6f
    tail_alone 5
6:  tail_alone 6
7:  cmp $128, %eax
    je 8f
    tail_alone 7
8:  tail_alone 8
    EVC_ASM_CFI_END

/* The same behind groups that are sealed, of which the last one is hashed: of 1 to 3 blocks, 4 to
 * 7, and 8. J_0 takes the place before the text; what else is before it is not used. rsi: LEN. */
    .p2align 5
aes_behind_sealed_groups:
    EVC_ASM_CFI_BEGIN
    mov LEN, %rsi
    lea powers_end - powers_of_group(KEY), POWERS
    cmp $64, %eax
    jae 5f
    counters_from_end 3
    movdqa BASE, %xmm4
    pxor P, %xmm4
    rounds_with_products 4, POWERS, powers_of_group
    hash_of_sum A
    last_rounds 4
    movdqa %xmm4, TAG_MASK
    mov %rsi, LEN
    end_of_rounds 4
    xor HAS_LANE, HAS_LANE
    cmp $32, %eax
    jb seal_1
    je seal_2
    jmp seal_3
5:  cmp $128, %eax
    je 8f
    counters_from_end 7
    movdqa BASE, %xmm0
    pxor P, %xmm0
    cmp $112, %eax
    jne 6f
    movdqa B, %xmm7
6:  call rounds_with_group
    hash_of_sum A
    last_rounds 8
    mov %rsi, LEN
    xor HAS_LANE, HAS_LANE
    movdqa %xmm0, TAG_MASK
    end_of_rounds 8
    cmp $96, %eax
    ja seal_7
    je seal_6
    cmp $64, %eax
    je seal_4
    jmp seal_5
8:  mov %rsi, LEN
    tail_counters 8
    rolled_rounds round_of_tail, 8, si
    movdqa round_keys(KEY,%rdx), ROUND_KEY
    aesenclast ROUND_KEY, TAG_MASK
    mov LEN, %rsi
    call last_group
    mov %rsi, LEN
    xor HAS_LANE, HAS_LANE
    add $powers_end - 128, POWERS_OF_TAIL
    jmp seal_8
    EVC_ASM_CFI_END

/* ---- Long messages ---- */

    .p2align 5
long_message:
    EVC_ASM_CFI_BEGIN
    no_products
    last_of_aad A
    test AAD_BYTES, AAD_BYTES
    jz 4f
    lea powers_end - pair_bytes + 8(KEY), %rdx
    add_block %rdx
    hash_of_sum A
4:  mov out(%rsp), %rdx
    mov AAD_BYTES, out(%rsp)
    mov %rdx, OUT_LESS_IN
    sub IN, OUT_LESS_IN
    lea -1(LEN), %rax
    shr $7, %rax          /* groups, at least one */
    xor NUMBER, NUMBER
    mov IN, HASHED
    evc_save %rbx
    xor ANY_NUMBER, ANY_NUMBER
    cmpl $0, tag_bytes + 8 + 4(%rsp)
    jl 7f
    call first_group
    dec %rax
7:  call groups
    evc_restore %rbx
    mov len_bytes(%rsp), LEN
    mov NUMBER, %eax
    shl $4, %rax          /* bytes of the groups */
    sub %rax, LEN
    lea 15(LEN), %eax
    and $0xf0, %eax
    lea 8(%rsi), %edx
    xor NUMBER, %edx
    number_as_counter %edx, B
    pxor BASE, B
    xor $1, NUMBER
    number_as_counter NUMBER, P
    add IN, OUT           /* OUT_LESS_IN was there */
    cmp IN, HASHED
    jne aes_behind_sealed_groups
    xor HAS_LANE, HAS_LANE
    jmp aes_of_tail

6:  pxor A, A
    test AAD_BYTES, AAD_BYTES
    jz 5b
    js 25f
    mov $1, %esi
    call other_aad
    movdqa %xmm1, A
    jmp 5b
25: movdqu (AAD), A
    pshufb reversed(TABLES), A
    jmp 5b
    EVC_ASM_CFI_END

/* ---- Messages ---- */

/* Plus the product of a block, reversed, with a power of H from 1 to 3; MI is complete
 * before and behind it. low, high: which halves pclmulqdq takes with the lower half of the
 * block, and with the upper. */
.macro add_power_1 a
    add_power \a, (powers_end - pair_bytes), 0x01, 0x11
.endm
.macro add_power_2 a
    add_power \a, (powers_end - pair_bytes), 0x00, 0x10
.endm
.macro add_power_3 a
    add_power \a, (powers_end - 2*pair_bytes), 0x01, 0x11
.endm
.macro add_power a, place, low, high
    movdqa \place(KEY), P
    movdqa P, B
    pclmulqdq $\low, \a, P
    pxor P, LO
    pclmulqdq $\high, \a, B
    pxor B, MI
    movdqa \place + 16(KEY), P
    movdqa P, B
    pclmulqdq $\low, \a, P
    pxor P, MI
    pclmulqdq $\high, \a, B
    pxor B, HI
.endm

/* At most one block. xmm3: tag mask; xmm4: text. */
    .p2align 5
message_of_a_block:
    EVC_ASM_CFI_BEGIN
    movdqa BASE, %xmm3
    pxor counters + 16(TABLES), %xmm3
    movdqa BASE, %xmm4
    pxor counters + 32(TABLES), %xmm4
    middle_rounds round_in_memory, 2
    movdqa round_keys(KEY,%rdx), ROUND_KEY
    no_products
    aesenclast ROUND_KEY, %xmm3
    last_of_aad A
    movq LEN, %xmm7
    movq AAD_BYTES, %xmm6
    punpcklqdq %xmm6, %xmm7
    psllq $3, %xmm7       /* the lengths, reversed */
    add_power_1 %xmm7
    test LEN, LEN
    jz 8f
    add_power_3 A
    mov tag_bytes + 4(%rsp), OPENS
    mov out(%rsp), OUT
    aesenclast ROUND_KEY, %xmm4
    cmp $16, %r10d
    jne 10f
    movdqu (IN), %xmm0
    pxor %xmm0, %xmm4
    movdqu %xmm4, (OUT)
    test OPENS, OPENS
    js 12f
    movdqa %xmm4, %xmm0
12: pshufb reversed(TABLES), %xmm0
    add_power_2 %xmm0
4:  reduce_complete HI
    pshufb reversed(TABLES), HI
    pxor %xmm3, HI
    cmpl $0, tag_bytes + 4(%rsp)
    jl put_tag_to_open
    jmp put_tag_to_seal
8:  add_power_2 A
    jmp 4b
10: load_bytes IN, LEN, %xmm0, %xmm2, P, %rdx
    pxor %xmm0, %xmm4
    store_bytes %xmm4, OUT, LEN, %xmm2, P
    test OPENS, OPENS
    js 12b
    mov TABLES, %rdx
    sub LEN, %rdx
    movdqu first_bytes + 16(%rdx), %xmm0
    pand %xmm4, %xmm0
    jmp 12b

6:  pxor A, A
    test AAD_BYTES, AAD_BYTES
    jz 5b
    js 25f
    cmp $1, LEN
    sbb %esi, %esi
    add $3, %esi          /* without text one power lower */
    call other_aad
    movdqa %xmm1, A
    pxor LO, MI           /* complete */
    pxor HI, MI
    jmp 5b
25: movdqu (AAD), A
    pshufb reversed(TABLES), A
    jmp 5b
    EVC_ASM_CFI_END

    define_open evc_gcm_x86_aesni, btsq $opens, tag_bytes(%rsp)

evc_function evc_gcm_x86_aesni_seal, message
    mov len_bytes(%rsp), LEN
    lea tables + 128(%rip), TABLES
    movd (%rsi), BASE /* by words: load_iv in x86_gcm_asm.h tells why */
    pinsrd $1, 4(%rsi), BASE
    pinsrd $2, 8(%rsi), BASE
    pxor round_keys(KEY), BASE
    cmp $16, LEN
    jbe message_of_a_block
    cmp $most_bytes, LEN
    ja long_message
    no_products
    last_of_aad A
    lea 15(LEN), %eax
    and $0xf0, %eax
    mov out(%rsp), %rdx
    mov AAD_BYTES, out(%rsp)
    xor HAS_LANE, HAS_LANE
    test AAD_BYTES, AAD_BYTES
    setne %cl
    mov %rdx, OUT
    movdqa counters + 128(TABLES), B
    pxor BASE, B
    test $16, %al
    jz 4f
    test HAS_LANE, HAS_LANE /* it has no lane before the text */
    jz 4f
    mov %eax, %edx
    shr $3, %edx
    movzwl power_places + 2(TABLES,%rdx), %edx
    add KEY, %rdx
    add_block %rdx
    pxor A, A
    movdqa counters + 128(TABLES), B
    pxor BASE, B
4:  movdqa counters + 16(TABLES), P
    jmp aes_of_tail

6:  pxor A, A
    test AAD_BYTES, AAD_BYTES
    jz 5b
    js 25f
    lea 15(LEN), %esi
    shr $4, %esi
    add $2, %esi
    call other_aad
    movdqa %xmm1, A
    jmp 5b
25: movdqu (AAD), A
    pshufb reversed(TABLES), A
    jmp 5b
evc_end evc_gcm_x86_aesni_seal

#endif
