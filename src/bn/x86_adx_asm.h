/* SPDX-License-Identifier: MIT */
/*
 * Montgomery products and squares for x86-64, which x86_adx and x86_adx_intel share: products by
 * mulx, which leaves the flags alone, and two chains of carries. (x86_adx.c describes the method.)
 *
 * A strip is up to eight limbs of one factor, its width, times all limbs of the other, its rows. A
 * row adds a limb of the second factor, times the width, to the accumulators r8, r9, ..., as many
 * as the width, and to a limb of t. The lowest limb of the sum goes back to t, and the accumulators
 * move down by one: they can never overflow, since (B^w - 1)(B^h - 1) + (B^w - 1) + (B^h -
 * 1) = B^(w + h) - 1 for w limbs and h rows, with B = 2^64.
 *
 * Rows of width 8 come in eights, without a loop between them. In those, the accumulators change
 * places instead of moving.
 *
 * In strips: rbp points to the width, rsi behind the last limb of the rows, rdi to the limb of t
 * where the accumulators go after the last row; rcx is minus the number of rows. rax, rbx and rdx
 * are free.
 *
 * A kernel includes common/x86_asm.h and defines, in rows of width 8:
 *
 *   X86_ADX_NAME(slot)   the name of a function
 *   turned_row i, to_t, a0, a1, a2, a3, a4, a5, a6, a7
 *                        row i of eight. rsi: the limbs of the second factor, rdi: those of t;
 *                        to_t: as of `row` below; a0 to a7: the accumulators, the lowest one first.
 *                        a0 becomes the highest one of the next row
 *   first_turned_row last   row 0 of a product, with nothing in the accumulators and in t before.
 *                        last: %r8, the highest one of the next row (without an argument Apple's
 *                        assemblers take $0 for one)
 *   two_digit_rows i, keep, n0, n1, a0, a1, a2, a3, a4, a5, a6, a7
 *                        rows i and i + 1 of digits of the reduction times eight limbs of n. A
 *                        digit makes the lowest accumulator zero, which becomes the highest one;
 *                        with keep it goes to t. n0, n1: operands, the two limbs of
 *                        -1/n modulo B^2. rsi may be lost
 *   triangle to_t        products of two limbs of the width, each once. The sum of those whose
 *                        places add up to i is t_i, in r8 + i modulo 8. t_1 to t_7 go to t (to_t:
 *                        1), or are added to it (2); t_8 to t_15 stay, as the accumulators of the
 *                        rows that follow. rdi: where t_0 is
 *
 * All of them may use rax, rbx, rcx and rdx.
 */
#ifndef EVC_BN_X86_ADX_ASM_H
#define EVC_BN_X86_ADX_ASM_H

/* ---- The frame ------------------------------------------------------------------------------- */

/* The frame of the functions: addresses, lengths, the carry of the reduction, and -1/n modulo B. */
#define R 0
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
#define MINUS_ROWS 88
#define FACTOR 96
#define SQUARES 104      /* that are left */
#define N1 112           /* the second limb of -1/n modulo B^2 */
#define TURNS 120        /* of eight rows, that are left */
#define STRIP_END 128
#define ENTRY 136        /* of a table: the next one */
#define ENTRY_BYTES 144
#define ENTRIES_LEFT 152
#define ENTRIES_A_SQUARE 160
#define EIGHTS 168       /* limbs / 8 */
#define FOUR 176         /* not 0: limbs / 4 is odd */
#define FRAME_BYTES 184

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

/* After eight rows, each accumulator has its first place again. */
.macro eight_turned_rows to_t
    turned_row 0, \to_t, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15
    seven_turned_rows \to_t
.endm
.macro seven_turned_rows to_t
    turned_row 1, \to_t, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r8
    turned_row 2, \to_t, %r10, %r11, %r12, %r13, %r14, %r15, %r8, %r9
    turned_row 3, \to_t, %r11, %r12, %r13, %r14, %r15, %r8, %r9, %r10
    turned_row 4, \to_t, %r12, %r13, %r14, %r15, %r8, %r9, %r10, %r11
    turned_row 5, \to_t, %r13, %r14, %r15, %r8, %r9, %r10, %r11, %r12
    turned_row 6, \to_t, %r14, %r15, %r8, %r9, %r10, %r11, %r12, %r13
    turned_row 7, \to_t, %r15, %r8, %r9, %r10, %r11, %r12, %r13, %r14
.endm
.macro eight_digit_rows keep, n0, n1
    two_digit_rows 0, \keep, \n0, \n1, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15
    two_digit_rows 2, \keep, \n0, \n1, %r10, %r11, %r12, %r13, %r14, %r15, %r8, %r9
    two_digit_rows 4, \keep, \n0, \n1, %r12, %r13, %r14, %r15, %r8, %r9, %r10, %r11
    two_digit_rows 6, \keep, \n0, \n1, %r14, %r15, %r8, %r9, %r10, %r11, %r12, %r13
.endm

/* All rows: those of width 8 eight a turn, and then the others. rcx is lost. */
.macro all_rows width, to_t, depth
.if \width == 8
    mov %rcx, \depth+MINUS_ROWS(%rsp)
    lea (%rsi,%rcx,8), %rsi
    lea (%rdi,%rcx,8), %rdi
    neg %rcx
    shr $3, %rcx
    jz 2f
    mov %rcx, \depth+TURNS(%rsp)
1:  eight_turned_rows \to_t
    lea 64(%rsi), %rsi
    lea 64(%rdi), %rdi
    decq \depth+TURNS(%rsp)
    jnz 1b
2:  mov \depth+MINUS_ROWS(%rsp), %rcx
    neg %rcx
    and $7, %ecx
    jz 4f
    lea (%rsi,%rcx,8), %rsi
    lea (%rdi,%rcx,8), %rdi
    neg %rcx
.endif
3:  mov (%rsi,%rcx,8), %rdx
    row \width, \to_t
    inc %rcx
    jnz 3b
4:
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

.macro begin_frame
    evc_save_all
    sub $FRAME_BYTES, %rsp
    EVC_ASM_CFI_ADJUST(FRAME_BYTES)
.endm
.macro end_frame
    add $FRAME_BYTES, %rsp
    EVC_ASM_CFI_ADJUST(-FRAME_BYTES)
    evc_restore_all
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
    test %eax, %eax
    jz 2f
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

/* product_W: t += width times rows, one row for each limb; new_product_W: t = width times
 * rows. */
.macro product_strip name, width, to_t
local_function \name
    each_accumulator \width, zero_one
\name\()_rows:
    all_rows \width, \to_t, 16
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
    add $(\width - 1), %rcx
    jz 5f
    all_rows \width, 2, 16
5:  each_accumulator \width, store_one
local_end
.endm

/* new_cross_8: t = the same, with nothing in t before. \rows: where the rows of a product begin. */
.macro cross_strip_8 name, rows, to_t
local_function \name
    mov %rcx, 16+MINUS_ROWS(%rsp)
    mov %rdi, 16+STRIP_END(%rsp)
    lea -8(%rdi,%rcx,8), %rdi
    triangle \to_t
    mov 16+MINUS_ROWS(%rsp), %rcx
    mov 16+STRIP_END(%rsp), %rdi
    add $7, %rcx
    jnz \rows
    each_accumulator 8, store_one
local_end
.endm

/* reduce_W: makes the W limbs of t at rdi zero by adding multiples of n; rdi moves on by W limbs.
 * The digits of the multiple take the place of these limbs. A digit is the lowest accumulator times
 * -1/n, so a row makes that zero. */
.macro reduce_strip width
local_function .Lreduce_\width
    each_accumulator \width, load_one
    mov 16+N(%rsp), %rbp
.if \width == 8
    eight_digit_rows 1, 16+N0(%rsp), 16+N1(%rsp)
    /* digits, as limbs of the rows, times limbs of n: the first row needs but the first digit */
    mov 16+MINUS_LIMBS(%rsp), %rcx
    mov %rdi, %rsi
    neg %rcx
    shr $3, %rcx
    dec %rcx
    jz 2f
    mov %rcx, 16+TURNS(%rsp)
1:  lea 64(%rbp), %rbp
    lea 64(%rdi), %rdi
    eight_turned_rows 2
    decq 16+TURNS(%rsp)
    jnz 1b
2:  mov %rsi, %rbp
    mov 16+MINUS_LIMBS(%rsp), %rcx
    neg %rcx
    mov %rcx, %rax
    and $7, %ecx
    neg %rcx              /* minus the limbs of n that are left */
.else
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
    mov 16+MINUS_LIMBS(%rsp), %rcx
    mov %rcx, %rax
    neg %rax
    add $\width, %rcx
.endif
    mov 16+N_END(%rsp), %rsi
    lea (%rbp,%rax,8), %rdi
    jz 5f
3:  mov (%rsi,%rcx,8), %rdx
    row \width, 2
    inc %rcx
    jnz 3b
5:  mov 16+CARRY(%rsp), %rax
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
    reduce_strip \width
.endr
.irp width, 1, 2, 3, 4, 5, 6, 7
    cross_strip \width
.endr
    cross_strip_8 .Lcross_8, .Lproduct_8_rows, 2
    cross_strip_8 .Lnew_cross_8, .Lnew_product_8_rows, 1

/* ---- Tables ---------------------------------------------------------------------------------- */

#if defined(__SSE2__)

/* \n vectors of every entry are loaded, and kept where the mask xmm8 is all ones, which is so if
 * the number of the entry (xmm9) is the index (xmm10). xmm11: 1 in each place. rax: the entry. */
.macro pick offset, register
    movdqu \offset(%rax), %xmm12
    pand %xmm8, %xmm12
    por %xmm12, \register
.endm
.macro pick_nothing offset, register
    pxor \register, \register
.endm
.macro store_picked offset, register
    movdqu \register, \offset(%rdi)
.endm
.macro each_picked n, what
    \what 0, %xmm0
.if \n > 1
    \what 16, %xmm1
.endif
.if \n > 2
    \what 32, %xmm2
    \what 48, %xmm3
.endif
.if \n > 4
    \what 64, %xmm4
    \what 80, %xmm5
    \what 96, %xmm6
    \what 112, %xmm7
.endif
.endm
.macro begin_picking n
    pxor %xmm9, %xmm9
    each_picked \n, pick_nothing
.endm
.macro pick_entry n, entry_bytes
    movdqa %xmm9, %xmm8
    pcmpeqd %xmm10, %xmm8
    paddd %xmm11, %xmm9
    each_picked \n, pick
    add \entry_bytes, %rax
.endm
/* \register: the index, which is secret. */
.macro keep_index register
    movd \register, %xmm10
    pshufd $0, %xmm10, %xmm10
    pcmpeqd %xmm11, %xmm11
    psrld $31, %xmm11
.endm

/* Reads as many entries, of \n vectors, as are due with a square, while that waits for its carries.
 * rax, rbx and rcx are lost. */
.macro pick_some n, depth
    mov \depth+ENTRIES_A_SQUARE(%rsp), %rcx
    mov \depth+ENTRIES_LEFT(%rsp), %rax
    cmp %rax, %rcx
    cmova %rax, %rcx
    sub %rcx, %rax
    mov %rax, \depth+ENTRIES_LEFT(%rsp)
    mov \depth+ENTRY(%rsp), %rax
    mov \depth+ENTRY_BYTES(%rsp), %rbx
    test %rcx, %rcx
    jz 2f
1:  pick_entry \n, %rbx
    dec %rcx
    jnz 1b
2:  mov %rax, \depth+ENTRY(%rsp)
.endm

/* Pieces of \n vectors of the chosen entry, while there are any. r10: bytes left, r9: entries. */
.macro pieces n
1:  sub $(16 * \n), %r10
    jb 3f
    mov %rsi, %rax
    mov %rcx, %r9
    begin_picking \n
2:  pick_entry \n, %rdx
    dec %r9
    jnz 2b
    each_picked \n, store_picked
    add $(16 * \n), %rsi
    add $(16 * \n), %rdi
    jmp 1b
3:  add $(16 * \n), %r10
.endm

/* rdi: r, rsi: the table, rdx: bytes of an entry, a multiple of 16, rcx: entries, r8d: the
 * index. */
evc_function X86_ADX_NAME(select)
    keep_index %r8d
    mov %rdx, %r10
    pieces 8
    pieces 4
    pieces 2
    pieces 1
    ret
evc_end X86_ADX_NAME(select)

#else
.macro pick_some n, depth
.endm
#endif

/* ---- Reduction ------------------------------------------------------------------------------- */

/* \one for each limb: first those that make no four. rbp, rsi and rdi point behind their limbs
 * then, and no carry changes between limbs. rcx is lost. */
.macro advance n
    lea 8*\n(%rbp), %rbp
    lea 8*\n(%rsi), %rsi
    lea 8*\n(%rdi), %rdi
.endm
.macro in_fours one, depth
    mov \depth+SINGLES(%rsp), %rcx
    jrcxz 2f
1:  \one 0
    advance 1
    dec %rcx
    jnz 1b
2:  mov \depth+FOURS(%rsp), %rcx
    jrcxz 4f
3:  \one 0
    \one 8
    \one 16
    \one 24
    advance 4
    dec %rcx
    jnz 3b
4:
.endm

/* (t + q n) / B^limbs with q below B^limbs: limbs limbs at rdi, and CARRY. That is below B^limbs +
 * n, as t is below B^(2 limbs), and below 2 n if t is below n B^limbs. */
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
local_end

.macro subtract_one offset
    mov \offset(%rdi), %rax
    sbb \offset(%rbp), %rax
    mov %rax, \offset(%rsi)
.endm
.macro choose_one offset
    mov \offset(%rsi), %rax
    cmovc \offset(%rdi), %rax
    mov %rax, \offset(%rbp)
.endm
/* r = the number that .Lreduce leaves, which is below 2 n, less n unless that is negative. The
 * difference takes the place of the digits, and one of the two is chosen by a mask. */
local_function .Lbelow_n
    mov 8+N(%rsp), %rbp
    mov 8+MINUS_LIMBS(%rsp), %rbx
    lea (%rdi,%rbx,8), %rsi
    xor %eax, %eax        /* no borrow */
    in_fours subtract_one, 8
    sbb %rax, %rax
    mov 8+CARRY(%rsp), %rcx
    not %rcx
    and %rcx, %rax
    mov 8+R(%rsp), %rbp
    lea (%rsi,%rbx,8), %rsi
    lea (%rdi,%rbx,8), %rdi
    neg %rax              /* carry: there is a borrow and no carry, so the number is below n */
    in_fours choose_one, 8
local_end

/* \n limbs of the difference; rdx: the carry, rax: 0 or -1, the borrow. */
.macro mask_limb register, offset
    mov %rdx, \register
    and \offset(%rbp), \register
.endm
.macro subtract_masked register, offset
    mov \offset(%rdi), %rcx
    sbb \register, %rcx
    mov %rcx, \offset(%rsi)
.endm
.macro subtract_limbs n
    each_accumulator \n, mask_limb
    add %rax, %rax
    each_accumulator \n, subtract_masked
    sbb %rax, %rax
    advance \n
    sub $\n, %rbx
.endm
/* r = the same number, less n if there is a carry: below B^limbs, which is enough for a square or
 * for one factor of a product. The lowest limbs are known first, and not last as those of
 * .Lbelow_n. */
local_function .Lbelow_r
    mov 8+MINUS_LIMBS(%rsp), %rbx
    neg %rbx
    mov 8+N(%rsp), %rbp
    mov 8+R(%rsp), %rsi
    mov 8+CARRY(%rsp), %rdx
    xor %eax, %eax
1:  test $3, %bl
    jz 2f
    subtract_limbs 1
    jmp 1b
2:  test $4, %bl
    jz 3f
    subtract_limbs 4
3:  test %rbx, %rbx
    jz 5f
4:  subtract_limbs 8
    jnz 4b
5:
local_end

/* ---- Products and squares -------------------------------------------------------------------- */

/* rdi: r, rsi: a, rdx: b, rcx: n, r8: limbs, 2 or more, r9: t, 2 limbs limbs; the
 * seventh argument: -1/n. (Without an argument of the macro Apple's assemblers take $3 for one.)
 * k_0 n + 1 = f B modulo B^2, and so k_1 = f k_0 modulo B. */
.macro keep_arguments limbs
    begin_frame
    mov %rdi, R(%rsp)
    mov %rsi, A(%rsp)
    mov %rdx, FACTOR(%rsp)
    mov %rcx, N(%rsp)
    lea (%rcx,\limbs,8), %rax
    mov %rax, N_END(%rsp)
    mov %r9, T(%rsp)
    mov FRAME_BYTES+56(%rsp), %rdx
    mov %rdx, N0(%rsp)
    mulx (%rcx), %rax, %r10
    mov 8(%rcx), %rax
    imul %rdx, %rax
    add %r10, %rax
    inc %rax
    imul %rdx, %rax
    mov %rax, N1(%rsp)
    mov \limbs, %rax
    and $3, %eax
    mov %rax, SINGLES(%rsp)
    mov \limbs, %rax
    shr $2, %rax
    mov %rax, FOURS(%rsp)
    shr %rax
    mov %rax, EIGHTS(%rsp)
    sbb %rax, %rax
    mov %rax, FOUR(%rsp)
    mov \limbs, %rax
    neg %rax
    mov %rax, MINUS_LIMBS(%rsp)
    movq $0, ENTRIES_LEFT(%rsp)
.endm

/* t = A times FACTOR. */
local_function .Lproduct
    mov 8+MINUS_LIMBS(%rsp), %rcx
    mov %rcx, %rax
    neg %rax
    mov 8+A(%rsp), %rbp
    mov 8+FACTOR(%rsp), %rsi
    lea (%rsi,%rax,8), %rsi
    mov 8+T(%rsp), %rdi
    lea (%rdi,%rax,8), %rdi
    sub $8, %rax
    jb 3f
    mov %rax, 8+LIMBS_LEFT(%rsp)
    call .Lnew_product_8
1:  lea 64(%rbp), %rbp
    mov 8+MINUS_LIMBS(%rsp), %rcx
    mov 8+LIMBS_LEFT(%rsp), %rax
    sub $8, %rax
    jb 2f
    lea 64(%rdi), %rdi
    mov %rax, 8+LIMBS_LEFT(%rsp)
    call .Lproduct_8
    jmp 1b
2:  lea 64(%rdi), %rdi
    add $8, %eax
    call_by_width .Lproduct
    jmp 4f
3:  add $8, %eax
    call_by_width .Lnew_product
4:
local_end

/* Two limbs of t become twice what they are and the square of a limb of a. */
.macro square_limb register, offset
    mov \offset(%rsi), %rdx
    mulx %rdx, %rax, %rdx
    mov 2*\offset(%rdi), %r8
    mov 2*\offset+8(%rdi), %r9
    adcx %r8, %r8
    adcx %r9, %r9
    adox %rax, %r8
    adox %rdx, %r9
    mov %r8, 2*\offset(%rdi)
    mov %r9, 2*\offset+8(%rdi)
.endm
.macro square_limbs n
    each_accumulator \n, square_limb
    lea 8*\n(%rsi), %rsi
    lea 16*\n(%rdi), %rdi
.endm

/* t = the square of A, 8 limbs or more: the sum of all products of two different limbs, then twice
 * that and the squares. */
local_function .Lsquare
    mov 8+MINUS_LIMBS(%rsp), %rcx
    mov %rcx, %rax
    neg %rax
    mov 8+A(%rsp), %rbp
    lea (%rbp,%rax,8), %rsi
    mov 8+T(%rsp), %rdi
    movq $0, (%rdi)
    lea (%rdi,%rax,8), %rdi
    inc %rcx
    sub $8, %rax
    mov %rax, 8+LIMBS_LEFT(%rsp)
    call .Lnew_cross_8
    jmp 2f
1:  mov %rax, 8+LIMBS_LEFT(%rsp)
    call .Lcross_8
2:  lea 64(%rbp), %rbp
    lea 64(%rdi), %rdi
    mov 8+LIMBS_LEFT(%rsp), %rax
    mov 8+A(%rsp), %rsi
    mov 8+MINUS_LIMBS(%rsp), %rcx
    neg %rcx
    lea (%rsi,%rcx,8), %rsi
    mov $1, %ecx
    sub %rax, %rcx
    sub $8, %rax
    jae 1b
    add $8, %eax
    call_by_width .Lcross

    mov 8+T(%rsp), %rdi
    mov 8+A(%rsp), %rsi
    xor %eax, %eax        /* both carries are clear */
    mov 8+SINGLES(%rsp), %rcx
    jrcxz 2f
1:  square_limbs 1
    lea -1(%rcx), %rcx
    jrcxz 2f
    jmp 1b
2:  mov 8+FOUR(%rsp), %rcx
    jrcxz 3f
    jmp 4f
3:  jmp 5f                /* jrcxz does not reach it */
4:  square_limbs 4
5:  mov 8+EIGHTS(%rsp), %rcx
6:  square_limbs 8
    lea -1(%rcx), %rcx
    jrcxz 7f
    jmp 6b
7:
local_end

/* ---- Eight limbs ----------------------------------------------------------------------------- */

/* Two limbs, \lower and \upper, or those at \at(%rdi) again: twice what \at(%rdi) holds and the
 * square of a limb, with carries as in square_one. */
.macro square_of offset, at, lower, upper
    mov \offset(%rbp), %rdx
    mulx %rdx, %rax, %rbx
    mov \at(%rdi), \lower
    adcx \lower, \lower
    adox %rax, \lower
    mov \at+8(%rdi), \upper
    adcx \upper, \upper
    adox %rbx, \upper
.endm
.macro square_in_memory offset, at
    mov \offset(%rbp), %rdx
    mulx %rdx, %rax, %rbx
    mov \at(%rdi), %rcx
    adcx %rcx, %rcx
    adox %rax, %rcx
    mov %rcx, \at(%rdi)
    mov \at+8(%rdi), %rcx
    adcx %rcx, %rcx
    adox %rbx, %rcx
    mov %rcx, \at+8(%rdi)
.endm
/* The accumulators hold the lower half of a number, and t the upper one: they become what .Lreduce
 * makes of it, with a carry in rcx. rbp: n. \picks: 1 if entries of a table may be due. */
.macro reduce_eight picks
    eight_digit_rows 0, 8+N0(%rsp), 8+N1(%rsp)
.if \picks
    pick_some 4, 8
.endif
    add 64(%rdi), %r8
    adc 72(%rdi), %r9
    adc 80(%rdi), %r10
    adc 88(%rdi), %r11
    adc 96(%rdi), %r12
    adc 104(%rdi), %r13
    adc 112(%rdi), %r14
    adc 120(%rdi), %r15
    mov $0, %ecx
    adc $0, %ecx
.endm

/* The square of A, reduced: in the accumulators, with a carry in rcx. */
local_function .Lsquare_eight
    mov 8+A(%rsp), %rbp
    mov 8+T(%rsp), %rdi
    triangle 1
    lea 64(%rdi), %rdi
    each_accumulator 8, store_one
    lea -64(%rdi), %rdi
    xor %ecx, %ecx        /* twice these, and the squares: both carries are clear */
    mov (%rbp), %rdx
    mulx %rdx, %r8, %rax
    mov 8(%rdi), %r9
    adcx %r9, %r9
    adox %rax, %r9
    square_of 8, 16, %r10, %r11
    square_of 16, 32, %r12, %r13
    square_of 24, 48, %r14, %r15
    square_in_memory 32, 64
    square_in_memory 40, 80
    square_in_memory 48, 96
    square_in_memory 56, 112
    mov 8+N(%rsp), %rbp
    reduce_eight 1
local_end

/* The same of A times FACTOR. */
local_function .Lproduct_eight
    mov 8+A(%rsp), %rbp
    mov 8+FACTOR(%rsp), %rsi
    mov 8+T(%rsp), %rdi
    first_turned_row %r8
    seven_turned_rows 1
    mov 8+N(%rsp), %rbp
    lea 64(%rdi), %rdi
    each_accumulator 8, store_one
    lea -64(%rdi), %rdi
    each_accumulator 8, load_one
    reduce_eight 0
local_end

.macro subtract_product register, offset
    mulx \offset(%rbp), %rax, %rbx
    sbb %rax, \register
.endm
.macro subtract_limb register, offset
    sbb \offset(%rbp), \register
.endm
.macro choose_accumulator register, offset
    cmovc \offset(%rdi), \register
.endm
/* r = that, less n if there is a carry, as .Lbelow_r. */
local_function .Lbelow_r_eight
    mov 8+R(%rsp), %rdi
    mov %rcx, %rdx
    xor %eax, %eax        /* no borrow */
    each_accumulator 8, subtract_product
    each_accumulator 8, store_one
local_end

/* r = that, which is below 2 n, less n unless that is negative. */
local_function .Lbelow_n_eight
    each_accumulator 8, store_one
    xor %eax, %eax        /* no borrow */
    each_accumulator 8, subtract_limb
    sbb $0, %rcx          /* carry: the number is below n */
    each_accumulator 8, choose_accumulator
    mov 8+R(%rsp), %rdi
    each_accumulator 8, store_one
local_end

/* ---- Functions ------------------------------------------------------------------------------- */

evc_function X86_ADX_NAME(mul)
    keep_arguments %r8
    cmp $8, %r8
    je 1f
    call .Lproduct
    call .Lreduce
    call .Lbelow_n
    jmp 2f
1:  call .Lproduct_eight
    call .Lbelow_n_eight
2:  end_frame
evc_end X86_ADX_NAME(mul)

/* The same without rdx. */
evc_function X86_ADX_NAME(sqr)
    keep_arguments %r8
    cmp $8, %r8
    je 1f
    call .Lsquare
    call .Lreduce
    call .Lbelow_n
    jmp 2f
1:  call .Lsquare_eight
    call .Lbelow_n_eight
2:  end_frame
evc_end X86_ADX_NAME(sqr)

#if defined(__SSE2__)
/* Entries of 128 bytes, if any are due. */
local_function .Lpick_8
    pick_some 8, 8
local_end

/* b = entry number index of a table, and r = r to the power of 2^squares, times b, but below
 * B^limbs alone. rsi: how many squares, 1 or more; the others as of the product; behind -1/n: the
 * table, the number of its entries, the index, and how many entries are due with each square, so
 * that all are read. limbs: 8 or 16; or any from 9 on if there are no entries, and b has its
 * value. */
evc_function X86_ADX_NAME(raise)
    keep_arguments %r8
    mov %rsi, SQUARES(%rsp)
    mov %rdi, A(%rsp)
    lea (,%r8,8), %rax
    mov %rax, ENTRY_BYTES(%rsp)
    mov FRAME_BYTES+64(%rsp), %rax
    mov %rax, ENTRY(%rsp)
    mov FRAME_BYTES+72(%rsp), %rax
    mov %rax, ENTRIES_LEFT(%rsp)
    mov FRAME_BYTES+88(%rsp), %rax
    mov %rax, ENTRIES_A_SQUARE(%rsp)
    keep_index FRAME_BYTES+80(%rsp)
    begin_picking 8
    cmp $8, %r8
    je 2f
1:  call .Lsquare
    call .Lreduce
    mov %rdi, %r8
    call .Lpick_8
    mov %r8, %rdi
    call .Lbelow_r
    decq SQUARES(%rsp)
    jnz 1b
    mov FACTOR(%rsp), %rdi
    cmpq $0, FRAME_BYTES+72(%rsp)
    je 3f
    each_picked 8, store_picked
3:  call .Lproduct
    call .Lreduce
    call .Lbelow_r
    jmp 4f
2:  call .Lsquare_eight
    call .Lbelow_r_eight
    decq SQUARES(%rsp)
    jnz 2b
    mov FACTOR(%rsp), %rdi
    each_picked 4, store_picked
    call .Lproduct_eight
    call .Lbelow_r_eight
4:  end_frame
evc_end X86_ADX_NAME(raise)
#endif

#endif
