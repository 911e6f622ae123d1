/* SPDX-License-Identifier: MIT */
/*
 * Rows of word primitives for x86-64: products by mulx, which leaves the flags alone, and two
 * chains of carries at once by adcx and adox. Eight words a turn.
 *
 * Arguments as the System V ABI has them: r in rdi, a in rsi, n_words in rdx, w
 * in rcx; the result in rax.
 */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64

/* Word i: r8 = the upper word of the product before; next becomes the upper word of this one. */
.macro mul_word i, upper, next
    mulx 8*\i(%rsi), %rax, \next
    adcx \upper, %rax
    mov %rax, 8*\i(%rdi)
.endm
.macro mul_add_word i, upper, next
    mulx 8*\i(%rsi), %rax, \next
    adcx \upper, %rax
    adox 8*\i(%rdi), %rax
    mov %rax, 8*\i(%rdi)
.endm

/* Turns of eight words: rcx counts them down by lea and jrcxz, which leave both carries alone.
 * Before them come n_words % 8 words, one by one. */
.macro row word, two_chains
    mov %rdx, %r10
    mov %rcx, %rdx
    mov %r10, %rcx
    and $7, %r10d
    shr $3, %rcx
    xor %r8d, %r8d        /* no word above yet; both carries are clear */
    test %r10d, %r10d
    jz 2f
1:  mulx (%rsi), %rax, %r9
    add %r8, %rax
    adc $0, %r9
.if \two_chains
    add (%rdi), %rax
    adc $0, %r9
.endif
    mov %rax, (%rdi)
    mov %r9, %r8
    lea 8(%rsi), %rsi
    lea 8(%rdi), %rdi
    dec %r10d
    jnz 1b
2:  xor %r10d, %r10d
    test %rcx, %rcx       /* clears both carries */
    jz 4f
3:  \word 0, %r8, %r9
    \word 1, %r9, %r8
    \word 2, %r8, %r9
    \word 3, %r9, %r8
    \word 4, %r8, %r9
    \word 5, %r9, %r8
    \word 6, %r8, %r9
    \word 7, %r9, %r8
    lea 64(%rsi), %rsi
    lea 64(%rdi), %rdi
    lea -1(%rcx), %rcx
    jrcxz 4f
    jmp 3b
4:  mov %r8, %rax
    adcx %r10, %rax
.if \two_chains
    adox %r10, %rax
.endif
    ret
.endm

evc_function evc_bn_words_x86_adx_mul
    row mul_word, 0
evc_end evc_bn_words_x86_adx_mul

evc_function evc_bn_words_x86_adx_mul_add
    row mul_add_word, 1
evc_end evc_bn_words_x86_adx_mul_add

/* r, a, b, n_words: r = a + b, or a - b, four words a turn. */
.macro sum with
    mov %rcx, %r10
    and $3, %r10d
    shr $2, %rcx
    xor %eax, %eax        /* no carry */
    jrcxz 2f
1:  mov (%rsi), %r8
    \with (%rdx), %r8
    mov %r8, (%rdi)
    mov 8(%rsi), %r9
    \with 8(%rdx), %r9
    mov %r9, 8(%rdi)
    mov 16(%rsi), %r8
    \with 16(%rdx), %r8
    mov %r8, 16(%rdi)
    mov 24(%rsi), %r9
    \with 24(%rdx), %r9
    mov %r9, 24(%rdi)
    lea 32(%rsi), %rsi
    lea 32(%rdx), %rdx
    lea 32(%rdi), %rdi
    dec %rcx
    jnz 1b
2:  setc %al
    test %r10d, %r10d
    jz 4f
3:  neg %al               /* the carry again */
    mov (%rsi), %r8
    \with (%rdx), %r8
    mov %r8, (%rdi)
    setc %al
    lea 8(%rsi), %rsi
    lea 8(%rdx), %rdx
    lea 8(%rdi), %rdi
    dec %r10d
    jnz 3b
4:  ret
.endm

evc_function evc_bn_words_x86_adx_add
    sum adc
evc_end evc_bn_words_x86_adx_add

evc_function evc_bn_words_x86_adx_sub
    sum sbb
evc_end evc_bn_words_x86_adx_sub
#endif
