/* SPDX-License-Identifier: MIT */
/*
 * The functions of x86_adx_intel.c: rows of width 8 by add and adc. A chain of carries takes every
 * other product: a0 + lower limb of product 0, a1 + its upper limb, a2 + lower limb of product 2,
 * and so on; then the products of odd limbs likewise. On Golden Cove that takes 9.3 cycles a row,
 * and adcx and adox in turns 11.5.
 */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64
#define X86_ADX_NAME(slot) evc_bn_x86_adx_intel_##slot

/* rcx is the highest accumulator of the next row until the end, as \a0 is not free. */
.macro turned_row i, to_t, a0, a1, a2, a3, a4, a5, a6, a7
    mov 8*\i(%rsi), %rdx
    mulx (%rbp), %rax, %rbx
    add %rax, \a0
    adc %rbx, \a1
    mulx 16(%rbp), %rax, %rbx
    adc %rax, \a2
    adc %rbx, \a3
    mulx 32(%rbp), %rax, %rbx
    adc %rax, \a4
    adc %rbx, \a5
    mulx 48(%rbp), %rax, %rbx
    adc %rax, \a6
    adc %rbx, \a7
    mulx 56(%rbp), %rbx, %rcx
    adc $0, %rcx
    mulx 8(%rbp), %rax, %rdx
.if \to_t == 2
    add 8*\i(%rdi), \a0
    mov \a0, 8*\i(%rdi)
    adc %rax, \a1
.else
    mov \a0, 8*\i(%rdi)
    add %rax, \a1
.endif
    adc %rdx, \a2
    mov 8*\i(%rsi), %rdx
    mulx 24(%rbp), %rax, \a0
    adc %rax, \a3
    mulx 40(%rbp), %rax, %rdx
    adc \a0, \a4
    adc %rax, \a5
    adc %rdx, \a6
    adc %rbx, \a7
    adc $0, %rcx
    mov %rcx, \a0
.endm

.macro first_turned_row last
    mov (%rsi), %rdx
    mulx (%rbp), %r8, %r9
    mov %r8, (%rdi)
    mulx 8(%rbp), %rax, %r10
    add %rax, %r9
    mulx 16(%rbp), %rax, %r11
    adc %rax, %r10
    mulx 24(%rbp), %rax, %r12
    adc %rax, %r11
    mulx 32(%rbp), %rax, %r13
    adc %rax, %r12
    mulx 40(%rbp), %rax, %r14
    adc %rax, %r13
    mulx 48(%rbp), %rax, %r15
    adc %rax, %r14
    mulx 56(%rbp), %rax, \last
    adc %rax, %r15
    adc $0, \last
.endm

/* A digit of the reduction, in rdx, times eight limbs of n: the lowest limb of the
 * product makes \a0 zero, with a carry unless it is zero already. \keep: 1 if the digit goes to
 * t. */
.macro digit_row i, keep, a0, a1, a2, a3, a4, a5, a6, a7
    neg \a0
    mulx (%rbp), %rax, %rbx
.if \keep
    mov %rdx, 8*(\i)(%rdi)
.endif
    mulx 16(%rbp), %rax, %rcx
    adc %rbx, \a1
    adc %rax, \a2
    mulx 32(%rbp), %rax, %rbx
    adc %rcx, \a3
    adc %rax, \a4
    mulx 48(%rbp), %rax, %rcx
    adc %rbx, \a5
    adc %rax, \a6
    adc %rcx, \a7
    mulx 56(%rbp), %rcx, \a0
    adc $0, \a0
    mulx 8(%rbp), %rax, %rbx
    add %rax, \a1
    adc %rbx, \a2
    mulx 24(%rbp), %rax, %rbx
    adc %rax, \a3
    adc %rbx, \a4
    mulx 40(%rbp), %rax, %rbx
    adc %rax, \a5
    adc %rbx, \a6
    adc %rcx, \a7
    adc $0, \a0
.endm

/* Both digits are known before the first row, so that the second one does not wait for it: they are
 * (a_0 + a_1 B) (k_0 + k_1 B) modulo B^2 with k_0 + k_1 B = -1/n modulo B^2. */
.macro two_digit_rows i, keep, n0, n1, a0, a1, a2, a3, a4, a5, a6, a7
    mov \a0, %rdx
    mulx \n0, %rax, %rsi
    imul \n1, %rdx
    add %rdx, %rsi
    mov \a1, %rdx
    imul \n0, %rdx
    add %rdx, %rsi
    mov %rax, %rdx
    digit_row \i, \keep, \a0, \a1, \a2, \a3, \a4, \a5, \a6, \a7
    mov %rsi, %rdx
    digit_row \i+1, \keep, \a1, \a2, \a3, \a4, \a5, \a6, \a7, \a0
.endm


/* The limbs that follow limb j make two chains of carries, as in a row. The last product is the end
 * of the second chain, but its upper limb, which nothing has been added to, is the end of the first
 * one too: `late`. */
.macro add_product offset, lower, upper, first=adc
    mulx \offset(%rbp), %rax, %rbx
    \first %rax, \lower
    adc %rbx, \upper
.endm
.macro begin_product offset, lower, upper, first=adc
    mulx \offset(%rbp), %rax, \upper
    \first %rax, \lower
    adc $0, \upper
.endm
.macro begin_late offset, product, upper
    mulx \offset(%rbp), \product, \upper
    adc $0, \upper
.endm
.macro end_late product, lower, upper, first=adc
    \first \product, \lower
    adc $0, \upper
.endm
.macro store_two at, lower, upper
    mov \lower, \at(%rdi)
    mov \upper, \at+8(%rdi)
.endm
.macro triangle to_t
    mov (%rbp), %rdx
    mulx 8(%rbp), %r9, %r10
    mulx 16(%rbp), %rax, %r11
    add %rax, %r10
    mulx 24(%rbp), %rax, %r12
    adc %rax, %r11
    mulx 32(%rbp), %rax, %r13
    adc %rax, %r12
    mulx 40(%rbp), %rax, %r14
    adc %rax, %r13
    mulx 48(%rbp), %rax, %r15
    adc %rax, %r14
    mulx 56(%rbp), %rax, %r8
    adc %rax, %r15
    adc $0, %r8
.if \to_t == 2
    add 8(%rdi), %r9
    adc 16(%rdi), %r10
    adc 24(%rdi), %r11
    adc 32(%rdi), %r12
    adc 40(%rdi), %r13
    adc 48(%rdi), %r14
    adc 56(%rdi), %r15
    adc $0, %r8
.endif
    store_two 8, %r9, %r10
    mov 8(%rbp), %rdx
    add_product 16, %r11, %r12, add
    add_product 32, %r13, %r14
    add_product 48, %r15, %r8
    begin_late 56, %rcx, %r9
    add_product 24, %r12, %r13, add
    add_product 40, %r14, %r15
    end_late %rcx, %r8, %r9
    store_two 24, %r11, %r12
    mov 16(%rbp), %rdx
    add_product 24, %r13, %r14, add
    add_product 40, %r15, %r8
    begin_product 56, %r9, %r10
    add_product 32, %r14, %r15, add
    add_product 48, %r8, %r9
    adc $0, %r10
    store_two 40, %r13, %r14
    mov 24(%rbp), %rdx
    add_product 32, %r15, %r8, add
    add_product 48, %r9, %r10
    begin_late 56, %rcx, %r11
    add_product 40, %r8, %r9, add
    end_late %rcx, %r10, %r11
    mov %r15, 56(%rdi)
    mov 32(%rbp), %rdx
    add_product 40, %r9, %r10, add
    begin_product 56, %r11, %r12
    add_product 48, %r10, %r11, add
    adc $0, %r12
    mov 40(%rbp), %rdx
    add_product 48, %r11, %r12, add
    begin_late 56, %rcx, %r13
    end_late %rcx, %r12, %r13, add
    mov 48(%rbp), %rdx
    begin_product 56, %r13, %r14, add
    mov $0, %r15d
.endm

#include "bn/x86_adx_asm.h"
#endif
