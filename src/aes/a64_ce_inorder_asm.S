/* SPDX-License-Identifier: MIT */
/*
 * CTR and CBC encryption with AES instructions, for cores that start two instructions a
 * cycle in the program's order: each cycle one AES instruction, and beside it one that is no
 * vector instruction. So what can be done by integers is, and nothing stands where it would
 * have to wait: loads are early, stores are late, and the first round of the next blocks
 * comes before the end of a turn.
 */
#include "common/a64_asm.h"

#if EVC_ASM_A64

evc_isa_crypto

// Round keys in registers: rk[0], four of the longer keys, rk[rounds - 9] to rk[rounds].
#define FIRST v16
#define MORE_1 v17
#define MORE_2 v18
#define MORE_3 v19
#define MORE_4 v20
#define MIDDLE_1 v21
#define MIDDLE_2 v22
#define MIDDLE_3 v23
#define MIDDLE_4 v24
#define MIDDLE_5 v25
#define MIDDLE_6 v26
#define MIDDLE_7 v27
#define MIDDLE_8 v28
#define BEFORE_LAST v29
#define LAST v30

// \rk: rk[0], changed. \rounds: 10, 12 or 14. x17 is lost.
.macro load_keys rk, rounds
    add x17, \rk, \rounds, uxtw #4
    sub x17, x17, #144
    ld1 {FIRST.16b}, [\rk], #16
    ld1 {MORE_1.16b, MORE_2.16b, MORE_3.16b, MORE_4.16b}, [\rk]
    ld1 {MIDDLE_1.16b, MIDDLE_2.16b, MIDDLE_3.16b, MIDDLE_4.16b}, [x17], #64
    ld1 {MIDDLE_5.16b, MIDDLE_6.16b, MIDDLE_7.16b, MIDDLE_8.16b}, [x17], #64
    ld1 {BEFORE_LAST.16b, LAST.16b}, [x17]
.endm

.macro pair x, key
    aese \x\().16b, \key\().16b
    aesmc \x\().16b, \x\().16b
.endm

.macro pairs_4 key
    pair v0, \key
    pair v1, \key
    pair v2, \key
    pair v3, \key
.endm

// The next counter block: \x gets what they have in common, from x2, and then the number w3.
.macro counter_begin x
    ld1 {\x\().16b}, [x2]
    rev w8, w3
.endm
.macro counter_end x
    mov \x\().s[3], w8
    add w3, w3, #1
.endm

// void evc_aes_a64_ce_inorder_ctr(const uint8_t *rk, uint32_t rounds, const uint8_t counter[16],
// uint32_t count,
//                                 const uint8_t *in, uint8_t *out, size_t n_blocks)
// The last four bytes of counter do not count: count does. n_blocks: a multiple of 4, not 0.
evc_function evc_aes_a64_ce_inorder_ctr
    evc_save_d8_d15
    load_keys x0, w1
    counter_begin v8
    counter_end v8
    counter_begin v9
    counter_end v9
    counter_begin v10
    counter_end v10
    counter_begin v11
    counter_end v11
    aese v8.16b, FIRST.16b
    aesmc v0.16b, v8.16b
    aese v9.16b, FIRST.16b
    aesmc v1.16b, v9.16b
    aese v10.16b, FIRST.16b
    aesmc v2.16b, v10.16b
    aese v11.16b, FIRST.16b
    aesmc v3.16b, v11.16b
1:
    tbnz w1, #2, 3f
2:
    pair v0, MIDDLE_1
    ld1 {v4.16b}, [x4], #16
    pair v1, MIDDLE_1
    ld1 {v5.16b}, [x4], #16
    pair v2, MIDDLE_1
    ld1 {v6.16b}, [x4], #16
    pair v3, MIDDLE_1
    ld1 {v7.16b}, [x4], #16
    pair v0, MIDDLE_2
    ld1 {v8.16b}, [x2]
    pair v1, MIDDLE_2
    ld1 {v9.16b}, [x2]
    pair v2, MIDDLE_2
    ld1 {v10.16b}, [x2]
    pair v3, MIDDLE_2
    ld1 {v11.16b}, [x2]
    pair v0, MIDDLE_3
    rev w8, w3
    pair v1, MIDDLE_3
    add w3, w3, #1
    pair v2, MIDDLE_3
    mov v8.s[3], w8
    pair v3, MIDDLE_3
    rev w8, w3
    pair v0, MIDDLE_4
    add w3, w3, #1
    pair v1, MIDDLE_4
    mov v9.s[3], w8
    pair v2, MIDDLE_4
    rev w8, w3
    pair v3, MIDDLE_4
    add w3, w3, #1
    pair v0, MIDDLE_5
    pair v1, MIDDLE_5
    mov v10.s[3], w8
    pair v2, MIDDLE_5
    rev w8, w3
    pair v3, MIDDLE_5
    add w3, w3, #1
    pair v0, MIDDLE_6
    pair v1, MIDDLE_6
    mov v11.s[3], w8
    pair v2, MIDDLE_6
    pair v3, MIDDLE_6
    eor v4.16b, v4.16b, LAST.16b
    pairs_4 MIDDLE_7
    eor v5.16b, v5.16b, LAST.16b
    eor v6.16b, v6.16b, LAST.16b
    pairs_4 MIDDLE_8
    eor v7.16b, v7.16b, LAST.16b
    sub x6, x6, #4
    aese v0.16b, BEFORE_LAST.16b
    aese v1.16b, BEFORE_LAST.16b
    aese v2.16b, BEFORE_LAST.16b
    aese v3.16b, BEFORE_LAST.16b
    eor v4.16b, v0.16b, v4.16b
    eor v5.16b, v1.16b, v5.16b
    eor v6.16b, v2.16b, v6.16b
    eor v7.16b, v3.16b, v7.16b
    aese v8.16b, FIRST.16b
    aesmc v0.16b, v8.16b
    st1 {v4.16b}, [x5], #16
    aese v9.16b, FIRST.16b
    aesmc v1.16b, v9.16b
    st1 {v5.16b}, [x5], #16
    aese v10.16b, FIRST.16b
    aesmc v2.16b, v10.16b
    st1 {v6.16b}, [x5], #16
    aese v11.16b, FIRST.16b
    aesmc v3.16b, v11.16b
    st1 {v7.16b}, [x5], #16
    cbnz x6, 1b
    evc_restore_d8_d15
    ret
3:
    EVC_ASM_CFI_ADJUST(64)
    pairs_4 MORE_1
    pairs_4 MORE_2
    tbz w1, #1, 2b
    pairs_4 MORE_3
    pairs_4 MORE_4
    b 2b
evc_end evc_aes_a64_ce_inorder_ctr

// \lo, \hi, as they came from sp, to \to, at any address. Where the build says that words must be
// aligned (clang does, GCC 12 has no macro for it), as bytes: sp and v2 are free for that.
.macro store_block lo, hi, to
#if defined(__ARM_FEATURE_UNALIGNED)
    stp \lo, \hi, [\to]
#else
    stp \lo, \hi, [sp]
    ld1 {v2.16b}, [sp]
    st1 {v2.16b}, [\to]
#endif
.endm

// void evc_aes_a64_ce_inorder_cbc(const uint8_t *rk, uint32_t rounds, uint8_t iv[16], const uint8_t
// *in, uint8_t *out,
//                                 size_t n_blocks)
// n_blocks: not 0. The state between two blocks lacks rk[rounds]: v31 brings it, with rk[0] and the
// plaintext. What is stored gets it from integers, through the stack, since out must not hold what
// tells rk[rounds].
evc_function evc_aes_a64_ce_inorder_cbc
    sub sp, sp, #16
    EVC_ASM_CFI_ADJUST(16)
    add x8, x0, w1, uxtw #4
    ldp x11, x12, [x8] // rk[rounds]
    load_keys x0, w1
    ld1 {v0.16b}, [x2]
    ld1 {v1.16b}, [x3]
    eor v31.16b, FIRST.16b, LAST.16b
    eor v0.16b, v0.16b, LAST.16b
    eor v1.16b, v1.16b, v31.16b
    mov x7, #16
    mov x8, x2 // the first store is of the IV
    sub x4, x4, #16
    st1 {v0.16b}, [sp]
    pair v0, v1
1:
    tbnz w1, #2, 3f
2:
    pair v0, MIDDLE_1
    subs x5, x5, #1
    pair v0, MIDDLE_2
    csel x6, x7, xzr, ne // the last plaintext is read once more
    pair v0, MIDDLE_3
    add x3, x3, x6
    pair v0, MIDDLE_4
    ld1 {v1.16b}, [x3]
    pair v0, MIDDLE_5
    ldp x9, x10, [sp]
    pair v0, MIDDLE_6
    eor v1.16b, v1.16b, v31.16b
    add x4, x4, #16
    pair v0, MIDDLE_7
    eor x9, x9, x11
    eor x10, x10, x12
    pair v0, MIDDLE_8
    store_block x9, x10, x8
    mov x8, x4
    aese v0.16b, BEFORE_LAST.16b
    st1 {v0.16b}, [sp]
    pair v0, v1
    cbnz x5, 1b
    ldp x9, x10, [sp]
    eor x9, x9, x11
    eor x10, x10, x12
    store_block x9, x10, x8
    store_block x9, x10, x2
    stp xzr, xzr, [sp], #16
    EVC_ASM_CFI_ADJUST(-16)
    ret
3:
    EVC_ASM_CFI_ADJUST(16)
    pair v0, MORE_1
    pair v0, MORE_2
    tbz w1, #1, 2b
    pair v0, MORE_3
    pair v0, MORE_4
    b 2b
evc_end evc_aes_a64_ce_inorder_cbc

#endif
