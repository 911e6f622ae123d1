/* SPDX-License-Identifier: MIT */
/*
 * Montgomery multiplication by blocks of eight words, for PA-RISC 1.1. hppa_blocks.h declares the functions.
 *
 * Row i of a block (hppa_blocks_asm.h) adds the lower words of its products to the sums at i, i + 1, ..., i + 7, and
 * the upper words to those at i + 1, ..., i + 8, in two chains of carries.
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

block evc_bn_hppa_xmpyu_multiply_8, add
block evc_bn_hppa_xmpyu_set_8, set
add_rows evc_bn_hppa_xmpyu_add_rows, evc_bn_hppa_xmpyu_multiply_8
reduce evc_bn_hppa_xmpyu_reduce
reduce_rows evc_bn_hppa_xmpyu_reduce_rows

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

/* Word k of four: two sums doubled, the upper bit of \before below them, and its square, with the carry. */
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
