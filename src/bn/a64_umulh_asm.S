/* SPDX-License-Identifier: MIT */
/*
 * Products, squares and Montgomery's reduction for AArch64. (a64_umulh.c describes the method.)
 *
 * A strip is up to eight limbs of one factor, its width, times limbs of the other, its rows
 * (a64_rows.h). Numbers are words in the order of the core, the least significant first.
 */
#include "bn_words/a64_rows.h"

#if EVC_ASM_A64

/* Rows that add to t, if there are any. */
.macro all_rows width
    cbz rows, 2f
1:  ldr factor0, [to_factor], #8
    ldr sum0, [to_sum]
    row \width, factor0, sum0, 2
    str sum0, [to_sum], #8
    sub rows, rows, #1
    cbnz rows, 1b
2:
.endm
/* The same with eight limbs, two rows a turn. */
.macro all_rows_of_8 to_t
    tbz rows, #0, 1f
    ldr factor0, [to_factor], #8
.if \to_t == 2
    ldr sum0, [to_sum]
.endif
    row 8, factor0, sum0, \to_t
    str sum0, [to_sum], #8
1:  lsr rows, rows, #1
    cbz rows, 3f
2:  ldp factor0, factor1, [to_factor], #16
.if \to_t == 2
    ldp sum0, sum1, [to_sum]
.endif
    row 8, factor0, sum0, \to_t
    row 8, factor1, sum1, \to_t
    stp sum0, sum1, [to_sum], #16
    sub rows, rows, #1
    cbnz rows, 2b
3:
.endm

.macro add_to_two_accs i, j, offset, at
    ldp sum0, sum1, [\at, #\offset]
    adcs acc\i, acc\i, sum0
    adcs acc\j, acc\j, sum1
.endm
.macro add_to_one_acc i, offset, at
    ldr sum0, [\at, #\offset]
    adcs acc\i, acc\i, sum0
.endm
/* ---- The frame ------------------------------------------------------------------------------- */

#define T 0       /* where the strip begins in t */
#define R 8
#define FACTOR 16 /* the number whose limbs are rows */
#define LIMBS 24
#define LEFT 32   /* limbs that no strip has had */
#define N0 40     /* -1/n modulo B */
#define CARRY 48  /* of the reduction, 0 or 1 */
#define FRAME_BYTES 64

.macro begin_frame
    save_rows
    sub sp, sp, #FRAME_BYTES
    EVC_ASM_CFI_ADJUST(FRAME_BYTES)
.endm
.macro end_frame
    add sp, sp, #FRAME_BYTES
    EVC_ASM_CFI_ADJUST(-FRAME_BYTES)
    restore_rows
    ret
.endm

/* \strip width, for the width in \of, of 1 to 7; then on at 9. */
.macro by_width of, strip
.irp width, 1, 2, 3, 4, 5, 6
    cmp \of, #\width
    b.ne 8f
    \strip \width
    b 9f
8:
.endr
    \strip 7
.endm

/* ---- Products -------------------------------------------------------------------------------- */

/* t += the limbs at x3 times all rows. */
.macro product_strip width
    in_pairs \width, load_two_limbs, load_one_limb, x3
    zero_accs \width
    all_rows \width
    in_pairs \width, store_two_accs, store_one_acc, to_sum
.endm

/* x0: t, of 2 limbs limbs, x1: a, x2: b, x3: limbs > 0. t = a b. */
evc_function evc_bn_a64_umulh_product
    begin_frame
    stp x1, x3, [sp, #FACTOR]
    str x0, [sp, #T]
    mov factor0, x3
    mov x3, x2
    mov rows, factor0
    cmp factor0, #8
    b.hs 2f
1:  str xzr, [x0], #8     // fewer limbs than eight are added to zeros
    sub rows, rows, #1
    cbnz rows, 1b
    ldr x0, [sp, #T]
    mov rows, factor0
    b 5f
2:  sub factor0, factor0, #8
    str factor0, [sp, #LEFT]
    in_pairs 8, load_two_limbs, load_one_limb, x3
    zero_accs 8
    all_rows_of_8 1
4:  in_pairs 8, store_two_accs, store_one_acc, to_sum
    ldp x1, rows, [sp, #FACTOR]
    ldr x0, [sp, #T]
    ldr factor0, [sp, #LEFT]
    add x0, x0, #64
    str x0, [sp, #T]
    add x3, x3, #64
    cbz factor0, 9f
    cmp factor0, #8
    b.lo 5f
    sub factor0, factor0, #8
    str factor0, [sp, #LEFT]
    in_pairs 8, load_two_limbs, load_one_limb, x3
    zero_accs 8
    all_rows_of_8 2
    b 4b
5:  by_width factor0, product_strip
9:  end_frame
evc_end evc_bn_a64_umulh_product

/* ---- Squares --------------------------------------------------------------------------------- */

/* The last strip has no rows besides. */
.macro last_triangle width
    triangle \width, 2
    in_pairs \width, store_two_accs, store_one_acc, to_sum
.endm

/* x0: t, of 2 limbs limbs, x1: a, x2: limbs, 2 or more. t = a^2: the sum of all products of two
 * different limbs, then twice that and the squares. */
evc_function evc_bn_a64_umulh_square
    begin_frame
    stp x1, x2, [sp, #FACTOR]
    stp x0, x0, [sp, #T]  // R: the start of t
    subs rows, x2, #8
    b.lo 6f
    str rows, [sp, #LEFT]
    str xzr, [x0], #8
    mov x3, x1
    triangle 8, 1
    add to_factor, to_factor, #64
    all_rows_of_8 1
4:  in_pairs 8, store_two_accs, store_one_acc, to_sum
    ldr x0, [sp, #T]
    ldr rows, [sp, #LEFT]
    cbz rows, 9f
    add x0, x0, #128
    str x0, [sp, #T]
    add x0, x0, #8
    add x3, x3, #64
    mov to_factor, x3
    cmp rows, #8
    b.lo 5f
    sub rows, rows, #8
    str rows, [sp, #LEFT]
    triangle 8, 2
    add to_factor, to_factor, #64
    all_rows_of_8 2
    b 4b
6:  ldr rows, [sp, #LIMBS] // fewer limbs than eight are one strip, added to zeros
7:  str xzr, [x0], #8
    sub rows, rows, #1
    cbnz rows, 7b
    ldr x0, [sp, #T]
    add x0, x0, #8
    ldr rows, [sp, #LIMBS]
5:  by_width rows, last_triangle

9:  ldp x1, x2, [sp, #FACTOR]
    ldr x0, [sp, #R]
    cmn xzr, xzr          // no carry
    mov x3, xzr           // the limb of t below
    tbz x2, #0, 1f
    ldr limb0, [x1], #8
    ldp acc0, acc1, [x0]
    square_limb limb0, acc0, acc1, x3
    stp x3, top, [x0], #16
    mov x3, acc1
1:  lsr x2, x2, #1
    square_pairs
    end_frame
evc_end evc_bn_a64_umulh_square

/* ---- Reduction ------------------------------------------------------------------------------- */

/* Makes the limbs of the width of t zero by adding multiples of n. The digits of the
 * multiple take the place of these limbs. A digit is the lowest accumulator times -1/n, so a
 * row makes that zero. x3: n. */
.macro reduce_strip width
    in_pairs \width, load_two_accs, load_one_acc, to_sum
    in_pairs \width, load_two_limbs, load_one_limb, x3
    ldr x1, [sp, #N0]
.if \width == 8
    mov rows, #4
1:  mul factor0, acc0, x1
    row 8, factor0, -, 0
    mul factor1, acc0, x1
    row 8, factor1, -, 0
    stp factor0, factor1, [to_sum], #16
    sub rows, rows, #1
    cbnz rows, 1b
.else
    mov rows, #\width
1:  mul factor0, acc0, x1
    row \width, factor0, -, 0
    str factor0, [to_sum], #8
    sub rows, rows, #1
    cbnz rows, 1b
.endif
    sub x1, to_sum, #(8 * \width)
    in_pairs \width, load_two_limbs, load_one_limb, x1
    ldr rows, [sp, #LIMBS]
    add to_factor, x3, #(8 * \width)
    sub rows, rows, #\width
.if \width == 8
    all_rows_of_8 2
.else
    all_rows \width
.endif
    ldr sum0, [sp, #CARRY]
    cmp sum0, #1
    in_pairs \width, add_to_two_accs, add_to_one_acc, to_sum
    in_pairs \width, store_two_accs, store_one_acc, to_sum
    cset sum0, cs
    str sum0, [sp, #CARRY]
    ldr x0, [sp, #T]
    add x0, x0, #(8 * \width)
    str x0, [sp, #T]
.endm

/* x0: r, x1: t, of 2 limbs limbs, x2: n, x3: limbs > 0, x4: -1/n modulo B. r = t / B^limbs
 * modulo n, if t is less than n B^limbs: the upper limbs of t, or these less n, which take
 * the place of the digits. */
evc_function evc_bn_a64_umulh_reduce
    begin_frame
    stp x1, x0, [sp, #T]
    str x1, [sp, #FACTOR]
    stp x3, x3, [sp, #LIMBS]
    stp x4, xzr, [sp, #N0]
    mov x0, x1
    mov x1, x3
    mov x3, x2
    mov rows, x1
    cmp rows, #8
    b.lo 5f
4:  sub rows, rows, #8
    str rows, [sp, #LEFT]
    reduce_strip 8
    ldr rows, [sp, #LEFT]
    cmp rows, #8
    b.hs 4b
    cbz rows, 9f
5:  by_width rows, reduce_strip

9:  ldp x1, x2, [sp, #FACTOR]
    mov x4, x1            // x0: the upper limbs, x1: the difference, x3: n
    mov x5, x0
    and x6, x2, #3
    lsr x2, x2, #2
    cmp x2, x2            // no borrow
    mov x7, x6
    cbz x7, 2f
1:  ldr x8, [x0], #8
    ldr x12, [x3], #8
    sbcs x8, x8, x12
    str x8, [x1], #8
    sub x7, x7, #1
    cbnz x7, 1b
2:  mov x7, x2
    cbz x7, 4f
3:  ldp x8, x9, [x0], #16
    ldp x12, x13, [x3], #16
    ldp x10, x11, [x0], #16
    ldp x14, x15, [x3], #16
    sbcs x8, x8, x12
    sbcs x9, x9, x13
    sbcs x10, x10, x14
    sbcs x11, x11, x15
    stp x8, x9, [x1], #16
    stp x10, x11, [x1], #16
    sub x7, x7, #1
    cbnz x7, 3b
4:  ldr x0, [sp, #R]
    ldr x7, [sp, #CARRY]
    cset x8, cs           // no borrow
    orr x7, x7, x8
    cmp x7, #0            // ne: the difference is the result
    cbz x6, 6f
5:  ldr x8, [x4], #8
    ldr x12, [x5], #8
    csel x8, x8, x12, ne
    str x8, [x0], #8
    sub x6, x6, #1
    cbnz x6, 5b
6:  cbz x2, 8f
7:  ldp x8, x9, [x4], #16
    ldp x12, x13, [x5], #16
    ldp x10, x11, [x4], #16
    ldp x14, x15, [x5], #16
    csel x8, x8, x12, ne
    csel x9, x9, x13, ne
    csel x10, x10, x14, ne
    csel x11, x11, x15, ne
    stp x8, x9, [x0], #16
    stp x10, x11, [x0], #16
    sub x2, x2, #1
    cbnz x2, 7b
8:  end_frame
evc_end evc_bn_a64_umulh_reduce
#endif
