/* SPDX-License-Identifier: MIT */
/*
 * The kernel x86_aesni: GCM of whole messages, and of groups of blocks for pieces of messages, with
 * vectors of one block. The encoding is that of SSE: a CPU of this class may lack AVX.
 * x86_groups_asm.h has the algebra, and the names of registers that are not here; x86_gcm_asm.h has
 * the arguments on the stack and the number of rounds.
 *
 * The C code calls evc_gcm_x86_aesni_seal, _open and _open_output_tag, at the end of this file, for
 * messages with an IV of 12 bytes; evc_gcm_x86_aesni_groups for pieces. By bytes of text:
 *
 *   0 to 16     message_of_a_block: one block of text, and J_0 beside it
 *   17 to 128   a tail alone: last_of_aad, aes_of_tail, seal_tail_of_r or open_tail_of_r
 *   129 on      long_message: groups of 8 blocks, and a tail of 1 to 8
 *
 * Tail:   r blocks of text in the last r of STATE0 to STATE7; the last block may be partial. BASE
 *         has J_0, whose encryption is the tag mask. Blocks are hashed in pairs, from the end:
 *         the last one of the text and the lengths, the two before, and so on. With r even, the
 *         first block of text makes a pair with the last block of associated data.
 * Groups: while a group goes through AES, the group before it is hashed from memory: to seal it is
 *         in the output, and the first group has none before it. To open, the ciphertext is the
 *         input of the group itself. The last group that is sealed is hashed beside the tail.
 * Text:   accesses begin at its start or end at its end, and overlap: nothing around it is
 *         accessed.
 * Stack:  no frames; the caller's rbx is kept there, and lengths.
 *
 * Example: 40 bytes with associated data are 3 blocks, BLOCKS = 48. _seal calls nothing: it loads
 *         the associated data by last_of_aad; r is odd, so this block makes no pair with text, and
 *         add_block multiplies it by H^5. It jumps to aes_of_tail, which takes `tail_alone 3`:
 *         the counters of STATE5 to STATE7, all rounds, the tag mask. seal_tail_of_3, in the macro
 *         define_tails, encrypts two blocks and multiplies them by H^4 and H^3. From seal_tail_of_1
 *         on, the last block has 8 bytes (partial_text), and makes a pair with the lengths, for H^2
 *         and H^1; `reduce`, put_tag_to_seal and clear_vectors are the end.
 *
 * Contents: registers, tables, parts of a block, AES, the hash, groups, pieces, associated data,
 *         tails, tags, AES of tails, long messages, messages.
 */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64

#define POWERS_OF_TAIL %rdi /* KEY, moved: in a tail, behind AES; see PAIR_OF_TAIL */
#define HAS_LANE %ecx  /* in a tail: not 0 if the block before the text makes a pair with the first
                        * block; 0 if it is a hash, or zeros, to add to this block */
#define POWERS %r10    /* in groups: powers_of_group bytes before the end of the group's powers */
#define NUMBER %esi    /* 8 g of the next group g; in pieces, the number of its first counter */
#define NUMBER_64 %rsi
#define OPENS %esi     /* in a tail: negative to open */

#define BASE %xmm8     /* the IV, the number 8 g, the first round key; in a tail J_0 */
#define TAG_MASK %xmm8 /* in a tail, behind AES */
#define ROUND_KEY %xmm9
#define LO %xmm10      /* sums of products, as x86_groups_asm.h says */
#define MI %xmm11
#define HI %xmm12      /* then the hash, and the tag */
#define A %xmm13       /* a block to multiply; changed by every pair */
#define HASH %xmm13    /* between groups: the hash so far, reversed */
#define AROUND %xmm13  /* in a tail: the block before the text, reversed */
#define B %xmm14       /* scratch; before the AES of a tail, the base of the next group */
#define NEXT_BASE %xmm14
#define P %xmm15       /* scratch, for products */
#define J_0_LESS_BASE %xmm15 /* before the AES of a tail */

/* Blocks on their way through AES, then ciphertext. Macros for each of them say %xmm\i. */
#define STATE0 %xmm0
#define STATE1 %xmm1
#define STATE2 %xmm2
#define STATE3 %xmm3
#define STATE4 %xmm4
#define STATE5 %xmm5
#define STATE6 %xmm6
#define STATE7 %xmm7

/* Associated data. */
#define HASH_BEFORE %xmm0 /* reversed: the hash to add to the next block */
#define LAST_AAD %xmm1 /* reversed: the last block */

/* A message of one block. */
#define TEXT %xmm0
#define J_0 %xmm3      /* on its way through AES: the tag mask */
#define BLOCK %xmm4    /* the block of text on its way through AES */
#define LENGTHS %xmm7

.set lanes, 1

#include "gcm/x86_gcm_asm.h"
#include "gcm/x86_groups_asm.h"

.set most_bytes, 128   /* of a tail alone */
.set group_bytes, 128

/* Powers of H of the pair of blocks j from the end, 1 to 8: H^(2j) and H^(2j-1). */
#define PAIR(j) (powers_end - pair_bytes*(j)), KEY
/* The same of a tail, where distances from POWERS_OF_TAIL fit a byte. */
.set tail_powers_end, 128
#define PAIR_OF_TAIL(j) (tail_powers_end - pair_bytes*(j)), POWERS_OF_TAIL

evc_constants
    .p2align 6
tables:
/* TABLES is 128 bytes further on: distances of what is often used fit a byte. */
.set reversed, -128
    .byte 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
.set polynomial, reversed + 16
    .quad 0xc200000000000000, 0
.set counters, polynomial + 16
    table_of_counters 10
/* The step to the next number, in the first word of a block. */
.set step, counters + 10*16
    .quad 1, 0
/* PSHUFB takes such a number to its place in a counter. */
.set number_bytes, step + 16
    .fill 12, 1, 128
    .byte 3, 2, 1, 0
    table_of_masks number_bytes + 16
.set power_places, masks_end
    table_of_powers 16

/* ---- Parts of a block ------------------------------------------------------------------------ */

/* \x = n bytes (1 to 15) at \p, zeros behind. None of them goes through a general register. */
.macro load_bytes p, n, x, scratch, mask, places
    cmp $8, \n
    jb L(at_most_7\@)
    movq (\p), \x
    movq -8(\p,\n), \scratch
    mov TABLES, \places
    sub \n, \places
    movdqu block_bytes + 16(\places), \mask
    pshufb \mask, \scratch
    punpcklqdq \scratch, \x
    jmp L(loaded\@)
L(at_most_7\@):
    cmp $4, \n
    jb L(at_most_3\@)
    movd (\p), \x
    movd -4(\p,\n), \scratch
    mov TABLES, \places
    sub \n, \places
    movdqu block_bytes + 8(\places), \mask
    pshufb \mask, \scratch
    punpckldq \scratch, \x
    jmp L(loaded\@)
L(at_most_3\@):
    mov \n, \places
    shr $1, \places
    pxor \x, \x
    pinsrb $0, (\p), \x
    pinsrb $1, (\p,\places), \x
    pinsrb $2, -1(\p,\n), \x
    cmp $2, \n      /* bytes 0 and 1 of 2, the same byte of 1 */
    ja L(loaded\@)
    pslldq $14, \x
    psrldq $14, \x
    je L(loaded\@)
    pslldq $15, \x
    psrldq $15, \x
L(loaded\@):
.endm

/* The first n bytes (1 to 15) of \x to \p. */
.macro store_bytes x, p, n, scratch, mask
    cmp $8, \n
    jb L(at_most_7\@)
    movdqu block_bytes - 8(TABLES,\n), \mask
    movdqa \x, \scratch
    pshufb \mask, \scratch
    movq \x, (\p)
    movq \scratch, -8(\p,\n)
    jmp L(stored\@)
L(at_most_7\@):
    cmp $4, \n
    jb L(at_most_3\@)
    movdqu block_bytes - 4(TABLES,\n), \mask
    movdqa \x, \scratch
    pshufb \mask, \scratch
    movd \x, (\p)
    movd \scratch, -4(\p,\n)
    jmp L(stored\@)
L(at_most_3\@):
    pextrb $0, \x, (\p)
    cmp $2, \n
    jb L(stored\@)
    pextrb $1, \x, 1(\p)
    je L(stored\@)
    pextrb $2, \x, 2(\p)
L(stored\@):
.endm

/* ---- AES ------------------------------------------------------------------------------------- */

.macro round_key r
    movdqa round_keys + 16*\r(KEY), ROUND_KEY
.endm
/* A round of the last n of STATE0 to STATE7, with the key in ROUND_KEY; of a tail, of J_0 too. */
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
/* A third of `round`: part 0 is STATE0 to STATE2, 1 is STATE3 to STATE5, 2 is STATE6 and STATE7. */
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
/* A round of a message of one block, for the macro middle_rounds. */
.macro round_in_memory r, n
    aesenc round_keys + 16*\r(KEY), J_0
    aesenc round_keys + 16*\r(KEY), BLOCK
.endm

/* Rounds 1 to the last but one, two at a time, by the macro \round: round_of_blocks or
 * round_of_tail, of n blocks. Then edx = 16 times the number of rounds. Changes the register
 * \index (si or cx), ROUND_KEY. */
.macro rolled_rounds round, n, index
    round_key 1
    \round \n
    mov rounds(KEY), %edx
    shl $4, %edx
    mov $32, %e\index
L(two_rounds\@):
    movdqa round_keys(KEY,%r\index), ROUND_KEY
    \round \n
    movdqa round_keys + 16(KEY,%r\index), ROUND_KEY
    \round \n
    add $32, %e\index
    cmp %edx, %e\index
    jb L(two_rounds\@)
.endm

/* \x = zeros and the number \number as the last word of a counter. Changes \number. */
.macro number_as_counter number, x
    bswap \number
    movd \number, \x
    pslldq $12, \x
.endm

/* STATE0 to STATE7 = the counters of the next group, before round 1; NUMBER and \base go on to the
 * group behind it. Changes edx, P. */
.macro group_counters base
    test ANY_NUMBER, ANY_NUMBER
    jz L(numbers_of_message\@)
    call counters_of_piece
    jmp L(counters_are_made\@)
L(numbers_of_message\@):
    .irp i, 0, 1, 2, 3, 4, 5
    movdqa BASE, %xmm\i
    pxor counters + 16*2 + 16*\i(TABLES), %xmm\i
    .endr
    mov NUMBER, %edx
    add $8, NUMBER
    xor NUMBER, %edx
    number_as_counter %edx, P
    pxor P, \base
    movdqa BASE, STATE6
    movdqa BASE, STATE7
    pxor counters + 16*1(TABLES), STATE7
L(counters_are_made\@):
.endm

/* The last n of STATE0 to STATE7 = the counters of a tail of n blocks, and BASE = J_0, before round
 * 1. In: BASE, NEXT_BASE, J_0_LESS_BASE. */
.macro tail_counters n
    .set at, 2            /* the number of the block */
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    .if \i >= 8 - \n
    .if at < 8
    movdqa BASE, %xmm\i
    pxor counters + 16*at(TABLES), %xmm\i
    .elseif at == 8
    movdqa NEXT_BASE, %xmm\i
    .else
    movdqa NEXT_BASE, %xmm\i
    pxor counters + 16*1(TABLES), %xmm\i
    .endif
    .set at, at + 1
    .endif
    .endr
    pxor J_0_LESS_BASE, BASE
.endm
/* The last n of STATE0 to STATE7 = the counters of a tail of at most n blocks, by BLOCKS. All have
 * the base of the first block. Places before the tail have something that is not used. */
.macro counters_from_end n
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    .if \i >= 8 - \n
    movdqa BASE, %xmm\i
    pxor counters + 16 - 16*(7 - \i)(TABLES,BLOCKS), %xmm\i
    .endif
    .endr
.endm
/* Behind the other rounds of a tail: the last round of the tag mask; ROUND_KEY = the last
 * key; POWERS_OF_TAIL. edx: 16 times the number of rounds. */
.macro end_of_rounds n
    movdqa round_keys(KEY,%rdx), ROUND_KEY
    aesenclast ROUND_KEY, TAG_MASK
    add $powers_end - tail_powers_end, POWERS_OF_TAIL
.endm

    .text

/* counters_of_piece: the counters of 8 blocks, before round 1, from any number on.
 * In:      NUMBER: the first number; it may be secret, so that nothing branches on it.
 *          BASE: the counter without its number.
 * Out:     STATE0 to STATE7; NUMBER goes on by 8.
 * Changes: P. */
    .p2align 5
evc_local counters_of_piece
    movd NUMBER, P
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    movdqa P, %xmm\i
    paddd step(TABLES), P
    pshufb number_bytes(TABLES), %xmm\i
    pxor BASE, %xmm\i
    .endr
    add $8, NUMBER
    ret
evc_local_end counters_of_piece

/* ---- The hash -------------------------------------------------------------------------------- */

/* \to += the product of the lower halves of \x and \powers (halves: 0x00), or of the upper ones
 * (0x11). Changes P. */
.macro add_product halves, x, powers, to
    movdqa \powers, P
    pclmulqdq $\halves, \x, P
    pxor P, \to
.endm
.macro add_products x, powers, to
    add_product 0x00, \x, \powers, \to
    add_product 0x11, \x, \powers, \to
.endm

/* The blocks \a and \b, reversed: \a = their lower halves, B = their upper ones. */
.macro halves_of_pair a, b
    movdqa \a, B
    punpcklqdq \b, \a
    punpckhqdq \b, B
.endm
/* LO, MI, HI += the products of these halves and the pair of powers at \place(\base).
 * Changes \a, P. */
.macro add_halves a, place, base
    add_products \a, \place(\base), LO
    add_products B, \place + 16(\base), HI
    pxor B, \a
    add_products \a, \place + 32(\base), MI
.endm
/* The same of the blocks \a and \b, reversed. Changes \a, B, P. */
.macro add_pair a, b, place, base
    halves_of_pair \a, \b
    add_halves \a, \place, \base
.endm
/* The same of the second block \b of a pair, reversed, without a first one. Changes B, P. */
.macro add_second b, place, base
    movdqa \place(\base), P
    pclmulqdq $0x01, \b, P
    pxor P, LO
    pshufd $0x4e, \b, B
    movdqa \place + 16(\base), P
    pclmulqdq $0x11, \b, P
    pxor P, HI
    pxor \b, B
    movdqa \place + 32(\base), P
    pclmulqdq $0x01, B, P
    pxor P, MI
.endm
/* The same of the block A, reversed, and the power whose lower half is at \power. Changes B, P. */
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

/* \to, which is HI, = LO + MI z^64 + HI z^128, divided by z^128; MI is complete. Changes
 * LO, MI, P. */
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
/* \to, which is HI, = the hash, reversed. Changes LO, MI, P. */
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
/* \to = the hash of the sums, reversed; they begin again. Changes P. */
.macro move_hash to
    reduce HI
    movdqa HI, \to
    no_products
.endm

/* ---- Groups ---------------------------------------------------------------------------------- */

/* A, B = the halves of pair i, 0 to 3, of the group at HASHED. HASH is added to the first block of
 * pair 0. Changes P. */
.macro pair_of_group i
.if \i
    movdqu 32*\i(HASHED), A
    pshufb reversed(TABLES), A
.else
    movdqu (HASHED), B
    pshufb reversed(TABLES), B
    pxor B, HASH
.endif
    movdqu 32*\i + 16(HASHED), P
    pshufb reversed(TABLES), P
    halves_of_pair A, P
.endm
/* Pair i of the group, and beside its products the rounds r and s of the last n states: a product
 * before each third of a round, so that both kinds of units always have work. The 4 pairs of powers
 * end \end bytes behind \powers. */
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
/* Rounds 1 to 9 of the last n states, and the products of the group at HASHED. Changes A, B, P. */
.macro rounds_with_products n, powers, end
    round 1, \n
    pair_beside_rounds 0, 2, 3, \n, \powers, \end
    pair_beside_rounds 1, 4, 5, \n, \powers, \end
    pair_beside_rounds 2, 6, 7, \n, \powers, \end
    pair_beside_rounds 3, 8, 9, \n, \powers, \end
.endm
/* Round 10 to the last but one; then edx = 16 times the number of rounds. */
.macro last_rounds n
    mov rounds(KEY), %edx
    cmp $12, %edx
    jb L(rounds_are_done\@)
    round 10, \n
    round 11, \n
    je L(rounds_are_done\@)
    round 12, \n
    round 13, \n
L(rounds_are_done\@):
    shl $4, %edx
.endm

/* The last round of STATE0 to STATE7, and the text of the group at IN. edx: 16 times the number of
 * rounds. Changes ROUND_KEY, P. */
.macro group_text key
    movdqa round_keys(\key,%rdx), ROUND_KEY
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    movdqu 16*\i(IN), P
    pxor ROUND_KEY, P
    aesenclast P, %xmm\i
    movdqu %xmm\i, 16*\i(IN,OUT_LESS_IN)
    .endr
.endm

/* first_group: encrypts the first group to seal, for which no other one can be hashed.
 * In:      IN, OUT_LESS_IN, NUMBER, BASE, ANY_NUMBER.
 * Out:     HASHED: the group's ciphertext. IN, NUMBER and BASE: those of the next group.
 * Changes: rdx, STATE0 to STATE7, ROUND_KEY, P. */
    .p2align 5
evc_local first_group
    group_counters BASE
    rolled_rounds round_of_blocks, 8, cx
    group_text KEY
    lea (IN,OUT_LESS_IN), HASHED
    add $group_bytes, IN
    ret
evc_local_end first_group

/* rounds_with_group: rounds 1 to 9 of STATE0 to STATE7, and the products of a group.
 * In:      HASHED: the group. HASH. POWERS: powers_of_group bytes before the end of the powers that
 *          the group meets, so that distances are short.
 * Out:     LO, MI, HI: with the products.
 * Changes: ROUND_KEY, A, B, P. */
.set powers_of_group, 96
    .p2align 5
evc_local rounds_with_group
    rounds_with_products 8, POWERS, powers_of_group
    ret
evc_local_end rounds_with_group

/* groups: encrypts or decrypts groups, and hashes as many, beside AES. Of two groups in a row the
 * first meets the higher powers, and both have one reduction.
 * In:      BLOCKS: how many groups, or 0. IN, OUT_LESS_IN: text. HASHED: IN to open; to seal, the
 *          ciphertext of the group before. HASH. NUMBER, BASE, ANY_NUMBER. LO, MI, HI: zeros.
 * Out:     HASH, LO, MI, HI: with as many groups from HASHED on. HASH is the hash and the sums
 *          are zeros, unless the last sum goes on with the group that has been sealed last (in
 *          last_group): then HASH is zero. IN, HASHED, NUMBER, BASE: behind the groups.
 * Changes: rax, rdx, POWERS, STATE0 to STATE7, ROUND_KEY, A, B, P. */
    .p2align 5
evc_local groups
L(next_group):
    sub $1, BLOCKS
    jb L(no_more_groups)
    groups_left %edx, %dl
    test $1, %dl
    lea powers_end - powers_of_group - 4*pair_bytes(KEY), POWERS
    jnz L(higher_powers)
    add $4*pair_bytes, POWERS
L(higher_powers):
    group_counters BASE
    call rounds_with_group
    groups_left %edx, %dl      /* the same number: IN and HASHED have not moved */
    test $1, %dl
    jnz L(sum_goes_on)
    move_hash HASH
L(text_of_group):
    last_rounds 8
    group_text KEY
    add $group_bytes, IN
    add $group_bytes, HASHED
    jmp L(next_group)
L(sum_goes_on):
    pxor HASH, HASH
    jmp L(text_of_group)
L(no_more_groups):
    ret
evc_local_end groups

/* last_group: the group that has been sealed last is hashed.
 * In:      HASHED: its ciphertext. HASH, LO, MI, HI: from the function groups.
 * Out:     HASH; zeros in LO, MI and HI.
 * Changes: edx, HASHED, POWERS, B, P. */
    .p2align 5
evc_local last_group
    lea powers_end - 4*pair_bytes(KEY), POWERS
    mov $4, %edx
L(next_pair):
    pair_of_group 0       /* HASH is zero but for the first pair */
    add_halves A, 0, POWERS
    pxor HASH, HASH
    add $32, HASHED
    add $pair_bytes, POWERS
    dec %edx
    jnz L(next_pair)
    move_hash HASH
    ret
evc_local_end last_group

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* evc_gcm_x86_aesni_groups: groups of a piece; the arguments are in x86_groups_asm.h. */
evc_function evc_gcm_x86_aesni_groups
    lea tables + 128(%rip), TABLES
    movdqu (Y), HASH
    pshufb reversed(TABLES), HASH
    movq (COUNTER), BASE
    pinsrd $2, 8(COUNTER), BASE
    begin_piece ANY_NUMBER
    pxor round_keys(KEY), BASE
    no_products
    groups_of_piece opening+16(%rsp)
    pshufb reversed(TABLES), HASH
    movdqu HASH, (Y)
    jmp clear_vectors
evc_end evc_gcm_x86_aesni_groups

/* clear_vectors: zeros in all vectors. */
    .p2align 5
evc_local clear_vectors
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    pxor %xmm\i, %xmm\i
    .endr
    ret
evc_local_end clear_vectors

/* ---- Associated data ------------------------------------------------------------------------- */

/* add_blocks: LO, MI and HI += the products of blocks with falling powers of H; two blocks at once
 * if there are as many and they meet a pair of powers.
 * In:      AAD: the blocks; AAD_BLOCKS: how many, at least 1. POWER: from AAD_BLOCKS to 16.
 *          HASH_BEFORE: what is added to the first one.
 * Out:     AAD, POWER: behind the blocks. HASH_BEFORE: zeros.
 * Changes: rax, AAD_BLOCKS, A, B, P. */
    .p2align 5
evc_local add_blocks
L(next_blocks):
    mov POWER, %eax
    movdqu (AAD), A
    pshufb reversed(TABLES), A
    pxor HASH_BEFORE, A
    pxor HASH_BEFORE, HASH_BEFORE
    test $1, %al
    jnz L(one_block)
    cmp $2, AAD_BLOCKS
    jb L(one_block)
    pair_of_power %rax, 0, %rax, %rax
    movdqu 16(AAD), P
    pshufb reversed(TABLES), P
    add_pair A, P, powers_end, %rax
    add $32, AAD
    sub $2, POWER
    sub $2, AAD_BLOCKS
    jnz L(next_blocks)
    ret
L(one_block):
    add_block_times %rax, %rax, %eax
    add $16, AAD
    dec POWER
    dec AAD_BLOCKS
    jnz L(next_blocks)
    ret
evc_local_end add_blocks

/* other_aad: the last block of associated data, and products of the blocks before it.
 * In:      AAD, AAD_BYTES: 1 to 7, or more than 16. esi: the number of the power of H that
 *          the last block will meet.
 * Out:     LAST_AAD: the last block, filled up with zeros. The blocks before it: LO, MI and HI +=
 *          their products if there are powers enough, else LAST_AAD += their hash.
 * Changes: rax, AAD, rdx, rsi, HASH_BEFORE, A, B, P. */
    .p2align 5
evc_local other_aad
    cmp $8, AAD_BYTES
    ja long_aad
    load_bytes AAD, AAD_BYTES, LAST_AAD, B, P, %rsi
    pshufb reversed(TABLES), LAST_AAD
    ret
evc_local_end other_aad

/* long_aad: the same of more than 16 bytes. */
    .p2align 5
evc_local long_aad
    mov AAD_BYTES, %rdx
    neg %edx
    and $15, %edx         /* the bytes that the last block lacks */
    movdqu -16(AAD,AAD_BYTES), LAST_AAD
    movdqu shifts(TABLES,%rdx), P
    pshufb P, LAST_AAD
    pshufb reversed(TABLES), LAST_AAD
    pxor HASH_BEFORE, HASH_BEFORE
    blocks_before_last_of_aad %esi
    cmp $16, POWER_64
    jbe add_blocks
    hash_many_blocks move_hash, HASH_BEFORE
    pxor HASH_BEFORE, LAST_AAD
    ret
evc_local_end long_aad

/* \to = the last block of associated data, reversed: of 8 to 16 bytes here. For other numbers of
 * bytes, code at \other_sizes loads it, or zeros if there are none, and jumps back to
 * \loaded. Changes rdx, B, P. */
.macro last_of_aad to, other_sizes, loaded
    lea -8(AAD_BYTES), %rdx
    cmp $8, %rdx
    ja \other_sizes
    movq (AAD), \to
    movq -8(AAD,AAD_BYTES), B
    mov TABLES, %rdx
    sub AAD_BYTES, %rdx
    movdqu shifts + 16(%rdx), P
    pshufb P, B
    punpcklqdq B, \to
    pshufb reversed(TABLES), \to
\loaded:
.endm

/* ---- Tails ----------------------------------------------------------------------------------- */

/* Blocks of text are counted from the end: block 0 is the last one, in STATE7. \s = the ciphertext
 * of the whole block e, reversed, which is hashed. \how: seal or open. Changes P. */
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
/* The same of block 0, which is partial: it lacks edx bytes. It is loaded and stored by 16 bytes
 * that end with it: in front of its bytes these have the last ones of the block before. STATE7 =
 * the ciphertext, reversed, filled up with zeros. Changes rcx, STATE5, STATE6, B, P. */
.macro partial_text how
    mov TABLES, %rcx
    sub %rdx, %rcx
    movdqu -16(IN,LEN), STATE6
    movdqu shifts(TABLES,%rdx), P
    pshufb P, STATE6
    aesenclast ROUND_KEY, STATE7
    pxor STATE6, STATE7
    movdqu -32(OUT,BLOCKS), B /* the block before */
    movdqa STATE7, STATE5
    movdqu shifts(%rcx), P
    pshufb P, STATE5
    movdqu shifts + 16(%rcx), P
    pshufb P, B
    por B, STATE5
    movdqu STATE5, -16(OUT,LEN)
.ifc \how, seal
    movdqu first_bytes(TABLES,%rdx), P
    pand P, STATE7
.else
    movdqa STATE6, STATE7
.endif
    pshufb reversed(TABLES), STATE7
.endm

/* LO, MI, HI += the products of a pair whose second block \s is the first one of the text. The
 * first block is AROUND, if HAS_LANE; else there is none, and AROUND is added to \s.
 * Changes \s, A, B, P. */
.macro first_pair s, place, base
    test HAS_LANE, HAS_LANE
    jz L(no_lane\@)
    halves_of_pair AROUND, \s
    add_halves AROUND, \place, \base
    jmp L(first_pair_is_added\@)
L(no_lane\@):
    pxor AROUND, \s
    add_second \s, \place, \base
L(first_pair_is_added\@):
.endm

/* seal_tail_of_1 to seal_tail_of_8, open_tail_of_1 to open_tail_of_8: the last round, the text and
 * the hash of a tail of r blocks; then the tag. With r odd, AROUND is zeros or a hash.
 * In:      BLOCKS: 16 r. LEN: bytes of its text. IN, OUT. HAS_LANE, AROUND. The last r of STATE0 to
 *          STATE7: without the last round. ROUND_KEY: the last one. TAG_MASK. POWERS_OF_TAIL.
 *          LO, MI, HI: products of blocks before. kept_aad_bytes, on the stack.
 * Out:     they return to the caller of the message: eax, and zeros in all vectors. */
.macro define_tails how
    .p2align 5
evc_local \how\()_tail_of_8
    text \how, 7, STATE0
    first_pair STATE0, PAIR_OF_TAIL(5)
    text \how, 6, STATE1
L(\how\()_blocks_from_5):
    text \how, 5, STATE2
    add_pair STATE1, STATE2, PAIR_OF_TAIL(4)
L(\how\()_blocks_from_4):
    text \how, 4, STATE3
L(\how\()_blocks_from_3):
    text \how, 3, STATE4
    add_pair STATE3, STATE4, PAIR_OF_TAIL(3)
L(\how\()_blocks_from_2):
    text \how, 2, STATE5
L(\how\()_blocks_from_1):
    text \how, 1, STATE6
    add_pair STATE5, STATE6, PAIR_OF_TAIL(2)
L(\how\()_block_0):
    pxor AROUND, AROUND
\how\()_tail_of_1:
    mov BLOCKS_32, %edx
    sub LEN_32, %edx
    jnz L(\how\()_partial_block)
    text \how, 0, STATE7
L(\how\()_lengths):
    pxor AROUND, STATE7
    movq len_bytes(%rsp), STATE6
    movhps kept_aad_bytes(%rsp), STATE6
    psllq $3, STATE6      /* the lengths, reversed: numbers of 8 bytes as the CPU has them */
    add_pair STATE7, STATE6, PAIR_OF_TAIL(1)
    reduce HI
    pshufb reversed(TABLES), HI
    pxor TAG_MASK, HI
    jmp put_tag_to_\how
L(\how\()_partial_block):
    partial_text \how
    jmp L(\how\()_lengths)

\how\()_tail_of_7:
    text \how, 6, STATE1
    pxor AROUND, STATE1
    jmp L(\how\()_blocks_from_5)
\how\()_tail_of_6:
    text \how, 5, STATE2
    first_pair STATE2, PAIR_OF_TAIL(4)
    jmp L(\how\()_blocks_from_4)
\how\()_tail_of_5:
    text \how, 4, STATE3
    pxor AROUND, STATE3
    jmp L(\how\()_blocks_from_3)
\how\()_tail_of_4:
    text \how, 3, STATE4
    first_pair STATE4, PAIR_OF_TAIL(3)
    jmp L(\how\()_blocks_from_2)
\how\()_tail_of_3:
    text \how, 2, STATE5
    pxor AROUND, STATE5
    jmp L(\how\()_blocks_from_1)
\how\()_tail_of_2:
    text \how, 1, STATE6
    first_pair STATE6, PAIR_OF_TAIL(2)
    jmp L(\how\()_block_0)
evc_local_end \how\()_tail_of_8
.endm

    define_tails seal
    define_tails open

/* ---- Tags ------------------------------------------------------------------------------------ */

/* put_tag_to_open, put_tag_to_seal: the end of a message. The tag is compared, or stored.
 * In:      HI: the tag, bytes as in memory; tag, tag_bytes on the stack.
 * Out:     they return to the caller of the message: eax, and zeros in all vectors. */
evc_local put_tag_to_open
    mov tag(%rsp), %rcx
    mov tag_bytes(%rsp), %rdx
    xor %eax, %eax
    btr $opens, %rdx
    btr $tells_tag, %rdx
    jc L(store_tag)
    cmp $16, %rdx
    jne L(load_part_of_tag)
    movdqu (%rcx), %xmm1
L(compare_tag):
    pxor %xmm1, HI
    mov $error_of_tag, %edx
    ptest HI, HI
    cmovnz %edx, %eax
    jmp clear_vectors
L(load_part_of_tag):
    load_bytes %rcx, %rdx, %xmm1, %xmm2, P, %rsi
    mov TABLES, %rsi
    sub %rdx, %rsi
    movdqu first_bytes + 16(%rsi), P
    pand P, HI
    jmp L(compare_tag)

put_tag_to_seal:
    mov tag(%rsp), %rcx
    mov tag_bytes(%rsp), %rdx
    xor %eax, %eax
L(store_tag):
    cmp $16, %rdx
    jne L(store_part_of_tag)
    movdqu HI, (%rcx)
    jmp clear_vectors
L(store_part_of_tag):
    store_bytes HI, %rcx, %rdx, %xmm1, P
    jmp clear_vectors
evc_local_end put_tag_to_open

/* ---- AES of tails ---------------------------------------------------------------------------- */

/* aes_of_tail: a tail of r blocks, 1 to 8, alone or behind groups that are opened.
 * In:      BLOCKS: 16 r. BASE, NEXT_BASE, J_0_LESS_BASE. Else as seal_tail_of_r, to which it jumps,
 *          or to open_tail_of_r.
 * Out:     it does not return. */
.macro tail_alone n
    tail_counters \n
    rolled_rounds round_of_tail, \n, si
    end_of_rounds \n
    mov opens_word(%rsp), OPENS
    test OPENS, OPENS
    jns seal_tail_of_\n
    jmp open_tail_of_\n
.endm

    .p2align 5
evc_local aes_of_tail
    cmp $64, BLOCKS_32
    ja L(aes_of_5_to_8)
    cmp $32, BLOCKS_32
    ja L(aes_of_3_or_4)
    je L(aes_of_2)
    tail_alone 1
L(aes_of_2):
    tail_alone 2
L(aes_of_3_or_4):
    cmp $64, BLOCKS_32
    je L(aes_of_4)
    tail_alone 3
L(aes_of_4):
    tail_alone 4
L(aes_of_5_to_8):
    cmp $96, BLOCKS_32
    ja L(aes_of_7_or_8)
    je L(aes_of_6)
    tail_alone 5
L(aes_of_6):
    tail_alone 6
L(aes_of_7_or_8):
    cmp $128, BLOCKS_32
    je L(aes_of_8)
    tail_alone 7
L(aes_of_8):
    tail_alone 8
evc_local_end aes_of_tail

/* aes_behind_sealed_groups: the same behind groups that are sealed. The last group is hashed beside
 * it. A tail of 1 to 3 blocks takes 4 states, J_0 in front of 3 blocks; of 4 to 7 blocks
 * it takes all 8 in the same way. With 8 blocks, the group is hashed on its own.
 * In:      as aes_of_tail; HASHED, HASH, LO, MI, HI: from the function groups.
 * Out:     it does not return.
 * Changes: LEN is in rsi while its register is POWERS. */
    .p2align 5
evc_local aes_behind_sealed_groups
    mov LEN, %rsi
    lea powers_end - powers_of_group(KEY), POWERS
    cmp $64, BLOCKS_32
    jae L(sealed_4_to_8)
    counters_from_end 3
    movdqa BASE, STATE4
    pxor J_0_LESS_BASE, STATE4
    rounds_with_products 4, POWERS, powers_of_group
    move_hash AROUND
    last_rounds 4
    movdqa STATE4, TAG_MASK
    mov %rsi, LEN
    end_of_rounds 4
    xor HAS_LANE, HAS_LANE
    cmp $32, BLOCKS_32
    jb seal_tail_of_1
    je seal_tail_of_2
    jmp seal_tail_of_3
L(sealed_4_to_8):
    cmp $128, BLOCKS_32
    je L(sealed_8)
    counters_from_end 7
    movdqa BASE, STATE0
    pxor J_0_LESS_BASE, STATE0
    cmp $112, BLOCKS_32
    jne L(numbers_are_less_than_8)
    movdqa NEXT_BASE, STATE7 /* block 7 has the number 8 */
L(numbers_are_less_than_8):
    call rounds_with_group
    move_hash AROUND
    last_rounds 8
    mov %rsi, LEN
    xor HAS_LANE, HAS_LANE
    movdqa STATE0, TAG_MASK
    end_of_rounds 8
    cmp $96, BLOCKS_32
    ja seal_tail_of_7
    je seal_tail_of_6
    cmp $64, BLOCKS_32
    je seal_tail_of_4
    jmp seal_tail_of_5
L(sealed_8):
    mov %rsi, LEN
    tail_counters 8
    rolled_rounds round_of_tail, 8, si
    movdqa round_keys(KEY,%rdx), ROUND_KEY
    aesenclast ROUND_KEY, TAG_MASK
    mov LEN, %rsi
    call last_group
    mov %rsi, LEN
    xor HAS_LANE, HAS_LANE
    add $powers_end - tail_powers_end, POWERS_OF_TAIL
    jmp seal_tail_of_8
evc_local_end aes_behind_sealed_groups

/* ---- Long messages --------------------------------------------------------------------------- */

/* long_message: a message of more than 128 bytes of text.
 * In:      BASE: the IV plus the first round key. KEY, AAD, AAD_BYTES, IN, LEN, TABLES; the
 *          arguments on the stack.
 * Out:     as seal_tail_of_8. */
    .p2align 5
evc_local long_message
    no_products
    last_of_aad A, L(aad_of_long_message), L(long_message_has_aad)
    test AAD_BYTES, AAD_BYTES
    jz L(groups_of_message)
    lea powers_end - pair_bytes + 8(KEY), %rdx /* H^1 */
    add_block %rdx
    move_hash HASH
L(groups_of_message):
    mov out(%rsp), %rdx
    mov AAD_BYTES, kept_aad_bytes(%rsp)
    mov %rdx, OUT_LESS_IN
    sub IN, OUT_LESS_IN
    lea -1(LEN), BLOCKS
    shr $7, BLOCKS        /* groups, at least one */
    xor NUMBER, NUMBER
    mov IN, HASHED
    evc_save %rbx
    xor ANY_NUMBER, ANY_NUMBER
    cmpl $0, opens_word + 8(%rsp)
    jl L(call_groups)
    call first_group
    dec BLOCKS
L(call_groups):
    call groups
    evc_restore %rbx

    /* The tail. */
    mov len_bytes(%rsp), LEN
    mov NUMBER, %eax
    shl $4, %rax          /* bytes of the groups */
    sub %rax, LEN
    lea 15(LEN), BLOCKS_32
    and $0xf0, BLOCKS_32
    lea 8(NUMBER_64), %edx
    xor NUMBER, %edx
    number_as_counter %edx, NEXT_BASE
    pxor BASE, NEXT_BASE
    xor $1, NUMBER        /* J_0 has the number 1 */
    number_as_counter NUMBER, J_0_LESS_BASE
    add IN, OUT           /* OUT_LESS_IN was there */
    cmp IN, HASHED
    jne aes_behind_sealed_groups
    xor HAS_LANE, HAS_LANE
    jmp aes_of_tail

    /* Associated data of a number of bytes that is not 8 to 16. */
L(aad_of_long_message):
    pxor A, A
    test AAD_BYTES, AAD_BYTES
    jz L(long_message_has_aad)
    js L(hashed_aad_of_long_message)
    mov $1, %esi
    call other_aad
    movdqa LAST_AAD, A
    jmp L(long_message_has_aad)
L(hashed_aad_of_long_message):
    movdqu (AAD), A
    pshufb reversed(TABLES), A
    jmp L(long_message_has_aad)
evc_local_end long_message

/* ---- Messages -------------------------------------------------------------------------------- */

/* LO, MI, HI += the product of the block \a, reversed, with H^1, H^2 or H^3; MI is complete before
 * and behind it. low, high: which halves PCLMULQDQ takes of the powers and the block, for the lower
 * half of the block and for its upper one. Changes B, P. */
.macro add_power_1 a
    add_power \a, PAIR(1), 0x01, 0x11
.endm
.macro add_power_2 a
    add_power \a, PAIR(1), 0x00, 0x10
.endm
.macro add_power_3 a
    add_power \a, PAIR(2), 0x01, 0x11
.endm
.macro add_power a, place, base, low, high
    movdqa \place(\base), P
    movdqa P, B
    pclmulqdq $\low, \a, P
    pxor P, LO
    pclmulqdq $\high, \a, B
    pxor B, MI
    movdqa \place + 16(\base), P
    movdqa P, B
    pclmulqdq $\low, \a, P
    pxor P, MI
    pclmulqdq $\high, \a, B
    pxor B, HI
.endm

/* message_of_a_block: a message of at most 16 bytes of text.
 * In, Out: as long_message. */
    .p2align 5
evc_local message_of_a_block
    movdqa BASE, J_0
    pxor counters + 16*1(TABLES), J_0
    movdqa BASE, BLOCK
    pxor counters + 16*2(TABLES), BLOCK
    middle_rounds round_in_memory, 2
    movdqa round_keys(KEY,%rdx), ROUND_KEY
    no_products
    aesenclast ROUND_KEY, J_0
    last_of_aad A, L(aad_of_a_block), L(block_has_aad)
    movq LEN, LENGTHS
    movq AAD_BYTES, %xmm6
    punpcklqdq %xmm6, LENGTHS
    psllq $3, LENGTHS     /* reversed: numbers of 8 bytes as the CPU has them */
    add_power_1 LENGTHS
    test LEN, LEN
    jz L(block_without_text)
    add_power_3 A
    mov opens_word(%rsp), OPENS
    mov out(%rsp), OUT
    aesenclast ROUND_KEY, BLOCK
    cmp $16, LEN_32
    jne L(partial_block)
    movdqu (IN), TEXT
    pxor TEXT, BLOCK
    movdqu BLOCK, (OUT)
    test OPENS, OPENS
    js L(hash_of_block)
    movdqa BLOCK, TEXT
L(hash_of_block):         /* TEXT is the ciphertext */
    pshufb reversed(TABLES), TEXT
    add_power_2 TEXT
L(tag_of_block):
    reduce_complete HI
    pshufb reversed(TABLES), HI
    pxor J_0, HI
    cmpl $0, opens_word(%rsp)
    jl put_tag_to_open
    jmp put_tag_to_seal

L(block_without_text):
    add_power_2 A
    jmp L(tag_of_block)

L(partial_block):
    load_bytes IN, LEN, TEXT, %xmm2, P, %rdx
    pxor TEXT, BLOCK
    store_bytes BLOCK, OUT, LEN, %xmm2, P
    test OPENS, OPENS
    js L(hash_of_block)
    mov TABLES, %rdx
    sub LEN, %rdx
    movdqu first_bytes + 16(%rdx), TEXT
    pand BLOCK, TEXT
    jmp L(hash_of_block)

L(aad_of_a_block):
    pxor A, A
    test AAD_BYTES, AAD_BYTES
    jz L(block_has_aad)
    js L(hashed_aad_of_a_block)
    cmp $1, LEN
    sbb %esi, %esi
    add $3, %esi          /* H^3; without text H^2 */
    call other_aad
    movdqa LAST_AAD, A
    pxor LO, MI           /* MI is complete */
    pxor HI, MI
    jmp L(block_has_aad)
L(hashed_aad_of_a_block):
    movdqu (AAD), A
    pshufb reversed(TABLES), A
    jmp L(block_has_aad)
evc_local_end message_of_a_block

    define_open evc_gcm_x86_aesni, btsq $opens, tag_bytes(%rsp)

/* evc_gcm_x86_aesni_seal: a whole message, as evc_gcm_seal; define_open jumps to `message`.
 * In:      key, iv, iv_bytes (12), aad, aad_bytes, in: KEY, IV, rdx, AAD, AAD_BYTES, IN; out,
 *          len_bytes, tag, tag_bytes: on the stack.
 * Out:     eax: an enum evc_status. All vectors are zeros. */
evc_function evc_gcm_x86_aesni_seal, message
    mov len_bytes(%rsp), LEN
    lea tables + 128(%rip), TABLES
    movd (IV), BASE       /* by words: load_iv in x86_gcm_asm.h tells why */
    pinsrd $1, 4(IV), BASE
    pinsrd $2, 8(IV), BASE
    pxor round_keys(KEY), BASE
    cmp $16, LEN
    jbe message_of_a_block
    cmp $most_bytes, LEN
    ja long_message

    /* 17 to 128 bytes: 2 to 8 blocks. */
    no_products
    last_of_aad AROUND, L(aad_of_tail), L(tail_has_aad)
    lea 15(LEN), BLOCKS_32
    and $0xf0, BLOCKS_32
    mov out(%rsp), %rdx
    mov AAD_BYTES, kept_aad_bytes(%rsp)
    xor HAS_LANE, HAS_LANE
    test AAD_BYTES, AAD_BYTES
    setne %cl
    mov %rdx, OUT
    movdqa counters + 16*8(TABLES), NEXT_BASE
    pxor BASE, NEXT_BASE
    test $16, %al
    jz L(aes_of_message)
    test HAS_LANE, HAS_LANE
    jz L(aes_of_message)

    /* r is odd: the associated data has no lane, and meets H^(r+2). */
    add_block_before_tail 2, %rdx, %edx
    pxor AROUND, AROUND
    movdqa counters + 16*8(TABLES), NEXT_BASE
    pxor BASE, NEXT_BASE
L(aes_of_message):
    movdqa counters + 16*1(TABLES), J_0_LESS_BASE
    jmp aes_of_tail

L(aad_of_tail):
    pxor AROUND, AROUND
    test AAD_BYTES, AAD_BYTES
    jz L(tail_has_aad)
    js L(hashed_aad_of_tail)
    lea 15(LEN), %esi
    shr $4, %esi
    add $2, %esi
    call other_aad
    movdqa LAST_AAD, AROUND
    jmp L(tail_has_aad)
L(hashed_aad_of_tail):
    movdqu (AAD), AROUND
    pshufb reversed(TABLES), AROUND
    jmp L(tail_has_aad)
evc_end evc_gcm_x86_aesni_seal

#endif
