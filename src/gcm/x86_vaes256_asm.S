/* SPDX-License-Identifier: MIT */
/*
 * The kernel x86_vaes256: GCM of whole messages, and of groups of blocks for pieces of messages,
 * with vectors of two blocks. x86_groups_asm.h has the algebra, and the names of registers that are
 * not here; x86_gcm_asm.h has the arguments on the stack, the number of rounds, parts of blocks
 * and tags.
 *
 * The C code calls evc_gcm_x86_vaes256_seal, _open and _open_output_tag, at the end of this file,
 * for messages with an IV of 12 bytes; evc_gcm_x86_vaes256_groups for pieces. By bytes of text:
 *
 *   0 to 16     message_of_a_block: one block of text, and J_0 beside it
 *   17 to 240   a tail alone: aes_of_tail, last_of_aad, text_of_tail
 *   241 on      long_message: groups of 16 blocks, and a tail of 0 to 16
 *
 * Tail:   r blocks of text, the last one whole or partial, and the lengths, in the last lanes of
 *         n = r/2 + 1 vectors, the last n of STATE0 to STATE7: so each block meets its power of H
 *         at a fixed place. With r even, lane 0 of the first vector is left over: the last block of
 *         associated data takes it. The lane of the lengths goes through AES with the counter J_0,
 *         which makes the tag mask.
 * Groups: while a group goes through AES, the group before it is hashed from memory: to seal it is
 *         in the output, and the first group has none before it. To open, the ciphertext is the
 *         input of the group itself.
 * Text:   accesses begin at its start or end at its end, and overlap: nothing around it is
 *         accessed.
 * Stack:  no frames; the caller's rbx is kept there, and lengths.
 *
 * Example: 40 bytes with associated data are 3 blocks, BLOCKS = 48, n = 2. STATE6 has blocks 1 and
 *         2, STATE7 has block 3 (of 8 bytes) and the lengths. _seal makes the counters of STATE7
 *         and calls aes_of_tail, which goes to L(aes_of_2) and makes those of STATE6. last_of_aad
 *         loads associated data; r is odd, so it has no lane: add_block multiplies it by H^5.
 *         text_of_tail goes to L(text_of_2): first_text and last_text encrypt, add_pair multiplies
 *         by H^4, H^3 and H^2, H^1, hash_of_sum reduces, put_tag stores the tag and clears the
 *         vectors.
 *
 * Contents: registers, tables, AES, the hash, groups, associated data, the text of a tail, long
 *         messages, pieces, messages.
 */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64

#define NUMBER %esi    /* 16 g of the next group g; in pieces, the number of its first counter */
#define NUMBER_64 %rsi
#define OPENS %esi     /* in a tail: negative to open */
#define POWERS %r10    /* KEY, or less by 4 pairs so that the group meets the higher powers */

#define LO %ymm8       /* sums of products, as x86_groups_asm.h says */
#define LO_X %xmm8
#define MI %ymm9
#define MI_X %xmm9
#define HI %ymm10      /* then the hash */
#define HI_X %xmm10
#define ROUND_KEY %ymm11
#define TAG_MASK_X %xmm11 /* behind AES of a tail */
#define HASH_BEFORE %ymm11 /* of associated data: the hash to add to its next block */
#define HASH_BEFORE_X %xmm11
#define A %ymm12       /* a vector to multiply; changed by every product of the hash */
#define A_X %xmm12
#define HASH %ymm12    /* in groups: the hash so far, bytes as in memory; the upper lane is 0 */
#define HASH_X %xmm12
#define B %ymm13       /* scratch */
#define B_X %xmm13
#define P %ymm14       /* scratch, for products */
#define P_X %xmm14
#define BASE %ymm15    /* in both lanes: the IV, the number 16 g, the first round key */
#define BASE_X %xmm15
#define AROUND %ymm15  /* of a tail, behind AES: the block before the text, and the lengths */
#define AROUND_X %xmm15
#define TAG_X %xmm5

/* Vectors on their way through AES, then ciphertext. Macros for each of them say %ymm\i. */
#define STATE0 %ymm0
#define STATE1 %ymm1
#define STATE2 %ymm2
#define STATE3 %ymm3
#define STATE4 %ymm4
#define STATE5 %ymm5
#define STATE6 %ymm6
#define STATE7 %ymm7
#define STATE6_X %xmm6
#define STATE7_X %xmm7

/* A message of one block. */
#define TEXT_X %xmm0
#define LAST_KEY_X %xmm1
#define J_0_X %xmm3    /* on its way through AES: the tag mask; see round_of_two_blocks */
#define BLOCK_X %xmm4  /* the block of text on its way through AES */
#define LENGTHS_X %xmm7

.set lanes, 2

#include "gcm/x86_gcm_asm.h"
#include "gcm/x86_groups_asm.h"

.set most_bytes, 240   /* of a tail alone */
.set group_bytes, 256

/* Powers of H of the pair of vectors j from the end, 1 to 8: H^(4j) to H^(4j-3). */
#define PAIR(j) (powers_end - pair_bytes*(j))

evc_constants
    .p2align 6
tables:
.set counters, 0
    table_of_counters 18
/* Numbers in the first words of lanes: those of two lanes, and the step to the next vector. */
.set lane_numbers, counters + 18*16
    .quad 0, 0, 1, 0
.set step, lane_numbers + 32
    .quad 2, 0, 2, 0
/* VPSHUFB takes such a number to its place in a counter. */
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
    table_of_masks words_reversed + 16
.set power_places, masks_end
    table_of_powers 32

/* ---- AES ------------------------------------------------------------------------------------- */

/* Round r of the last n vectors of STATE0 to STATE7; with n = 9, of BASE too. */
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

/* \to = the last round key in both lanes. Changes edx. */
.macro last_round_key to
    mov rounds(KEY), %edx
    shl $4, %edx
    vbroadcasti128 round_keys(KEY,%rdx), \to
.endm

/* \x = zeros and the number \number as the last word of a counter. Changes \number. */
.macro number_as_counter number, x
    bswap \number
    vmovd \number, \x
    vpslldq $12, \x, \x
.endm

/* STATE0 to STATE7 = the counters of the next group, before round 1; NUMBER and \base go on to the
 * group behind it. Changes edx, P. */
.macro group_counters base
    test ANY_NUMBER, ANY_NUMBER
    jz L(numbers_of_message\@)
    call counters_of_piece
    jmp L(counters_are_made\@)
L(numbers_of_message\@):
    .irp i, 0, 1, 2, 3, 4, 5, 6
    vpxor counters + 16*2 + 32*\i(TABLES), BASE, %ymm\i
    .endr
    mov NUMBER, %edx
    add $16, NUMBER
    xor NUMBER, %edx
    number_as_counter %edx, P_X
    vinserti128 $1, P_X, P, P
    vpxor P, \base, \base
    vpxor counters(TABLES), BASE, STATE7
L(counters_are_made\@):
.endm

    .text

/* counters_of_piece: the counters of 16 blocks, before round 1, from any number on.
 * In:      NUMBER: the first number; it may be secret, so that nothing branches on it.
 *          BASE: the counter without its number.
 * Out:     STATE0 to STATE7; NUMBER goes on by 16.
 * Changes: P. */
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

/* aes_of_tail: all rounds but the last of a tail of r blocks, 0 to 15.
 * In:      BLOCKS: 16 r. BASE. STATE7: the counters of block r and of J_0, before round 1, which
 *          behind groups are not BASE plus a number that the table has.
 * Out:     the last r/2 + 1 vectors of STATE0 to STATE7, without the last round. With r even,
 *          lane 0 of the first one has nothing that is used.
 * Changes: edx, ROUND_KEY. */
.macro tail_vectors n
    .irp i, 0, 1, 2, 3, 4, 5, 6
    .if \i >= 8 - \n
    vpxor counters + 16 - 32*(7 - \i)(TABLES,BLOCKS), BASE, %ymm\i
    .endif
    .endr
    middle_rounds round, \n
    ret
.endm

    .p2align 5
evc_local aes_of_tail
    cmp $128, BLOCKS_32
    jae L(aes_of_5_to_8)
    cmp $64, BLOCKS_32
    jae L(aes_of_3_or_4)
    cmp $32, BLOCKS_32
    jae L(aes_of_2)
    tail_vectors 1
L(aes_of_2):
    tail_vectors 2
L(aes_of_3_or_4):
    cmp $96, BLOCKS_32
    jae L(aes_of_4)
    tail_vectors 3
L(aes_of_4):
    tail_vectors 4
L(aes_of_5_to_8):
    cmp $192, BLOCKS_32
    jae L(aes_of_7_or_8)
    cmp $160, BLOCKS_32
    jae L(aes_of_6)
    tail_vectors 5
L(aes_of_6):
    tail_vectors 6
L(aes_of_7_or_8):
    cmp $224, BLOCKS_32
    jae L(aes_of_8)
    tail_vectors 7
L(aes_of_8):
    tail_vectors 8
evc_local_end aes_of_tail

/* aes_of_16: the same of 16 blocks, behind groups or alone. The first block is in BASE_X, the
 * others have the lanes of a tail of 15.
 * In:      NUMBER, BASE; STATE7 as above.
 * Out:     BASE_X: block 1; STATE0 to STATE7: blocks 2 to 16 and J_0.
 * Changes: edx, ROUND_KEY, P. */
    .p2align 5
evc_local aes_of_16
    .irp i, 0, 1, 2, 3, 4, 5, 6
    vpxor counters + 16*3 + 32*\i(TABLES), BASE, %ymm\i
    .endr
    lea 16(NUMBER_64), %edx /* block 15 has the number NUMBER + 16: of the next base */
    xor NUMBER, %edx
    number_as_counter %edx, P_X
    vpxor BASE_X, P_X, P_X
    vinserti128 $1, P_X, STATE6, STATE6
    vpxor counters + 16*2(TABLES), BASE_X, BASE_X
    middle_rounds round, 9
    ret
evc_local_end aes_of_16

/* ---- The hash -------------------------------------------------------------------------------- */

/* \to += the products of \part, halves of a pair of vectors, with those of powers. */
.macro add_products part, powers, to, scratch
    vpclmulqdq $0x00, \powers, \part, \scratch
    vpxor \scratch, \to, \to
    vpclmulqdq $0x11, \powers, \part, \scratch
    vpxor \scratch, \to, \to
.endm

/* The pair of vectors A and B, as they are in memory: P = their lower halves, B = their upper ones,
 * both reversed. Changes A. */
.macro halves_of_pair
    vpshufb reversed(TABLES), A, A
    vpshufb reversed(TABLES), B, B
    vpunpcklqdq B, A, P
    vpunpckhqdq B, A, B
.endm
/* The products of these halves with the pair of powers at \place(\base), in three steps in
 * this order. Each changes A; the last one P, too. */
.macro add_lower_halves place, base
    add_products P, \place(\base), LO, A
.endm
.macro add_upper_halves place, base
    add_products B, \place + 32(\base), HI, A
.endm
.macro add_sums_of_halves place, base
    vpxor B, P, P
    add_products P, \place + 64(\base), MI, A
.endm
.macro add_halves place, base
    add_lower_halves \place, \base
    add_upper_halves \place, \base
    add_sums_of_halves \place, \base
.endm

/* The sums += the products of the vectors \v and \w with the pair of powers at \place(KEY).
 * Changes \v, \w, A, B, P. */
.macro add_pair v, w, place
    vpshufb reversed(TABLES), \v, \v
    vpshufb reversed(TABLES), \w, \w
    vpunpcklqdq \w, \v, B
    vpunpckhqdq \w, \v, A
    add_products B, \place(KEY), LO, P
    add_products A, \place + 32(KEY), HI, P
    vpxor A, B, B
    add_products B, \place + 64(KEY), MI, P
.endm
/* The same of a second vector \w without a first one. Changes \w, A, B, P. */
.macro add_second w, place
    vpshufb reversed(TABLES), \w, \w
    vpclmulqdq $0x10, \place(KEY), \w, A
    vpclmulqdq $0x11, \place + 32(KEY), \w, B
    vpshufd $0x4e, \w, P
    vpxor A, LO, LO
    vpxor B, HI, HI
    vpxor P, \w, \w
    vpclmulqdq $0x10, \place + 64(KEY), \w, P
    vpxor P, MI, MI
.endm
/* The same of the block A_X, as it is in memory, and the power whose lower half is at \power.
 * Changes A, B, P. */
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

/* \hi = \lo + \mi z^64 + \hi z^128, divided by z^128, in each lane; \mi is complete.
 * Changes \lo, \mi, \scratch. */
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
/* \to, which is HI_X, = the hash: the sums of both lanes, reduced, bytes as in memory. Changes
 * LO, MI, P. */
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
/* \to, a block, = the hash of the sums, which begin again. Changes P. */
.macro move_hash to
    hash_of_sum HI_X
    vmovdqa HI_X, \to
    no_products
.endm

/* ---- Groups ---------------------------------------------------------------------------------- */

/* P, B = the halves of pair i, 0 to 3, of the group at HASHED; A: its first vector, of pair 0. */
.macro pair_of_group i
.if \i
    vmovdqu 64*\i(HASHED), A
.endif
    vmovdqu 64*\i + 32(HASHED), B
    halves_of_pair
.endm

/* The last round of STATE0 to STATE7, and the text of the group at IN. Changes edx,
 * ROUND_KEY, P; the states are ciphertext, or to open plaintext. */
.macro group_text
    last_round_key ROUND_KEY
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    vpxor 32*\i(IN), ROUND_KEY, P
    vaesenclast P, %ymm\i, %ymm\i
    vmovdqu %ymm\i, 32*\i(IN,OUT_LESS_IN)
    .endr
.endm

/* first_group: encrypts the first group to seal, for which no other one can be hashed.
 * In:      IN, OUT_LESS_IN, NUMBER, BASE, ANY_NUMBER.
 * Out:     HASHED: the group's ciphertext. IN, NUMBER and BASE: those of the next group.
 * Changes: edx, STATE0 to STATE7, ROUND_KEY, P. */
    .p2align 5
evc_local first_group
    group_counters BASE
    middle_rounds round, 8
    group_text
    lea (IN,OUT_LESS_IN), HASHED
    add $group_bytes, IN
    ret
evc_local_end first_group

/* groups: encrypts or decrypts groups, and hashes as many, beside AES. Of two groups in a row the
 * first meets the higher powers, and both have one reduction.
 * In:      BLOCKS: how many groups, or 0. IN, OUT_LESS_IN: text. HASHED: IN to open; to seal, the
 *          ciphertext of the group before. HASH. NUMBER, BASE, ANY_NUMBER. LO, MI, HI: zeros,
 *          or sums that have products of blocks before already.
 * Out:     HASH, LO, MI, HI: with as many groups from HASHED on. HASH is the hash and the sums
 *          are zeros, unless the last sum goes on with the group that has been sealed last (in
 *          last_group): then HASH is zero. IN, HASHED, NUMBER, BASE: behind the groups.
 * Changes: rax, rdx, POWERS, STATE0 to STATE7, ROUND_KEY, A, B, P. */
    .p2align 5
evc_local groups
L(next_group):
    sub $1, BLOCKS
    jb L(no_more_groups)
    vpxor (HASHED), HASH, A
    groups_left %edx, %dl
    lea -4*pair_bytes(KEY), POWERS
    test $1, %dl
    cmovz KEY, POWERS
    group_counters BASE
    pair_of_group 0
    round 1, 8
    add_lower_halves PAIR(4), POWERS
    round 2, 8
    add_upper_halves PAIR(4), POWERS
    round 3, 8
    add_sums_of_halves PAIR(4), POWERS
    pair_of_group 1
    round 4, 8
    add_lower_halves PAIR(3), POWERS
    add_upper_halves PAIR(3), POWERS
    round 5, 8
    add_sums_of_halves PAIR(3), POWERS
    pair_of_group 2
    round 6, 8
    add_lower_halves PAIR(2), POWERS
    add_upper_halves PAIR(2), POWERS
    round 7, 8
    add_sums_of_halves PAIR(2), POWERS
    pair_of_group 3
    round 8, 8
    add_lower_halves PAIR(1), POWERS
    round 9, 8
    mov rounds(KEY), %edx
    cmp $12, %edx
    jb L(rounds_are_done)
    round 10, 8
    round 11, 8
    je L(rounds_are_done)
    round 12, 8
    round 13, 8
L(rounds_are_done):
    add_upper_halves PAIR(1), POWERS
    add_sums_of_halves PAIR(1), POWERS
    group_text
    vpxor HASH_X, HASH_X, HASH_X
    groups_left %edx, %dl      /* the same number: IN and HASHED have not moved */
    add $group_bytes, IN
    add $group_bytes, HASHED
    test $1, %dl
    jnz L(next_group)
    move_hash HASH_X
    jmp L(next_group)
L(no_more_groups):
    ret
evc_local_end groups

/* Zeros in all vectors. */
.macro clear_vectors
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    vpxor %xmm\i, %xmm\i, %xmm\i
    .endr
    vzeroupper
.endm

/* ---- Associated data ------------------------------------------------------------------------- */

/* add_blocks: LO, MI and HI += the products of blocks with falling powers of H. It takes 4 blocks
 * if there are as many and they meet a pair of vectors of powers; else 2, if they meet the
 * second vector of a pair; else one.
 * In:      AAD: the blocks; AAD_BLOCKS: how many, at least 1. POWER: from AAD_BLOCKS to 32.
 *          HASH_BEFORE: what is added to the first one.
 * Out:     AAD, POWER: behind the blocks. HASH_BEFORE: zeros.
 * Changes: rax, AAD_BLOCKS, A, B, P. */
    .p2align 5
evc_local add_blocks
L(next_blocks):
    mov POWER, %eax
    test $3, %al
    jnz L(no_pair)
    cmp $4, AAD_BLOCKS
    jb L(no_pair)
    pair_of_power %rax, 0, %rax, %rax
    vpxor (AAD), HASH_BEFORE, A
    vmovdqu 32(AAD), B
    vpxor HASH_BEFORE_X, HASH_BEFORE_X, HASH_BEFORE_X
    halves_of_pair
    add_halves powers_end, %rax
    add $64, AAD
    sub $4, POWER
    sub $4, AAD_BLOCKS
    jnz L(next_blocks)
    ret
L(second_vector):
    pair_of_power %rax, 2, %rax, %rax
    vmovdqu (AAD), A_X    /* by blocks, since a state holds them so */
    vinserti128 $1, 16(AAD), A, A
    vpxor HASH_BEFORE, A, A
    vpxor HASH_BEFORE_X, HASH_BEFORE_X, HASH_BEFORE_X
    vpshufb reversed(TABLES), A, A
    vpclmulqdq $0x10, powers_end(%rax), A, B
    vpxor B, LO, LO
    vpclmulqdq $0x11, powers_end + 32(%rax), A, B
    vpxor B, HI, HI
    vpshufd $0x4e, A, P
    vpxor P, A, A
    vpclmulqdq $0x10, powers_end + 64(%rax), A, B
    vpxor B, MI, MI
    add $32, AAD
    sub $2, POWER
    sub $2, AAD_BLOCKS
    jnz L(next_blocks)
    ret
L(no_pair):
    test $1, %al
    jnz L(one_block)
    test $2, %al
    jz L(one_block)
    cmp $2, AAD_BLOCKS
    jae L(second_vector)
L(one_block):
    vpxor (AAD), HASH_BEFORE_X, A_X
    vpxor HASH_BEFORE_X, HASH_BEFORE_X, HASH_BEFORE_X
    add_block_times %rax, %rax, %eax
    add $16, AAD
    dec POWER
    dec AAD_BLOCKS
    jnz L(next_blocks)
    ret
evc_local_end add_blocks

/* AROUND_X = the last block of more than 16 bytes of associated data, filled up with zeros. */
.macro load_last_block_of_aad scratch, scratch_32
    mov AAD_BYTES, \scratch
    neg \scratch_32
    and $15, \scratch_32  /* the bytes that it lacks */
    vmovdqu -16(AAD,AAD_BYTES), AROUND_X
    vpshufb shifts(TABLES,\scratch), AROUND_X, AROUND_X
.endm

/* other_aad: the last block of associated data, and products of the blocks before it.
 * In:      AAD, AAD_BYTES: 1 to 7, more than 16, or with the bit EVC_GCM_HASHED_AAD (a block is at
 *          AAD). esi: the number of the power of H that the last block will meet.
 * Out:     AROUND_X: the last block, filled up with zeros. The blocks before it: LO, MI and HI +=
 *          their products if there are powers enough, else AROUND_X += their hash.
 * Changes: rax, AAD, rdx, rsi, HASH_BEFORE, A, B, P. */
    .p2align 5
evc_local other_aad
    cmp $8, AAD_BYTES
    ja L(aad_is_long_or_hashed)
    load_part AAD, AAD_BYTES, AROUND_X, B_X, %rsi
    ret
L(aad_is_long_or_hashed):
    test AAD_BYTES, AAD_BYTES
    jns L(long_aad)
    vmovdqu (AAD), AROUND_X
    ret

    .p2align 5
L(long_aad):
    load_last_block_of_aad %rdx, %edx
    vpxor HASH_BEFORE_X, HASH_BEFORE_X, HASH_BEFORE_X
    blocks_before_last_of_aad %esi
    cmp $32, POWER_64
    jbe add_blocks
    hash_many_blocks move_hash, HASH_BEFORE_X
    vpxor HASH_BEFORE_X, AROUND_X, AROUND_X
    ret
evc_local_end other_aad

/* \to = the last block of associated data, filled up with zeros: of 8 to 16 bytes here. For other
 * numbers of bytes, code at \other_sizes loads it, or zeros if there are none, and jumps back
 * to \loaded. Changes rdx, B. */
.macro last_of_aad to, other_sizes, loaded
    lea -8(AAD_BYTES), %rdx
    cmp $8, %rdx
    ja \other_sizes
    vmovq (AAD), \to
    vmovq -8(AAD,AAD_BYTES), B_X
    mov TABLES, %rdx
    sub AAD_BYTES, %rdx
    vpshufb shifts + 16(%rdx), B_X, B_X
    vpunpcklqdq B_X, \to, \to
\loaded:
.endm

/* ---- The text of a tail ---------------------------------------------------------------------- */

/* Vectors are counted from the end: vector 0 is STATE7. \s = what is hashed of vector k, of two
 * whole blocks, which is ciphertext. Changes A, P. */
.macro middle_text k, s
    vmovdqu -16 - 32*\k(IN,BLOCKS), A
    vpxor A, ROUND_KEY, P
    vaesenclast P, \s, \s
    vmovdqu \s, -16 - 32*\k(OUT,BLOCKS)
    test OPENS, OPENS
    jns L(output_is_hashed\@)
    vmovdqa A, \s
L(output_is_hashed\@):
.endm
/* The same of the first vector, k: with r even, its lane 0 is the block before the text. */
.macro first_text k, s
    test $16, %al
    jnz L(two_blocks\@)
    vinserti128 $1, (IN), AROUND, A
    vpxor A, ROUND_KEY, P
    vaesenclast P, \s, \s
    vextracti128 $1, \s, (OUT)
    vpblendd $0x0f, AROUND, \s, \s
    test OPENS, OPENS
    jns L(first_is_done\@)
    vmovdqa A, \s
    jmp L(first_is_done\@)
L(two_blocks\@):
    middle_text \k, \s
L(first_is_done\@):
.endm
/* The same of vector 0: the last block of text, and the lengths. TAG_MASK_X = what AES made of J_0.
 * A partial block is loaded and stored by 16 bytes that end with it: in front of its bytes these
 * have the last ones of the block before. Changes rcx, rdx, ROUND_KEY, A, B, P. */
.macro last_text mask
    mov BLOCKS_32, %edx
    sub LEN_32, %edx      /* the bytes that the last block lacks */
    mov TABLES, %rcx
    sub %rdx, %rcx
    vmovdqu -16(IN,LEN), A_X
    vpshufb shifts(TABLES,%rdx), A_X, A_X
    vpxor A, ROUND_KEY, P
    vaesenclast P, STATE7, STATE7
    vmovdqu -32(OUT,BLOCKS), B_X /* the block before */
    vextracti128 $1, STATE7, \mask
    vpshufb shifts(%rcx), STATE7_X, P_X
    vpshufb shifts + 16(%rcx), B_X, B_X
    vpor B_X, P_X, P_X
    vmovdqu P_X, -16(OUT,LEN)
    vpand first_bytes(TABLES,%rdx), STATE7_X, STATE7_X
    test OPENS, OPENS
    jns L(output_is_hashed\@)
    vmovdqa A_X, STATE7_X
L(output_is_hashed\@):
    vpblendd $0xf0, AROUND, STATE7, STATE7
.endm

/* The end of a message with the tag \computed_tag, which is TAG_X, bytes as in memory. Returns eax,
 * an enum evc_status, to the caller of the message. */
.macro put_tag computed_tag
    mov tag(%rsp), %rcx
    mov tag_bytes(%rsp), %rdx
    xor %eax, %eax
    btr $opens, %rdx
    jc L(compare_tag\@)
    cmp $16, %rdx
    jne L(part_of_tag\@)
    vmovdqu \computed_tag, (%rcx)
L(tag_is_done\@):
    clear_vectors
    ret
L(compare_tag\@):
    call compare_tag
    jmp L(tag_is_done\@)
L(part_of_tag\@):
    call store_tag
    jmp L(tag_is_done\@)
.endm

/* text_of_tail: the last round, the text and the hash of a tail of r blocks, 0 to 15; then the tag.
 * In:      BLOCKS: 16 r. LEN: bytes of its text. IN, OUT. OPENS. AROUND: in lane 0 the block before
 *          the text, or zeros; in lane 1 the lengths. The last r/2 + 1 vectors of STATE0 to STATE7:
 *          from aes_of_tail. ROUND_KEY: the last one. LO, MI, HI: products of blocks before.
 * Out:     it returns to the caller of the message: eax, and zeros in all vectors. */
    .p2align 5
evc_local text_of_tail
    cmp $128, BLOCKS_32
    jae L(text_of_5_to_8)
    cmp $64, BLOCKS_32
    jae L(text_of_3_or_4)
    cmp $32, BLOCKS_32
    jae L(text_of_2)
    test BLOCKS_32, BLOCKS_32
    jz L(no_text)
    last_text TAG_MASK_X
L(vector_0_alone):
    add_second STATE7, PAIR(1)
    jmp L(tag_of_sum)
L(no_text):
    vaesenclast ROUND_KEY, STATE7, STATE7
    vextracti128 $1, STATE7, TAG_MASK_X
    vmovdqa AROUND, STATE7
    jmp L(vector_0_alone)
L(text_of_8):
    first_text 7, STATE0
    middle_text 6, STATE1
    add_pair STATE0, STATE1, PAIR(4)
    middle_text 5, STATE2
L(vectors_from_4):
    middle_text 4, STATE3
    add_pair STATE2, STATE3, PAIR(3)
    middle_text 3, STATE4
L(vectors_from_2):
    middle_text 2, STATE5
    add_pair STATE4, STATE5, PAIR(2)
    middle_text 1, STATE6
L(vector_0):
    last_text TAG_MASK_X
    add_pair STATE6, STATE7, PAIR(1)
L(tag_of_sum):
    hash_of_sum HI_X
    vpxor HI_X, TAG_MASK_X, TAG_X
    put_tag TAG_X

L(text_of_2):
    first_text 1, STATE6
    jmp L(vector_0)
L(text_of_3_or_4):
    cmp $96, BLOCKS_32
    jae L(text_of_4)
    first_text 2, STATE5
    add_second STATE5, PAIR(2)
    middle_text 1, STATE6
    jmp L(vector_0)
L(text_of_4):
    first_text 3, STATE4
    jmp L(vectors_from_2)
L(text_of_5_to_8):
    cmp $192, BLOCKS_32
    jae L(text_of_7_or_8)
    cmp $160, BLOCKS_32
    jae L(text_of_6)
    first_text 4, STATE3
    add_second STATE3, PAIR(3)
    middle_text 3, STATE4
    jmp L(vectors_from_2)
L(text_of_6):
    first_text 5, STATE2
    jmp L(vectors_from_4)
L(text_of_7_or_8):
    cmp $224, BLOCKS_32
    jae L(text_of_8)
    first_text 6, STATE1
    add_second STATE1, PAIR(4)
    middle_text 5, STATE2
    jmp L(vectors_from_4)
evc_local_end text_of_tail

    define_tag_functions TAG_X

/* ---- Long messages --------------------------------------------------------------------------- */

/* \to = the groups of the message, by LEN. To seal, 16 blocks at the end are a tail: the last
 * group is hashed beside it. To open, they are a group. Changes nothing else. */
.macro count_groups to, to_32
    mov opens_word(%rsp), \to_32
    shr $31, \to_32
    lea -1(LEN,\to), \to
    shr $8, \to
.endm

/* \number = the number of the power of H that the last block of associated data meets: 17 if one
 * group follows up to the first reduction; 18 if a tail of 16 blocks and the lengths follow. It is
 * 1, and the sum is reduced at once, before two groups with one reduction, and with more than 240
 * bytes, since the powers would not suffice. By jumps: nothing waits for a count that is
 * predicted. Changes rax, rdx. */
.macro power_of_aad number
    count_groups %rax, %eax
    lea (,AAD_BYTES,4), %rdx /* without the bit EVC_GCM_HASHED_AAD */
    cmp $4*240, %rdx
    ja L(aad_alone\@)
    mov $18, \number
    test %rax, %rax
    jz L(power_is_known\@)
    mov $17, \number
    test $1, %al
    jnz L(power_is_known\@)
L(aad_alone\@):
    mov $1, \number
L(power_is_known\@):
.endm

/* long_message: a message of more than 240 bytes of text.
 * In:      BASE_X: the IV plus the first round key. KEY, AAD, AAD_BYTES, IN, LEN, TABLES; the
 *          arguments on the stack.
 * Out:     as text_of_tail. */
    .p2align 5
evc_local long_message
    vmovdqa BASE_X, %xmm0 /* AROUND takes its place */
    no_products
    last_of_aad AROUND_X, L(aad_of_long_message), L(long_message_has_aad)
    vmovdqa AROUND_X, HASH_X
    test AAD_BYTES, AAD_BYTES
    jz L(groups_of_message)
    power_of_aad %esi
    cmp $1, %esi
    jne L(aad_in_next_sum)
    lea PAIR(1) + 24(KEY), %rdx /* H^1 */
    add_block %rdx
    move_hash HASH_X
    jmp L(groups_of_message)
L(aad_in_next_sum):
    add_block_times %rsi, %rdx, %edx
    vpxor HASH_X, HASH_X, HASH_X

    /* HASH, LO, MI and HI have the associated data. */
L(groups_of_message):
    vinserti128 $1, %xmm0, %ymm0, BASE
    mov out(%rsp), %rdx
    mov AAD_BYTES, kept_aad_bytes(%rsp)
    mov %rdx, OUT_LESS_IN
    sub IN, OUT_LESS_IN
    count_groups BLOCKS, BLOCKS_32
    xor NUMBER, NUMBER
    mov IN, HASHED
    evc_save %rbx
    xor ANY_NUMBER, ANY_NUMBER
    cmpl $0, opens_word + 8(%rsp)
    jl L(call_groups)
    test BLOCKS, BLOCKS
    jz L(call_groups)
    call first_group
    dec BLOCKS
L(call_groups):
    call groups
    evc_restore %rbx

    /* The tail. With 16 blocks, the first one is on its own. */
    mov len_bytes(%rsp), LEN
    mov NUMBER, %eax
    shl $4, %rax          /* bytes of the groups */
    sub %rax, LEN
    lea 15(LEN), BLOCKS_32
    and $0x1f0, BLOCKS_32
    mov BLOCKS_32, %edx
    shr $4, %edx
    lea 1(NUMBER_64,%rdx), %edx /* STATE7: block r has the number NUMBER + r + 1 */
    xor NUMBER, %edx
    number_as_counter %edx, STATE7_X
    mov NUMBER, %edx
    xor $1, %edx          /* J_0 has the number 1 */
    number_as_counter %edx, P_X
    vinserti128 $1, P_X, STATE7, STATE7
    vpxor BASE, STATE7, STATE7
    cmp $240, BLOCKS_32
    ja L(tail_of_16)
    call aes_of_tail
    cmp IN, HASHED
    je L(hash_before_tail)
    call last_group
L(hash_before_tail):
    add IN, OUT           /* OUT_LESS_IN was there */
    add_block_before_tail 1, %rdx, %edx /* A_X: the hash; r blocks and the lengths follow */
    cmp $240, BLOCKS_32
    jbe L(lengths_of_message)
    sub $16, BLOCKS_32    /* the first of 16 has been encrypted, and added to the hash */
    sub $16, LEN
L(lengths_of_message):
    vmovq kept_aad_bytes(%rsp), AROUND_X
    vpinsrq $1, len_bytes(%rsp), AROUND_X, AROUND_X
    vpsllq $3, AROUND_X, AROUND_X
    vpshufb words_reversed(TABLES), AROUND_X, AROUND_X
    vpxor B_X, B_X, B_X
    vinserti128 $1, AROUND_X, B, AROUND
    last_round_key ROUND_KEY
    mov opens_word(%rsp), OPENS
    jmp text_of_tail

    /* 16 blocks: the first one is encrypted here, and added to the hash before it. */
L(tail_of_16):
    call aes_of_16
    cmp IN, HASHED
    je L(first_of_16)
    call last_group
L(first_of_16):
    mov rounds(KEY), %edx
    shl $4, %edx
    vmovdqu (IN), B_X
    vpxor round_keys(KEY,%rdx), B_X, P_X
    vaesenclast P_X, BASE_X, BASE_X
    vmovdqu BASE_X, (IN,OUT_LESS_IN)
    cmpl $0, opens_word(%rsp)
    jl L(input_is_hashed)
    vmovdqa BASE_X, B_X
L(input_is_hashed):
    vpxor B_X, HASH_X, A_X
    add $16, IN
    jmp L(hash_before_tail)

    /* Associated data of a number of bytes that is not 8 to 16. */
L(aad_of_long_message):
    vpxor AROUND_X, AROUND_X, AROUND_X
    test AAD_BYTES, AAD_BYTES
    jz L(long_message_has_aad)
    lea -49(AAD_BYTES), %rdx
    cmp $256 - 49, %rdx
    jbe L(aad_of_4_to_16_blocks)
    power_of_aad %esi
    call other_aad
    jmp L(long_message_has_aad)

    /* 4 to 16 blocks: the last four are a pair of vectors. Before an odd number of groups they meet
     * H^20 to H^17; else they meet H^4 to H^1, and the sum is reduced at once. */
L(aad_of_4_to_16_blocks):
    count_groups %rax, %eax
    lea -1(AAD_BYTES), %rdx
    shr $4, %rdx          /* blocks before the last one */
    lea -3(%rdx), AAD_BLOCKS /* blocks before the last four */
    inc POWER             /* of the first one: as many as there are blocks */
    test $1, %al
    jz L(aad_before_even_number)
    add $16, POWER
L(aad_before_even_number):
    load_last_block_of_aad %rax, %eax
    test %esi, %esi       /* AAD_BLOCKS */
    jz L(last_four)
    vpxor HASH_BEFORE_X, HASH_BEFORE_X, HASH_BEFORE_X
    call add_blocks
L(last_four):
    pair_of_power POWER_64, 0, %rax, %eax
    vmovdqu (AAD), A
    vmovdqu 32(AAD), B_X
    vinserti128 $1, AROUND_X, B, B
    halves_of_pair
    add_halves powers_end, %rax
    vpxor HASH_X, HASH_X, HASH_X
    cmp $4, POWER
    jne L(groups_of_message)
    move_hash HASH_X
    jmp L(groups_of_message)
evc_local_end long_message

/* last_group: the group that has been sealed last is hashed.
 * In:      HASHED: its ciphertext. HASH, LO, MI, HI: from the function groups.
 * Out:     HASH; zeros in LO, MI and HI.
 * Changes: A, B, P. */
evc_local last_group
    vpxor (HASHED), HASH, A
    .irp i, 0, 1, 2, 3
    pair_of_group \i
    add_halves PAIR(4 - \i), KEY
    .endr
    move_hash HASH_X
    ret
evc_local_end last_group

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* evc_gcm_x86_vaes256_groups: groups of a piece; the arguments are in x86_groups_asm.h. */
evc_function evc_gcm_x86_vaes256_groups
    lea tables(%rip), TABLES
    vmovdqu (Y), HASH_X
    vmovq (COUNTER), BASE_X
    vpinsrd $2, 8(COUNTER), BASE_X, BASE_X
    begin_piece ANY_NUMBER
    vpxor round_keys(KEY), BASE_X, BASE_X
    vinserti128 $1, BASE_X, BASE, BASE
    no_products
    groups_of_piece opening+16(%rsp)
    vmovdqu HASH_X, (Y)
    clear_vectors
    ret
evc_end evc_gcm_x86_vaes256_groups

/* ---- Messages -------------------------------------------------------------------------------- */

/* LO, MI, HI (lane 0) += the product of the block \a, reversed, with H^1, H^2 or H^3; MI is
 * complete before and behind it. Of PAIR(1), the first vector has H^4 and H^3, the second one H^2
 * and H^1. low, high: which halves VPCLMULQDQ takes for the lower half of the block, and for its
 * upper one. Changes A, B. */
.macro add_power_1 a
    add_power \a, (PAIR(1) + 16), 0x10, 0x11
.endm
.macro add_power_2 a
    add_power \a, PAIR(1), 0x10, 0x11
.endm
.macro add_power_3 a
    add_power \a, (PAIR(1) + 16), 0x00, 0x01
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

/* message_of_a_block: a message of at most 16 bytes of text.
 * In, Out: as long_message. */
    .p2align 5
evc_local message_of_a_block
    vpxor counters + 16*1(TABLES), BASE_X, J_0_X
    vpxor counters + 16*2(TABLES), BASE_X, BLOCK_X
    middle_rounds round_of_two_blocks, 2
    vmovdqu round_keys(KEY,%rdx), LAST_KEY_X
    no_products
    vaesenclast LAST_KEY_X, J_0_X, J_0_X
    last_of_aad AROUND_X, L(aad_of_a_block), L(block_has_aad)
    vmovq AAD_BYTES, LENGTHS_X
    vpinsrq $1, LEN, LENGTHS_X, LENGTHS_X
    vpsllq $3, LENGTHS_X, LENGTHS_X
    vpshufd $0x4e, LENGTHS_X, LENGTHS_X /* reversed: numbers of 8 bytes as the CPU has them */
    add_power_1 LENGTHS_X
    vpshufb reversed(TABLES), AROUND_X, AROUND_X
    test LEN, LEN
    jz L(block_without_text)
    add_power_3 AROUND_X
    mov opens_word(%rsp), OPENS
    mov out(%rsp), OUT
    cmp $16, LEN_32
    jne L(partial_block)
    vmovdqu (IN), TEXT_X
    vpxor LAST_KEY_X, TEXT_X, LAST_KEY_X
    vaesenclast LAST_KEY_X, BLOCK_X, BLOCK_X
    vmovdqu BLOCK_X, (OUT)
    test OPENS, OPENS
    js L(hash_of_block)
    vmovdqa BLOCK_X, TEXT_X
L(hash_of_block):         /* TEXT_X is the ciphertext */
    vpshufb reversed(TABLES), TEXT_X, TEXT_X
    add_power_2 TEXT_X
L(tag_of_block):
    reduce LO_X, MI_X, HI_X, P_X, polynomial(TABLES)
    vpshufb reversed(TABLES), HI_X, HI_X
    vpxor HI_X, J_0_X, TAG_X
    put_tag TAG_X

L(block_without_text):
    add_power_2 AROUND_X
    jmp L(tag_of_block)

L(partial_block):
    load_part IN, LEN, TEXT_X, %xmm2, %rdx
    vpxor LAST_KEY_X, TEXT_X, LAST_KEY_X
    vaesenclast LAST_KEY_X, BLOCK_X, BLOCK_X
    store_part BLOCK_X, OUT, LEN, %xmm2
    test OPENS, OPENS
    js L(hash_of_block)
    mov TABLES, %rdx
    sub LEN, %rdx
    vpand first_bytes + 16(%rdx), BLOCK_X, TEXT_X
    jmp L(hash_of_block)

L(aad_of_a_block):
    vpxor AROUND_X, AROUND_X, AROUND_X
    test AAD_BYTES, AAD_BYTES
    jz L(block_has_aad)
    js L(hashed_aad_of_a_block)
    cmp $1, LEN
    sbb %esi, %esi
    add $3, %esi          /* H^3; without text H^2 */
    call other_aad
    vpxor LO, MI, MI      /* sums over both lanes, in lane 0; MI is complete */
    vpxor HI, MI, MI
    .irp i, 8, 9, 10      /* LO, MI, HI */
    vextracti128 $1, %ymm\i, A_X
    vpxor A_X, %xmm\i, %xmm\i
    .endr
    jmp L(block_has_aad)
L(hashed_aad_of_a_block):
    vmovdqu (AAD), AROUND_X
    jmp L(block_has_aad)
evc_local_end message_of_a_block

    define_open evc_gcm_x86_vaes256, btsq $opens, tag_bytes(%rsp)

/* evc_gcm_x86_vaes256_seal: a whole message, as evc_gcm_seal; define_open jumps to `message`.
 * In:      key, iv, iv_bytes (12), aad, aad_bytes, in: KEY, IV, rdx, AAD, AAD_BYTES, IN; out,
 *          len_bytes, tag, tag_bytes: on the stack.
 * Out:     eax: an enum evc_status. All vectors are zeros. */
evc_function evc_gcm_x86_vaes256_seal, message
    mov len_bytes(%rsp), LEN
    lea tables(%rip), TABLES
    load_iv BASE_X
    vpxor round_keys(KEY), BASE_X, BASE_X
    cmp $16, LEN
    jbe message_of_a_block
    cmp $most_bytes, LEN
    ja long_message

    /* 17 to 240 bytes: 2 to 15 blocks. */
    vinserti128 $1, BASE_X, BASE, BASE
    lea 15(LEN), BLOCKS_32
    and $-16, BLOCKS_32
    vmovdqu counters + 16(TABLES,BLOCKS), STATE7_X /* block r has the number r + 1 */
    vinserti128 $1, counters + 16*1(TABLES), STATE7, STATE7
    vpxor BASE, STATE7, STATE7
    call aes_of_tail
    no_products
    last_of_aad AROUND_X, L(aad_of_tail), L(tail_has_aad)
    vmovq AAD_BYTES, A_X
    vpinsrq $1, LEN, A_X, A_X
    vpsllq $3, A_X, A_X
    vpshufb words_reversed(TABLES), A_X, A_X
    vinserti128 $1, A_X, AROUND, AROUND
    test $16, %al
    jnz L(aad_without_lane)
L(text_of_message):
    last_round_key ROUND_KEY
    mov opens_word(%rsp), OPENS
    mov out(%rsp), OUT
    jmp text_of_tail

    /* r is odd: the associated data meets H^(r+2). */
L(aad_without_lane):
    test AAD_BYTES, AAD_BYTES
    jz L(text_of_message)
    vmovdqa AROUND_X, A_X
    add_block_before_tail 2, %rdx, %edx
    jmp L(text_of_message)

L(aad_of_tail):
    vpxor AROUND_X, AROUND_X, AROUND_X
    test AAD_BYTES, AAD_BYTES
    jz L(tail_has_aad)
    js L(hashed_aad_of_tail)
    mov BLOCKS_32, %esi
    shr $4, %esi
    add $2, %esi
    call other_aad
    lea 15(LEN), BLOCKS_32
    and $-16, BLOCKS_32
    jmp L(tail_has_aad)
L(hashed_aad_of_tail):
    vmovdqu (AAD), AROUND_X
    jmp L(tail_has_aad)
evc_end evc_gcm_x86_vaes256_seal

#endif
