/* SPDX-License-Identifier: MIT */
/*
 * GCM (SP 800-38D, 2007) by VAES and VPCLMULQDQ on vectors of 4 blocks: whole messages, and groups
 * of vectors for pieces of messages. x86_vaes512.c has the rest of the kernel.
 *
 * Messages of at most 512 bytes of text but for 449 to 480 are in x86_vaes512_short_asm.h, which
 * x86_vaes512_intel has, too: it tells how to follow one, the algebra, bit order and reduction. The
 * others are in x86_vaes512_long_asm.h.
 *
 * Products of long texts and of long associated data use Karatsuba's method: with halves
 * a = a_0 + a_1 z^64 and h = h_0 + h_1 z^64, lo = a_0 h_0, hi = a_1 h_1, and mi is the sum of
 * (a_0 + a_1)(h_0 + h_1), to which the sums of lo and of hi are added once, before the reduction.
 * Two vectors are multiplied at once: one register has a_0 of both, one has a_1 of both, and their
 * sum is a_0 + a_1 (`halves_of`). These cores make a product in two cycles and shuffles beside it,
 * so three products are the shorter way. Short messages have four: less to do before the first.
 *
 * Powers. Behind the row of H^32 to H^1 that short messages use, the key holds H^64 to H^1 once
 * more, in 16 vectors, as pairs of 128 bytes: the pair of the last two vectors comes last, and
 * pairs_end is behind it. The first 64 bytes of a pair have h_0 of both vectors, the others h_1. A
 * word of 128 bits has the first vector's half as its lower half, and the second one's as its upper
 * half. So bit 4 of the immediate value of vpclmulqdq chooses the vector, and bit 0 the half of a.
 * The sums of halves for Karatsuba's method are made where they are used.
 *
 * Lanes. If the last block of a long message is in the last lane, then lane l of the p-th vector
 * from the end meets H^(4p - l), and a vector of powers is one load from a fixed place.
 *
 * Secrets are in vectors alone, as in short messages; functions that C calls end with zeros in all
 * vectors that they have used. The number of a piece's counter goes through a general register.
 */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64

#include "gcm/x86_gcm_asm.h"

#define GROUPS_BY_ROW 0

/* Tables of long messages. */
.macro more_tables at
/* The numbers of words of 64 bits in a pair of vectors, for vpermq and vpermi2q. */
.set quad_numbers, \at
    .set number, 0
    .rept 16
    .quad number
    .set number, number + 1
    .endr
/* The same of AAD_LANES and a vector of text: blocks before the last one, the last one, text. */
.set aad_quads, quad_numbers + 128
    .quad 2, 3, 4, 5, 6, 7, 0, 1, 8, 9, 10, 11, 12, 13, 14, 15
/* The bytes of text in a vector whose first block of text is in lane 4 (none), 3, 2, 1. */
.set text_masks, aad_quads + 128
    .quad 0, 0
    .quad 0xffff000000000000, 0
    .quad 0xffffffff00000000, 0
    .quad 0xffffffffffff0000, 0
/* The bytes of text in a last vector, whose last block is in lane 2 and lacks 0 to 15 bytes. */
.set last_text_masks, text_masks + 64
    .set number, 48
    .rept 16
    .quad (1 << number) - 1
    .set number, number - 1
    .endr
.set words_reversed, last_text_masks + 128
    .byte 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8
/* The step from a vector's counters to the next one's. */
.set lanes, words_reversed + 16
    .long 4
.endm

#include "gcm/x86_vaes512_short_asm.h"
#include "gcm/x86_vaes512_long_asm.h"

/* ---- Entries --------------------------------------------------------------------------------- */

/* other_way: see x86_vaes512_short_asm.h. */
.macro other_way direction
    lea -449(LEN), %rax
    cmp $480 - 449, %rax
    jbe L(long_\direction)
    cmp $512, LEN
    jbe L(short_\direction)
L(long_\direction):
.ifc \direction, open
    orq $1 << opens, tag_bytes(%rsp)
.endif
    jmp long_message
L(short_\direction):
.endm
    define_long_message seal
    define_long_message open

/*
 * void evc_gcm_x86_vaes512_groups(key, counter, y, in, out, n_groups, opening): groups of a piece
 * of a message.
 *
 * In:  key: struct key. counter: 16 bytes, that of the first block. y: 16 bytes, the hash of what
 *      comes before. in, out: n_groups * 512 bytes. n_groups: at least one. opening: not 0 to open
 * Out: out; y: the hash behind the groups. counter does not change.
 */
.set opening, 8
evc_function evc_gcm_x86_vaes512_groups
    lea tables(%rip), TABLES
    vmovq (IV), IV_BLOCK
    vpinsrd $2, 8(IV), IV_BLOCK, IV_BLOCK
    vpxor round_keys(KEY), IV_BLOCK, IV_BLOCK
    vshufi32x4 $0, WHITE_IV, WHITE_IV, WHITE_IV
    vbroadcasti32x4 words_of_counters(TABLES), NUMBER_PLACES
    mov 12(IV), %eax
    bswap %eax
    vpbroadcastd %eax, NUMBERS
    vpaddd lane_numbers(TABLES), NUMBERS, NUMBERS
    kxnorw SEALS, SEALS, SEALS
    cmpl $0, opening(%rsp)
    je 1f
    kxorw SEALS, SEALS, SEALS
1:  mov %rdx, %r10        /* y */
    mov %r9, GROUPS
    sub GROUP, OUT_LESS_IN /* in is where GROUP is */
    call group_of_counters
    vbroadcasti32x4 round_keys(KEY,LAST_ROUND), LONG_LAST_KEY
    no_sums
    call group_text
    vmovdqu (%r10), HASH_X
    vpxorq HASH, HASHED0, HASHED0
    call groups
    lea -384(KEY), PAIR_POWERS
    call hash_of_2_3
    sub $-128, PAIR_POWERS
    call hash_of_4_5
    add_pair HASHED6, HASHED7, (pairs_end-128), KEY
    lea -512(KEY), PAIR_POWERS
    call hash_of_0_1
    call hash_of_products
    vmovdqu HASH_X, (%r10)
    jmp clear_and_return
evc_end evc_gcm_x86_vaes512_groups


evc_function evc_gcm_x86_vaes512_seal
    message_by_length seal
evc_end evc_gcm_x86_vaes512_seal

evc_function evc_gcm_x86_vaes512_open_output_tag
    btsq $tells_tag, tag_bytes(%rsp)
    jmp open_message
evc_end evc_gcm_x86_vaes512_open_output_tag

evc_function evc_gcm_x86_vaes512_open, open_message
    message_by_length open
evc_end evc_gcm_x86_vaes512_open

#endif
