/* SPDX-License-Identifier: MIT */
/*
 * The rounds of a32_bitslice: eight planes in q0 to q7, all other NEON registers for the
 * S-box and for MixColumns.
 *
 * The layout of planes, keys and shuffles is that of a64_bitslice_steps.h. Look-ups
 * are by halves of a vector.
 */
#include "common/a32_asm.h"

#if EVC_ASM_NEON

evc_isa_neon

#include "aes/a32_sbox_neon_asm.h"

#if EVC_SPILL_VECTORS > 6
#error "enter has six registers for places of vectors"
#endif
#define SAVED_BYTES 100 /* by enter, core registers and vectors */
/* Places for vectors at 16 bytes, where sp is at 8; with what is saved, a multiple of 8 bytes. */
#define FRAME_BYTES (16 * EVC_SPILL_VECTORS + 12)
#define ARGUMENT(n) SAVED_BYTES + FRAME_BYTES + 4 * (n) /* from sp: those beyond r0-r3 */

/* ---- Steps of a round ------------------------------------------------------------------------ */

/* q\to = q\from with its bytes in the order of the vector d\i, d\j; a q register is d
 * registers 2 n and 2 n + 1. */
.macro look_up to0, to1, from0, from1, i, j
    vtbl.8 d\to0, {d\from0-d\from1}, d\i
    vtbl.8 d\to1, {d\from0-d\from1}, d\j
.endm

/* q8, q9: the shuffles next and second of a round. */
.macro load_shuffles
    vld1.64 {d16-d19}, [r2:128]
.endm

/* Planes 0 to 7 with the eight at r1, which moves on. */
.macro add_round_key
    vld1.64 {d20-d23}, [r1:128]!
    vld1.64 {d24-d27}, [r1:128]!
    veor q0, q0, q10
    veor q1, q1, q11
    vld1.64 {d20-d23}, [r1:128]!
    veor q2, q2, q12
    veor q3, q3, q13
    vld1.64 {d24-d27}, [r1:128]!
    veor q4, q4, q10
    veor q5, q5, q11
    veor q6, q6, q12
    veor q7, q7, q13
.endm

/*
 * MixColumns. With t = x + next(x): next(x[j]) + second(t[j]) + t[j - 1], and + t[7] for j = 0, 1,
 * 3, 4 (t[-1] = 0). q10: t[7]. Two planes at once: x in \a and \b, their halves behind them;
 * \before is t of the plane before, and the t of the second is left in q12.
 */
.macro mix_two a, a0, a1, b, b0, b1, before
    look_up 26, 27, \a0, \a1, 16, 17
    look_up 28, 29, \b0, \b1, 16, 17
    veor q11, \a, q13
    veor q13, q13, \before
    veor q12, \b, q14
    veor q14, q14, q11
    look_up \a0, \a1, 22, 23, 18, 19
    look_up \b0, \b1, 24, 25, 18, 19
    veor \a, \a, q13
    veor \b, \b, q14
.endm

.macro mix_columns
    look_up 28, 29, 14, 15, 16, 17
    veor q10, q7, q14
    mix_two q0, 0, 1, q1, 2, 3, q10
    veor q1, q1, q10
    mix_two q2, 4, 5, q3, 6, 7, q12
    veor q3, q3, q10
    mix_two q4, 8, 9, q5, 10, 11, q12
    veor q4, q4, q10
    look_up 26, 27, 12, 13, 16, 17
    veor q14, q7, q10 // next(x[7])
    veor q11, q6, q13
    veor q13, q13, q12
    veor q14, q14, q11
    look_up 12, 13, 22, 23, 18, 19
    look_up 14, 15, 20, 21, 18, 19
    veor q6, q6, q13
    veor q7, q7, q14
.endm

/* \to = \x + second(\x), halves behind them */
.macro and_second to, to0, to1, x, x0, x1
    look_up \to0, \to1, \x0, \x1, 18, 19
    veor \to, \to, \x
.endm

/* InvMixColumns is MixColumns after x -> x + 4 (x + second(x)). */
.macro inv_mix_columns
    and_second q10, 20, 21, q7, 14, 15
    and_second q11, 22, 23, q6, 12, 13
    and_second q13, 26, 27, q4, 8, 9
    and_second q14, 28, 29, q2, 4, 5
    veor q12, q10, q11
    veor q6, q6, q13
    and_second q13, 26, 27, q0, 0, 1
    veor q4, q4, q14
    and_second q14, 28, 29, q5, 10, 11
    veor q4, q4, q12
    veor q2, q2, q13
    and_second q13, 26, 27, q3, 6, 7
    veor q2, q2, q10
    veor q7, q7, q14
    and_second q14, 28, 29, q1, 2, 3
    veor q0, q0, q11
    veor q5, q5, q13
    veor q5, q5, q10
    veor q3, q3, q14
    veor q3, q3, q11
    veor q1, q1, q12
    mix_columns
.endm

/* ---- Functions ------------------------------------------------------------------------------- */

.macro enter
    push {r4-r11, lr}
    EVC_ASM_CFI_ADJUST(36)
    vpush {d8-d15}
    EVC_ASM_CFI_ADJUST(64)
    sub sp, sp, #FRAME_BYTES
    EVC_ASM_CFI_ADJUST(FRAME_BYTES)
    add r4, sp, #8
    bic r4, r4, #15
    add r5, r4, #16
    add r6, r4, #32
    add r7, r4, #48
    add r8, r4, #64
    add r9, r4, #80
    vld1.64 {d0-d3}, [r0:64]!
    vld1.64 {d4-d7}, [r0:64]!
    vld1.64 {d8-d11}, [r0:64]!
    vld1.64 {d12-d15}, [r0:64]
    sub r0, r0, #96
.endm

.macro leave
    vst1.64 {d0-d3}, [r0:64]!
    vst1.64 {d4-d7}, [r0:64]!
    vst1.64 {d8-d11}, [r0:64]!
    vst1.64 {d12-d15}, [r0:64]
    add sp, sp, #FRAME_BYTES
    EVC_ASM_CFI_ADJUST(-FRAME_BYTES)
    vpop {d8-d15}
    EVC_ASM_CFI_ADJUST(-64)
    pop {r4-r11, pc}
.endm

/* The second run of rounds, which comes once: flags of its number. */
.macro next_run
    ldr r1, [sp, #ARGUMENT(0)]
    ldr r3, [sp, #ARGUMENT(1)]
    mov lr, #0
    str lr, [sp, #ARGUMENT(1)]
    cmp r3, #0
.endm

/* r0: eight planes, to be replaced; r1: round keys as planes; r2: shuffles; r3: rounds; 4,
 * 5: round keys of more rounds, and their number; 6: 1 for a SubBytes before them, 0 for
 * none, where r3 is not 0.
 * A round is MixColumns, AddRoundKey, SubBytes. */
evc_function evc_aes_a32_bitslice_encrypt
    enter
    ldr lr, [sp, #ARGUMENT(2)]
    add r3, r3, lr
    cmp lr, #0
    bne 2f
1:
    load_shuffles
    add r2, r2, #32
    mix_columns
    add_round_key
2:
    sub_bytes
    subs r3, r3, #1
    bne 1b
    next_run
    bne 1b
    leave
evc_end evc_aes_a32_bitslice_encrypt

/* The same with keys and shuffles from their ends down, and always with an InvSubBytes before.
 * A round is AddRoundKey, InvMixColumns, InvSubBytes. */
evc_function evc_aes_a32_bitslice_decrypt
    enter
    add r3, r3, #1
    b 2f
1:
    sub r2, r2, #32
    sub r1, r1, #128
    add_round_key
    load_shuffles
    sub r1, r1, #128
    inv_mix_columns
2:
    inv_sub_bytes
    subs r3, r3, #1
    bne 1b
    next_run
    bne 1b
    leave
evc_end evc_aes_a32_bitslice_decrypt

#endif
