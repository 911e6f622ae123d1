/* SPDX-License-Identifier: MIT */
/*
 * The functions of x86_adx.c: rows of width 8 by adcx and adox in turns. Lower limbs of products
 * are the chain of one carry, upper limbs that of the other one. On Zen 3 that takes 11.3 cycles a
 * row, and add and adc 14.6: these may go to the port of the multiplier, and adcx and adox do not.
 */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64
#define X86_ADX_NAME(slot) evc_bn_x86_adx_##slot

/* \one gets the upper limb of the product before, and the lower one of the next; \upper becomes
 * its upper limb. */
.macro turn_to offset, one, before, upper
    mulx \offset(%rbp), %rax, \upper
    adcx \before, \one
    adox %rax, \one
.endm

/* From the second product on. rbx: the upper limb of the first one, rcx: 0. */
.macro turned_limbs a0, a1, a2, a3, a4, a5, a6, a7
    turn_to 8, \a1, %rbx, \a0
    turn_to 16, \a2, \a0, %rbx
    turn_to 24, \a3, %rbx, \a0
    turn_to 32, \a4, \a0, %rbx
    turn_to 40, \a5, %rbx, \a0
    turn_to 48, \a6, \a0, %rbx
    turn_to 56, \a7, %rbx, \a0
    adcx %rcx, \a0
    adox %rcx, \a0
.endm
.macro turned_row i, to_t, a0, a1, a2, a3, a4, a5, a6, a7
    mov 8*\i(%rsi), %rdx
    xor %ecx, %ecx        /* both carries are clear */
    mulx (%rbp), %rax, %rbx
    adcx %rax, \a0
.if \to_t == 2
    adox 8*\i(%rdi), \a0
.endif
    mov \a0, 8*\i(%rdi)
    turned_limbs \a0, \a1, \a2, \a3, \a4, \a5, \a6, \a7
.endm
.macro first_turned_row last
    mov (%rsi), %rdx
    xor %ecx, %ecx
    mulx (%rbp), %r8, %r9
    mov %r8, (%rdi)
    next_new 8, %r9, %r10
    next_new 16, %r10, %r11
    next_new 24, %r11, %r12
    next_new 32, %r12, %r13
    next_new 40, %r13, %r14
    next_new 48, %r14, %r15
    next_new 56, %r15, \last
    adcx %rcx, \last
.endm
.macro next_new offset, lower, upper
    mulx \offset(%rbp), %rax, \upper
    adcx %rax, \lower
.endm

.macro digit_row i, keep, a0, a1, a2, a3, a4, a5, a6, a7
    xor %ecx, %ecx
    mulx (%rbp), %rax, %rbx
.if \keep
    mov %rdx, 8*(\i)(%rdi)
.endif
    adcx %rax, \a0
    turned_limbs \a0, \a1, \a2, \a3, \a4, \a5, \a6, \a7
.endm
.macro two_digit_rows i, keep, n0, n1, a0, a1, a2, a3, a4, a5, a6, a7
    mov \n0, %rdx
    imul \a0, %rdx
    digit_row \i, \keep, \a0, \a1, \a2, \a3, \a4, \a5, \a6, \a7
    mov \n0, %rdx
    imul \a1, %rdx
    digit_row \i+1, \keep, \a1, \a2, \a3, \a4, \a5, \a6, \a7, \a0
.endm

/* The limbs that follow limb j: as a row, but \upper of the last product is new. */
.macro add_product offset, lower, upper
    mulx \offset(%rbp), %rax, %rbx
    adcx %rax, \lower
    adox %rbx, \upper
.endm
.macro last_product lower, upper
    mulx 56(%rbp), %rax, \upper
    adcx %rax, \lower
    adcx %rcx, \upper
    adox %rcx, \upper
.endm
.macro begin_limb j
    mov 8*\j(%rbp), %rdx
    xor %ecx, %ecx
.endm
.macro store_two at, lower, upper
    mov \lower, \at(%rdi)
    mov \upper, \at+8(%rdi)
.endm
.macro first_limb at, to_t, lower, upper
.if \at > 8
    mulx \at(%rbp), %rax, \upper
    adcx %rax, \lower
.endif
.if \to_t == 2
    adox \at(%rdi), \lower
.endif
.endm
.macro triangle to_t
    begin_limb 0
    mulx 8(%rbp), %r9, %r10
    first_limb 8, \to_t, %r9, %r10
    first_limb 16, \to_t, %r10, %r11
    first_limb 24, \to_t, %r11, %r12
    first_limb 32, \to_t, %r12, %r13
    first_limb 40, \to_t, %r13, %r14
    first_limb 48, \to_t, %r14, %r15
    first_limb 56, \to_t, %r15, %r8
    adcx %rcx, %r8
.if \to_t == 2
    adox %rcx, %r8
.endif
    store_two 8, %r9, %r10
    begin_limb 1
    add_product 16, %r11, %r12
    add_product 24, %r12, %r13
    add_product 32, %r13, %r14
    add_product 40, %r14, %r15
    add_product 48, %r15, %r8
    last_product %r8, %r9
    store_two 24, %r11, %r12
    begin_limb 2
    add_product 24, %r13, %r14
    add_product 32, %r14, %r15
    add_product 40, %r15, %r8
    add_product 48, %r8, %r9
    last_product %r9, %r10
    store_two 40, %r13, %r14
    begin_limb 3
    add_product 32, %r15, %r8
    add_product 40, %r8, %r9
    add_product 48, %r9, %r10
    last_product %r10, %r11
    mov %r15, 56(%rdi)
    begin_limb 4
    add_product 40, %r9, %r10
    add_product 48, %r10, %r11
    last_product %r11, %r12
    begin_limb 5
    add_product 48, %r11, %r12
    last_product %r12, %r13
    begin_limb 6
    last_product %r13, %r14
    mov $0, %r15d
.endm

#include "bn/x86_adx_asm.h"
#endif
