/* SPDX-License-Identifier: MIT */
/*
 * Products, squares and Montgomery's reduction for 64-bit POWER.
 * (ppc64_mulhdu.c describes the method.)
 *
 * A strip is up to eight limbs of one factor, its width, times limbs of the other, its rows. A row
 * adds one of these, times the limbs of the strip, to the accumulators, as many as the width, and
 * to a limb of t. The lowest limb of the sum goes back to t, and the accumulators move down by one.
 * They can never overflow, since (B^w - 1)(B^h - 1) + (B^w - 1) + (B^h - 1) = B^(w + h) - 1 for w
 * limbs and h rows, with B = 2^64.
 *
 * Numbers are words in the order of the core, the least significant first. Instructions that
 * multiply, load, store and branch leave the carry alone.
 */
#include "common/ppc64_asm.h"

#if EVC_ASM_PPC64

/* Addresses 8 bytes below the next limb of t, and below the factor of the next row. */
#define to_sum 3
#define to_factor 4
#define to_limbs 5      /* the strip's own limbs */
#define part0 7         /* a limb of a product on its way to the accumulators */
#define part1 8
#define factor 9
#define sum 10
#define top 11          /* the carry of the lower limbs of a row */
#define zero 12
.set limb0, 14
.set limb1, 15
.set limb2, 16
.set limb3, 17
.set limb4, 18
.set limb5, 19
.set limb6, 20
.set limb7, 21
.set acc0, 22
.set acc1, 23
.set acc2, 24
.set acc3, 25
.set acc4, 26
.set acc5, 27
.set acc6, 28
.set acc7, 29
#define left 30         /* limbs that no strip has had */
#define limbs 31
.set last_acc1, acc0
.set last_acc2, acc1
.set last_acc3, acc2
.set last_acc4, acc3
.set last_acc5, acc4
.set last_acc6, acc5
.set last_acc7, acc6
.set last_acc8, acc7
.set last_limb1, limb0
.set last_limb2, limb1
.set last_limb3, limb2
.set last_limb4, limb3
.set last_limb5, limb4
.set last_limb6, limb5
.set last_limb7, limb6
.set last_limb8, limb7

/* ---- Rows ------------------------------------------------------------------------------------ */

.macro add_lower width, i, by
.if \width > \i
    mulld part1, limb\i, \by
    adde acc\i, acc\i, part1
.endif
.endm
.macro add_upper width, next, i, by
.if \width > \next
    mulhdu part1, limb\i, \by
    adde acc\i, acc\next, part1
.endif
.endm

/* A row of \width products with \by, which a limb of t is added to, in sum. to_t is 0 for digits of
 * the reduction: then there is no limb of t, since the lowest limb of the sum is known to be zero.
 * addze to top leaves no carry. */
.macro row width, by, to_t
.if \to_t
    mulld part0, limb0, \by
    addc acc0, acc0, part0
.else
    addic part0, acc0, -1 // a limb that is not 0 becomes 0 with a carry
.endif
    add_lower \width, 1, \by
    add_lower \width, 2, \by
    add_lower \width, 3, \by
    add_lower \width, 4, \by
    add_lower \width, 5, \by
    add_lower \width, 6, \by
    add_lower \width, 7, \by
    addze top, zero
.if \to_t
    addc sum, sum, acc0
.endif
    add_upper \width, 1, 0, \by
    add_upper \width, 2, 1, \by
    add_upper \width, 3, 2, \by
    add_upper \width, 4, 3, \by
    add_upper \width, 5, 4, \by
    add_upper \width, 6, 5, \by
    add_upper \width, 7, 6, \by
    mulhdu part1, last_limb\width, \by
    adde last_acc\width, top, part1
.endm

/* As many rows as ctr says, at least one. */
.macro rows width
1:  ldu factor, 8(to_factor)
    ldu sum, 8(to_sum)
    row \width, factor, 1
    std sum, 0(to_sum)
    bdnz 1b
.endm

.macro for_width width, what, at
.irp i, 0, 1, 2, 3, 4, 5, 6, 7
.if \i < \width
    \what \i, \at
.endif
.endr
.endm
.macro load_limb i, at
    ld limb\i, (8 * \i)(\at)
.endm
.macro load_acc i, at
    ld acc\i, (8 * \i + 8)(\at)
.endm
.macro store_acc i, at
    std acc\i, (8 * \i + 8)(\at)
.endm
.macro zero_acc i, at
    li acc\i, 0
.endm

/* to_sum and to_factor go back by so many limbs. */
.macro go_back n_limbs
    sldi part0, \n_limbs, 3
    subf to_sum, part0, to_sum
    subf to_factor, part0, to_factor
.endm

/* \strip 8 as long as eight limbs are left, then \strip for the width that is left. */
.macro all_strips strip
11: cmpldi left, 8
    blt 12f
    addi left, left, -8
    \strip 8
    b 11b
12: cmpldi left, 0
    beq 19f
.irp width, 1, 2, 3, 4, 5, 6
    cmpldi left, \width
    bne 18f
    \strip \width
    b 19f
18:
.endr
    \strip 7
19:
.endm

/* to_sum becomes the address below t, whose lower half becomes 0. */
.macro begin_t
    li zero, 0
    mtctr limbs
    addi to_sum, to_sum, -8
    mr part0, to_sum
1:  stdu zero, 8(part0)
    bdnz 1b
.endm

/* ---- Products -------------------------------------------------------------------------------- */

/* t += the limbs at to_limbs times all limbs of the other factor. */
.macro product_strip width
    for_width \width, load_limb, to_limbs
    for_width \width, zero_acc
    mtctr limbs
    rows \width
    for_width \width, store_acc, to_sum
    go_back limbs
    addi to_sum, to_sum, 8 * \width
    addi to_limbs, to_limbs, 8 * \width
.endm

/* r3: t, of 2 limbs limbs, r4: a, r5: b, r6: limbs > 0. t = a b. */
evc_function evc_bn_ppc64_mulhdu_product
    evc_save_r14_r31
    mr limbs, 6
    mr left, 6
    begin_t
    addi to_factor, to_factor, -8
    all_strips product_strip
    evc_restore_r14_r31
    blr
evc_end evc_bn_ppc64_mulhdu_product

/* ---- Squares --------------------------------------------------------------------------------- */

.macro triangle_row width, i
.if \width > \i
    ldu sum, 8(to_sum)
    row \i, limb\i, 1
    std sum, 0(to_sum)
.endif
.endm

/* The products of two different limbs, of which the lower one is a limb of the strip. */
.macro square_strip width
    for_width \width, load_limb, to_limbs
    for_width \width, zero_acc
.irp i, 1, 2, 3, 4, 5, 6, 7
    triangle_row \width, \i
.endr
    addi to_limbs, to_limbs, 8 * \width
    addi to_factor, to_limbs, -8
.if \width == 8
    cmpldi left, 0
    beq 2f
    mtctr left
    rows \width
2:
.endif
    for_width \width, store_acc, to_sum
    go_back left
    addi to_sum, to_sum, 8 * \width + 8
.endm

/* r3: t, of 2 limbs limbs, r4: a, r5: limbs > 0. t = a^2: the sum of all products of two different
 * limbs, then twice that and the squares. */
evc_function evc_bn_ppc64_mulhdu_square
    evc_save_r14_r31
    std 3, EVC_ASM_FREE(1)
    std 4, (EVC_ASM_FREE + 8)(1)
    mr limbs, 5
    mr left, 5
    mr to_limbs, 4
    begin_t
    addi to_sum, to_sum, 8
    all_strips square_strip

    ld 3, EVC_ASM_FREE(1)
    ld 4, (EVC_ASM_FREE + 8)(1)
    mtctr limbs
    addi 4, 4, -8
    addi 3, 3, -8
    li acc2, 0            // the limb of t before
    addic part0, zero, 0  // no carry
1:  ldu limb0, 8(4)
    ld acc0, 8(3)
    ld acc1, 16(3)
    mulld part0, limb0, limb0
    mulhdu part1, limb0, limb0
    srdi sum, acc2, 63
    rldimi sum, acc0, 1, 0
    srdi top, acc0, 63
    rldimi top, acc1, 1, 0
    adde sum, sum, part0
    adde top, top, part1
    mr acc2, acc1
    std sum, 8(3)
    stdu top, 16(3)
    bdnz 1b
    evc_restore_r14_r31
    blr
evc_end evc_bn_ppc64_mulhdu_square

/* ---- Reduction ------------------------------------------------------------------------------- */

#define n0 6            /* -1/n modulo B */
#define carry 0         /* above the strip before, 0 or 1 */

.macro add_acc i, at
    ld sum, (8 * \i + 8)(\at)
    adde acc\i, acc\i, sum
    std acc\i, (8 * \i + 8)(\at)
.endm
.macro load_digit i, at
    ld limb\i, (8 * \i)(\at)
.endm

/* Makes the limbs of the width of t zero by adding multiples of n. The digits of the multiple
 * take the place of these limbs. A digit is the lowest accumulator times -1/n, so a row makes
 * that zero. to_limbs: n. */
.macro reduce_strip width
    for_width \width, load_acc, to_sum
    for_width \width, load_limb, to_limbs
    li part0, \width
    mtctr part0
1:  mulld factor, acc0, n0
    row \width, factor, 0
    stdu factor, 8(to_sum)
    bdnz 1b
    addi factor, to_sum, 8 - 8 * \width
    for_width \width, load_digit, factor
    addi to_factor, to_limbs, 8 * \width - 8
    addic. part0, limbs, -\width
    beq 2f
    mtctr part0
    rows \width
2:  addic part0, carry, -1
    for_width \width, add_acc, to_sum
    addze carry, zero
    addi part1, limbs, -\width
    go_back part1
.endm

/* r3: r, r4: t, of 2 limbs limbs, r5: n, r6: limbs > 0, r7: -1/n modulo B. r = t / B^limbs
 * modulo n, if t is less than n B^limbs: the upper limbs of t, or these less n, which take
 * the place of the digits. */
evc_function evc_bn_ppc64_mulhdu_reduce
    evc_save_r14_r31
    std 3, EVC_ASM_FREE(1)
    addi to_sum, 4, -8
    mr limbs, 6
    mr left, 6
    mr n0, 7
    li zero, 0
    li carry, 0
    all_strips reduce_strip

    mr 4, to_sum          // below the upper limbs of t
    sldi part0, limbs, 3
    subf 6, part0, 4      // below the difference
    addi 5, 5, -8
    mr left, 4
    mr top, 6
    mtctr limbs
    subfc part0, zero, zero // no borrow
1:  ldu part0, 8(4)
    ldu part1, 8(5)
    subfe part0, part1, part0
    stdu part0, 8(6)
    bdnz 1b
    subfe part0, part0, part0 // all ones: borrow
    addic part1, carry, -1    // all ones: no carry
    and acc0, part0, part1    // all ones: t is below n
    ld 3, EVC_ASM_FREE(1)
    addi 3, 3, -8
    mtctr limbs
2:  ldu part0, 8(left)
    ldu part1, 8(top)
    and part0, part0, acc0
    andc part1, part1, acc0
    or part0, part0, part1
    stdu part0, 8(3)
    bdnz 2b
    evc_restore_r14_r31
    blr
evc_end evc_bn_ppc64_mulhdu_reduce
#endif
