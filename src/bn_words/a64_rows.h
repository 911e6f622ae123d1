/* SPDX-License-Identifier: MIT */
/*
 * Products of many limbs on AArch64 by rows, for assembly: registers, rows, and squares.
 *
 * A row adds a limb of one factor, times up to eight limbs of the other, the width, to the
 * accumulators, as many as the width, and to a limb of t. The lowest limb of the sum goes back to
 * t, and the accumulators move down by one. They can never overflow, since (B^w - 1)(B^h - 1) +
 * (B^w - 1) + (B^h - 1) = B^(w + h) - 1 for w limbs and h rows, with B = 2^64.
 *
 * Up to a width of four, rows change x0 to x17 alone. The others are saved by save_rows.
 */
#ifndef EVC_BN_WORDS_A64_ROWS_H
#define EVC_BN_WORDS_A64_ROWS_H

#include "common/a64_asm.h"

#if EVC_ASM_A64

/* In strips: the limb of t for the next row; its factor; how many rows are left. x3
 * belongs to the function. */
to_sum .req x0
to_factor .req x1
rows .req x2
/* The width's limbs. */
limb0 .req x4
limb1 .req x5
limb2 .req x6
limb3 .req x7
limb4 .req x19
limb5 .req x20
limb6 .req x21
limb7 .req x22
acc0 .req x8
acc1 .req x9
acc2 .req x10
acc3 .req x11
acc4 .req x23
acc5 .req x24
acc6 .req x25
acc7 .req x26
/* Factors of two rows, and their limbs of t. */
factor0 .req x12
factor1 .req x27
sum0 .req x13
sum1 .req x28
/* The upper limb of the last product of a row, and its carry. */
top .req x14
/* Limbs of products on their way to the accumulators. */
part0 .req x15
part1 .req x16
part2 .req x17
part3 .req x15
part4 .req x16
part5 .req x17
part6 .req x15
part7 .req x16
/* The last of as many. */
last_limb1 .req limb0
last_limb2 .req limb1
last_limb3 .req limb2
last_limb4 .req limb3
last_limb5 .req limb4
last_limb6 .req limb5
last_limb7 .req limb6
last_limb8 .req limb7
last_acc1 .req acc0
last_acc2 .req acc1
last_acc3 .req acc2
last_acc4 .req acc3
last_acc5 .req acc4
last_acc6 .req acc5
last_acc7 .req acc6
last_acc8 .req acc7

.macro lower_part width, i, factor
.if \width > \i
    mul part\i, limb\i, \factor
.endif
.endm
.macro add_lower width, i
.if \width > \i
    adcs acc\i, acc\i, part\i
.endif
.endm
.macro upper_part width, next, i, factor
.if \width > \next
    umulh part\i, limb\i, \factor
.endif
.endm
.macro add_upper width, next, i
.if \width > \next
    adcs acc\i, acc\next, part\i
.endif
.endm

/* A row of \width products with \factor. \to_t tells of the limb of t, in \sum. 0: there is none,
 * since the lowest limb of the sum is known to be zero. 1: it becomes the lowest limb of the sum.
 * 2: it is added before. */
.macro row width, factor, sum, to_t
.if \to_t != 0
    lower_part \width, 0, \factor
.endif
    lower_part \width, 1, \factor
.if \to_t == 0
    cmp acc0, #1          // a limb that is not 0 becomes 0 with a carry
.elseif \to_t == 1
    adds \sum, acc0, part0
.else
    adds acc0, acc0, part0
.endif
    lower_part \width, 2, \factor
    add_lower \width, 1
    lower_part \width, 3, \factor
    add_lower \width, 2
    lower_part \width, 4, \factor
    add_lower \width, 3
    lower_part \width, 5, \factor
    add_lower \width, 4
    lower_part \width, 6, \factor
    add_lower \width, 5
    lower_part \width, 7, \factor
    add_lower \width, 6
    umulh top, last_limb\width, \factor
    add_lower \width, 7
    upper_part \width, 1, 0, \factor
    adc top, top, xzr
    upper_part \width, 2, 1, \factor
.if \to_t == 2
    adds \sum, \sum, acc0
    add_upper \width, 1, 0
.elseif \width > 1
    adds acc0, acc1, part0
.else
    cmn xzr, xzr          // no carry
.endif
    upper_part \width, 3, 2, \factor
    add_upper \width, 2, 1
    upper_part \width, 4, 3, \factor
    add_upper \width, 3, 2
    upper_part \width, 5, 4, \factor
    add_upper \width, 4, 3
    upper_part \width, 6, 5, \factor
    add_upper \width, 5, 4
    upper_part \width, 7, 6, \factor
    add_upper \width, 6, 5
    add_upper \width, 7, 6
    adc last_acc\width, top, xzr
.endm

/* \what i, at most one above: for each limb of the width in pairs, and the
 * single one at the end. */
.macro in_pairs width, two, one, at
.if \width > 1
    \two 0, 1, 0, \at
.elseif \width > 0
    \one 0, 0, \at
.endif
.if \width > 3
    \two 2, 3, 16, \at
.elseif \width > 2
    \one 2, 16, \at
.endif
.if \width > 5
    \two 4, 5, 32, \at
.elseif \width > 4
    \one 4, 32, \at
.endif
.if \width > 7
    \two 6, 7, 48, \at
.elseif \width > 6
    \one 6, 48, \at
.endif
.endm
.macro load_two_limbs i, j, offset, at
    ldp limb\i, limb\j, [\at, #\offset]
.endm
.macro load_one_limb i, offset, at
    ldr limb\i, [\at, #\offset]
.endm
.macro load_two_accs i, j, offset, at
    ldp acc\i, acc\j, [\at, #\offset]
.endm
.macro load_one_acc i, offset, at
    ldr acc\i, [\at, #\offset]
.endm
.macro store_two_accs i, j, offset, at
    stp acc\i, acc\j, [\at, #\offset]
.endm
.macro store_one_acc i, offset, at
    str acc\i, [\at, #\offset]
.endm
.macro zero_accs width
.irp i, 0, 1, 2, 3, 4, 5, 6, 7
.if \i < \width
    mov acc\i, xzr
.endif
.endr
.endm

.macro save_rows
    evc_save_pair x19, x20
    evc_save_pair x21, x22
    evc_save_pair x23, x24
    evc_save_pair x25, x26
    evc_save_pair x27, x28
.endm
.macro restore_rows
    evc_restore_pair x27, x28
    evc_restore_pair x25, x26
    evc_restore_pair x23, x24
    evc_restore_pair x21, x22
    evc_restore_pair x19, x20
.endm

/* ---- Squares --------------------------------------------------------------------------------- */

/* The products of two limbs of the width, each once: limb i is the factor of those before it. */
.macro triangle_row width, i, to_t
.if \width > \i
.if \to_t == 2
    ldr sum0, [to_sum]
.endif
    row \i, limb\i, sum0, \to_t
    str sum0, [to_sum], #8
.endif
.endm
.macro triangle width, to_t
    in_pairs \width, load_two_limbs, load_one_limb, to_factor
    zero_accs \width
.irp i, 1, 2, 3, 4, 5, 6, 7
    triangle_row \width, \i, \to_t
.endr
.endm

/* Two limbs of t become twice what they are and the square of a limb. \above: what was at
 * the limb of t before. */
.macro square_limb limb, low, high, above
    mul part0, \limb, \limb
    umulh part1, \limb, \limb
    extr \above, \low, \above, #63
    extr top, \high, \low, #63
    adcs \above, \above, part0
    adcs top, top, part1
.endm

/* The same for pairs of limbs, of which there are x2: x0: t, x1: the limbs, x3: the limb of t
 * before, the carry that of the limbs before. */
.macro square_pairs
2:  ldp limb0, limb1, [x1], #16
    ldp acc0, acc1, [x0]
    ldp acc2, acc3, [x0, #16]
    square_limb limb0, acc0, acc1, x3
    stp x3, top, [x0], #16
    square_limb limb1, acc2, acc3, acc1
    stp acc1, top, [x0], #16
    mov x3, acc3
    sub x2, x2, #1
    cbnz x2, 2b
.endm
#endif

#endif
