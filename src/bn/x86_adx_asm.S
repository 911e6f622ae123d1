/* SPDX-License-Identifier: MIT */
/*
 * Montgomery products and squares for x86-64: products by mulx, which leaves the flags alone, and
 * two chains of carries at once by adcx and adox. (x86_adx.c describes the method.)
 *
 * A strip is up to eight limbs of one factor, its width, times all limbs of the other, its rows. A
 * row adds a limb of the second factor, times the width, to the accumulators r8, r9, ..., as many
 * as the width, and to a limb of t. The lowest limb of the sum goes back to t, and the accumulators
 * move down by one: they can never overflow, since (B^w - 1)(B^h - 1) + (B^w - 1) + (B^h -
 * 1) = B^(w + h) - 1 for w limbs and h rows, with B = 2^64.
 *
 * In strips: rbp points to the width, rsi behind the last limb of the rows, rdi to the limb of t
 * where the accumulators go after the last row; rcx counts up to 0. rax, rbx and rdx are free.
 */
#include "common/x86_asm.h"

#if EVC_ASM_X86_64

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Accumulator i - 1 gets its own upper limb of a product (it is in \lower), accumulator i, and the
 * lower limb of the next product; \upper becomes the upper limb of that. */
.macro next_product offset, lower, upper
    adox \upper, \lower
    mulx \offset(%rbp), %rax, \upper
    adcx %rax, \lower
.endm
.macro last_accumulator register
    mov $0, %eax
    adox %rax, \register
    adcx %rax, \register
.endm

/* A row of \width products with the limb in rdx. The lowest limb of the sum is in rbx; both carries
 * are in use until the last accumulator. \to_t tells of the limb of t at \offset(%rdi,%rcx,8). 0:
 * it is not touched. 1: it becomes the lowest limb of the sum. 2: it is added before. */
.macro row width, to_t, offset=0
    mov %r8, %rbx
    xor %eax, %eax
    mulx (%rbp), %rax, %r8
    adcx %rax, %rbx
.if \to_t == 2
    adox \offset(%rdi,%rcx,8), %rbx
.endif
.if \to_t
    mov %rbx, \offset(%rdi,%rcx,8)
.endif
.if \width > 1
    next_product 8, %r8, %r9
.endif
.if \width > 2
    next_product 16, %r9, %r10
.endif
.if \width > 3
    next_product 24, %r10, %r11
.endif
.if \width > 4
    next_product 32, %r11, %r12
.endif
.if \width > 5
    next_product 40, %r12, %r13
.endif
.if \width > 6
    next_product 48, %r13, %r14
.endif
.if \width > 7
    next_product 56, %r14, %r15
.endif
.if \width == 1
    last_accumulator %r8
.elseif \width == 2
    last_accumulator %r9
.elseif \width == 3
    last_accumulator %r10
.elseif \width == 4
    last_accumulator %r11
.elseif \width == 5
    last_accumulator %r12
.elseif \width == 6
    last_accumulator %r13
.elseif \width == 7
    last_accumulator %r14
.else
    last_accumulator %r15
.endif
.endm

.macro all_rows width, to_t
1:  mov (%rsi,%rcx,8), %rdx
    row \width, \to_t
    inc %rcx
    jnz 1b
.endm

/* \what register, offset for each accumulator. */
.macro each_accumulator width, what
    \what %r8, 0
.if \width > 1
    \what %r9, 8
.endif
.if \width > 2
    \what %r10, 16
.endif
.if \width > 3
    \what %r11, 24
.endif
.if \width > 4
    \what %r12, 32
.endif
.if \width > 5
    \what %r13, 40
.endif
.if \width > 6
    \what %r14, 48
.endif
.if \width > 7
    \what %r15, 56
.endif
.endm
.macro zero_one register, offset
    mov $0, \register
.endm
.macro load_one register, offset
    mov \offset(%rdi), \register
.endm
.macro store_one register, offset
    mov \register, \offset(%rdi)
.endm
.macro add_and_store_one register, offset
    adc \offset(%rdi), \register
    mov \register, \offset(%rdi)
.endm

/* ---- The frame ------------------------------------------------------------------------------- */

/* The frame of the functions: addresses, lengths, the carry of the reduction, and -1/n modulo B. */
#define R_END 0
#define A 8
#define N 16
#define N_END 24
#define N0 32
#define T 40
#define MINUS_LIMBS 48 /* less than 0 */
#define LIMBS_LEFT 56
#define CARRY 64       /* 0 or -1 */
#define SINGLES 72     /* limbs modulo 4 */
#define FOURS 80       /* limbs / 4 */
#define FRAME_BYTES 88

.macro begin_frame
    evc_save %rbx
    evc_save %rbp
    evc_save %r12
    evc_save %r13
    evc_save %r14
    evc_save %r15
    sub $FRAME_BYTES, %rsp
    EVC_ASM_CFI_ADJUST(FRAME_BYTES)
.endm
.macro end_frame
    add $FRAME_BYTES, %rsp
    EVC_ASM_CFI_ADJUST(-FRAME_BYTES)
    evc_restore %r15
    evc_restore %r14
    evc_restore %r13
    evc_restore %r12
    evc_restore %rbp
    evc_restore %rbx
    ret
.endm

/* Functions that only this file calls. They see the frame of their caller at 8(%rsp), or at
 * 16(%rsp) if that is one of them. */
.macro local_function name
    .p2align 5
\name:
    EVC_ASM_CFI_BEGIN
.endm
.macro local_end
    ret
    EVC_ASM_CFI_END
.endm

/* Calls \what_1 to \what_7 by the width in eax, if that is not 0. */
.macro call_by_width what
.irp width, 1, 2, 3, 4, 5, 6, 7
    cmp $\width, %eax
    jne 1f
    call \what\()_\width
    jmp 2f
1:
.endr
2:
.endm

/* ---- Strips ---------------------------------------------------------------------------------- */

/* product_W: t += width times rows, of which there are as many as limbs; new_product_W:
 * t = width times rows. */
.macro product_strip name, width, to_t
local_function \name
    each_accumulator \width, zero_one
    all_rows \width, \to_t
    each_accumulator \width, store_one
local_end
.endm

/* cross_W: t += width times the limbs that follow in a, and products of two limbs of the width,
 * each once. rcx: minus the limbs from the second one of the width on. The first rows are limbs of
 * the width, each of them times those before it. */
.macro cross_row i, offset, width
.if \width > \i
    mov \offset(%rsi,%rcx,8), %rdx
    row \i, 2, \offset
.endif
.endm
.macro cross_strip width
local_function .Lcross_\width
    each_accumulator \width, zero_one
    cross_row 1, 0, \width
    cross_row 2, 8, \width
    cross_row 3, 16, \width
    cross_row 4, 24, \width
    cross_row 5, 32, \width
    cross_row 6, 40, \width
    cross_row 7, 48, \width
    add $(\width - 1), %rcx
    jz 2f
    all_rows \width, 2
2:  each_accumulator \width, store_one
local_end
.endm

/* reduce_W: makes the W limbs of t at rdi zero by adding multiples of n; rdi moves on by W limbs.
 * The digits of the multiple take the place of these limbs. A digit is the lowest accumulator times
 * -1/n, so a row makes that zero. */
.macro reduce_strip width
local_function .Lreduce_\width
    each_accumulator \width, load_one
    mov 16+N(%rsp), %rbp
    mov 16+N0(%rsp), %rsi
    lea 8*\width(%rdi), %rdi
    mov $-\width, %rcx
1:  mov %r8, %rdx
    imul %rsi, %rdx
    mov %rdx, (%rdi,%rcx,8)
    row \width, 0
    inc %rcx
    jnz 1b
    lea -8*\width(%rdi), %rbp
    mov 16+N_END(%rsp), %rsi
    mov 16+MINUS_LIMBS(%rsp), %rcx
    mov %rcx, %rax
    neg %rax
    lea (%rbp,%rax,8), %rdi
    add $\width, %rcx
    jz 2f
    all_rows \width, 2
2:  mov 16+CARRY(%rsp), %rax
    neg %rax
    each_accumulator \width, add_and_store_one
    sbb %rax, %rax
    mov %rax, 16+CARRY(%rsp)
    lea 8*\width(%rbp), %rdi
local_end
.endm

.irp width, 1, 2, 3, 4, 5, 6, 7, 8
    product_strip .Lproduct_\width, \width, 2
    product_strip .Lnew_product_\width, \width, 1
    cross_strip \width
    reduce_strip \width
.endr

/* ---- Reduction ------------------------------------------------------------------------------- */

/* \one offset for each limb: first those that make no four. rbx goes up by \step for each limb, and
 * no flag changes between limbs. rcx is lost. */
.macro in_fours one, depth, step=1
    mov \depth+SINGLES(%rsp), %rcx
    jrcxz 2f
1:  \one 0
    lea \step(%rbx), %rbx
.if \step == 1
    dec %rcx
    jnz 1b
.else
    lea -1(%rcx), %rcx
    jrcxz 2f
    jmp 1b
.endif
2:  mov \depth+FOURS(%rsp), %rcx
    jrcxz 3f
    jmp 4f
3:  jmp 5f                /* jrcxz does not reach it */
4:  \one 0
    \one 8
    \one 16
    \one 24
    lea 4*\step(%rbx), %rbx
.if \step == 1
    dec %rcx
    jnz 4b
.else
    lea -1(%rcx), %rcx
    jrcxz 5f
    jmp 4b
.endif
5:
.endm
.macro subtract_one offset
    mov \offset(%rsi,%rbx,8), %rax
    sbb \offset(%rbp,%rbx,8), %rax
    mov %rax, \offset(%rdi,%rbx,8)
.endm
/* The result is t / B^limbs modulo n. The numbers between t + limbs and t + 2 limbs, and that less
 * n, which takes the place of the digits: one of them is chosen by a mask. */
local_function .Lreduce
    movq $0, 8+CARRY(%rsp)
    mov 8+MINUS_LIMBS(%rsp), %rax
    neg %rax
    mov 8+T(%rsp), %rdi
1:  sub $8, %rax
    jb 2f
    mov %rax, 8+LIMBS_LEFT(%rsp)
    call .Lreduce_8
    mov 8+LIMBS_LEFT(%rsp), %rax
    jmp 1b
2:  add $8, %eax
    call_by_width .Lreduce

    mov 8+MINUS_LIMBS(%rsp), %rbx
    mov 8+N_END(%rsp), %rbp
    mov %rbx, %rax
    neg %rax
    lea (%rdi,%rax,8), %rsi
    xor %eax, %eax        /* no borrow */
    in_fours subtract_one, 8
    sbb %rax, %rax
    mov 8+CARRY(%rsp), %rcx
    not %rcx
    and %rcx, %rax
    mov 8+MINUS_LIMBS(%rsp), %rbx
    mov 8+R_END(%rsp), %rbp
    neg %rax              /* carry: there is a borrow and no carry, so the number is below n */
3:  mov (%rdi,%rbx,8), %rax
    cmovc (%rsi,%rbx,8), %rax
    mov %rax, (%rbp,%rbx,8)
    inc %rbx              /* keeps the carry */
    jnz 3b
local_end

/* ---- Products and squares -------------------------------------------------------------------- */

/* rdi: r, rsi: a, rdx: b, rcx: n, r8: limbs, 2 or more, r9: t, 2 limbs limbs; the
 * seventh argument: -1/n. (Without an argument of the macro Apple's assemblers take $3 for one.) */
.macro keep_arguments limbs
    begin_frame
    lea (%rdi,\limbs,8), %rax
    mov %rax, R_END(%rsp)
    mov %rsi, A(%rsp)
    mov %rcx, N(%rsp)
    lea (%rcx,\limbs,8), %rax
    mov %rax, N_END(%rsp)
    mov %r9, T(%rsp)
    mov FRAME_BYTES+56(%rsp), %rax
    mov %rax, N0(%rsp)
    mov \limbs, %rax
    and $3, %eax
    mov %rax, SINGLES(%rsp)
    mov \limbs, %rax
    shr $2, %rax
    mov %rax, FOURS(%rsp)
    mov \limbs, %rax
    neg %rax
    mov %rax, MINUS_LIMBS(%rsp)
.endm

evc_function evc_bn_x86_adx_mul
    keep_arguments %r8
    mov %rsi, %rbp
    lea (%rdx,%r8,8), %rsi
    lea (%r9,%r8,8), %rdi
    mov %rax, %rcx
    mov %r8, %rax
    sub $8, %rax
    jb 3f
    mov %rax, LIMBS_LEFT(%rsp)
    call .Lnew_product_8
1:  lea 64(%rbp), %rbp
    lea 64(%rdi), %rdi
    mov MINUS_LIMBS(%rsp), %rcx
    mov LIMBS_LEFT(%rsp), %rax
    sub $8, %rax
    jb 2f
    mov %rax, LIMBS_LEFT(%rsp)
    call .Lproduct_8
    jmp 1b
2:  add $8, %eax
    call_by_width .Lproduct
    jmp 4f
3:  add $8, %eax
    call_by_width .Lnew_product
4:  call .Lreduce
    end_frame
evc_end evc_bn_x86_adx_mul

/* Two limbs of t become twice what they are and the square of a limb. rbx:
 * twice the index of that. */
.macro square_one offset
    mov \offset(%rsi,%rbx,4), %rdx
    mulx %rdx, %rax, %rdx
    mov 2*\offset(%rdi,%rbx,8), %r8
    mov 2*\offset+8(%rdi,%rbx,8), %r9
    adcx %r8, %r8
    adcx %r9, %r9
    adox %rax, %r8
    adox %rdx, %r9
    mov %r8, 2*\offset(%rdi,%rbx,8)
    mov %r9, 2*\offset+8(%rdi,%rbx,8)
.endm

/* The same without rdx: t = the sum of all products of two different limbs, then twice
 * that and the squares. */
evc_function evc_bn_x86_adx_sqr
    keep_arguments %r8
    mov %rax, %rcx
    lea (%r9,%r8,8), %rdi
    xor %eax, %eax
1:  mov %rax, (%rdi,%rcx,8)
    inc %rcx
    jnz 1b
    mov %rsi, %rbp
    lea (%rsi,%r8,8), %rsi
    mov %r8, %rax
2:  mov $1, %ecx
    sub %rax, %rcx
    sub $8, %rax
    jb 3f
    mov %rax, LIMBS_LEFT(%rsp)
    call .Lcross_8
    lea 64(%rbp), %rbp
    lea 64(%rdi), %rdi
    mov LIMBS_LEFT(%rsp), %rax
    jmp 2b
3:  add $8, %eax
    call_by_width .Lcross

    mov T(%rsp), %rdi
    mov A(%rsp), %rsi
    xor %ebx, %ebx        /* both carries are clear */
    in_fours square_one, 0, 2
    call .Lreduce
    end_frame
evc_end evc_bn_x86_adx_sqr

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Pieces of \bytes bytes of the chosen entry, while there are any: of every entry they are loaded,
 * and kept if the subtraction from the index borrows, which it does for one entry alone. */
.macro pick register, offset
    cmovc \offset(%r14), \register
.endm
.macro store_picked register, offset
    mov \register, \offset(%rdi)
.endm
.macro each_picked bytes, what
    \what %rax, 0
    \what %r9, 8
.if \bytes > 16
    \what %r10, 16
    \what %r11, 24
    \what %rbx, 32
    \what %rbp, 40
    \what %r12, 48
    \what %r13, 56
.endif
.endm
#define BYTES_LEFT 0
#define N_ENTRIES 8
.macro pieces bytes
1:  cmpq $\bytes, BYTES_LEFT(%rsp)
    jb 3f
    mov %rsi, %r14
    mov %r8, %r15
    mov N_ENTRIES(%rsp), %rcx
2:  sub $1, %r15
    each_picked \bytes, pick
    lea (%r14,%rdx), %r14
    dec %rcx
    jnz 2b
    each_picked \bytes, store_picked
    lea \bytes(%rsi), %rsi
    lea \bytes(%rdi), %rdi
    subq $\bytes, BYTES_LEFT(%rsp)
    jmp 1b
3:
.endm

/* rdi: r, rsi: the table, rdx: bytes of an entry, a multiple of 16, rcx: entries, r8: the
 * index, which is secret. */
evc_function evc_bn_x86_adx_select
    begin_frame
    mov %rdx, BYTES_LEFT(%rsp)
    mov %rcx, N_ENTRIES(%rsp)
    pieces 64
    pieces 16
    end_frame
evc_end evc_bn_x86_adx_select
#endif
