/* SPDX-License-Identifier: MIT */
/*
 * Word primitives for ARMv6 and later: umaal is a product and two words more, which never
 * overflow. Rows take four words a turn. Products of 4 and 8 words are made of strips of four
 * words, as in bn/a32_umaal_asm.S.
 */
#include "common/a32_asm.h"

#if EVC_ASM_UMAAL

/* r0: r, r1: a, r2: n_words, r3: w; the result in r0. r12: the upper word of the product before. */

evc_umaal_function evc_bn_words_a32_umaal_mul_add
    push {r4-r11}
    mov r12, #0
    subs r2, r2, #4
    blo 2f
1:  ldmia r1!, {r8-r11}
    ldmia r0, {r4-r7}
    umaal r4, r12, r8, r3
    umaal r5, r12, r9, r3
    umaal r6, r12, r10, r3
    umaal r7, r12, r11, r3
    subs r2, r2, #4
    stmia r0!, {r4-r7}
    bhs 1b
2:  adds r2, r2, #4
    beq 4f
3:  ldr r8, [r1], #4
    ldr r4, [r0]
    umaal r4, r12, r8, r3
    str r4, [r0], #4
    subs r2, r2, #1
    bne 3b
4:  mov r0, r12
    pop {r4-r11}
    bx lr
evc_end evc_bn_words_a32_umaal_mul_add

evc_umaal_function evc_bn_words_a32_umaal_mul
    push {r4-r11}
    mov r12, #0
    subs r2, r2, #4
    blo 2f
1:  ldmia r1!, {r8-r11}
    mov r4, #0
    mov r5, #0
    mov r6, #0
    mov r7, #0
    umaal r4, r12, r8, r3
    umaal r5, r12, r9, r3
    umaal r6, r12, r10, r3
    umaal r7, r12, r11, r3
    subs r2, r2, #4
    stmia r0!, {r4-r7}
    bhs 1b
2:  adds r2, r2, #4
    beq 4f
3:  ldr r8, [r1], #4
    mov r4, #0
    umaal r4, r12, r8, r3
    str r4, [r0], #4
    subs r2, r2, #1
    bne 3b
4:  mov r0, r12
    pop {r4-r11}
    bx lr
evc_end evc_bn_words_a32_umaal_mul

/* r0: r, r1: a, r2: b, r3: n_words. The carry stays in the flags: counting is by sub and teq. */
.macro sum with
    push {r4-r11}
    mov r12, r3, lsr #2
    and r3, r3, #3
    teq r12, #0
    beq 2f
1:  ldmia r1!, {r4-r7}
    ldmia r2!, {r8-r11}
    \with r4, r4, r8
    \with r5, r5, r9
    \with r6, r6, r10
    \with r7, r7, r11
    stmia r0!, {r4-r7}
    sub r12, r12, #1
    teq r12, #0
    bne 1b
2:  teq r3, #0
    beq 4f
3:  ldr r4, [r1], #4
    ldr r8, [r2], #4
    \with r4, r4, r8
    str r4, [r0], #4
    sub r3, r3, #1
    teq r3, #0
    bne 3b
4:
.endm

evc_umaal_function evc_bn_words_a32_umaal_add
    cmn r3, #0            /* no carry */
    sum adcs
    mov r0, #0
    adc r0, r0, #0
    pop {r4-r11}
    bx lr
evc_end evc_bn_words_a32_umaal_add

evc_umaal_function evc_bn_words_a32_umaal_sub
    cmp r3, #0            /* no borrow */
    sum sbcs
    mov r0, #0
    sbc r0, r0, r0
    rsb r0, r0, #0
    pop {r4-r11}
    bx lr
evc_end evc_bn_words_a32_umaal_sub

/* ---- Products of 4 and 8 words --------------------------------------------------------------- */

/* A word of a by four words of b, which are in r4 to r7. r8 to r11 are the open sums; the
 * lowest word goes to r. */
.macro strip_row limb
    umaal r12, r8, \limb, r4
    umaal r8, r9, \limb, r5
    umaal r9, r10, \limb, r6
    umaal r10, r11, \limb, r7
    str r12, [r0], #4
.endm

/* Two words of a. kind: first, if the words of r are not made yet. */
.macro two_strip_rows kind
    ldmia r1!, {r3, lr}
.ifc \kind, first
    mov r12, #0
.else
    ldr r12, [r0]
.endif
    strip_row r3
.ifc \kind, first
    mov r12, #0
.else
    ldr r12, [r0]
.endif
    strip_row lr
.endm

/* The next four words of b by n_words words of a. */
.macro strip kind, n_words
    ldmia r2!, {r4-r7}
    mov r8, #0
    mov r9, #0
    mov r10, #0
    mov r11, #0
.rept \n_words / 2
    two_strip_rows \kind
.endr
    stmia r0, {r8-r11}
.endm

/* r0: r, r1: a, r2: b. */
evc_umaal_function evc_bn_words_a32_umaal_mul_comba4
    push {r4-r11, lr}
    EVC_ASM_CFI_ADJUST(36)
    strip first, 4
    pop {r4-r11, pc}
evc_end evc_bn_words_a32_umaal_mul_comba4

evc_umaal_function evc_bn_words_a32_umaal_mul_comba8
    push {r4-r11, lr}
    EVC_ASM_CFI_ADJUST(36)
    strip first, 8
    sub r0, r0, #16
    sub r1, r1, #32
    strip next, 8
    pop {r4-r11, pc}
evc_end evc_bn_words_a32_umaal_mul_comba8
#endif
