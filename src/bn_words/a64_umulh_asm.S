/* SPDX-License-Identifier: MIT */
/*
 * Word primitives for AArch64. (a64_umulh.c describes the method.) Words stand in memory in the
 * order of the core, the least significant first.
 */
#include "bn_words/a64_rows.h"

#if EVC_ASM_A64

/* ---- Sums ------------------------------------------------------------------------------------ */

/* x0: r, x1: a, x2: b, x3: n_words. The carry stays in the flags: first the words that make no
 * eight, then eight a turn. */
.macro sum_of_four with
    ldp x4, x5, [x1], #16
    ldp x6, x7, [x1], #16
    ldp x8, x9, [x2], #16
    ldp x10, x11, [x2], #16
    \with x4, x4, x8
    \with x5, x5, x9
    \with x6, x6, x10
    \with x7, x7, x11
    stp x4, x5, [x0], #16
    stp x6, x7, [x0], #16
.endm
.macro sum with
    tbz x3, #0, 1f
    ldr x4, [x1], #8
    ldr x8, [x2], #8
    \with x4, x4, x8
    str x4, [x0], #8
1:  tbz x3, #1, 2f
    ldp x4, x5, [x1], #16
    ldp x8, x9, [x2], #16
    \with x4, x4, x8
    \with x5, x5, x9
    stp x4, x5, [x0], #16
2:  tbz x3, #2, 3f
    sum_of_four \with
3:  lsr x3, x3, #3
    cbz x3, 5f
4:  sum_of_four \with
    sum_of_four \with
    sub x3, x3, #1
    cbnz x3, 4b
5:
.endm

evc_function evc_bn_words_a64_umulh_add
    cmn xzr, xzr          // no carry
    sum adcs
    cset x0, cs
    ret
evc_end evc_bn_words_a64_umulh_add

evc_function evc_bn_words_a64_umulh_sub
    cmp xzr, xzr          // no borrow
    sum sbcs
    cset x0, cc
    ret
evc_end evc_bn_words_a64_umulh_sub

/* ---- Rows ------------------------------------------------------------------------------------ */

/* x0: r, x1: a, x2: n_words, x3: w, x4: the upper word of the product before. The sums are in x5 to
 * x12; x15 and x4 hold upper words in turn. */

/* \sum = the lower word of \word w, and \upper, the upper word of the product before, by \with. */
.macro lower_and_upper with, sum, word, upper, next
    mul \sum, \word, x3
    \with \sum, \sum, \upper
    umulh \next, \word, x3
.endm
.macro product_of_two with, first, second
    ldp x13, x14, [x1], #16
    lower_and_upper \with, \first, x13, x4, x15
    lower_and_upper adcs, \second, x14, x15, x4
.endm
.macro add_two with, first, second
    ldp x16, x17, [x0]
    \with \first, \first, x16
    adcs \second, \second, x17
    stp \first, \second, [x0], #16
.endm

.macro mul_add_row count
.if \count == 1
    ldr x13, [x1], #8
    ldr x16, [x0]
    lower_and_upper adds, x5, x13, x4, x4
    adc x4, x4, xzr
    adds x5, x5, x16
    str x5, [x0], #8
.else
    product_of_two adds, x5, x6
.if \count > 2
    product_of_two adcs, x7, x8
.endif
.if \count > 4
    product_of_two adcs, x9, x10
    product_of_two adcs, x11, x12
.endif
    adc x4, x4, xzr
    add_two adds, x5, x6
.if \count > 2
    add_two adcs, x7, x8
.endif
.if \count > 4
    add_two adcs, x9, x10
    add_two adcs, x11, x12
.endif
.endif
    adc x4, x4, xzr
.endm

/* \row count, for the words that make no eight, then for eight a turn. */
.macro all_words row
    mov x4, xzr
    tbz x2, #0, 1f
    \row 1
1:  tbz x2, #1, 2f
    \row 2
2:  tbz x2, #2, 3f
    \row 4
3:  lsr x2, x2, #3
    cbz x2, 5f
4:  \row 8
    sub x2, x2, #1
    cbnz x2, 4b
5:
.endm

evc_function evc_bn_words_a64_umulh_mul_add
    all_words mul_add_row
    mov x0, x4
    ret
evc_end evc_bn_words_a64_umulh_mul_add

/* The carry stays in the flags. */
.macro mul_row count
.if \count == 1
    ldr x13, [x1], #8
    lower_and_upper adcs, x5, x13, x4, x4
    str x5, [x0], #8
.else
    product_of_two adcs, x5, x6
    stp x5, x6, [x0], #16
.if \count > 2
    product_of_two adcs, x7, x8
    stp x7, x8, [x0], #16
.endif
.if \count > 4
    product_of_two adcs, x9, x10
    stp x9, x10, [x0], #16
    product_of_two adcs, x11, x12
    stp x11, x12, [x0], #16
.endif
.endif
.endm

evc_function evc_bn_words_a64_umulh_mul
    cmn xzr, xzr          // no carry
    all_words mul_row
    adc x0, x4, xzr
    ret
evc_end evc_bn_words_a64_umulh_mul

/* ---- Products and squares of 4 and 8 words --------------------------------------------------- */

/* x0: r, x1: a, x2: b. Two rows a turn: x2 and x3 are the second factor and its word of r. */
.macro mul_comba width
    in_pairs \width, load_two_limbs, load_one_limb, x2
    zero_accs \width
.rept \width / 2
    ldp factor0, x2, [x1], #16
    row \width, factor0, sum0, 1
    row \width, x2, x3, 1
    stp sum0, x3, [x0], #16
.endr
    in_pairs \width, store_two_accs, store_one_acc, x0
.endm

evc_function evc_bn_words_a64_umulh_mul_comba4
    mul_comba 4
    ret
evc_end evc_bn_words_a64_umulh_mul_comba4

evc_function evc_bn_words_a64_umulh_mul_comba8
    save_rows
    mul_comba 8
    restore_rows
    ret
evc_end evc_bn_words_a64_umulh_mul_comba8

/* x0: r, x1: a. */
.macro sqr_comba width
    str xzr, [x0], #8
    triangle \width, 1
    in_pairs \width, store_two_accs, store_one_acc, x0
    sub x0, x0, #(8 * \width)
    mov x2, #(\width / 2)
    mov x3, xzr
    cmn xzr, xzr          // no carry
    square_pairs
.endm

evc_function evc_bn_words_a64_umulh_sqr_comba4
    sqr_comba 4
    ret
evc_end evc_bn_words_a64_umulh_sqr_comba4

evc_function evc_bn_words_a64_umulh_sqr_comba8
    save_rows
    sqr_comba 8
    restore_rows
    ret
evc_end evc_bn_words_a64_umulh_sqr_comba8
#endif
