/* SPDX-License-Identifier: MIT */
/*
 * The kernels x86_aesni (vectors of one block) and x86_vaes256 (of two): the algebra of both, their
 * registers, and the code that does not depend on the width of vectors.
 *
 * Contents: the hash, products of two blocks, bit order and reduction, counters, secrets (below);
 *           registers, the stack, labels, tables, places of powers, groups, associated data,
 *           pieces of messages.
 *
 * The hash
 *
 *   GHASH of the blocks X_1 ... X_N is Y_N, with Y_0 = 0 and Y_i = (Y_(i-1) + X_i) H in GF(2^128),
 *   where + is XOR (SP 800-38D, 2007, section 6.4). As a sum it is
 *
 *       Y_N = X_1 H^N + X_2 H^(N-1) + ... + X_N H^1.
 *
 *   So a block meets a power of H that tells its distance from the end, and the products do not
 *   wait for each other. The key holds the powers H^1 to H^16 (x86_aesni) or H^32 (x86_vaes256). A
 *   sum of more blocks is cut: if Y is the hash of those before, and n blocks follow, then Y meets
 *   H^n, as the first of these n blocks does: Y is added to this block, or both are multiplied.
 *   The blocks of a message are those of the associated data, those of the ciphertext, both filled
 *   up with zeros, and one with the lengths of both in bits, which meets H^1.
 *
 * Products of two blocks
 *
 *   Karatsuba: with a = a_0 + a_1 z^64 and h = h_0 + h_1 z^64, three multiplications of 64 bits are
 *
 *       a h = a_0 h_0 + ((a_0 + a_1)(h_0 + h_1) + a_0 h_0 + a_1 h_1) z^64 + a_1 h_1 z^128.
 *
 *   The registers LO, MI and HI are sums of a_0 h_0, of (a_0 + a_1)(h_0 + h_1) and of a_1 h_1 over
 *   many blocks. LO and HI are added to MI once, before the reduction: MI is complete then. In a
 *   message of one block, where few products wait for each other, each takes four multiplications
 *   without sums of halves (add_power_1 to add_power_3), and MI is complete at once.
 *
 *   Vectors are multiplied in pairs. One vector takes the lower halves a_0 of both, another one
 *   the upper halves a_1, and one XOR of these is the sums a_0 + a_1. The key holds powers in the
 *   same form, a pair of vectors after the other, the highest powers first:
 *
 *       h_0 of both vectors, h_1 of both, h_0 + h_1 of both.
 *
 *   In each lane of 16 bytes, the first vector's half is the lower one: PCLMULQDQ with the
 *   immediate value 0x00 multiplies halves of first vectors, with 0x11 halves of second ones.
 *
 * Bit order and reduction
 *
 *   The first bit of a block is the coefficient of x^0. With its bytes reversed, the block is a
 *   number whose bit i stands for x^(127-i). Read as a polynomial A(z), with bit i for z^i, it is
 *   the element x^127 A(1/x). The product of two such elements belongs to A B / z^127, modulo
 *
 *       q(z) = z^128 + z^127 + z^126 + z^121 + 1,
 *
 *   which is GHASH's polynomial mirrored. The key holds every power times z, so that the sum is
 *   divided by z^128: twice by z^64. Let p = z^63 + z^62 + z^57, that is 0xc200000000000000. Then
 *   q = z^128 + p z^64 + 1, so modulo q a c of 64 bits is c (z^128 + p z^64), and
 *
 *       c / z^64 = c z^64 + c p.
 *
 *   LO = c + d z^64 divided by z^64 is d + c z^64 + c p: LO with its halves exchanged, plus one
 *   product. It is added to MI, which is divided by z^64 in the same way and added to HI. This is
 *   the hash, since c p has less than 128 bits.
 *
 * Counters
 *
 *   J_0 is the IV of 12 bytes and the number 1, in 4 bytes, most significant first. E(J_0) is the
 *   tag mask: the tag is the sum of it and the hash. Block i of the text has the number i + 1.
 *   BASE is the IV with the number 0, plus the first round key ("whitened"). BASE plus a number in
 *   its last word is the state of AES before round 1.
 *   Group k, from 0 on, of g blocks has the numbers g k + 2 to g k + g + 1. Since g is a power of
 *   2, they are g k XOR 2 to g k XOR (g - 1), and of the last two blocks g (k + 1) XOR 0 and XOR 1.
 *   So BASE has g k in it, and goes on to g (k + 1) within the group. A piece of a message may
 *   begin with any number: there, each counter comes from an addition.
 *
 * Secrets
 *
 *   Round keys, powers of H, states, hashes and the tag mask are in vector registers alone, never
 *   in a general register or on the stack. Every function that C calls ends with zeros in all of
 *   these registers: the ABI lets later functions find and spill what is in them.
 *   Branches and addresses depend on lengths, on the number of rounds and on which call it is. The
 *   number of a counter is in a general register; that of a piece may come from the hash of a long
 *   IV, so that nothing branches on it.
 *
 * The including file defines `lanes`, the blocks of a vector, before it includes this one, and then
 * NUMBER, the macro add_block, and the functions first_group, groups, last_group and add_blocks.
 */
#ifndef EVC_GCM_X86_GROUPS_ASM_H
#define EVC_GCM_X86_GROUPS_ASM_H

/* ---- Registers ------------------------------------------------------------------------------- */

#define KEY %rdi       /* struct key: the number of rounds, round keys, powers of H */
#define IV %rsi        /* 12 bytes; then NUMBER, OPENS */
#define AAD %rcx       /* the next block of it; then HASHED */
#define HASHED %rcx    /* in groups: the group that is to be hashed next */
#define AAD_BYTES %r8  /* then OUT */
#define OUT %r8        /* of the tail */
#define OUT_LESS_IN %r8 /* in groups: the distance from the input to the output */
#define IN %r9         /* text: of the next group, or of the tail */
#define LEN %r10       /* bytes of the text, or of the tail; in groups the register is POWERS */
#define LEN_32 %r10d
#define TABLES %r11
#define BLOCKS %rax    /* of a tail: 16 r, the bytes of its r blocks as if the last one was whole;
                        * in groups: how many are to come */
#define BLOCKS_32 %eax
#define ANY_NUMBER %ebx /* not 0 in pieces of messages: NUMBER may be any number, and secret */

/* Associated data: */
#define AAD_BLOCKS %rsi /* blocks at AAD that add_blocks takes */
#define POWER %edx     /* the number of the power of H that the next one of them meets */
#define POWER_64 %rdx

/* Pieces of messages: */
#define COUNTER %rsi   /* of the first block, 16 bytes */
#define Y %rdx         /* the hash, 16 bytes */

/* ---- The stack ------------------------------------------------------------------------------- */

.set opens, 63                   /* bit of tag_bytes: the message is opened */
.set opens_word, tag_bytes + 4   /* so this word is negative then */
.set kept_aad_bytes, out         /* in place of this argument: AAD_BYTES, when it is in OUT */
.set opening, 8                  /* argument of a piece: not 0 to open */

/* Macros with immediate values or such labels have an argument: in macros without any, Apple's
 * assemblers take $1 for an argument, and do not know \@. */

/* ---- Tables ---------------------------------------------------------------------------------- */

.set pair_bytes, 48*lanes        /* of 2 vectors of powers: lower halves, upper halves, sums */
.set powers_end, round_keys + 240 + 8*pair_bytes /* from KEY; H^1 is in the last pair */

/* The numbers from 0 to n - 1, as counters have them. */
.macro table_of_counters n
    .set at, 0
    .rept \n
    .fill 15, 1, 0
    .byte at
    .set at, at + 1
    .endr
.endm

/* Masks of 16 bytes, in a table that begins \at bytes behind TABLES:
 *
 *   shifts + n             for PSHUFB: moves a block n bytes down (n < 0: up), and zeros in
 *   first_bytes + 16 - n   ones in the first n bytes, zeros behind
 */
.macro table_of_masks at
    .fill 16, 1, 128
.set shifts, \at + 16
    .byte 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .fill 16, 1, 128
.set block_bytes, shifts         /* the name in x86_gcm_asm.h */
.set first_bytes, shifts + 32
    .fill 16, 1, 255
    .fill 16, 1, 0
.set masks_end, first_bytes + 32
.endm

/* Places of H^1 to H^n in the key, from KEY on: those of their lower halves. Upper halves are
 * pair_bytes/3 bytes behind, and sums of halves as many bytes behind these. */
.macro table_of_powers n
    .set at, 0
    .rept \n
    .short powers_end - pair_bytes*(at/(2*lanes) + 1) \
        + 16*(lanes - 1 - at%lanes) + 8*(1 - at/lanes%2)
    .set at, at + 1
    .endr
.endm

/* ---- Places of powers ------------------------------------------------------------------------ */

/* LO, MI, HI += the product of the block that add_block takes with the power of H whose number is
 * in the register \number. Changes \place, and what add_block changes. */
.macro add_block_times number, place, place_32
    movzwl power_places - 2(TABLES,\number,2), \place_32
    add KEY, \place
    add_block \place
.endm
/* The same with H^(r+k), in front of a tail of r blocks. BLOCKS: 16 r. */
.macro add_block_before_tail k, place, place_32
    mov BLOCKS_32, \place_32
    shr $3, \place_32     /* the table has 2 bytes for each power */
    movzwl power_places + 2*(\k - 1)(TABLES,\place), \place_32
    add KEY, \place
    add_block \place
.endm

/* powers_end(\place) = the pair of vectors of powers that begins with the power whose number is in
 * the register \number, plus \before. Each power takes 24 bytes, with the sum of its halves.
 * \shifted: \place, or its lower half if that suffices. */
.macro pair_of_power number, before, place, shifted
    lea 3*\before(\number,\number,2), \place
    shl $3, \shifted
    neg \place
    add KEY, \place
.endm

/* ---- Groups ---------------------------------------------------------------------------------- */

/* \to = how many groups will be hashed behind the one at HASHED; BLOCKS: how many will be encrypted
 * behind the one at IN. An odd number: the group meets the higher powers, and its sum goes on with
 * the next group. An even number: it meets the lower powers, and the sum is reduced behind it. */
.macro groups_left to, lowest_byte
    xor \to, \to
    cmp IN, HASHED
    setne \lowest_byte
    add BLOCKS_32, \to
.endm

/* ---- Associated data ------------------------------------------------------------------------- */

/* With more than 16 bytes, whose last block meets the power of H with the number \power: AAD_BLOCKS
 * = the blocks before the last one; POWER_64 = the number of the power that the first one meets. */
.macro blocks_before_last_of_aad power
    mov \power, POWER
    lea -1(AAD_BYTES), AAD_BLOCKS
    shr $4, AAD_BLOCKS
    add AAD_BLOCKS, POWER_64
.endm

/* Hashes AAD_BLOCKS blocks at AAD, any number from 1 on: in sums of 16, but for the first one,
 * which has 1 to 16. The macro \move_hash moves the hash of a sum to \hash_before, and add_blocks
 * adds it to the next block. Changes what add_blocks changes. */
.macro hash_many_blocks move_hash, hash_before
    lea -1(AAD_BLOCKS), POWER
    and $15, POWER
    inc POWER
L(next_sum\@):
    sub POWER_64, AAD_BLOCKS /* those behind this sum */
    evc_save AAD_BLOCKS
    mov POWER, %esi       /* AAD_BLOCKS: the last one of a sum meets H^1 */
    call add_blocks
    \move_hash \hash_before
    evc_restore AAD_BLOCKS
    mov $16, POWER
    test AAD_BLOCKS, AAD_BLOCKS
    jnz L(next_sum\@)
.endm

/* ---- Pieces of messages ---------------------------------------------------------------------- */

/* The function of a kernel takes key, counter, y, in, out, n_groups (at least one), opening: in
 * KEY, COUNTER, Y, rcx, r8 and r9, and an int on the stack. It encrypts or decrypts the groups,
 * hashes their ciphertext behind the hash at Y, and stores the hash there. */

/* BLOCKS, IN, OUT_LESS_IN, NUMBER and ANY_NUMBER from these arguments; the hash, and the other
 * bytes of the counter, have been loaded. Saves rbx, and Y on top of it. */
.macro begin_piece any_number
    mov %r9, BLOCKS
    mov %rcx, IN
    sub IN, OUT_LESS_IN
    mov 12(COUNTER), NUMBER
    bswap NUMBER
    evc_save %rbx
    evc_save Y
    mov $1, \any_number
.endm

/* All groups of a piece: HASH is the hash, before and behind them; LO, MI and HI are zeros.
 * Restores what begin_piece saved. \is_opened: where the argument `opening` is. */
.macro groups_of_piece is_opened
    mov IN, HASHED
    cmpl $0, \is_opened
    jne L(groups_of_piece\@)
    call first_group
    dec BLOCKS
L(groups_of_piece\@):
    call groups
    cmp IN, HASHED
    je L(piece_is_hashed\@)
    call last_group
L(piece_is_hashed\@):
    evc_restore Y
    evc_restore %rbx
.endm

#endif
