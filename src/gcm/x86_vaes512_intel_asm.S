/* SPDX-License-Identifier: MIT */
/*
 * GCM (SP 800-38D) of whole messages, and of groups of vectors for messages in pieces, with VAES
 * and VPCLMULQDQ on vectors of 512 bits: messages of over 512 bytes of text, groups, and entries.
 *
 * x86_vaes512_short_asm.h has the rest. It tells the algebra, how to follow a message, and the
 * rules of contracts.
 */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64

#include "gcm/x86_gcm_asm.h"

#define GROUPS_BY_ROW 1

.macro more_tables at
.set group_end_counters, \at              /* of the last vector of a group: see below */
    .irp n, 30, 31, 0, 1
    counter_block \n
    .endr
.set group_step, group_end_counters + 64    /* blocks of a group, in the last word of each lane */
    .rept 4
    .long 0, 0, 0, 32
    .endr
.set vector_step, group_step + 64           /* the blocks of a vector */
    .rept 4
    .long 0, 0, 0, 4
    .endr
.endm

#include "gcm/x86_vaes512_short_asm.h"

/* ---- 1. Messages of over 512 bytes of text ------------------------------------------------------
 *
 * Groups have 8 vectors: 32 blocks, 512 bytes. As many groups as leave 1 to 32 blocks behind them
 * come first. Those t blocks are the tail: 1 to 8 vectors. The last vector has b blocks.
 *
 * Overlap. While a group goes through AES, the one before it is hashed, so that the port of AES and
 *   the port of products both have work. The tail goes through AES by 4 vectors and then the last 1
 *   to 4, or, of 8, twice 2. The last group goes by 4 vectors, too, in front of a tail of at most 4
 *   and in messages of at most 1024 bytes. The products of 4 vectors stand between the rounds of
 *   the next ones. At the end of a message, so many products would wait for AES that the core could
 *   not begin the next message.
 * The hash. Each group has one reduction, and the tail has one. The hash of all before a group is
 *   added to the first block of the group, which meets H^32. Before the first group, that is the
 *   hash of associated data; but associated data of one block is not hashed before, and meets H^33.
 *   In front of the tail, the hash meets H^(t+1), in one vector with the lengths, whose products
 *   are made while AES is under way. Messages of at most 512 bytes have no group: associated data
 *   and lengths are hashed as in short messages. Sealed messages of 513 to 768 bytes have a group
 *   of 4 vectors, whose first block meets H^16.
 * Counters. Block j of group k has the counter 32 k + j + 2. For j < 30 that is 32 k, xor j + 2:
 *   GROUP_BASE, which is COUNTER_BASE with 32 k in its counters, plus the constants that group 0
 *   has. Blocks 30 and 31 have the counters 32 (k + 1) and 32 (k + 1) + 1: they take NEXT_BASE and
 *   the constants 0 and 1. Messages of at most 1024 bytes have constants for all of 64 blocks.
 * J_0. If the last vector has no lane for it, it goes beside the first four vectors.
 * The last vector, if it is not full, is loaded and stored by an access of 64 bytes that ends where
 *   the text ends. All bytes before it are text, too, so no page is touched that text is not in.
 */

#define GROUPS %rax           /* groups to come */
#define HASH_POWERS %rsi      /* the hash of all before the tail meets H(0) from here */
#define LENGTHS_OF_LONG_X %xmm6
#define HASH %zmm12           /* HASH_X, and zeros */
#define HASH_X %xmm12         /* the hash of all before a group, bytes reversed */
/* hash_of_aad: HI_X = the hash of associated data alone, bytes reversed.
 *   In:      KEY, TABLES; AAD; AAD_BYTES, 1 at least
 *   Changes: rcx, rdx, rsi, r8, IS_TEXT, IS_AT_END, vectors 1, 2, 7, 9, 11 to 14
 * It takes pieces of 32 blocks, since there are so many powers. The hash of all pieces before is
 * added to the first block of a piece, which meets H^b if the piece has b blocks. */
local_function hash_of_aad
    no_products
    cmp $512, AAD_BYTES
    ja L(piece_of_aad)
L(last_piece_of_aad):                   /* up to 32 blocks: the first of b meets H^b */
    lea 15(AAD_BYTES), AAD_POWERS
    and $-16, AAD_POWERS
    neg AAD_POWERS
    lea 16(KEY,AAD_POWERS), AAD_POWERS
    call products_of_aad
    reduce_products
    ret

L(piece_of_aad):
    push AAD_BYTES
    EVC_ASM_CFI_ADJUST(8)
    mov $512, AAD_BYTES_D
    lea 16 - 512(KEY), AAD_POWERS
    call products_of_aad
    reduce_products
    pop AAD_BYTES
    EVC_ASM_CFI_ADJUST(-8)
    add $64, AAD                        /* it was at the last vector */
    sub $512, AAD_BYTES
    mov $512, %edx                      /* 16 b, of the next piece */
    cmp %rdx, AAD_BYTES
    cmovb AAD_BYTES, %rdx
    add $15, %rdx
    and $-16, %rdx
    neg %rdx
    vmovdqa HI_X, BLOCKS_X
    vmovdqu H(0)(KEY,%rdx), POWERS_X
    set_products x, BLOCKS_X
    cmp $512, AAD_BYTES
    ja L(piece_of_aad)
    jmp L(last_piece_of_aad)
evc_local_end hash_of_aad

/* ---- AES of the first vectors ---- */

/* aes_of_group: all rounds but the last of a group.
 *   In:      KEY; STREAM0 to STREAM7: whitened counters
 *   Out:     STREAM0 to STREAM7; LAST_KEY_AT
 *   Changes: rdx, vectors 13, 14 */
local_function aes_of_group
    all_rounds without_j0, to_find, ALL_STREAMS
    ret
evc_local_end aes_of_group

/* aes_of_first_group: the same of the first group, with its counters. J_0 is beside the first four
 * vectors, if the last vector of the message has no lane for it.
 *   In:      KEY, LEN, TABLES, COUNTER_BASE; TAG_MASK_X: J_0, whitened
 *   Out:     as aes_of_group; TAG_MASK_X: J_0 behind the same rounds, or as it was
 *   Changes: rdx, vectors 13, 14 */
local_function aes_of_first_group
    lea -1(LEN), %edx
    counters_from COUNTER_BASE, ALL_STREAMS
    not %edx
    test $48, %edx                      /* zero: the last vector has 49 to 64 bytes */
    jnz aes_of_group
    all_rounds with_j0, to_find, STREAMS_0_TO_3
    all_rounds without_j0, is_set, STREAMS_4_TO_7
    ret
evc_local_end aes_of_first_group

/* ---- AES of a group beside the hash of the group before it ---- */

/* aes_of_group_and_hash: all rounds but the last of a group, and the hash of the one before it.
 *   In:      KEY, TABLES; STREAM0 to STREAM7: whitened counters; CIPHER0 to CIPHER7: the group
 *            before, with the hash of all before it added to CIPHER0; LO, MI, HI
 *   Out:     STREAM0 to STREAM7; HI_X: the hash, bytes reversed
 *   Changes: rdx, vectors 1, 2, 7, 9, 11 to 14
 * CIPHER0 comes last, since it waits for the hash that is added to it. */
local_function aes_of_group_and_hash
    one_round 1, ALL_STREAMS
    two_rounds 2, ALL_STREAMS
    hash_two CIPHER2, CIPHER3, 24, KEY
    two_rounds 4, ALL_STREAMS
    hash_two CIPHER4, CIPHER5, 16, KEY
    two_rounds 6, ALL_STREAMS
    hash_two CIPHER6, CIPHER7, 8, KEY
    two_rounds 8, ALL_STREAMS
    hash_two CIPHER0, CIPHER1, 32, KEY
    reduce_products
    rounds_from_10 %edx, ALL_STREAMS
    ret
evc_local_end aes_of_group_and_hash

/* ---- The hash behind groups ---- */

/* hash_first_half: LO, MI, HI += the products of the first four vectors of a group; the other four
 * take their registers.
 *   In:      KEY, TABLES; CIPHER0 to CIPHER7
 *   Out:     CIPHER0 to CIPHER3: the second half; COUNTER_TABLE: TABLES
 *   Changes: vectors 2, 7, 13, 14 */
local_function hash_first_half
    hash_two CIPHER0, CIPHER1, 32, KEY
    hash_two CIPHER2, CIPHER3, 24, KEY
    vmovdqa64 CIPHER4, CIPHER0
    vmovdqa64 CIPHER5, CIPHER1
    vmovdqa64 CIPHER6, CIPHER2
    vmovdqa64 CIPHER7, CIPHER3
    mov TABLES, COUNTER_TABLE
    ret
evc_local_end hash_first_half

/* hash_second_half: HASH = the hash of a group whose first half has been hashed, beside all rounds
 * but the last of the first four vectors of the next one; then LO, MI, HI are 0.
 *   In:      as Out of hash_first_half, and KEY, TABLES, GROUP_BASE
 *   Out:     HASH; STREAM4 to STREAM7; LO, MI, HI
 *   Changes: rax, ecx, rdx, vectors 1, 2, 7, 13, 14 */
local_function hash_second_half
    lea 16*16(KEY), FOUR_POWERS         /* H(32) from there is H^16 */
    mov $3*64, %eax
    call aes_of_four_and_products
    reduce_products
    vmovdqa HI_X, HASH_X
    no_products
    ret
evc_local_end hash_second_half

/* hash_group: HI_X = the hash of a group and of all before it, without AES beside it.
 *   In:      KEY, TABLES; CIPHER0 to CIPHER7, LO, MI, HI as of aes_of_group_and_hash
 *   Changes: vectors 2, 7, 9, 11, 13, 14 */
local_function hash_group
    hash_two CIPHER2, CIPHER3, 24, KEY
    hash_two CIPHER4, CIPHER5, 16, KEY
    hash_two CIPHER6, CIPHER7, 8, KEY
    hash_two CIPHER0, CIPHER1, 32, KEY
    reduce_products
    ret
evc_local_end hash_group

/* aad_of_long: associated data and lengths of a message of over 512 bytes.
 *   In:      KEY, TABLES; AAD, AAD_BYTES; LAST_KEY_AT; len_bytes on the stack
 *   Out:     LAST_KEY; LENGTHS_OF_LONG_X; BLOCKS_X: associated data of one block, or that of a
 *            state; HASH: the hash of more than one block. Both have bytes reversed, and are 0 if
 *            there is no such thing
 *   Changes: rcx, rdx, rsi, r8, IS_TEXT, IS_AT_END, vectors 2, 7, 9 to 11, 13, 14 */
local_function aad_of_long
    vmovq AAD_BYTES, LENGTHS_OF_LONG_X
    vmovq 8 + len_bytes(%rsp), Q_X
    vbroadcasti32x4 (LAST_KEY_AT), LAST_KEY
    lea -1(AAD_BYTES), %rsi
    vpunpcklqdq LENGTHS_OF_LONG_X, Q_X, LENGTHS_OF_LONG_X
    vpsllq $3, LENGTHS_OF_LONG_X, LENGTHS_OF_LONG_X
    vpxor HASH_X, HASH_X, HASH_X
    cmp $16, %rsi
    jae L(long_aad_not_one_block)       /* none, more than a block, or that of a state */
    cmp $15, %rsi
    jne L(long_aad_part_of_block)
    vmovdqu (AAD), BLOCKS_X
L(long_aad_one_block):
    vpshufb reversed(TABLES), BLOCKS_X, BLOCKS_X
    ret
L(long_aad_part_of_block):
    load_part AAD, AAD_BYTES, BLOCKS_X, Q_X, %rsi
    jmp L(long_aad_one_block)
L(long_aad_not_one_block):
    vpxor BLOCKS_X, BLOCKS_X, BLOCKS_X
    test AAD_BYTES, AAD_BYTES
    js L(long_aad_of_state)
    jnz L(long_aad_blocks)
    ret
L(long_aad_of_state):
    btr $hashed_aad, AAD_BYTES
    vmovdqu (AAD), BLOCKS_X
    jmp L(long_aad_one_block)
L(long_aad_blocks):
    call hash_of_aad
    vmovdqa HI_X, HASH_X
    vpxor BLOCKS_X, BLOCKS_X, BLOCKS_X
    ret
evc_local_end aad_of_long

/* group_text_<direction>: long_text of the 8 vectors of a group, from STREAM0 to STREAM7 to
 * CIPHER0 to CIPHER7. */
.macro define_group_text direction
local_function group_text_\direction
    long_text \direction, 0, STREAM0, CIPHER0
    long_text \direction, 64, STREAM1, CIPHER1
    long_text \direction, 128, STREAM2, CIPHER2
    long_text \direction, 192, STREAM3, CIPHER3
    long_text \direction, 256, STREAM4, CIPHER4
    long_text \direction, 320, STREAM5, CIPHER5
    long_text \direction, 384, STREAM6, CIPHER6
    long_text \direction, 448, STREAM7, CIPHER7
    ret
evc_local_end group_text_\direction
.endm
    define_group_text seal
    define_group_text open

/* ---- Messages ---- */

/* over_512: see x86_vaes512_short_asm.h. The ways of messages, by the length of text:
 *   513 to 1024    one group. AES of four vectors, their text, AES of four beside their products
 *     up to 768, sealed: the group has four vectors, and the tail begins with the other four
 *     else: the group has 8 vectors: the text of the other four, and then the tail
 *   from 1025 on   groups. If over 512 bytes are left, one more group, by fours; then the tail */
.macro over_512 direction
L(hash_meets_33_\direction):
    add $wrap, HASH_POWERS
    jmp L(hash_and_lengths_\direction)

    /* 513 to 1024 bytes. Associated data of one block meets the power above that of the first block
     * of text: H^33, or, with a reduction behind 4 vectors, H^17. */
L(by_fours_\direction):
    call aad_of_long
    mov out(%rsp), OUT
    mov $7*64, %eax
    mov TABLES, COUNTER_TABLE
    vmovdqu H_BEHIND(33)(KEY), POWERS_X
    mov KEY, FOUR_POWERS
.ifc \direction, seal
    cmp $768, LEN_D
    ja L(reduce_behind_8_vectors)
    vmovdqu H(17)(KEY), POWERS_X
    add $16*16, FOUR_POWERS             /* H(32) from there is H^16 */
L(reduce_behind_8_vectors):
.endif
    set_products x, BLOCKS_X
    call four_texts_\direction
    vpxorq HASH, CIPHER0, CIPHER0
    call aes_of_four_and_products
    add $256, IN
    add $256, OUT
.ifc \direction, seal
    lea -257(LEN), %ecx                 /* the tail begins behind 256 bytes */
    cmp $768, LEN_D
    jbe L(hash_before_tail_\direction)
.endif
    call four_texts_\direction
    add $256, IN
    add $256, OUT
    lea 8*64(TABLES), COUNTER_TABLE
    jmp L(tail_\direction)

    /* Over 1024 bytes. */
L(by_groups_\direction):
    call aes_of_first_group
    call aad_of_long
    lea -257(LEN), GROUPS               /* but for a last one that goes by fours */
    shr $9, GROUPS
    vmovdqu H_BEHIND(33)(KEY), POWERS_X
    set_products x, BLOCKS_X
    mov $0xf0, %edx                     /* words of 64 bits: blocks 2 and 3 */
    vmovdqa64 group_step(TABLES), NUMBERS
    kmovd %edx, IS_IN_NEXT_GROUP
    mov out(%rsp), OUT
    vpshufb words_of_counters(TABLES), NUMBERS, GROUP_BASE
    vpxorq COUNTER_BASE, GROUP_BASE, GROUP_BASE
    jmp L(text_of_group_\direction)
    .p2align 5
L(next_group_\direction):
    counters_from GROUP_BASE, STREAMS_0_TO_3, STREAM4, STREAM5, STREAM6
    end_of_group_counters
    call aes_of_group_and_hash
    vmovdqa64 NEXT_BASE, GROUP_BASE
    vmovdqa HI_X, HASH_X
    no_products
L(text_of_group_\direction):
    call group_text_\direction
    vpxorq HASH, CIPHER0, CIPHER0
    add $512, IN
    add $512, OUT
    dec GROUPS
    jnz L(next_group_\direction)
    call hash_first_half
    lea -1(LEN), %ecx
    test $256, %ecx                     /* 257 to 512 bytes are left, not 513 to 768 */
    jnz L(tail_\direction)

    /* The last group goes by fours. */
    call hash_second_half
    call four_texts_\direction
    vpxorq HASH, CIPHER0, CIPHER0
    end_of_group_counters
    vmovdqu64 H(32)(KEY), POWERS
    mov KEY, FOUR_POWERS
    mov $7*64, %eax
    call aes_of_4_and_products
    vmovdqa64 NEXT_BASE, GROUP_BASE
    add $256, IN
    add $256, OUT
    call four_texts_\direction
    add $256, IN
    add $256, OUT

    /* The tail: AES of four vectors, or of 1 to 4 that are the last ones, beside the products of
     * the last four vectors of groups, CIPHER0 to CIPHER3. */
L(tail_\direction):
    lea -1(LEN), %eax
    lea 16*16(KEY), FOUR_POWERS         /* H(32) from there is H^16 */
    and $7*64, %eax                     /* the place of the last vector in the tail */
    cmp $4*64, %eax
    jb L(tail_of_up_to_4_\direction)
    mov $3*64, %eax
    call aes_of_four_and_products
    lea -1(LEN), %ecx
    jmp L(hash_before_tail_\direction)
L(tail_of_up_to_4_\direction):
    call aes_of_last_and_products
    lea -1(LEN), %ecx

    /* ecx modulo 512: the bytes of the tail, less 1. The hash of all before the tail meets
     * H^(t+1). */
L(hash_before_tail_\direction):
    reduce_products
    vmovdqa HI_X, BLOCKS_X
    mov %ecx, %eax
    and $31*16, %ecx
    add $32, %ecx                       /* 16 (t + 1) */
    mov KEY, HASH_POWERS
    sub %rcx, HASH_POWERS
    cmp $32*16, %ecx
    ja L(hash_meets_33_\direction)
L(hash_and_lengths_\direction):
    vmovdqu H(0)(HASH_POWERS), POWERS_X
    vinserti128 $1, H(1)(KEY), POWERS_Y, POWERS_Y
    vinserti128 $1, LENGTHS_OF_LONG_X, BLOCKS_Y, BLOCKS_Y
    set_products y, BLOCKS_Y
.endm
    define_long_message seal
    define_long_message open

/* ---- Groups of a message in pieces ---- */

/* piece_counters: whitened counters of a group, which may begin with any number.
 *   In:      NUMBERS: the counters of the first vector; COUNTER_BASE, TABLES
 *   Out:     vectors; NUMBERS: those of the next vector */
.macro piece_counters vectors:vararg
    .irp v, \vectors
    vpshufb words_of_counters(TABLES), NUMBERS, \v
    vpaddd vector_step(TABLES), NUMBERS, NUMBERS
    vpxorq COUNTER_BASE, \v, \v
    .endr
.endm

/* The loop over groups: AES of the first one is done, and the last one is not hashed. */
.macro piece_groups direction
    jmp L(text_of_group\@)
    .p2align 5
L(next_group\@):
    piece_counters ALL_STREAMS
    call aes_of_group_and_hash
    vmovdqa HI_X, HASH_X
    no_products
L(text_of_group\@):
    call group_text_\direction
    vpxorq HASH, CIPHER0, CIPHER0
    add $512, IN
    add $512, OUT
    dec GROUPS
    jnz L(next_group\@)
.endm

/* evc_gcm_x86_vaes512_intel_groups: counter mode and the hash of whole groups, for messages in
 * pieces. The C declaration is that of crypt_groups in in_assembly.h.
 *   In:      rdi, rsi, rdx: key, counter, y: the counter block of the first block of text, and the
 *            hash of all before, 16 bytes each, as in the standard; rcx, r8: in, out; r9: the
 *            number of groups, at least one; on the stack: whether to open
 *   Out:     the text at out; y: the hash of all up to its end
 *   Changes: rax, rcx, rdx, rsi, r8 to r11; all vectors are 0 */
.set opening, 8
#define COUNTER_BLOCK %rsi
#define Y %r10
evc_function evc_gcm_x86_vaes512_intel_groups
    lea tables(%rip), TABLES
    vmovq (COUNTER_BLOCK), COUNTER_BASE_X
    vpinsrd $2, 8(COUNTER_BLOCK), COUNTER_BASE_X, COUNTER_BASE_X
    vpxor round_keys(KEY), COUNTER_BASE_X, COUNTER_BASE_X
    vshufi32x4 $0, COUNTER_BASE, COUNTER_BASE, COUNTER_BASE
    mov 12(COUNTER_BLOCK), %eax
    bswap %eax
    vmovd %eax, NUMBERS_X
    vpslldq $12, NUMBERS_X, NUMBERS_X
    vshufi32x4 $0, NUMBERS, NUMBERS, NUMBERS
    vpaddd lane_numbers(TABLES), NUMBERS, NUMBERS
    mov %rdx, Y
    mov %r9, GROUPS
    mov %rcx, IN
    piece_counters ALL_STREAMS
    call aes_of_group
    vbroadcasti32x4 (LAST_KEY_AT), LAST_KEY
    vmovdqu (Y), HASH_X
    vpshufb reversed(TABLES), HASH_X, HASH_X
    no_products
    cmpl $0, opening(%rsp)
    jne L(open_groups)
    piece_groups seal
    jmp L(last_group_of_piece)
L(open_groups):
    piece_groups open
L(last_group_of_piece):
    call hash_group
    vpshufb reversed(TABLES), HI_X, HI_X
    vmovdqu HI_X, (Y)
    clear_low_vectors LOW_VECTORS
    clear_high_vectors HIGH_VECTORS
    vzeroupper
    ret
evc_end evc_gcm_x86_vaes512_intel_groups

evc_function evc_gcm_x86_vaes512_intel_seal
    message_by_length seal
evc_end evc_gcm_x86_vaes512_intel_seal

evc_function evc_gcm_x86_vaes512_intel_open_output_tag
    btsq $tells_tag, tag_bytes(%rsp)
    jmp open_message
evc_end evc_gcm_x86_vaes512_intel_open_output_tag

evc_function evc_gcm_x86_vaes512_intel_open, open_message
    message_by_length open
evc_end evc_gcm_x86_vaes512_intel_open

#endif
