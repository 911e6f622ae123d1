/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication by blocks of eight words, for PA-RISC 1.1.
 * hppa_blocks.h declares the functions.
 *
 * Row i of a block (hppa_blocks_asm.h) adds the lower words of its products to the sums at i,
 * i + 1, ..., i + 7, and the upper words to those at i + 1, ..., i + 8, in two chains of carries.
 *
 * Source: PA-RISC 1.1 Architecture and Instruction Set Reference Manual (1994), chapter 6 (XMPYU).
 */
#include "common/hppa_asm.h"

#if EVC_ASM_HPPA
#define SUM_BYTES 4
#define TIMES_SUM_BYTES sh2add
#define REDUCE_SAVES 11
#define CARRY %r28
#define BEFORE %r29 /* the carry of the block before */
#include "bn/hppa_blocks_asm.h"
evc_isa_pa11

.macro load_sum i, j, offset
	sum_register_of \i, \j
	ldw	\offset(TO), sum
.endm
.macro store_sum i, j, offset
	sum_register_of \i, \j
	stw	sum, \offset(TO)
.endm

.macro clear_carries
	ldi	0, CARRY
.endm
.macro keep_carries
	copy	CARRY, BEFORE
	ldi	0, CARRY
.endm
.macro add_kept
	comiclr,<>	0, COUNT, %r0
	add	BEFORE, CARRY, CARRY
.endm
.macro take_carries
.endm
.macro give_carries
.endm

/* The carry in CARRY is that of the block before: it belongs to the sum at 8. */
.macro add_carries_of_entry e
	.irp	r, 3, 4, 5, 6, 7, 8
	.if	\r == 3
	add	CARRY, %r3, %r3
	.elseif	\r < 3 + \e
	addc	%r0, %r\r, %r\r
	.endif
	.endr
	addc	%r0, %r0, CARRY
.endm

/* Sums row i, whose products are in its bank.
 * \kind: `add`; `set` if nothing was at t before, so that the sum that comes in is 0; `drop` if the
 * lowest sum becomes 0, so that it has a carry unless it was 0, and is not stored.
 * \next: the next row is multiplied meanwhile. */
.macro sum_row i, kind, next, half
	.set	row, \i
	.if	\next
	fldws,ma	4(FROM), %fr30L
	.endif
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	use_bank \i
	use_slot \f
	sum_register (\f - 4)
	.set	lower, 19 + 2 * (\f & 1) /* r19, r21 */
	.ifc	\kind\f, drop4
	addi	-1, sum, %r0
	.else
	ldw	offset + 4(bank), lower
	.if	\f == 4
	add	lower, sum, sum
	.else
	addc	lower, sum, sum
	.endif
	.endif
	.if	\next
	multiply %fr30L, \f, \half
	.endif
	.endr
	sum_register 0
	.ifnc	\kind, drop
	stw	sum, 4 * \i(TO)
	.endif
	.ifc	\kind, set
	addc	%r0, %r0, sum
	.else
	ldw	4 * \i + 32(TO), sum /* the word that comes in */
	addc	CARRY, sum, sum
	addc	%r0, %r0, CARRY
	.endif
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	use_bank \i
	use_slot \f
	sum_register (\f - 3)
	.set	upper, 19 + 2 * (\f & 1)
	ldw	offset(bank), upper
	.if	\next
	use_bank (\i + 1)
	use_slot \f
	fstds	product, offset(bank)
	.endif
	.if	\f == 4
	add	upper, sum, sum
	.else
	addc	upper, sum, sum
	.endif
	.endr
	.ifnc	\kind, set
	addc	%r0, CARRY, CARRY
	.endif
.endm

block evc_bn_hppa_xmpyu_multiply_8, add
block evc_bn_hppa_xmpyu_set_8, set
add_rows evc_bn_hppa_xmpyu_add_rows, evc_bn_hppa_xmpyu_multiply_8
reduce evc_bn_hppa_xmpyu_reduce
reduce_rows evc_bn_hppa_xmpyu_reduce_rows

/* ---- Reduction by blocks of sixteen words -------------------------------------------------------
 *
 * For numbers that fill them: a row has twice the products, and still one word that is stored,
 * loaded and multiplied by. Sums are in r3 to r18. Word w of n is in fr4 to fr11, in the left half
 * if w is below 8, else in the right one; so is digit w in fr12 to fr19, which are the caller's.
 * There is one bank of products: the next row's go to where this row's have been read. */

#define WIDE_SAVED 128   /* r3 to r18, fr12 to fr19, from where the stack ended */
#define WIDE_WORD 256    /* a word on its way to the unit for floating point */
#define WIDE_LENGTH 260
#define WIDE_BLOCKS 264
#define WIDE_MODULUS 268
#define WIDE_FRAME 320

.macro wide_frame
	ldo	16(%r30), %r1
	ldo	48(%r30), %r31
	ldo	80(%r30), %r20
	ldo	112(%r30), %r23
	evc_frame WIDE_FRAME
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	.set	saved, 3 + \i
	stw	saved, WIDE_SAVED - WIDE_FRAME + 4 * \i(%r30)
	.endr
	ldo	WIDE_SAVED + 64 - WIDE_FRAME(%r30), %r19
	.irp	f, 12, 13, 14, 15, 16, 17, 18, 19
	fstds,ma	%fr\f, 8(%r19)
	.endr
.endm
.macro end_wide_frame
	ldo	WIDE_SAVED + 64 - WIDE_FRAME(%r30), %r19
	.irp	f, 12, 13, 14, 15, 16, 17, 18, 19
	fldds,ma	8(%r19), %fr\f
	.endr
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	.set	saved, 3 + \i
	ldw	WIDE_SAVED - WIDE_FRAME + 4 * \i(%r30), saved
	.endr
	evc_return_frame WIDE_FRAME
.endm

/* Sum j of row `row`; the place and the register of product w. */
.macro wide_sum j
	.set	sum, 3 + ((row + \j) & 15)
.endm
.macro wide_slot w
	.if	\w < 4
	.set	bank, 1
	.elseif	\w < 8
	.set	bank, 31
	.elseif	\w < 12
	.set	bank, 20
	.else
	.set	bank, 23
	.endif
	.set	offset, (\w & 3) * 8 - 16
	.set	product, 64 + 22 + (\w & 7)
.endm

/* \step for each word w of n, or of the digits, with the number of the register that has it. */
.macro each_of_n step, a, b
	\step	0, 4, \a, \b
	\step	1, 5, \a, \b
	\step	2, 6, \a, \b
	\step	3, 7, \a, \b
	\step	4, 8, \a, \b
	\step	5, 9, \a, \b
	\step	6, 10, \a, \b
	\step	7, 11, \a, \b
	\step	8, 4, \a, \b
	\step	9, 5, \a, \b
	\step	10, 6, \a, \b
	\step	11, 7, \a, \b
	\step	12, 8, \a, \b
	\step	13, 9, \a, \b
	\step	14, 10, \a, \b
	\step	15, 11, \a, \b
.endm
.macro each_of_q step, a, b
	\step	0, 12, \a, \b
	\step	1, 13, \a, \b
	\step	2, 14, \a, \b
	\step	3, 15, \a, \b
	\step	4, 16, \a, \b
	\step	5, 17, \a, \b
	\step	6, 18, \a, \b
	\step	7, 19, \a, \b
	\step	8, 12, \a, \b
	\step	9, 13, \a, \b
	\step	10, 14, \a, \b
	\step	11, 15, \a, \b
	\step	12, 16, \a, \b
	\step	13, 17, \a, \b
	\step	14, 18, \a, \b
	\step	15, 19, \a, \b
.endm

.macro wide_load w, f, from, b
	.if	\w < 8
	fldws,ma	4(\from), %fr\f\()L
	.else
	fldws,ma	4(\from), %fr\f\()R
	.endif
.endm

/* The products of \word and each word. */
.macro wide_multiply w, f, word, b
	wide_slot \w
	.if	\w < 8
	xmpyu	\word, %fr\f\()L, product
	.endif
.endm
.macro wide_multiply_rest w, f, word, b
	wide_slot \w
	fstds	product, offset(bank)
	.if	\w < 8
	xmpyu	\word, %fr\f\()R, product
	.endif
.endm

.macro wide_add_lower w, f, kind, next
	wide_slot \w
	wide_sum \w
	.ifc	\kind\w, drop0
	addi	-1, sum, %r0
	.else
	.set	lower, 19 + 2 * (\w & 1) /* r19, r21 */
	ldw	offset + 4(bank), lower
	.if	\w == 0
	add	lower, sum, sum
	.else
	addc	lower, sum, sum
	.endif
	.endif
	.if	\next && \w < 8
	xmpyu	%fr30L, %fr\f\()L, product
	.endif
.endm
.macro wide_add_upper w, f, next, b
	wide_slot \w
	wide_sum (\w + 1)
	.set	upper, 19 + 2 * (\w & 1)
	ldw	offset(bank), upper
	.if	\next
	wide_multiply_rest \w, \f, %fr30L
	.endif
	.if	\w == 0
	add	upper, sum, sum
	.else
	addc	upper, sum, sum
	.endif
.endm

/* As sum_row, where \each goes through what the next row is multiplied by. */
.macro wide_row i, each, kind, next
	.set	row, \i
	.if	\next
	fldws,ma	4(FROM), %fr30L
	.endif
	\each	wide_add_lower, \kind, \next
	wide_sum 0
	.ifnc	\kind, drop
	stw	sum, 4 * \i(TO)
	.endif
	ldw	4 * \i + 64(TO), sum /* the word that comes in */
	addc	CARRY, sum, sum
	addc	%r0, %r0, CARRY
	\each	wide_add_upper, \next
	addc	%r0, CARRY, CARRY
.endm

/* The row that makes sum i of a block 0. r22: as in multiply_digit. */
.macro wide_digit i, f
	.set	row, \i
	wide_sum 0
	stw	sum, 0(%r22)
	fldws	0(%r22), %fr30L
	xmpyu	%fr30L, %fr31L, %fr30
	.if	\i < 8
	fcpy,sgl	%fr30R, %fr\f\()L
	.else
	fcpy,sgl	%fr30R, %fr\f\()R
	.endif
	each_of_n wide_multiply, %fr30R
	each_of_n wide_multiply_rest, %fr30R
	wide_row \i, each_of_n, drop, 0
.endm

/* t, n, length of n, n0 */
evc_function evc_bn_hppa_xmpyu_reduce_16
	each_of_n wide_load, FROM
	copy	%r23, %r22
	wide_frame
	stw	%r22, WIDE_WORD - WIDE_FRAME(%r30)
	ldo	WIDE_WORD - WIDE_FRAME(%r30), %r22
	fldws	0(%r22), %fr31L
	stw	COUNT, WIDE_LENGTH - WIDE_FRAME(%r30)
	stw	COUNT, WIDE_BLOCKS - WIDE_FRAME(%r30)
	stw	FROM, WIDE_MODULUS - WIDE_FRAME(%r30)
	clear_carries
1:	keep_carries
	ldw	WIDE_MODULUS - WIDE_FRAME(%r30), FROM
	ldw	WIDE_LENGTH - WIDE_FRAME(%r30), COUNT
	.irp	j, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	.set	sum, 3 + \j
	ldw	4 * \j(TO), sum
	.endr
	wide_digit 0, 12
	wide_digit 1, 13
	wide_digit 2, 14
	wide_digit 3, 15
	wide_digit 4, 16
	wide_digit 5, 17
	wide_digit 6, 18
	wide_digit 7, 19
	wide_digit 8, 12
	wide_digit 9, 13
	wide_digit 10, 14
	wide_digit 11, 15
	wide_digit 12, 16
	wide_digit 13, 17
	wide_digit 14, 18
	wide_digit 15, 19
	addib,=	-16, COUNT, 3f
	ldo	64(TO), TO
2:	ldo	-16(COUNT), COUNT
	add_kept
	fldws,ma	4(FROM), %fr30L
	each_of_q wide_multiply, %fr30L
	each_of_q wide_multiply_rest, %fr30L
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
	wide_row \i, each_of_q, add, 1
	.endr
	wide_row 15, each_of_q, add, 0
	comib,<>	0, COUNT, 2b
	ldo	64(TO), TO
3:	.irp	j, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	.set	sum, 3 + \j
	stw	sum, 4 * \j(TO)
	.endr
	ldw	WIDE_LENGTH - WIDE_FRAME(%r30), %r19
	sh2add	%r19, %r0, %r19
	sub	TO, %r19, TO
	ldw	WIDE_BLOCKS - WIDE_FRAME(%r30), %r19
	ldo	64(TO), TO
	addib,=,n	-16, %r19, 4f
	stw	%r19, WIDE_BLOCKS - WIDE_FRAME(%r30)
	b,n	1b
4:	end_wide_frame
evc_end evc_bn_hppa_xmpyu_reduce_16

.macro subtract_word
	ldws,ma	4(%r22), %r19
	ldws,ma	4(%r29), %r20
	subb	%r19, %r20, %r0
.endm

/* Two words of the result, but for the store of the second one. fr4 is 0. */
.macro choose_word offset
	ldw	\offset(%r31), %r19
	ldws,ma	4(COUNT), %r20
	andcm	%r20, %r1, %r20
	subb	%r19, %r20, %r19
.endm
.macro choose_two
	choose_word 0
	stws,ma	%r19, 4(TO)
	choose_word 4
	fstds,ma	%fr4, 8(%r31)
	fstds,ma	%fr4, 8(FROM)
.endm

/* r, t, n, their length, and on the stack the carry. First whether t / R - n is negative, then r1,
 * all ones if t / R is the result, then that. */
evc_function evc_bn_hppa_xmpyu_finish
	ldw	-52(%r30), CARRY
	sh2add	%r23, FROM, %r31
	copy	%r31, %r22
	copy	COUNT, %r29
	copy	%r23, %r1
	addib,<	-8, %r1, 2f
	sub	%r0, %r0, %r0
1:	.rept	7
	subtract_word
	.endr
	ldws,ma	4(%r22), %r19
	ldws,ma	4(%r29), %r20
	addib,>=	-8, %r1, 1b
	subb	%r19, %r20, %r0
2:	addib,=,n	8, %r1, 4f
3:	subtract_word
	ldws,ma	4(%r22), %r19
	ldws,ma	4(%r29), %r20
	addib,>	-2, %r1, 3b
	subb	%r19, %r20, %r0
4:	subb	%r0, %r0, %r1
	add	CARRY, %r1, %r1
	fcpy,dbl	%fr0, %fr4
	addib,<	-8, %r23, 6f
	sub	%r0, %r0, %r0
5:	.rept	3
	choose_two
	stws,ma	%r19, 4(TO)
	.endr
	choose_two
	addib,>=	-8, %r23, 5b
	stws,ma	%r19, 4(TO)
6:	addib,=,n	8, %r23, 8f
7:	choose_two
	addib,>	-2, %r23, 7b
	stws,ma	%r19, 4(TO)
8:	evc_return
evc_end evc_bn_hppa_xmpyu_finish

/* ---- Squares --------------------------------------------------------------------------------- */

/* The sum at i has the register 3 + i modulo 8. Row x has the products of word x and those above
 * it. It adds to eight sums at most, from 2x + 1 to x + 8, the last of which is new; the first two
 * are complete after it. */
.macro sum_at i
	.set	sum, 3 + ((\i) & 7)
.endm

.macro cross_row f, word
	.set	x, \f - 4
	.irp	g, 5, 6, 7, 8, 9, 10, 11
	.if	\g > \f
	use_bank x
	use_slot \g
	multiply \word, \g, L
	fstds	product, offset(bank)
	.endif
	.endr
	.irp	g, 5, 6, 7, 8, 9, 10, 11
	.if	\g > \f
	use_slot \g
	sum_at (x + \g - 4)
	ldw	offset + 4(bank), %r19
	.if	x && \g == \f + 1
	add	%r19, sum, sum
	.else
	addc	%r19, sum, sum
	.endif
	.endif
	.endr
	sum_at (x + 8)
	ldw	4 * x + 32(TO), sum
	.if	x
	addc	CARRY, sum, sum
	.else
	addc	%r0, sum, sum
	.endif
	addc	%r0, %r0, CARRY
	.irp	g, 5, 6, 7, 8, 9, 10, 11
	.if	\g > \f
	use_slot \g
	sum_at (x + \g - 3)
	ldw	offset(bank), %r19
	.if	\g == \f + 1
	add	%r19, sum, sum
	.else
	addc	%r19, sum, sum
	.endif
	.endif
	.endr
	addc	%r0, CARRY, CARRY
	sum_at (2 * x + 1)
	stw	sum, 8 * x + 4(TO)
	sum_at (2 * x + 2)
	stw	sum, 8 * x + 8(TO)
.endm

/* t, a, n */
evc_function evc_bn_hppa_xmpyu_cross
	begin_frame 8
	ldi	0, CARRY
1:	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	load_left \f, FROM
	.endr
	.irp	i, 1, 2, 3, 4, 5, 6, 7
	sum_at \i
	ldw	4 * \i(TO), sum
	.endr
	ldw	0(TO), %r19
	add	CARRY, %r19, %r19
	stw	%r19, 0(TO)
	.irp	f, 4, 5, 6, 7, 8, 9, 10
	cross_row \f, %fr\f\()L
	.endr
	ldw	60(TO), %r19
	add	CARRY, %r19, %r19
	addc	%r0, %r0, CARRY
	stw	%r19, 60(TO)
	addib,>	-8, COUNT, 1b
	ldo	64(TO), TO
	end_frame 8
evc_end evc_bn_hppa_xmpyu_cross

/* Word k of four: two sums doubled, the upper bit of \before below them, and its
 * square, with the carry. */
.macro add_square k, before, last
	ldw	8 * \k - 12(%r1), %r19
	ldw	8 * \k - 16(%r1), %r20
	ldw	8 * \k(TO), %r21
	ldw	8 * \k + 4(TO), \last
	shd	%r21, \before, 31, %r22
	shd	\last, %r21, 31, %r21
	addc	%r22, %r19, %r19
	addc	%r21, %r20, %r20
	stw	%r19, 8 * \k(TO)
	stw	%r20, 8 * \k + 4(TO)
.endm

/* t, a, n */
evc_function evc_bn_hppa_xmpyu_add_squares
	ldo	16(%r30), %r1
	evc_frame 64
	add	%r0, %r0, %r0 /* no carry */
	ldi	0, %r31
1:	.irp	f, 4, 5, 6, 7
	fldws,ma	4(FROM), %fr\f\()L
	.endr
	.irp	f, 4, 5, 6, 7
	xmpyu	%fr\f\()L, %fr\f\()L, %fr\f
	fstds	%fr\f, 8 * \f - 48(%r1)
	.endr
	add_square 0, %r31, %r29
	add_square 1, %r29, %r31
	add_square 2, %r31, %r29
	add_square 3, %r29, %r31
	addib,>	-4, COUNT, 1b
	ldo	32(TO), TO
	evc_return_frame 64
evc_end evc_bn_hppa_xmpyu_add_squares
#endif
