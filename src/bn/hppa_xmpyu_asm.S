/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication by blocks of eight words, for PA-RISC 1.1. hppa_blocks.h declares the functions.
 *
 * A block adds the products of eight words and a long number. Row i is one word of the long number times the eight: the
 * lower words of these products are added to the sums at i, i + 1, ..., i + 7, and the upper words to those at i + 1,
 * ..., i + 8, in two chains of carries. Eight sums stay in registers. Each row stores the lowest one and loads the next
 * one in its place, so the registers change their roles from row to row, and after eight rows they are as they were.
 * While a row is summed, the next one is multiplied.
 *
 * Source: PA-RISC 1.1 Architecture and Instruction Set Reference Manual (1994), chapter 6 (XMPYU).
 */
#include "common/hppa_asm.h"

#if EVC_ASM_HPPA
evc_isa_pa11

#define TO %r26
#define FROM %r25
#define COUNT %r24
#define CARRY %r28
#define BEFORE %r29 /* the carry of the block before */
#define LENGTH %r11
#define BLOCKS %r12
#define MODULUS %r13

/* Products lie in two banks of eight, each reached from two registers: fstds reaches 16 bytes. */
#define BANK0_LEFT 1
#define BANK0_RIGHT 31
#define BANK1_LEFT 20
#define BANK1_RIGHT 23
#define SAVED 128  /* registers of the caller's, from where the stack ended */
#define WORD 176 /* a word on its way to the unit for floating point */
#define FRAME 192

/* The frame of a function that uses so many registers of the caller's, from r3 on. */
.macro begin_frame n
	ldo	16(%r30), BANK0_LEFT
	ldo	48(%r30), BANK0_RIGHT
	ldo	80(%r30), BANK1_LEFT
	ldo	112(%r30), BANK1_RIGHT
	evc_frame FRAME
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
	.if	\i < \n
	.set	saved, 3 + \i
	stw	saved, SAVED - FRAME + 4 * \i(%r30)
	.endif
	.endr
.endm
.macro end_frame n
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
	.if	\i < \n
	.set	saved, 3 + \i
	ldw	SAVED - FRAME + 4 * \i(%r30), saved
	.endif
	.endr
	evc_return_frame FRAME
.endm

.macro load_left f, from
	fldws,ma	4(\from), %fr\f\()L
.endm

/* The register of the sum at i + j, in row i. */
.macro sum_register_of i, j
	.set	sum, 3 + ((\i + \j) & 7)
.endm
.macro sum_register j
	sum_register_of row, \j
.endm

.macro load_sums
	.irp	j, 0, 1, 2, 3, 4, 5, 6, 7
	sum_register_of 0, \j
	ldw	4 * \j(TO), sum
	.endr
.endm
.macro store_sums
	.irp	j, 0, 1, 2, 3, 4, 5, 6, 7
	sum_register_of 0, \j
	stw	sum, 4 * \j(TO)
	.endr
.endm

/* The registers of the bank of row i. */
.macro use_bank i
	.if	(\i) & 1
	.set	left, BANK1_LEFT
	.set	right, BANK1_RIGHT
	.else
	.set	left, BANK0_LEFT
	.set	right, BANK0_RIGHT
	.endif
.endm

/* The register and the offset of the product by the word in fr\f. */
.macro use_slot f
	.if	\f < 8
	.set	bank, left
	.else
	.set	bank, right
	.endif
	.set	offset, (\f & 3) * 8 - 16
	.set	product, 64 + 18 + \f /* fr22 to fr29 */
.endm

.macro multiply word, f, half
	xmpyu	\word, %fr\f\half, product
.endm

/* The products of \word and the eight words that are in \half of fr4 to fr11, in the bank of row \i. */
.macro multiply_row i, word, half
	use_bank \i
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	use_slot \f
	multiply \word, \f, \half
	.endr
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	use_slot \f
	fstds	product, offset(bank)
	.endr
.endm

/* Sums row i, whose products are in its bank.
 * \kind: `add`; `set` if nothing was at t before, so that the sum that comes in is 0; `drop` if the lowest sum becomes
 * 0, so that it has a carry unless it was 0, and is not stored.
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

/* Eight rows by the words in \half of fr4 to fr11. Row 2, 4 or 6 has the label \label2, 4 or 6. */
.macro sum_eight_rows kind, half, label
	fldws,ma	4(FROM), %fr30L
	multiply_row 0, %fr30L, \half
	.irp	i, 0, 1, 2, 3, 4, 5, 6
	.if	\i == 2 || \i == 4 || \i == 6
\label\i:
	.endif
	sum_row \i, \kind, 1, \half
	.endr
	sum_row 7, \kind, 0, \half
.endm

/* ---- Numbers that do not fill blocks -----------------------------------------------------------------------
 *
 * Of a long number whose length is 2, 4 or 6 words more than a multiple of eight, the first rows are 8 - e to 7: as if
 * 8 - e words that are not there came before it. So TO goes back by 8 - e words, and sum j is that at 8 - e + j. */

/* Goes to \label, where branch_to_entry is, if the length in COUNT does not fill blocks. */
.macro branch_if_rest label
	extru,=	COUNT, 31, 3, %r19
	b,n	\label
.endm

/* Goes to \label2, 4 or 6 if COUNT has 6, 4 or 2 words beyond whole blocks, which is in r19. */
.macro branch_to_entry label
	blr,n	%r19, %r0
	nop
	nop
	nop
	nop
	nop
	b,n	\label\()6
	nop
	nop
	nop
	b,n	\label\()4
	nop
	nop
	nop
	b,n	\label\()2
	nop
.endm

.macro load_sums_of_entry e
	.irp	j, 0, 1, 2, 3, 4, 5, 6, 7
	sum_register_of \e, \j
	ldw	4 * \j + 4 * \e(TO), sum
	.endr
.endm

/* The carry in CARRY is that of the block before: it belongs to the sum at 8. */
.macro add_carry_of_entry e
	.irp	r, 3, 4, 5, 6, 7, 8
	.if	\r == 3
	add	CARRY, %r3, %r3
	.elseif	\r < 3 + \e
	addc	%r0, %r\r, %r\r
	.endif
	.endr
	addc	%r0, %r0, CARRY
.endm

/* Multiplies the first row and goes to it. */
.macro enter e, half, label
	fldws,ma	4(FROM), %fr30L
	multiply_row \e, %fr30L, \half
	b,n	\label\e
.endm


/* t, a, n, b */
.macro block name, kind
evc_function \name
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	load_left \f, %r23
	.endr
	begin_frame 8
	.ifc	\kind, set
	.irp	j, 0, 1, 2, 3, 4, 5, 6, 7
	sum_register_of 0, \j
	ldi	0, sum
	.endr
	.endif
	ldi	0, CARRY
	branch_if_rest .L\name\()_rest
	.ifnc	\kind, set
	load_sums
	.endif
1:	sum_eight_rows \kind, L, .L\name\()_row
	addib,>	-8, COUNT, 1b
	ldo	32(TO), TO
	store_sums
	end_frame 8
.L\name\()_rest:
	branch_to_entry .L\name\()_entry
	.irp	e, 2, 4, 6
.L\name\()_entry\e:
	ldo	-4 * \e(TO), TO
	ldo	\e(COUNT), COUNT
	.ifnc	\kind, set
	load_sums_of_entry \e
	.endif
	enter \e, L, .L\name\()_row
	.endr
evc_end \name
.endm
block evc_bn_hppa_xmpyu_multiply_8, add
block evc_bn_hppa_xmpyu_set_8, set

/* t, a, n, b, and on the stack the carry: as multiply_8. */
evc_function evc_bn_hppa_xmpyu_add_rows
	ldw	-52(%r30), CARRY
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	load_left \f, %r23
	.endr
	begin_frame 8
	extru	COUNT, 31, 3, %r19
	branch_to_entry .Ladd_rows
	.irp	e, 2, 4, 6
.Ladd_rows\e:
	ldo	-4 * \e(TO), TO
	ldo	\e(COUNT), COUNT
	load_sums_of_entry \e
	add_carry_of_entry \e
	enter \e, L, .Levc_bn_hppa_xmpyu_multiply_8_row
	.endr
evc_end evc_bn_hppa_xmpyu_add_rows

/* Makes the lowest sum 0, in row i: r22 is where a word goes to the unit for floating point, n0 is in fr31L; the digit
 * gets to the right half of fr30. */
.macro multiply_digit i
	sum_register_of \i, 0
	stw	sum, 0(%r22)
	fldws	0(%r22), %fr30L
	xmpyu	%fr30L, %fr31L, %fr30
.endm

/* The word in r23 goes to fr31L; r22: as in multiply_digit. */
.macro load_n0
	copy	%r23, %r22
	begin_frame 11
	stw	%r22, WORD - FRAME(%r30)
	ldo	WORD - FRAME(%r30), %r22
	fldws	0(%r22), %fr31L
.endm

/* t, n, length of n, n0. Words 0 to 7 of n are in the left halves of fr4 to fr11, and the words by which n is
 * multiplied in the right ones. The carry of a block is added before the last eight rows of the next block. */
evc_function evc_bn_hppa_xmpyu_reduce
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	load_left \f, FROM
	.endr
	load_n0
	copy	COUNT, LENGTH
	ldo	-7(COUNT), BLOCKS
	copy	FROM, MODULUS
	ldi	0, CARRY
1:	copy	CARRY, BEFORE
	copy	MODULUS, FROM
	ldo	-8(LENGTH), COUNT
	load_sums
	comiclr,=	0, COUNT, %r0
	ldi	0, CARRY
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	multiply_digit (\f - 4)
	fcpy,sgl	%fr30R, %fr\f\()R
	multiply_row (\f - 4), %fr30R, L
	sum_row (\f - 4), drop, 0, L
	.endr
	comib,=	0, COUNT, 3f
	ldo	32(TO), TO
	branch_if_rest .Lreduce_rest
2:	ldo	-8(COUNT), COUNT
	comiclr,<>	0, COUNT, %r0
	add	BEFORE, CARRY, CARRY
	sum_eight_rows add, R, .Lreduce_row
	comib,<>	0, COUNT, 2b
	ldo	32(TO), TO
3:	store_sums
	sh2add	LENGTH, %r0, %r19
	sub	TO, %r19, TO
	addib,>	-8, BLOCKS, 1b
	ldo	32(TO), TO
	end_frame 11
.Lreduce_rest:
	branch_to_entry .Lreduce_entry
	.irp	e, 2, 4, 6 /* nothing is added before these rows: they are not among the last eight of a second block */
.Lreduce_entry\e:
	store_sums
	ldo	-4 * \e(TO), TO
	ldo	\e - 8(COUNT), COUNT
	load_sums_of_entry \e
	enter \e, R, .Lreduce_row
	.endr
evc_end evc_bn_hppa_xmpyu_reduce

/* t, n, number of digits, n0. A digit goes where the sum was that it makes 0. */
evc_function evc_bn_hppa_xmpyu_reduce_rows
	.irp	f, 4, 5, 6, 7, 8, 9, 10, 11
	load_left \f, FROM
	.endr
	load_n0
	ldi	0, CARRY
	extru	COUNT, 31, 3, %r19
	branch_to_entry .Lreduce_rows_entry
	.irp	e, 2, 4, 6
.Lreduce_rows_entry\e:
	ldo	-4 * \e(TO), TO
	load_sums_of_entry \e
	b,n	.Lreduce_rows_row\e
	.endr
	.irp	i, 2, 3, 4, 5, 6, 7
.Lreduce_rows_row\i:
	multiply_digit \i
	fstws	%fr30R, 0(%r22)
	ldw	0(%r22), %r19
	stw	%r19, 4 * \i(TO)
	multiply_row \i, %fr30R, L
	sum_row \i, drop, 0, L
	.endr
	ldo	32(TO), TO
	store_sums
	end_frame 11
evc_end evc_bn_hppa_xmpyu_reduce_rows

.macro subtract_word
	ldws,ma	4(%r22), %r19
	ldws,ma	4(%r29), %r20
	subb	%r19, %r20, %r0
.endm

/* A word of the result, but for its store. */
.macro choose
	ldw	0(%r31), %r19
	ldws,ma	4(COUNT), %r20
	andcm	%r20, %r1, %r20
	subb	%r19, %r20, %r19
	stws,ma	%r0, 4(%r31)
	stws,ma	%r0, 4(FROM)
.endm

/* r, t, n, their length, and on the stack the carry. First whether t / R - n is negative, then r1, all ones if t / R is
 * the result, then that. */
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
	addib,<	-8, %r23, 6f
	sub	%r0, %r0, %r0
5:	.rept	7
	choose
	stws,ma	%r19, 4(TO)
	.endr
	choose
	addib,>=	-8, %r23, 5b
	stws,ma	%r19, 4(TO)
6:	addib,=,n	8, %r23, 8f
7:	choose
	stws,ma	%r19, 4(TO)
	choose
	addib,>	-2, %r23, 7b
	stws,ma	%r19, 4(TO)
8:	evc_return
evc_end evc_bn_hppa_xmpyu_finish

/* ---- Squares ------------------------------------------------------------------------------------------------ */

/* The sum at i has the register 3 + i modulo 8. Row x has the products of word x and those above it. It adds to eight
 * sums at most, from 2x + 1 to x + 8, the last of which is new; the first two are complete after it. */
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

/* Word k of four: two sums doubled, the upper bit of \before below them, and its square. The lower word of a square is
 * never 2^32 - 1, so a carry can be added to it. */
.macro add_square k, before, last
	ldw	8 * \k - 12(%r1), %r19
	ldw	8 * \k - 16(%r1), %r20
	ldw	8 * \k(TO), %r21
	ldw	8 * \k + 4(TO), \last
	shd	%r21, \before, 31, %r22
	shd	\last, %r21, 31, %r21
	.if	\k
	addc	%r22, %r19, %r19
	.else
	add	CARRY, %r19, %r19
	add	%r22, %r19, %r19
	.endif
	addc	%r21, %r20, %r20
	stw	%r19, 8 * \k(TO)
	stw	%r20, 8 * \k + 4(TO)
.endm

/* t, a, n */
evc_function evc_bn_hppa_xmpyu_add_squares
	ldo	16(%r30), %r1
	evc_frame 64
	ldi	0, CARRY
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
	addc	%r0, %r0, CARRY
	addib,>	-4, COUNT, 1b
	ldo	32(TO), TO
	evc_return_frame 64
evc_end evc_bn_hppa_xmpyu_add_squares
#endif
