/* SPDX-License-Identifier: MIT */
/*
 * The ladder of X25519 for x86-64, on elements of four words; its numbers and bounds are those of
 * x86_adx.c.
 *
 * A product has rows of four words, each with two chains of carries at once, by adcx and adox. The
 * ladder has all elements in its frame: cores that rename memory do so where addresses are the
 * stack pointer and a constant, and by pointers the same code takes 1.3 times as long (Zen 5).
 */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64

/* The frame of the ladder. The first five are its argument, too. */
#define X1 0
#define X2 32
#define Z2 64
#define X3 96
#define Z3 128
#define A 160
#define B 192
#define C 224
#define D 256
#define DA 288
#define CB 320
#define STATE 352
#define SCALAR 360
#define N_BITS 368
#define BEFORE 376
#define FRAME_BYTES 392

/* ---- Elements: offsets from the stack pointer, or from other registers ----------------------- */

.macro load from
    mov \from(%rsp), %r8
    mov 8+\from(%rsp), %r9
    mov 16+\from(%rsp), %r10
    mov 24+\from(%rsp), %r11
.endm
.macro store to, base=%rsp
    mov %r8, \to(\base)
    mov %r9, 8+\to(\base)
    mov %r10, 16+\to(\base)
    mov %r11, 24+\to(\base)
.endm

/* Each word of r8 to r11 with that of b: the lowest by `first`, the others by `next`. */
.macro each_word first, next, b
    \first \b(%rsp), %r8
    \next 8+\b(%rsp), %r9
    \next 16+\b(%rsp), %r10
    \next 24+\b(%rsp), %r11
.endm

/* out = a + b. The carry counts 38: then the words above the lowest are 0. */
.macro fe_add out, a, b
    load \a
    each_word add, adc, \b
    sbb %rax, %rax
    and $38, %eax
    add %rax, %r8
    store \out
.endm

/* out = a - b. The borrow counts 38. */
.macro fe_sub out, a, b
    load \a
    each_word sub, sbb, \b
    sbb %rax, %rax
    and $38, %eax
    sub %rax, %r8
    sbb $0, %r9
    sbb $0, %r10
    sbb $0, %r11
    store \out
.endm

/* out = b where ebp is 0, else a */
.macro fe_choose out, b, a
    load \b
    test %ebp, %ebp
    each_word cmovne, cmovne, \a
    store \out
.endm

/* Words 0 to 3 are w0 to w3, and what is above is rcx, below 2^18: with bit 255 it counts 19. */
.macro carry_around w0, w1, w2, w3
    mov \w3, %rax
    shr $63, %rax
    lea (%rax,%rcx,2), %ecx
    imul $19, %ecx, %ecx
    btr $63, \w3
    add %rcx, \w0
    adc $0, \w1
    adc $0, \w2
    adc $0, \w3
.endm

/* Words 4 to 7, w4 to w7, count 38. */
.macro reduce w0, w1, w2, w3, w4, w5, w6, w7
    mov $38, %edx
    xor %eax, %eax
    mulx \w4, %rax, %rcx
    adcx %rax, \w0
    adox %rcx, \w1
    mulx \w5, %rax, %rcx
    adcx %rax, \w1
    adox %rcx, \w2
    mulx \w6, %rax, %rcx
    adcx %rax, \w2
    adox %rcx, \w3
    mulx \w7, %rax, %rcx
    adcx %rax, \w3
    mov $0, %eax
    adox %rax, %rcx
    adcx %rax, %rcx
    carry_around \w0, \w1, \w2, \w3
.endm

/* Words w0 to w3 get the product of a and the word at b. w4 gets the carry. */
.macro row w0, w1, w2, w3, w4, w4d, a, abase, b, bbase
    mov \b(\bbase), %rdx
    xor \w4d, \w4d
    mulx \a(\abase), %rax, %rcx
    adcx %rax, \w0
    adox %rcx, \w1
    mulx 8+\a(\abase), %rax, %rcx
    adcx %rax, \w1
    adox %rcx, \w2
    mulx 16+\a(\abase), %rax, %rcx
    adcx %rax, \w2
    adox %rcx, \w3
    mulx 24+\a(\abase), %rax, %rcx
    adcx %rax, \w3
    mov $0, %eax
    adox %rcx, \w4
    adcx %rax, \w4
.endm

/* r8 to r11 = a b */
.macro product a, b, abase=%rsp, bbase=%rsp
    mov \b(\bbase), %rdx
    mulx \a(\abase), %r8, %r9
    mulx 8+\a(\abase), %rax, %r10
    add %rax, %r9
    mulx 16+\a(\abase), %rax, %r11
    adc %rax, %r10
    mulx 24+\a(\abase), %rax, %r12
    adc %rax, %r11
    adc $0, %r12
    row %r9, %r10, %r11, %r12, %r13, %r13d, \a, \abase, 8+\b, \bbase
    row %r10, %r11, %r12, %r13, %r14, %r14d, \a, \abase, 16+\b, \bbase
    row %r11, %r12, %r13, %r14, %r15, %r15d, \a, \abase, 24+\b, \bbase
    reduce %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15
.endm
.macro fe_mul out, a, b
    product \a, \b
    store \out
.endm

/*
 * w0 to w3 = a^2, and a0 may be w0. Products of two words go to words 1 to 6, are doubled, and meet
 * the squares of words. The highest word of the squares is added to w7.
 */
.macro square a0, a1, a2, a3, w0, w1, w2, w3, w4, w5, w6, w6d, w7, w7d
    mov \a0, %rdx
    xor \w6d, \w6d
    mulx \a1, \w1, \w2
    mulx \a2, %rax, \w3
    adcx %rax, \w2
    mulx \a3, %rax, \w4
    adcx %rax, \w3
    mov \a1, %rdx
    mulx \a2, %rax, %rcx
    adox %rax, \w3
    adcx %rcx, \w4
    mulx \a3, %rax, \w5
    adox %rax, \w4
    mov \a2, %rdx
    mulx \a3, %rax, %rcx
    adcx %rax, \w5
    adox \w6, \w5
    adcx %rcx, \w6
    mov $0, %eax
    adox %rax, \w6
    mov \a0, %rdx
    xor \w7d, \w7d
    mulx %rdx, \w0, %rax
    adcx \w1, \w1
    adox %rax, \w1
    mov \a1, %rdx
    mulx %rdx, %rax, %rcx
    adcx \w2, \w2
    adox %rax, \w2
    adcx \w3, \w3
    adox %rcx, \w3
    mov \a2, %rdx
    mulx %rdx, %rax, %rcx
    adcx \w4, \w4
    adox %rax, \w4
    adcx \w5, \w5
    adox %rcx, \w5
    mov \a3, %rdx
    mulx %rdx, %rax, %rcx
    adcx \w6, \w6
    adox %rax, \w6
    adcx \w7, \w7
    adox %rcx, \w7
    reduce \w0, \w1, \w2, \w3, \w4, \w5, \w6, \w7
.endm
.macro fe_square out, a
    square \a(%rsp), 8+\a(%rsp), 16+\a(%rsp), 24+\a(%rsp), \
        %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r14d, %r15, %r15d
    store \out
.endm

.macro fe_times_121665 out, a
    mov $121665, %edx
    mulx \a(%rsp), %r8, %r9
    mulx 8+\a(%rsp), %rax, %r10
    add %rax, %r9
    mulx 16+\a(%rsp), %rax, %r11
    adc %rax, %r10
    mulx 24+\a(%rsp), %rax, %rcx
    adc %rax, %r11
    adc $0, %rcx
    carry_around %r8, %r9, %r10, %r11
    store \out
.endm

/* ---- Functions ------------------------------------------------------------------------------- */

/* rdi: X1, X2, Z2, X3, Z3; rsi: a scalar; edx: so many of its bits, from the highest on, at least
 * one. A step is that of ladder_steps.h; of some hundred orders of it, this one took the least time
 * (Zen 5), 0.9 of that one's. */
evc_function evc_x25519_x86_adx_ladder
    evc_save_all
    sub $FRAME_BYTES, %rsp
    EVC_ASM_CFI_ADJUST(FRAME_BYTES)
    mov %rdi, STATE(%rsp)
    mov %rsi, SCALAR(%rsp)
    mov %edx, N_BITS(%rsp)
    movl $0, BEFORE(%rsp)
.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
    mov 8*\i(%rdi), %rax
    mov %rax, 8*\i(%rsp)
.endr
1:  mov N_BITS(%rsp), %ecx
    mov SCALAR(%rsp), %rax
    dec %ecx
    mov %ecx, N_BITS(%rsp)
    mov %ecx, %edx
    shr $3, %edx
    movzbl (%rax,%rdx), %eax
    and $7, %ecx
    shr %cl, %eax
    and $1, %eax
    mov BEFORE(%rsp), %ebp
    mov %eax, BEFORE(%rsp)
    xor %eax, %ebp
    fe_add A, X2, Z2
    fe_sub D, X3, Z3
    fe_add C, X3, Z3
    fe_mul DA, D, A
    fe_sub B, X2, Z2
    fe_choose D, B, D
    fe_mul CB, C, B
    fe_choose A, A, C
    fe_square D, D
    fe_sub B, DA, CB
    fe_square A, A
    fe_square B, B
    fe_sub C, A, D
    fe_add DA, DA, CB
    fe_square X3, DA
    fe_times_121665 CB, C
    fe_mul X2, A, D
    fe_add CB, CB, A
    fe_mul Z3, B, X1
    fe_mul Z2, C, CB
    cmpl $0, N_BITS(%rsp)
    jne 1b
    mov STATE(%rsp), %rdi
.irp i, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
    mov 8*\i(%rsp), %rax
    mov %rax, 8*\i(%rdi)
.endr
    add $FRAME_BYTES, %rsp
    EVC_ASM_CFI_ADJUST(-FRAME_BYTES)
    evc_restore_all
    ret
evc_end evc_x25519_x86_adx_ladder

/* rdi: out, which may be a or b; rsi: a; rdx: b */
evc_function evc_x25519_x86_adx_mul
    evc_save_all
    mov %rdx, %rbx
    product 0, 0, %rsi, %rbx
    store 0, %rdi
    evc_restore_all
    ret
evc_end evc_x25519_x86_adx_mul

/* rdi: out = in^(2^n), which may be in; rsi: in; edx: n, not 0 */
evc_function evc_x25519_x86_adx_squares
    evc_save_all
    evc_save %rdi
    mov %edx, %ebp
    mov (%rsi), %r8
    mov 8(%rsi), %r9
    mov 16(%rsi), %r10
    mov 24(%rsi), %r11
1:  square %r8, %r9, %r10, %r11, %r8, %r12, %r13, %r14, %r15, %rbx, %rsi, %esi, %rdi, %edi
    mov %r12, %r9
    mov %r13, %r10
    mov %r14, %r11
    dec %ebp
    jne 1b
    evc_restore %rdi
    store 0, %rdi
    evc_restore_all
    ret
evc_end evc_x25519_x86_adx_squares

#endif
