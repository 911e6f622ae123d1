/* SPDX-License-Identifier: MIT */
/*
 * The kernels x86_aesni (vectors of one block) and x86_vaes256 (of two): the algebra of both, their
 * registers, and the code that does not depend on the width of vectors.
 *
 * Contents: the hash, products of two blocks, bit order and reduction, counters, secrets (below);
 *           registers, the stack, labels, tables, groups, associated data, pieces of messages.
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
 *   H^n, as the first of these n blocks does. Either Y is added to this block, or it has a product
 *   of its own. The blocks of a message are those of the associated data, those of the ciphertext,
 *   both filled up with zeros, and one with the lengths of both in bits, which meets H^1.
 *
 * Products of two blocks
 *
 *   Karatsuba: with a = a_0 + a_1 z^64 and h = h_0 + h_1 z^64, three multiplications of 64 bits are
 *
 *       a h = a_0 h_0 + ((a_0 + a_1)(h_0 + h_1) + a_0 h_0 + a_1 h_1) z^64 + a_1 h_1 z^128.
 *
 *   The registers LO, MI and HI are sums of a_0 h_0, of (a_0 + a_1)(h_0 + h_1) and of a_1 h_1 over
 *   many blocks. LO and HI are added to MI once, before the reduction: MI is complete then.
 *   A product of its own takes four multiplications, without a sum of halves, and
 *   leaves MI complete.
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
 *   A group of g blocks has the numbers g k + 2 to g k + g + 1: as g is a power of 2, these are
 *   BASE plus g k plus 2 to g - 1, by XOR, and for the last two BASE plus g (k + 1) plus 0 and 1.
 *   A piece of a message may begin with any number, and with one that is secret: see ANY_NUMBER.
 *
 * Secrets
 *
 *   Round keys, powers of H, states, hashes and the tag mask are in vector registers alone, never
 *   in a general register or on the stack. Every function that C calls ends with zeros in all of
 *   these registers: the ABI lets later functions find and spill what is in them.
 *   Branches and addresses depend on lengths, on the number of rounds and on what the call is.
 *
 * The including file has ANY_NUMBER's partner NUMBER, and the functions first_group, groups and
 * last_group, which its own comments describe.
 */
#ifndef EVC_GCM_X86_GROUPS_ASM_H
#define EVC_GCM_X86_GROUPS_ASM_H

/* ---- Registers ------------------------------------------------------------------------------- */

#define KEY %rdi       /* struct key: the number of rounds, round keys, powers of H */
#define IV %rsi        /* 12 bytes; then NUMBER, OPENS */
#define AAD %rcx       /* then HASHED */
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

/* ---- The stack ------------------------------------------------------------------------------- */

.set opens, 63                   /* bit of tag_bytes: the message is opened */
.set opens_word, tag_bytes + 4   /* so this word is negative then */
.set kept_aad_bytes, out         /* AAD_BYTES, when OUT has its register */
.set opening, 8                  /* argument of a piece: not 0 to open */

/* ---- Labels ---------------------------------------------------------------------------------- */

/* A label inside of a function, which is not in the object's table of symbols. Functions have names
 * there, and places that are called from other functions of the file. In macros, names
 * end with \@, which differs with every use of a macro. */
#if defined(__APPLE__)
#define L(name) L##name
#else
#define L(name) .L##name
#endif

/* Macros with immediate values or such labels have an argument: in macros without any, Apple's
 * assemblers take $1 for an argument, and do not know \@. */

/* ---- Tables ---------------------------------------------------------------------------------- */

/* The including file sets `lanes`, the blocks of a vector. */
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

/* Windows of 16 bytes, in a table that begins \at bytes behind TABLES:
 *
 *   shifts + n           VPSHUFB moves a block n bytes down (-16 to 16), and zeros in
 *   first_bytes + 16 - n the first n bytes of a block are ones, the others zeros
 */
.macro table_of_windows at
    .fill 16, 1, 128
.set shifts, \at + 16
    .byte 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .fill 16, 1, 128
.set block_bytes, shifts         /* the name in x86_gcm_asm.h */
.set first_bytes, shifts + 32
    .fill 16, 1, 255
    .fill 16, 1, 0
.set windows_end, first_bytes + 32
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

/* ---- Groups ---------------------------------------------------------------------------------- */

/* \to = how many groups will be hashed behind the one at HASHED; BLOCKS: how many will be encrypted
 * behind the one at IN. An odd number: the group meets the higher powers, and its sum goes on with
 * the next group. An even number: it meets the lower powers, and the sum is reduced behind it. */
.macro groups_left to
    xor %edx, \to
    cmp IN, HASHED
    setne %dl
    add BLOCKS_32, \to
.endm

/* ---- Associated data ------------------------------------------------------------------------- */

/* The blocks of more than 16 bytes, whose last one meets the power of H with the number \power:
 * rsi = how many are before the last; rdx = the number of the power that the first one meets. */
.macro blocks_before_last_of_aad power
    mov \power, %edx
    lea -1(AAD_BYTES), %rsi
    shr $4, %rsi
    add %rsi, %rdx
.endm

/* Hashes rsi blocks at rcx, any number from 1 on: in sums of 16, but for the first one, which has
 * 1 to 16. The hash of a sum moves to \hash_before, by the macro \move_hash, and add_blocks adds
 * it to the next block. Changes rax, rcx, rdx, rsi, and the vectors of add_blocks. */
.macro hash_many_blocks move_hash, hash_before
    lea -1(%rsi), %edx
    and $15, %edx
    inc %edx
L(next_sum\@):
    sub %rdx, %rsi        /* blocks behind this sum */
    evc_save %rsi
    mov %edx, %esi
    call add_blocks
    \move_hash \hash_before
    evc_restore %rsi
    mov $16, %edx
    test %rsi, %rsi
    jnz L(next_sum\@)
.endm

/* ---- Pieces of messages ---------------------------------------------------------------------- */

/*
 * A piece is called as void (key, counter, y, in, out, n_groups, opening): KEY, rsi, rdx: 16 bytes
 * each, rcx, r8, r9: at least one group, and an int on the stack. The function hashes the groups
 * behind y, and stores the hash there.
 */

/* BLOCKS, IN, OUT_LESS_IN, NUMBER and ANY_NUMBER from these arguments; y and the other bytes of the
 * counter have been loaded. Saves rbx, and rdx on top of it. */
.macro begin_piece any_number
    mov %r9, BLOCKS
    mov %rcx, IN
    sub IN, OUT_LESS_IN
    mov 12(%rsi), NUMBER
    bswap NUMBER
    evc_save %rbx
    evc_save %rdx
    mov $1, \any_number
.endm

/* All groups of a piece: A is the hash, before and behind them. LO, MI and HI are zeros. Restores
 * what begin_piece saved. \is_opened: `opening`, below what has been saved. */
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
    evc_restore %rdx
    evc_restore %rbx
.endm

#endif
