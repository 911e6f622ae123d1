/* SPDX-License-Identifier: MIT */
/*
 * Products, squares and Montgomery's reduction of big numbers for ARMv6 and later: umaal is a
 * product and two words more, which never overflow.
 *
 * A strip is four words of one factor, in r4 to r7, by all words of the other. Its open sums, the
 * next four words of the result as far as they are known, are in r8 to r11. One word of the other
 * factor is four umaal: the first takes the word of the result that is in memory, too, and finishes
 * it. Of each pair of registers the lower one gets the sum and the upper one the carry, so that the
 * sums move down by one word without a move. Words that fill no strip make one of two or of one.
 *
 * Everything but the addresses of operands is constant for a number of limbs, which is at least 4.
 */
#include "common/a32_asm.h"

#if EVC_ASM_UMAAL

/* Locals, from sp on. */
#define LOCALS 20
#define SAVED_BYTES 36
#define RESULT [sp]      /* where the next strip begins in the result */
#define FACTOR [sp, #4]  /* the factor of which every strip has all words */
#define LIMBS [sp, #8]
#define LEFT [sp, #12]   /* limbs of the other factor that no strip has had */
#define OTHER [sp, #16]  /* product: those limbs; reduction: -1 / n modulo 2^32 */
#define ARGUMENT(i) [sp, #LOCALS + SAVED_BYTES + 4 * (i)]

.macro begin
    push {r4-r11, lr}
    EVC_ASM_CFI_ADJUST(SAVED_BYTES)
    sub sp, sp, #LOCALS
    EVC_ASM_CFI_ADJUST(LOCALS)
.endm
.macro finish
    add sp, sp, #LOCALS
    EVC_ASM_CFI_ADJUST(-LOCALS)
    pop {r4-r11, pc}
.endm

/* r0: a word of the result, r1: a word of the factor; both move on. */
.macro one_word width
    ldr lr, [r1], #4
    ldr r12, [r0]
    umaal r12, r8, lr, r4
.if \width > 1
    umaal r8, r9, lr, r5
.endif
.if \width > 2
    umaal r9, r10, lr, r6
    umaal r10, r11, lr, r7
.endif
    str r12, [r0], #4
.endm

/* r2 words. */
.macro all_words width
    tst r2, #1
    beq 1f
    one_word \width
1:  tst r2, #2
    beq 2f
    one_word \width
    one_word \width
2:  lsrs r2, r2, #2
    beq 4f
3:  one_word \width
    one_word \width
    one_word \width
    one_word \width
    subs r2, r2, #1
    bne 3b
4:
.endm

/* So many registers, from the first on, to an address or from one. _from: it moves on. */
.macro store_sums width, at
.if \width == 4
    stmia \at, {r8-r11}
.elseif \width == 2
    stmia \at, {r8, r9}
.else
    str r8, [\at]
.endif
.endm
.macro load_from at, width, first, second, third, fourth
.if \width == 4
    ldmia \at!, {\first, \second, \third, \fourth}
.elseif \width == 2
    ldmia \at!, {\first, \second}
.else
    ldr \first, [\at], #4
.endif
.endm
.macro load_sums_from at, width
    load_from \at, \width, r8, r9, r10, r11
.endm
.macro load_limbs_from at, width
    load_from \at, \width, r4, r5, r6, r7
.endm

/* r0: r2 limbs become 0. */
.macro set_zero
    mov r12, #0
9:  str r12, [r0], #4
    subs r2, r2, #1
    bne 9b
.endm

/* Strips of four as long as there are four limbs, then one of two and one of one. lr:
 * the limbs that are left. */
.macro each_strip strip
5:  ldr lr, LEFT
    subs lr, lr, #4
    blo 6f
    str lr, LEFT
    \strip 4
    b 5b
6:  tst lr, #2
    beq 7f
    \strip 2
    ldr lr, LEFT
7:  tst lr, #1
    beq 8f
    \strip 1
8:
.endm

/* ---- Products -------------------------------------------------------------------------------- */

.macro product_strip width
    ldr r12, OTHER
    load_limbs_from r12, \width
    str r12, OTHER
    ldr r0, RESULT
    add r12, r0, #4 * \width
    str r12, RESULT
    ldr r1, FACTOR
    ldr r2, LIMBS
    mov r8, #0
    mov r9, #0
    mov r10, #0
    mov r11, #0
    all_words \width
    store_sums \width, r0
.endm

/* r0: t, r1: a, r2: b, r3: limbs. t = a * b, of 2 * limbs limbs. */
evc_umaal_function evc_bn_a32_umaal_product
    begin
    str r0, RESULT
    str r1, FACTOR
    str r2, OTHER
    str r3, LIMBS
    str r3, LEFT
    mov r2, r3
    set_zero
    each_strip product_strip
    finish
evc_end evc_bn_a32_umaal_product

/* ---- Squares --------------------------------------------------------------------------------- */

/* The products of two different limbs of the strip; then a strip of all limbs above it. */
.macro cross_strip width
    ldr r0, RESULT
    ldr r1, FACTOR
    load_limbs_from r1, \width
    str r1, FACTOR
    add r12, r0, #8 * \width
    str r12, RESULT
    mov r11, #0
.if \width == 4
    ldr r8, [r0, #4]
    ldr r9, [r0, #8]
    ldr r10, [r0, #12]
    mov r12, #0
    mov lr, #0
    umaal r8, r11, r4, r5
    umaal r9, r11, r4, r6
    umaal r10, r11, r4, r7
    umaal r10, r12, r5, r6
    umaal r11, r12, r5, r7
    umaal r12, lr, r6, r7
    str r8, [r0, #4]
    str r9, [r0, #8]
    str r10, [r0, #12]
    mov r8, r11
    mov r9, r12
    mov r10, lr
    mov r11, #0
    ldr r2, LEFT
.elseif \width == 2
    ldr r8, [r0, #4]
    umaal r8, r11, r4, r5
    str r8, [r0, #4]
    mov r8, r11
    mov r9, #0
    ldr lr, LEFT
    and r2, lr, #1
.else
    mov r8, #0
    mov r2, #0
.endif
    add r0, r0, #4 * \width
    all_words \width
    store_sums \width, r0
.endm

/* r4, r5 = twice themselves, and a bit more; r12 is the carry of squares. */
.macro add_square low, high, limb
    umaal \low, r12, \limb, \limb
    adds \high, \high, r12
    mov r12, #0
    adc r12, r12, #0
.endm

/* r0: t, r1: a, r2: limbs. t = a * a, of 2 * limbs limbs. */
evc_umaal_function evc_bn_a32_umaal_square
    begin
    str r0, RESULT
    str r1, FACTOR
    str r2, LIMBS
    str r2, LEFT
    str r1, OTHER
    set_zero
    each_strip cross_strip

    ldr r2, LIMBS
    ldr r0, RESULT
    sub r0, r0, r2, lsl #3
    ldr r1, OTHER
    mov r3, #0            /* the bit that doubling moves up */
    mov r12, #0
    tst r2, #1
    beq 1f
    ldmia r0, {r4, r5}
    ldr r8, [r1], #4
    adds r4, r4, r4
    adcs r5, r5, r5
    adc r3, r3, #0
    add_square r4, r5, r8
    stmia r0!, {r4, r5}
1:  lsr r2, r2, #1
2:  ldmia r0, {r4-r7}
    ldmia r1!, {r8, r9}
    subs r3, r3, #1       /* the bit is the carry */
    adcs r4, r4, r4
    adcs r5, r5, r5
    adcs r6, r6, r6
    adcs r7, r7, r7
    mov r3, #0
    adc r3, r3, #0
    add_square r4, r5, r8
    add_square r6, r7, r9
    stmia r0!, {r4-r7}
    subs r2, r2, #1
    bne 2b
    finish
evc_end evc_bn_a32_umaal_square

/* ---- Reduction ------------------------------------------------------------------------------- */

/* A row of the square of multiples of the modulus that make a strip's lowest words 0: digit = a
 * word by -1 / n, and the digit by the lowest words of the modulus. The word becomes the uppermost
 * open sum. r12 is 0 and stays so. */
.macro digit_row width, digit, word, second, third, fourth
    mul \digit, \word, r2
    ldr lr, [r1]
    umaal r12, \word, lr, \digit
.if \width > 1
    ldr lr, [r1, #4]
    umaal \second, \word, lr, \digit
.endif
.if \width > 2
    ldr lr, [r1, #8]
    umaal \third, \word, lr, \digit
    ldr lr, [r1, #12]
    umaal \fourth, \word, lr, \digit
.endif
.endm

/* r3: the carry of the strip before. */
.macro reduction_strip width
    ldr r0, RESULT
    ldr r1, FACTOR
    ldr r2, OTHER
    load_sums_from r0, \width
    str r0, RESULT
    mov r12, #0
.if \width == 4
    digit_row 4, r4, r8, r9, r10, r11
    digit_row 4, r5, r9, r10, r11, r8
    digit_row 4, r6, r10, r11, r8, r9
    digit_row 4, r7, r11, r8, r9, r10
.elseif \width == 2
    digit_row 2, r4, r8, r9
    digit_row 2, r5, r9, r8
.else
    digit_row 1, r4, r8
.endif
    ldr r2, LIMBS
    add r1, r1, #4 * \width
    sub r2, r2, #\width
    all_words \width
    subs r3, r3, #1       /* the carry is the carry */
.if \width == 4
    ldmia r0, {r4-r7}
    adcs r8, r8, r4
    adcs r9, r9, r5
    adcs r10, r10, r6
    adcs r11, r11, r7
.elseif \width == 2
    ldmia r0, {r4, r5}
    adcs r8, r8, r4
    adcs r9, r9, r5
.else
    ldr r4, [r0]
    adcs r8, r8, r4
.endif
    mov r3, #0
    adc r3, r3, #0
    store_sums \width, r0
.endm

/* One word, or four, of t less those of n, with the borrow. */
.macro subtract_one
    ldr r4, [r0], #4
    ldr r8, [r1], #4
    sbcs r4, r4, r8
    str r4, [r12], #4
.endm

/* r0: r, r1: t, r2: n, r3: limbs, on the stack: -1 / n modulo 2^32. r = t / 2^(32 limbs) modulo n,
 * less than n; t, of 2 * limbs limbs, is lost. */
evc_umaal_function evc_bn_a32_umaal_reduce
    begin
    str r1, RESULT
    str r2, FACTOR
    str r3, LIMBS
    str r3, LEFT
    ldr r12, ARGUMENT(0)
    str r12, OTHER
    str r0, ARGUMENT(0)   /* memory of arguments is the callee's: r is needed last */
    mov r3, #0
    each_strip reduction_strip

    /* The upper half of t less n goes to the lower half. */
    ldr r0, RESULT        /* the upper half */
    ldr r1, FACTOR
    ldr r2, LIMBS
    sub r12, r0, r2, lsl #2
    ands lr, r2, #3
    cmp r2, #0            /* no borrow */
    teq lr, #0
    beq 2f
1:  subtract_one
    sub lr, lr, #1
    teq lr, #0
    bne 1b
2:  mov lr, r2, lsr #2
3:  ldmia r0!, {r4-r7}
    ldmia r1!, {r8-r11}
    sbcs r4, r4, r8
    sbcs r5, r5, r9
    sbcs r6, r6, r10
    sbcs r7, r7, r11
    stmia r12!, {r4-r7}
    sub lr, lr, #1
    teq lr, #0
    bne 3b
    sbc lr, lr, lr        /* all ones if it is negative */
    sub r3, r3, #1        /* 0 if there is a carry above t */
    and lr, lr, r3        /* all ones: t stays */

    ldr r0, ARGUMENT(0)
    ldr r1, RESULT
    sub r12, r1, r2, lsl #2
    ands r3, r2, #3
    beq 5f
4:  ldr r4, [r1], #4
    ldr r8, [r12], #4
    eor r4, r4, r8
    and r4, r4, lr
    eor r4, r4, r8
    str r4, [r0], #4
    subs r3, r3, #1
    bne 4b
5:  lsr r2, r2, #2
6:  ldmia r1!, {r4-r7}
    ldmia r12!, {r8-r11}
    eor r4, r4, r8
    eor r5, r5, r9
    eor r6, r6, r10
    eor r7, r7, r11
    and r4, r4, lr
    and r5, r5, lr
    and r6, r6, lr
    and r7, r7, lr
    eor r4, r4, r8
    eor r5, r5, r9
    eor r6, r6, r10
    eor r7, r7, r11
    stmia r0!, {r4-r7}
    subs r2, r2, #1
    bne 6b
    finish
evc_end evc_bn_a32_umaal_reduce
#endif
