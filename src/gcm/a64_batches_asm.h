/* SPDX-License-Identifier: MIT */
/*
 * Batches of 8 blocks for kernels of GCM, in assembly; include it after XOR3, 1 where EOR3 may be
 * used. A round of AES on 8 blocks has room for 8 other instructions behind its pairs of AESE and
 * AESMC, which cores take as one while they stand together: those of the hash of the 8 blocks
 * before, two blocks in two rounds.
 *
 *   v0-v7     counters, then what AES makes of them       v23-v25  a pair of powers
 *   v8-v15    ciphertext before, then text                v26-v28, v31  products and sums of lanes
 *   v16       the next counter, words byte-reversed       v29      x^63 + x^62 + x^57 in lane 0
 *   v17       1 in the last word                          v30      the hash so far, an element
 *   v18-v20   lo, mi, hi of ghash/a64_pmull_steps.h       v21, v22 keys of two rounds
 *
 *   x0  round keys, 240 bytes, and the powers behind them     x3, x4  text, from and to
 *   x1  struct state: the counter at 0, the hash at 16        x5      rounds
 *   x2  batches, at least one
 *
 * The struct has vectors as C keeps them, which is how q registers are stored, on big-endian cores
 * as well (Procedure Call Standard for the Arm 64-bit Architecture, 2024, section 5.4).
 */
#ifndef EVC_GCM_A64_BATCHES_ASM_H
#define EVC_GCM_A64_BATCHES_ASM_H

/* \to += \a + \b */
.macro add2 to, a, b
#if XOR3
    eor3 v\to\().16b, v\to\().16b, v\a\().16b, v\b\().16b
#else
    eor v\to\().16b, v\to\().16b, v\a\().16b
    eor v\to\().16b, v\to\().16b, v\b\().16b
#endif
.endm
.macro add1 to, a
    eor v\to\().16b, v\to\().16b, v\a\().16b
.endm
.macro reverse v
    rev64 v\v\().16b, v\v\().16b
.endm
.macro swap to, v
    ext v\to\().16b, v\v\().16b, v\v\().16b, #8
.endm
.macro low_product to, a, b
    pmull v\to\().1q, v\a\().1d, v\b\().1d
.endm
.macro high_product to, a, b
    pmull2 v\to\().1q, v\a\().2d, v\b\().2d
.endm
.macro low_lanes to, a, b
    trn1 v\to\().2d, v\a\().2d, v\b\().2d
.endm
.macro high_lanes to, a, b
    trn2 v\to\().2d, v\a\().2d, v\b\().2d
.endm
.macro next_powers
    ld1 {v23.16b-v25.16b}, [x8], #48
.endm
.macro last_powers
    ld1 {v23.16b-v25.16b}, [x8], x12
.endm
.macro next_key to
    ld1 {v\to\().16b}, [x0], #16
.endm

.macro last_key to
    ld1 {v\to\().16b}, [x0], x11
.endm

.macro aes s, key
    aese v\s\().16b, v\key\().16b
    aesmc v\s\().16b, v\s\().16b
.endm

/* A round, what is done behind each block, and the key of the round after the next. */
.macro aes_round load, key, a, b, c, d, e, f, g, h
    aes 0, \key
    \a
    aes 1, \key
    \b
    aes 2, \key
    \c
    aes 3, \key
    \d
    aes 4, \key
    \e
    aes 5, \key
    \f
    aes 6, \key
    \g
    aes 7, \key
    \h
    \load \key
.endm

/* Two rounds, and the products of the blocks a and b, which begin the sums if new is 1. */
.macro aes_rounds_and_pair new, load, a, b
    aes_round next_key, 21, "reverse \a", "reverse \b", "\load", "low_lanes 26, \a, \b", \
        "high_lanes 27, \a, \b", "low_product 28, \a, 23", "add1 26, 27", "low_product 31, \b, 24"
    .if \new
    aes_round next_key, 22, "high_product 18, \a, 23", "sum_of 20, 28, 31", \
        "high_product 28, \b, 24", "low_product 19, 26, 25", "", "high_product 27, 26, 25", \
        "add1 18, 28", "add1 19, 27"
    .else
    aes_round next_key, 22, "high_product 27, \a, 23", "add2 20, 28, 31", \
        "high_product 28, \b, 24", "low_product 31, 26, 25", "add2 18, 27, 28", \
        "high_product 27, 26, 25", "", "add2 19, 31, 27"
    .endif
.endm
.macro sum_of to, a, b
    eor v\to\().16b, v\a\().16b, v\b\().16b
.endm

/* Block s as AES wants it. */
.macro next_counter s
    rev32 v\s\().16b, v16.16b
    add v16.4s, v16.4s, v17.4s
.endm

/* The last round's second key and the text: to the ciphertext's place if
 * sealing, else apart from it. */
.macro crypt sealing, text, s
    .if \sealing
#if XOR3
    eor3 v\text\().16b, v\text\().16b, v\s\().16b, v21.16b
#else
    eor v\s\().16b, v\s\().16b, v21.16b
    eor v\text\().16b, v\text\().16b, v\s\().16b
#endif
    .else
#if XOR3
    eor3 v\s\().16b, v\text\().16b, v\s\().16b, v21.16b
#else
    eor v\s\().16b, v\s\().16b, v21.16b
    eor v\s\().16b, v\text\().16b, v\s\().16b
#endif
    .endif
.endm

.macro plain_round key
    aes_round next_key, \key, "", "", "", "", "", "", "", ""
.endm

/* The last round but for its second key, and what is done behind each of the first blocks. */
.macro last_round a, b, c, d, e, f
    aese v0.16b, v22.16b
    \a
    aese v1.16b, v22.16b
    \b
    aese v2.16b, v22.16b
    \c
    aese v3.16b, v22.16b
    \d
    aese v4.16b, v22.16b
    \e
    aese v5.16b, v22.16b
    \f
    aese v6.16b, v22.16b
    aese v7.16b, v22.16b
.endm
.macro next_text
    ld1 {v8.16b-v11.16b}, [x3], #64
.endm

/* The rounds of longer keys. */
.macro late_rounds
    cmp x5, #12
    b.lo 7f
    plain_round 21
    plain_round 22
    b.eq 7f
    plain_round 21
    plain_round 22
7:
.endm

/* The products of blocks a and b alone. */
.macro pair new, a, b
    low_lanes 26, \a, \b
    high_lanes 27, \a, \b
    low_product 28, \a, 23
    low_product 31, \b, 24
    high_product 21, \a, 23
    high_product 22, \b, 24
    add1 26, 27
    .if \new
    sum_of 20, 28, 31
    sum_of 18, 21, 22
    low_product 19, 26, 25
    high_product 27, 26, 25
    add1 19, 27
    .else
    low_product 27, 26, 25
    add2 20, 28, 31
    high_product 28, 26, 25
    add2 18, 21, 22
    add2 19, 27, 28
    .endif
.endm

.macro reverse_two a, b
    reverse \a
    reverse \b
.endm

.macro batches sealing
    evc_save_d8_d15
    add x8, x0, #288                                 // the second pair of powers; the first is last
    mov x12, #-144
    neg x11, x5, lsl #4                              // from the last key to the first
    ldp q16, q30, [x1]
    movi v17.16b, #0
    mov w9, #1
    mov v17.s[3], w9
    mov x9, #0xc200000000000000
    fmov d29, x9
    next_counter 0
    next_counter 1
    next_counter 2
    next_counter 3
    next_counter 4
    next_counter 5
    next_counter 6
    next_counter 7
    reverse 30
    next_key 21
    next_key 22
    /* The first batch: nothing to be hashed. */
    plain_round 21
    plain_round 22
    plain_round 21
    plain_round 22
    plain_round 21
    plain_round 22
    plain_round 21
    plain_round 22
    late_rounds
    aes_round last_key, 21, "", "", "", "", "", "", "", ""
    last_round next_text, "", "", "", "", ""
    b 3f
2:  next_key 21
    next_key 22
    aes_rounds_and_pair 1, next_powers, 10, 11
    aes_rounds_and_pair 0, next_powers, 12, 13
    aes_rounds_and_pair 0, last_powers, 14, 15
    aes_round next_key, 21, "reverse 8", "reverse 9", "next_powers", "add1 8, 30", \
        "low_lanes 26, 8, 9", "high_lanes 27, 8, 9", "low_product 28, 8, 23", \
        "low_product 31, 9, 24"
    aes_round next_key, 22, "add1 26, 27", "high_product 27, 8, 23", "add2 20, 28, 31", \
        "high_product 28, 9, 24", "low_product 31, 26, 25", "add2 18, 27, 28", \
        "high_product 27, 26, 25", ""
    late_rounds
    aes_round last_key, 21, "low_product 26, 18, 29", "add2 19, 31, 27", "swap 27, 18", \
        "add2 19, 18, 20", "", "add2 19, 26, 27", "", "low_product 28, 19, 29"
    last_round next_text, "", "add1 20, 28", "", "swap 20, 20", "sum_of 30, 19, 20"
3:  ld1 {v12.16b-v15.16b}, [x3], #64
    crypt \sealing, 8, 0
    crypt \sealing, 9, 1
    crypt \sealing, 10, 2
    crypt \sealing, 11, 3
    .if \sealing
    st1 {v8.16b-v11.16b}, [x4], #64
    .else
    st1 {v0.16b-v3.16b}, [x4], #64
    .endif
    next_counter 0
    crypt \sealing, 12, 4
    next_counter 1
    crypt \sealing, 13, 5
    next_counter 2
    crypt \sealing, 14, 6
    next_counter 3
    crypt \sealing, 15, 7
    subs x2, x2, #1
    .if \sealing
    st1 {v12.16b-v15.16b}, [x4], #64
    .else
    st1 {v4.16b-v7.16b}, [x4], #64
    .endif
    next_counter 4
    next_counter 5
    next_counter 6
    next_counter 7
    b.ne 2b
    /* The hash of the last batch. */
    next_powers
    reverse_two 10, 11
    pair 1, 10, 11
    next_powers
    reverse_two 12, 13
    pair 0, 12, 13
    last_powers
    reverse_two 14, 15
    pair 0, 14, 15
    next_powers
    reverse_two 8, 9
    add1 8, 30
    pair 0, 8, 9
    low_product 26, 18, 29
    swap 27, 18
    add2 19, 18, 20
    add2 19, 26, 27
    low_product 28, 19, 29
    add1 20, 28
    swap 20, 20
    sum_of 30, 19, 20
    reverse 30
    str q30, [x1, #16]
    evc_restore_d8_d15
    ret
.endm

#endif
