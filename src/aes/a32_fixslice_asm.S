/* SPDX-License-Identifier: MIT */
/*
 * The rounds of a32_fixslice in Thumb-2: two blocks in eight registers, all others for the S-box.
 *
 * Three properties of the instruction set are used. An operand may be rotated for nothing, so a
 * word is kept rotated until it is used. Masks of four equal bytes are immediates. Register lists
 * load four words of a round key at once.
 */
#include "common/a32_asm.h"

#if EVC_ASM_THUMB2

    .thumb

/* Words at sp. PAIR_KEY: the key that a pair of blocks begins with; LAST_KEY: where a pair's loop
 * over the rounds ends; NEXT_KEY: where this pair is. */
#define PAIR_KEY 0
#define IN 4
#define OUT 8
#define N_BLOCKS 12
#define LAST_KEY 16
#define NEXT_KEY 20
#define SPILL_AT 24
#include "aes/a32_sbox_asm.h"

/* Nine registers are saved. Both together are a multiple of 8 bytes, and the kernel's
 * `clear` reaches them. */
#define SAVED_BYTES 36
#define FRAME_BYTES (((SAVED_BYTES + SPILL_AT + 4 * EVC_SPILL_WORDS + 7) & -8) - SAVED_BYTES)
#if SAVED_BYTES + FRAME_BYTES > 192
#error "clear of a32_fixslice.c reaches 192 bytes"
#endif

/* struct evc_aes_fixslice32_key; a32_fixslice.c asserts them. */
#define KEY_ROUNDS 4
#define KEY_RK 12
#define ROUND_KEY_LOG 5 /* log2 of the bytes of a round key */

plane0 .req r4 /* as a32_sbox_asm.h has it */
plane1 .req r5
plane2 .req r6
plane3 .req r7
plane4 .req r8
plane5 .req r9
plane6 .req r10
plane7 .req r11

/* ---- In and out of the sliced form: r0 is lost ----------------------------------------------- */

/* Exchange the bits of \a under \mask << \n with the bits of \b under \mask. */
.macro exchange a, b, mask, n
    eor r0, \b, \a, lsr #\n
    and r0, r0, #\mask
    eor \b, \b, r0
    eor \a, \a, r0, lsl #\n
.endm

/* In each byte position, the 8 x 8 bits of the eight words are transposed; its own inverse. */
.macro transpose
    exchange plane0, plane1, 0x55555555, 1
    exchange plane2, plane3, 0x55555555, 1
    exchange plane4, plane5, 0x55555555, 1
    exchange plane6, plane7, 0x55555555, 1
    exchange plane0, plane2, 0x33333333, 2
    exchange plane1, plane3, 0x33333333, 2
    exchange plane4, plane6, 0x33333333, 2
    exchange plane5, plane7, 0x33333333, 2
    exchange plane0, plane4, 0x0f0f0f0f, 4
    exchange plane1, plane5, 0x0f0f0f0f, 4
    exchange plane2, plane6, 0x0f0f0f0f, 4
    exchange plane3, plane7, 0x0f0f0f0f, 4
.endm

/* ShiftRows twice, on the columns of two blocks (word 2c + b), unless there are 12 rounds. */
.macro exchange_rows_1_and_3 a, b
    eor r0, \a, \b
    and r0, r0, #0xff00ff00
    eor \a, \a, r0
    eor \b, \b, r0
.endm
.macro shift_rows_twice first, last
    ldr r0, [sp, #\first]
    ldr r1, [sp, #\last]
    subs r1, r1, r0
    cmp r1, #12 << ROUND_KEY_LOG
    beq 8f
    exchange_rows_1_and_3 plane0, plane4
    exchange_rows_1_and_3 plane1, plane5
    exchange_rows_1_and_3 plane2, plane6
    exchange_rows_1_and_3 plane3, plane7
8:
.endm

/* r2 = \to, r3 = the block after it, or the same again where it is the last; r1 = N_BLOCKS. */
.macro two_blocks to
    ldr r1, [sp, #N_BLOCKS]
    ldr r2, [sp, #\to]
    cmp r1, #1
    ite eq
    moveq r3, r2
    addne r3, r2, #16
.endm

.macro load_blocks
    two_blocks IN
    ldr plane0, [r2]
    ldr plane1, [r3]
    ldr plane2, [r2, #4]
    ldr plane3, [r3, #4]
    ldr plane4, [r2, #8]
    ldr plane5, [r3, #8]
    ldr plane6, [r2, #12]
    ldr plane7, [r3, #12]
.endm

/* Also moves on to the next pair: the flags are those of N_BLOCKS - 2. */
.macro store_blocks
    two_blocks OUT
    str plane0, [r2]
    str plane1, [r3]
    str plane2, [r2, #4]
    str plane3, [r3, #4]
    str plane4, [r2, #8]
    str plane5, [r3, #8]
    str plane6, [r2, #12]
    str plane7, [r3, #12]
    ldr r0, [sp, #IN]
    adds r2, r2, #32
    adds r0, r0, #32
    str r2, [sp, #OUT]
    str r0, [sp, #IN]
    subs r1, r1, #2
    str r1, [sp, #N_BLOCKS]
.endm

/* ---- Steps of a round: r0-r3 and r12 are lost ------------------------------------------------ */

/* Afterwards lr and NEXT_KEY are one round key on. */
.macro add_round_key from=NEXT_KEY
    ldr lr, [sp, #\from]
    ldmia lr!, {r0-r3}
    eor plane0, plane0, r0
    eor plane1, plane1, r1
    eor plane2, plane2, r2
    eor plane3, plane3, r3
    ldmia lr!, {r0-r3}
    eor plane4, plane4, r0
    eor plane5, plane5, r1
    eor plane6, plane6, r2
    eor plane7, plane7, r3
    str lr, [sp, #NEXT_KEY]
.endm

/* Afterwards lr and NEXT_KEY are one round key back, at the one that was added. */
.macro add_round_key_back from=NEXT_KEY
    ldr lr, [sp, #\from]
    ldmdb lr!, {r0-r3}
    eor plane4, plane4, r0
    eor plane5, plane5, r1
    eor plane6, plane6, r2
    eor plane7, plane7, r3
    ldmdb lr!, {r0-r3}
    eor plane0, plane0, r0
    eor plane1, plane1, r1
    eor plane2, plane2, r2
    eor plane3, plane3, r3
    str lr, [sp, #NEXT_KEY]
.endm

/* \to = the plane \x with row r, column c from row r + 1, column c + \k, rotated left by 2 \k: what
 * wraps around its row comes from the same byte then, all else from the next. Not for \k = 0: there
 * it is \x rotated by 8. */
.macro next_row to, x, k
    eor \to, \x, \x, ror #8
.if \k == 1
    and \to, \to, #0xfcfcfcfc
.elseif \k == 2
    and \to, \to, #0xf0f0f0f0
.else
    and \to, \to, #0xc0c0c0c0
.endif
    eor \to, \to, \x
.endm

/* \to = the plane \x with row r, column c from row r + 2, column c + 2, rotated left by 12. */
.macro second_row_odd to, x
    eor \to, \x, \x, ror #8
    and \to, \to, #0xf0f0f0f0
    eor \to, \to, \x
.endm

/*
 * MixColumns of round \k modulo 4. With t = x + (x one row on), plane j becomes
 *
 *     (x[j] one row on) + (t[j] two rows on) + t[j - 1],    and + t[7] for j = 0,
 *                                                           1, 3, 4 (t[-1] = 0).
 *
 * mix_plane: \sum holds the first of these, rotated left by 2 \k, and gets the second; \t is t[j],
 * and the register of plane j - 1 gets t[j - 1], \next its next row. r12 is t[7].
 */
.macro mix_plane j, below, k, t, sum, next
.if \k == 2
    eor \sum, \sum, \t, ror #12
.else
    second_row_odd \next, \t
    eor \sum, \sum, \next, ror #12 - 2 * \k
.endif
.if \j == 0
    eor plane\j, r12, \sum, ror #2 * \k
.else
    next_row \next, plane\below, \k
    eor plane\below, plane\below, \next, ror #2 * \k
    eor plane\j, plane\below, \sum, ror #2 * \k
.if \j == 1 || \j == 3 || \j == 4
    eor plane\j, plane\j, r12
.endif
.endif
.endm

.macro mix_columns k
    next_row r0, plane7, \k
    eor r12, plane7, r0, ror #2 * \k
    mix_plane 7, 6, \k, r12, r0, r1
    mix_plane 6, 5, \k, plane6, r1, r0
    mix_plane 5, 4, \k, plane5, r0, r1
    mix_plane 4, 3, \k, plane4, r1, r0
    mix_plane 3, 2, \k, plane3, r0, r1
    mix_plane 2, 1, \k, plane2, r1, r0
    mix_plane 1, 0, \k, plane1, r0, r1
    mix_plane 0, 0, \k, plane0, r1, r0
.endm

/* The same where rows are not displaced: with all sums rotated left by 8, no mask is needed. */
.macro mix_plane_0 j, below
    eor r0, plane\below, plane\below, ror #8
    eor plane\below, plane\below, r0, ror #8
    eor plane\j, r0, plane\j, ror #8
.if \j == 1 || \j == 3 || \j == 4
    eor plane\j, plane\j, r12
.endif
.endm

.macro mix_columns_0
    eor r12, plane7, plane7, ror #8
    eor plane7, plane7, r12, ror #8
    mix_plane_0 7, 6
    mix_plane_0 6, 5
    mix_plane_0 5, 4
    mix_plane_0 4, 3
    mix_plane_0 3, 2
    mix_plane_0 2, 1
    mix_plane_0 1, 0
    eor plane0, r12, plane0, ror #8
.endm

/* \to = \x + (\x two rows on). */
.macro and_second_row to, x, k
.if \k % 2
    second_row_odd \to, \x
    eor \to, \x, \to, ror #12
.else
    eor \to, \x, \x, ror #16
.endif
.endm

/* InvMixColumns is MixColumns after x -> x + 4 (x + (x two rows on)). */
.macro inv_mix_columns k
    and_second_row r12, plane7, \k
    and_second_row r3, plane6, \k
    eor r2, r12, r3
    and_second_row r0, plane4, \k
    eor plane6, plane6, r0
    and_second_row r0, plane2, \k
    eor plane4, plane4, r0
    eor plane4, plane4, r2
    and_second_row r0, plane0, \k
    eor plane2, plane2, r0
    eor plane2, plane2, r12
    eor plane0, plane0, r3
    and_second_row r0, plane5, \k
    eor plane7, plane7, r0
    and_second_row r0, plane3, \k
    eor plane5, plane5, r0
    eor plane5, plane5, r12
    and_second_row r0, plane1, \k
    eor plane3, plane3, r0
    eor plane3, plane3, r3
    eor plane1, plane1, r2
.if \k
    mix_columns \k
.else
    mix_columns_0
.endif
.endm

/* ---- Functions: r0: key, r1: in, r2: out, r3: n_blocks > 0 ----------------------------------- */

/* Flags: is lr at the round key where the loop over the rounds ends? */
.macro compare_last_key
    ldr r0, [sp, #LAST_KEY]
    cmp lr, r0
.endm

.macro enter
    push {r4-r11, lr}
    EVC_ASM_CFI_ADJUST(SAVED_BYTES)
    sub sp, sp, #FRAME_BYTES
    EVC_ASM_CFI_ADJUST(FRAME_BYTES)
    ldr r12, [r0, #KEY_ROUNDS]
    adds r0, r0, #KEY_RK
.endm

.macro leave
    add sp, sp, #FRAME_BYTES
    EVC_ASM_CFI_ADJUST(-FRAME_BYTES)
    pop {r4-r11, pc}
.endm

    .thumb_func
evc_function evc_aes_a32_fixslice_encrypt
    enter
    add r12, r0, r12, lsl #ROUND_KEY_LOG
    stmia sp, {r0-r3, r12}
1:
    load_blocks
    transpose
    add_round_key PAIR_KEY
2:
    sub_bytes
    mix_columns 1
    add_round_key
    compare_last_key
    beq 3f // after 9 and 13 rounds
    sub_bytes
    mix_columns 2
    add_round_key
    sub_bytes
    mix_columns 3
    add_round_key
    compare_last_key
    beq 3f // after 11 rounds
    sub_bytes
    mix_columns_0
    add_round_key
    b 2b
3:
    sub_bytes
    add_round_key
    transpose
    shift_rows_twice PAIR_KEY, LAST_KEY
    store_blocks
    bhi 1b
    leave
evc_end evc_aes_a32_fixslice_encrypt

    .thumb_func
evc_function evc_aes_a32_fixslice_decrypt
    enter
    lsl lr, r12, #ROUND_KEY_LOG
    add r12, r0, #1 << ROUND_KEY_LOG
    add r0, r12, lr
    stmia sp, {r0-r3, r12}
1:
    load_blocks
    shift_rows_twice LAST_KEY, PAIR_KEY
    transpose
    add_round_key_back PAIR_KEY
    ldr r0, [sp, #LAST_KEY]
    sub r0, lr, r0
    cmp r0, #11 << ROUND_KEY_LOG
    beq 3f // 12 rounds
2:
    inv_sub_bytes
    add_round_key_back
    inv_mix_columns 1
    compare_last_key
    beq 4f
    inv_sub_bytes
    add_round_key_back
    inv_mix_columns 0
3:
    inv_sub_bytes
    add_round_key_back
    inv_mix_columns 3
    inv_sub_bytes
    add_round_key_back
    inv_mix_columns 2
    b 2b
4:
    inv_sub_bytes
    add_round_key_back
    transpose
    store_blocks
    bhi 1b
    leave
evc_end evc_aes_a32_fixslice_decrypt

#endif
