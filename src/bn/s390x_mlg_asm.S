/* SPDX-License-Identifier: MIT */
/*
 * Products, squares and Montgomery's reduction for IBM Z. (s390x_mlg.c describes the method.)
 *
 * A strip is up to four limbs of one factor, its width, times limbs of the other, its rows. A row
 * adds one of these, times the limbs of the strip, to the accumulators, as many as the width, and
 * to a limb of t. The lowest limb of the sum goes back to t, and the accumulators move down by one.
 * They can never overflow, since (B^w - 1)(B^h - 1) + (B^w - 1) + (B^h - 1) = B^(w + h) - 1 for w
 * limbs and h rows, with B = 2^64.
 *
 * Numbers are words, the least significant first. Instructions that multiply, load, store, shift
 * and count leave the carry alone. So does la, which serves as an addition. A product takes a pair
 * of registers: one factor is in the odd register before, and the upper limb of the product is in
 * the even one afterwards.
 */
#include "common/s390x_asm.h"

#if EVC_ASM_S390X

/* r0-r7: four products. r8-r11: accumulators, which one is the lowest of them
 * changes from row to row. */
#define to_limbs %r12  /* the strip's own limbs */
#define to_factor %r13 /* the factor of the next row */
#define to_sum %r14    /* its limb of t */

/* From r15 on: */
#define ZERO 0
#define END 8          /* of the factors of rows */
#define T 16           /* where the strip begins in t */
#define FACTOR 24      /* the first factor of a row; in the reduction: n */
#define LIMBS 32
#define LEFT 40        /* limbs that no strip has had */
#define N0 48          /* -1/n modulo B */
#define CARRY 56       /* of the reduction, 0 or 1 */
#define R 64
#define FRAME_BYTES 72

/* ---- Rows ------------------------------------------------------------------------------------ */

/* A row of \width products with the factor in r1, which a limb of t is added to, \at bytes from
 * to_sum. \a0 to \a3: the accumulators, the lowest first; behind as many as the width there is a
 * register for the new one. to_t is 0 for digits of the reduction: then there is no limb of t,
 * since the lowest limb of the sum is known to be zero. */
.macro row_of width, a0, a1, a2, a3, at, to_t
.if \width > 1
    lgr %r3, %r1
.endif
.if \width > 2
    lgr %r5, %r1
.endif
.if \width > 3
    lgr %r7, %r1
.endif
    mlg %r0, 0(to_limbs)
.if \to_t
    alg %r1, \at(to_sum)
.if \width > 1
    mlg %r2, 8(to_limbs)
    alcgr %r3, %r0
.endif
.elseif \width > 1
    mlg %r2, 8(to_limbs)
    algr %r3, %r0
.endif
.if \width > 2
    mlg %r4, 16(to_limbs)
    alcgr %r5, %r2
.endif
.if \width > 3
    mlg %r6, 24(to_limbs)
    alcgr %r7, %r4
.endif
.if \width == 4
    alcg %r6, ZERO(%r15)
    algr %r1, \a0
    alcgr \a1, %r3
    alcgr \a2, %r5
    alcgr \a3, %r7
    alcg %r6, ZERO(%r15)
    lgr \a0, %r6
.elseif \width == 3
    alcg %r4, ZERO(%r15)
    algr %r1, \a0
    alcgr \a1, %r3
    alcgr \a2, %r5
    alcg %r4, ZERO(%r15)
    lgr \a3, %r4
.elseif \width == 2
    alcg %r2, ZERO(%r15)
    algr %r1, \a0
    alcgr \a1, %r3
    alcg %r2, ZERO(%r15)
    lgr \a2, %r2
.else
.if \to_t
    alcg %r0, ZERO(%r15)
.endif
    algr %r1, \a0
    alcg %r0, ZERO(%r15)
    lgr \a1, %r0
.endif
.if \to_t
    stg %r1, \at(to_sum)
.endif
.endm

/* The same with accumulators of which the lowest is r8 + \lowest. */
.macro row lowest, width, at, to_t
.if \lowest == 0
    row_of \width, %r8, %r9, %r10, %r11, \at, \to_t
.elseif \lowest == 1
    row_of \width, %r9, %r10, %r11, %r8, \at, \to_t
.elseif \lowest == 2
    row_of \width, %r10, %r11, %r8, %r9, \at, \to_t
.else
    row_of \width, %r11, %r8, %r9, %r10, \at, \to_t
.endif
.endm
.macro factor_row lowest, width, at
    lg %r1, \at(to_factor)
    row \lowest, \width, \at, 1
.endm

/* Rows up to END, as many as LIMBS or so many multiples of four fewer, of
 * accumulators from r8 on. */
.macro rows width
    tm LIMBS + 7(%r15), 1
    jz 1f
    factor_row 0, \width, 0
    la to_factor, 8(to_factor)
    la to_sum, 8(to_sum)
.if \width == 4
    lgr %r0, %r8
.endif
    lgr %r8, %r9
.if \width > 1
    lgr %r9, %r10
.endif
.if \width > 2
    lgr %r10, %r11
.endif
.if \width == 4
    lgr %r11, %r0
.endif
1:  tm LIMBS + 7(%r15), 2
    jz 2f
    factor_row 0, \width, 0
    factor_row 1, \width, 8
    la to_factor, 16(to_factor)
    la to_sum, 16(to_sum)
.if \width > 2
    lgr %r0, %r8
.endif
.if \width > 3
    lgr %r1, %r9
.endif
    lgr %r8, %r10
.if \width > 1
    lgr %r9, %r11
.endif
.if \width > 2
    lgr %r10, %r0
.endif
.if \width > 3
    lgr %r11, %r1
.endif
2:  rows_by_four \width
.endm
.macro rows_by_four width
    clg to_factor, END(%r15)
    jnl 4f
3:  factor_row 0, \width, 0
    factor_row 1, \width, 8
    factor_row 2, \width, 16
    factor_row 3, \width, 24
    la to_factor, 32(to_factor)
    la to_sum, 32(to_sum)
    clg to_factor, END(%r15)
    jl 3b
4:
.endm

/* \what register, offset: for the accumulators of a width, from r8 on; and for those up to r11. */
.macro from_r8 width, what
    \what %r8, 0
.if \width > 1
    \what %r9, 8
.endif
.if \width > 2
    \what %r10, 16
.endif
.if \width > 3
    \what %r11, 24
.endif
.endm
.macro up_to_r11 width, what
.if \width > 3
    \what %r8, 8 * \width - 32
.endif
.if \width > 2
    \what %r9, 8 * \width - 24
.endif
.if \width > 1
    \what %r10, 8 * \width - 16
.endif
    \what %r11, 8 * \width - 8
.endm
.macro zero_acc acc, offset
    lghi \acc, 0
.endm
.macro load_acc acc, offset
    lg \acc, \offset(to_sum)
.endm
.macro store_acc acc, offset
    stg \acc, \offset(to_sum)
.endm

/* \strip 4 as long as four limbs are left, then \strip for the width that is left. */
.macro all_strips strip
11: lg %r0, LEFT(%r15)
    cghi %r0, 4
    jl 12f
    aghi %r0, -4
    stg %r0, LEFT(%r15)
    \strip 4
    j 11b
12: cghi %r0, 2
    jl 13f
    je 14f
    \strip 3
    j 19f
13: ltgr %r0, %r0
    jz 19f
    \strip 1
    j 19f
14: \strip 2
19:
.endm

/* The next strip begins so many limbs higher in t. */
.macro move_t n_limbs
    lg %r1, T(%r15)
    la %r1, 8 * \n_limbs(%r1)
    stg %r1, T(%r15)
.endm

/* r5: limbs. ZERO, LIMBS, LEFT, and END behind the number at \factors. */
.macro begin factors
    lghi %r0, 0
    stg %r0, ZERO(%r15)
    stg %r5, LIMBS(%r15)
    stg %r5, LEFT(%r15)
    stg \factors, FACTOR(%r15)
    sllg %r1, %r5, 3
    la %r1, 0(%r1, \factors)
    stg %r1, END(%r15)
.endm
/* The lower half of t becomes 0. */
.macro zero_lower_half
    lgr %r1, %r2
1:  stg %r0, 0(%r1)
    la %r1, 8(%r1)
    brctg %r5, 1b
.endm

/* ---- Products -------------------------------------------------------------------------------- */

/* t += the limbs at to_limbs times all limbs of the other factor. */
.macro product_strip width
    lg to_factor, FACTOR(%r15)
    lg to_sum, T(%r15)
    from_r8 \width, zero_acc
    rows \width
    from_r8 \width, store_acc
    la to_limbs, 8 * \width(to_limbs)
    move_t \width
.endm

/* r2: t, of 2 limbs limbs, r3: a, r4: b, r5: limbs > 0. t = a b. */
evc_function evc_bn_s390x_mlg_product
    evc_save_r6_r14 FRAME_BYTES
    begin %r3
    stg %r2, T(%r15)
    lgr to_limbs, %r4
    zero_lower_half
    all_strips product_strip
    evc_restore_r6_r14 FRAME_BYTES
    br %r14
evc_end evc_bn_s390x_mlg_product

/* ---- Squares --------------------------------------------------------------------------------- */

/* The products of two different limbs, of which the lower one is a limb of the strip. In its
 * first rows, limb i is the factor of those below it, which are the first i. A row needs no zero
 * in the register that its new accumulator goes to; a register that was the lowest accumulator
 * is a new one of zero. */
.macro square_strip width
    la to_factor, 8(to_limbs)
    lg to_sum, T(%r15)
.if \width == 4
    lghi %r9, 0
    lghi %r11, 0
    factor_row 1, 1, 0
    factor_row 2, 2, 8
    lghi %r9, 0
    factor_row 3, 3, 16
    lghi %r11, 0
.elseif \width == 3
    lghi %r8, 0
    lghi %r10, 0
    factor_row 2, 1, 0
    factor_row 3, 2, 8
    lghi %r10, 0
.elseif \width == 2
    lghi %r9, 0
    lghi %r11, 0
    factor_row 3, 1, 0
.else
    lghi %r8, 0
.endif
    la to_factor, (8 * \width)(to_limbs)
    la to_sum, (8 * \width - 8)(to_sum)
.if \width == 4
    rows 4
.endif
    from_r8 \width, store_acc
    la to_limbs, 8 * \width(to_limbs)
    move_t 2 * \width
.endm

/* r2: t, of 2 limbs limbs, r3: a, r4: limbs > 0. t = a^2: the sum of all products of two different
 * limbs, then twice that and the squares. */
evc_function evc_bn_s390x_mlg_square
    evc_save_r6_r14 FRAME_BYTES
    lgr %r5, %r4
    begin %r3
    lgr to_limbs, %r3
    stg %r2, R(%r15)
    la %r1, 8(%r2)
    stg %r1, T(%r15)
    zero_lower_half
    all_strips square_strip

    lg to_factor, FACTOR(%r15)
    lg to_sum, R(%r15)
    lg %r12, LIMBS(%r15)
    lghi %r2, 0           // the limb of t before
    algr %r2, %r2         // no carry
1:  lg %r1, 0(to_factor)
    mlgr %r0, %r1
    lg %r3, 0(to_sum)
    lg %r4, 8(to_sum)
    srlg %r5, %r2, 63
    sllg %r6, %r3, 1
    la %r5, 0(%r5, %r6)
    srlg %r6, %r3, 63
    sllg %r7, %r4, 1
    la %r6, 0(%r6, %r7)
    alcgr %r5, %r1
    alcgr %r6, %r0
    stg %r5, 0(to_sum)
    stg %r6, 8(to_sum)
    lgr %r2, %r4
    la to_factor, 8(to_factor)
    la to_sum, 16(to_sum)
    brctg %r12, 1b
    evc_restore_r6_r14 FRAME_BYTES
    br %r14
evc_end evc_bn_s390x_mlg_square

/* ---- Reduction ------------------------------------------------------------------------------- */

/* The row of a digit, which is the lowest accumulator times -1/n. */
.macro digit_row width, i
.if \width > \i
.if \width - \i == 4
    lgr %r1, %r8
.elseif \width - \i == 3
    lgr %r1, %r9
.elseif \width - \i == 2
    lgr %r1, %r10
.else
    lgr %r1, %r11
.endif
    msg %r1, N0(%r15)
    stg %r1, 8 * \i(to_sum)
    row 4 - (\width - \i), \width, 0, 0
.endif
.endm

.macro add_acc acc, offset
    alcg \acc, \offset(to_sum)
    stg \acc, \offset(to_sum)
.endm

/* Makes the limbs of the width of t zero by adding multiples of n. The digits of the multiple take
 * the place of these limbs. */
.macro reduce_strip width
    lg to_factor, FACTOR(%r15)
    lg to_sum, T(%r15)
    up_to_r11 \width, load_acc
    lgr to_limbs, to_factor
    digit_row \width, 0
    digit_row \width, 1
    digit_row \width, 2
    digit_row \width, 3
    lgr to_limbs, to_sum
    la to_factor, 8 * \width(to_factor)
    la to_sum, 8 * \width(to_sum)
.if \width == 4
    rows 4
.else
    rows_by_four \width
.endif
    lghi %r0, -1
    alg %r0, CARRY(%r15)  // the carry is the carry
    from_r8 \width, add_acc
    lghi %r0, 0
    alcgr %r0, %r0
    stg %r0, CARRY(%r15)
    move_t \width
.endm

/* r2: r, r3: t, of 2 limbs limbs, r4: n, r5: limbs > 0, r6: -1/n modulo B. r = t / B^limbs
 * modulo n, if t is less than n B^limbs: the upper limbs of t, or these less n, which take
 * the place of the digits. */
evc_function evc_bn_s390x_mlg_reduce
    evc_save_r6_r14 FRAME_BYTES
    begin %r4
    stg %r0, CARRY(%r15)
    stg %r2, R(%r15)
    stg %r3, T(%r15)
    stg %r6, N0(%r15)
    all_strips reduce_strip

    lg %r12, FACTOR(%r15)
    lg %r13, T(%r15)      // the upper limbs
    lg %r5, LIMBS(%r15)
    sllg %r1, %r5, 3
    lgr %r14, %r13
    slgr %r14, %r1        // the difference
    lg %r4, LIMBS(%r15)
    lghi %r1, 0
    slgr %r0, %r0         // no borrow
1:  lg %r0, 0(%r1, %r13)
    slbg %r0, 0(%r1, %r12)
    stg %r0, 0(%r1, %r14)
    la %r1, 8(%r1)
    brctg %r5, 1b
    slbgr %r3, %r3        // all ones: borrow
    lg %r0, CARRY(%r15)
    aghi %r0, -1          // all ones: no carry
    ngr %r3, %r0          // all ones: t is below n
    lg %r2, R(%r15)
    lghi %r1, 0
2:  lg %r0, 0(%r1, %r13)
    xg %r0, 0(%r1, %r14)
    ngr %r0, %r3
    xg %r0, 0(%r1, %r14)
    stg %r0, 0(%r1, %r2)
    la %r1, 8(%r1)
    brctg %r4, 2b
    evc_restore_r6_r14 FRAME_BYTES
    br %r14
evc_end evc_bn_s390x_mlg_reduce
#endif
