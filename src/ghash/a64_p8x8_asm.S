/* SPDX-License-Identifier: MIT */
/*
 * The blocks of a64_p8x8.c: the steps of a64_p8x8_steps.h, with all 17 sums in registers.
 *
 *   v0, v1    products of the upper words of elements, as they are and with swapped
 *             bytes: 4 parts of 32 bits
 *   v2, v3    the lower words        v8, v9     the sums of the halves of words
 *   v4, v5    cross                  v10, v11   the sums of the halves of cross; of both elements
 *   v6, v7    beside                 v12, v13   the sums of the halves of beside; of both elements
 *   v14, v15  all                    v16        last
 *   v17-v23   operands               v24-v27    the table        v28-v31  products
 */
#include "common/a64_asm.h"

#if EVC_ASM_A64
evc_isa_neon

/* The first pair of a group begins the sums: new is 1. */
.macro multiply_low new, sum, product, a, b
    .if \new
    pmull v\sum\().8h, v\a\().8b, v\b\().8b
    .else
    pmull v\product\().8h, v\a\().8b, v\b\().8b
    .endif
.endm
.macro multiply_high new, sum, product, a, b
    .if \new
    pmull2 v\sum\().8h, v\a\().16b, v\b\().16b
    .else
    pmull2 v\product\().8h, v\a\().16b, v\b\().16b
    .endif
.endm
.macro add_product new, sum, product
    .if \new == 0
    eor v\sum\().16b, v\sum\().16b, v\product\().16b
    .endif
.endm

/* Products of a vector's both halves, to one sum each for the vectors h0 and h1 of the table. */
.macro multiply_both new, sum0, sum1, a, h0, h1
    multiply_low \new, \sum0, 28, \a, \h0
    multiply_high 0, 0, 29, \a, \h0
    multiply_low \new, \sum1, 30, \a, \h1
    multiply_high 0, 0, 31, \a, \h1
.endm
.macro add_both new, sum0, sum1
    add_product \new, \sum0, 28
    add_product 0, \sum0, 29
    add_product \new, \sum1, 30
    add_product 0, \sum1, 31
.endm

/* The same, to a sum for each half. */
.macro multiply_each new, low0, low1, high0, high1, a, h0, h1
    multiply_low \new, \low0, 28, \a, \h0
    multiply_high \new, \high0, 29, \a, \h0
    multiply_low \new, \low1, 30, \a, \h1
    multiply_high \new, \high1, 31, \a, \h1
.endm
.macro add_each new, low0, low1, high0, high1
    add_product \new, \low0, 28
    add_product \new, \high0, 29
    add_product \new, \low1, 30
    add_product \new, \high1, 31
.endm

/* \to = the sums of neighbouring lanes of a, then of b. \t is lost; \to may be neither of them. */
.macro add_lanes to, t, a, b, lanes
    uzp1 v\to\().\lanes, v\a\().\lanes, v\b\().\lanes
    uzp2 v\t\().\lanes, v\a\().\lanes, v\b\().\lanes
    eor v\to\().16b, v\to\().16b, v\t\().16b
.endm

/* Elements v17 and v18 times the pair of powers at x4, whose first four vectors are
 * under way to v24-v27. */
.macro add_pair new
    add_lanes 19, 20, 17, 18, 2d                     // cross
    multiply_each \new, 0, 1, 2, 3, 17, 24, 25
    add_lanes 20, 21, 17, 18, 4s                     // beside
    add_each \new, 0, 1, 2, 3
    multiply_each 0, 0, 0, 0, 0, 18, 26, 27
    ld1 {v24.16b-v27.16b}, [x4], #64
    add_lanes 21, 22, 17, 18, 8h                     // halves
    add_each 0, 0, 1, 2, 3
    multiply_both \new, 4, 5, 19, 24, 25
    add_lanes 17, 18, 19, 20, 8h                     // sums
    add_both \new, 4, 5
    multiply_both \new, 6, 7, 20, 26, 27
    ld1 {v24.16b-v27.16b}, [x4], #64
    add_lanes 22, 23, 19, 19, 4s                     // all
    add_both \new, 6, 7
    multiply_both \new, 8, 9, 21, 24, 25
    add_lanes 18, 23, 22, 22, 8h                     // last
    add_both \new, 8, 9
    multiply_each \new, 10, 11, 12, 13, 17, 26, 27
    ld1 {v24.16b, v25.16b}, [x4], #32
    add_each \new, 10, 11, 12, 13
    multiply_low \new, 14, 28, 22, 24
    multiply_high \new, 15, 29, 22, 24
    multiply_low \new, 16, 30, 18, 25
    add_product \new, 14, 28
    add_product \new, 15, 29
    add_product \new, 16, 30
.endm

/* Products with swapped bytes, of 4 parts in a1 and in b1, go between the two others. */
.macro join_bytes a, b, a1, b1
    add_lanes 28, 29, \a1, \b1, 8h
    ushll v30.4s, v28.4h, #8
    ushll2 v31.4s, v28.8h, #8
    eor v\a\().16b, v\a\().16b, v30.16b
    eor v\b\().16b, v\b\().16b, v31.16b
.endm

/* Products of 2 words in a and in b, from those of their halves and of the sums of halves. */
.macro join_halves a, b, sums
    add_lanes 28, 29, \a, \b, 4s
    eor v28.16b, v28.16b, v\sums\().16b
    ushll v30.2d, v28.2s, #16
    ushll2 v31.2d, v28.4s, #16
    eor v\a\().16b, v\a\().16b, v30.16b
    eor v\b\().16b, v\b\().16b, v31.16b
.endm

/* void (const uint8_t table[4][14][16], uint8_t y[16], const uint8_t *in, size_t
 * n_blocks); n_blocks is not 0. */
evc_function evc_ghash_a64_p8x8_blocks
    evc_save_d8_d15
    ld1 {v31.16b}, [x1]
    rev64 v31.16b, v31.16b
    sub x5, x3, #1                                   // the first group: 1 to 8 blocks; others: 8
    lsr x6, x5, #3                                   // groups behind it
    and x5, x5, #7
    lsr x5, x5, #1                                   // pairs of the first group, without the first
    mov x7, #224
    mov x8, #3
    sub x8, x8, x5
    madd x4, x7, x8, x0
    tbz x3, #0, 1f
    ld1 {v18.16b}, [x2], #16                         // an odd block: in front of it there is none
    ld1 {v24.16b-v27.16b}, [x4], #64
    movi v17.16b, #0
    rev64 v18.16b, v18.16b
    eor v18.16b, v18.16b, v31.16b
    b 2f
1:
    ld1 {v17.16b, v18.16b}, [x2], #32
    ld1 {v24.16b-v27.16b}, [x4], #64
    rev64 v17.16b, v17.16b
    rev64 v18.16b, v18.16b
    eor v17.16b, v17.16b, v31.16b
2:
    add_pair 1
    cbz x5, 4f
3:
    ld1 {v17.16b, v18.16b}, [x2], #32
    ld1 {v24.16b-v27.16b}, [x4], #64
    subs x5, x5, #1
    rev64 v17.16b, v17.16b
    rev64 v18.16b, v18.16b
    add_pair 0
    b.ne 3b
4:
    add_lanes 17, 18, 10, 12, 2d                     // sums of cross and beside, of both elements
    add_lanes 19, 20, 11, 13, 2d
    join_bytes 0, 2, 1, 3
    join_bytes 4, 6, 5, 7
    join_bytes 8, 17, 9, 19
    movi v21.16b, #0
    add_lanes 22, 23, 15, 16, 8h                     // all and last
    join_halves 0, 2, 8
    ushll v24.4s, v22.4h, #8
    ushll2 v25.4s, v22.8h, #8
    eor v14.16b, v14.16b, v24.16b
    ext v25.16b, v25.16b, v21.16b, #8
    join_halves 4, 6, 17
    ext v24.16b, v14.16b, v14.16b, #8
    eor v16.16b, v16.16b, v25.16b
    eor v14.16b, v14.16b, v24.16b
    rev64 v26.4s, v16.4s
    rev64 v25.4s, v14.4s
    eor v16.16b, v16.16b, v26.16b
    eor v25.16b, v25.16b, v14.16b
    eor v16.16b, v16.16b, v25.16b
    add_lanes 18, 20, 0, 2, 2d
    ushll v16.2d, v16.2s, #16
    eor v14.16b, v14.16b, v16.16b                    // words of 64 bits: in both lanes
    ext v22.16b, v4.16b, v4.16b, #8
    eor v6.16b, v6.16b, v18.16b                      // what goes between those of v0, of v2
    eor v23.16b, v0.16b, v2.16b
    eor v22.16b, v22.16b, v4.16b
    ext v24.16b, v6.16b, v6.16b, #8
    eor v14.16b, v14.16b, v22.16b
    eor v24.16b, v24.16b, v6.16b
    eor v23.16b, v23.16b, v4.16b                     // between v2 and v0
    eor v14.16b, v14.16b, v24.16b
    ext v25.16b, v21.16b, v23.16b, #8
    ext v26.16b, v23.16b, v21.16b, #8
    trn2 v27.2d, v6.2d, v14.2d                       // 32 bits higher than all of these
    trn1 v28.2d, v6.2d, v21.2d
    eor v2.16b, v2.16b, v25.16b
    eor v0.16b, v0.16b, v26.16b
    ext v29.16b, v21.16b, v27.16b, #12
    ext v30.16b, v27.16b, v28.16b, #12
    eor v2.16b, v2.16b, v29.16b
    eor v0.16b, v0.16b, v30.16b
    /* v2 + v0 x^128 divided by x^128 in reflected bits: times
     * x^63 + x^62 + x^57, 64 bits at a time */
    shl v24.2d, v2.2d, #63
    shl v25.2d, v2.2d, #62
    shl v26.2d, v2.2d, #57
    eor v24.16b, v24.16b, v25.16b
    eor v24.16b, v24.16b, v26.16b
    ext v24.16b, v21.16b, v24.16b, #8
    eor v2.16b, v2.16b, v24.16b
    shl v24.2d, v2.2d, #63
    shl v25.2d, v2.2d, #62
    shl v26.2d, v2.2d, #57
    ushr v27.2d, v2.2d, #1
    ushr v28.2d, v2.2d, #2
    ushr v29.2d, v2.2d, #7
    eor v24.16b, v24.16b, v25.16b
    eor v0.16b, v0.16b, v2.16b
    eor v27.16b, v27.16b, v28.16b
    eor v24.16b, v24.16b, v26.16b
    eor v0.16b, v0.16b, v29.16b
    ext v24.16b, v24.16b, v21.16b, #8
    eor v0.16b, v0.16b, v27.16b
    eor v0.16b, v0.16b, v24.16b
    ext v31.16b, v0.16b, v0.16b, #8
    cbz x6, 5f
    sub x6, x6, #1
    mov x4, x0
    mov x5, #3
    b 1b
5:
    rev64 v31.16b, v31.16b
    st1 {v31.16b}, [x1]
    evc_restore_d8_d15
    ret
evc_end evc_ghash_a64_p8x8_blocks
#endif
