/* SPDX-License-Identifier: MIT */
/*
 * Word primitives for PA-RISC 1.1. The multiplier is in the unit for floating point: words go there
 * from memory, and products come back through the stack.
 */
#include "bn_words/hppa_asm_steps.h"
#include "common/hppa_asm.h"

#if EVC_ASM_HPPA
evc_isa_pa11

#define PARK %r1 /* products are at -16, -8, 0, 8 from here, the upper word first */

/* Arguments r, a, n, w; n - 4 in COUNT, w in fr4L. */
.macro begin_row
	ldo	16(%r30), PARK
	evc_frame 64
	stw	BY, 0(PARK)
	ldo	-4(COUNT), COUNT
	ldi	0, CARRY
.endm

/* Four products, parked. */
.macro multiply_four
	fldws,ma	4(FROM), %fr5L
	fldws,ma	4(FROM), %fr6L
	fldws,ma	4(FROM), %fr7L
	fldws,ma	4(FROM), %fr8L
	xmpyu	%fr4L, %fr5L, %fr5
	xmpyu	%fr4L, %fr6L, %fr6
	xmpyu	%fr4L, %fr7L, %fr7
	xmpyu	%fr4L, %fr8L, %fr8
	fstds	%fr5, -16(PARK)
	fstds	%fr6, -8(PARK)
	fstds	%fr7, 0(PARK)
	fstds	%fr8, 8(PARK)
.endm

/* r19, r20, r22, r23 = the lower words of four products and the carry, plus the upper word of the
 * product before each; CARRY = the last upper word and the carry. */
.macro sum_four
	ldw	-12(PARK), %r19
	ldw	-4(PARK), %r20
	ldw	-16(PARK), %r21
	ldw	4(PARK), %r22
	add	CARRY, %r19, %r19
	ldw	-8(PARK), %r29
	addc	%r21, %r20, %r20
	ldw	12(PARK), %r23
	ldw	0(PARK), %r31
	addc	%r29, %r22, %r22
	ldw	8(PARK), CARRY
	addc	%r31, %r23, %r23
.endm

/* The product of the last words, one a turn: r21 = its lower word and the carry, r22 = its
 * upper word and the carry. */
.macro multiply_one
	fldws,ma	4(FROM), %fr5L
	xmpyu	%fr4L, %fr5L, %fr5
	fstds	%fr5, 0(PARK)
	ldw	4(PARK), %r21
	ldw	0(PARK), %r22
	add	CARRY, %r21, %r21
	addc	%r0, %r22, CARRY
.endm

evc_function evc_bn_words_hppa_xmpyu_mul_add
	begin_row
	comib,>	0, COUNT, 2f
	fldws	0(PARK), %fr4L
1:	multiply_four
	sum_four
	ldw	0(TO), %r21
	addc	%r0, CARRY, CARRY
	ldw	4(TO), %r29
	add	%r21, %r19, %r19
	ldw	8(TO), %r31
	addc	%r29, %r20, %r20
	ldw	12(TO), %r21
	addc	%r31, %r22, %r22
	stws,ma	%r19, 4(TO)
	addc	%r21, %r23, %r23
	stws,ma	%r20, 4(TO)
	addc	%r0, CARRY, CARRY
	stws,ma	%r22, 4(TO)
	addib,>=	-4, COUNT, 1b
	stws,ma	%r23, 4(TO)
2:	addib,=,n	4, COUNT, 4f
3:	multiply_one
	ldw	0(TO), %r22
	add	%r22, %r21, %r21
	addc	%r0, CARRY, CARRY
	addib,>	-1, COUNT, 3b
	stws,ma	%r21, 4(TO)
4:	evc_return_frame 64
evc_end evc_bn_words_hppa_xmpyu_mul_add

evc_function evc_bn_words_hppa_xmpyu_mul
	begin_row
	comib,>	0, COUNT, 2f
	fldws	0(PARK), %fr4L
1:	multiply_four
	sum_four
	stws,ma	%r19, 4(TO)
	addc	%r0, CARRY, CARRY
	stws,ma	%r20, 4(TO)
	stws,ma	%r22, 4(TO)
	addib,>=	-4, COUNT, 1b
	stws,ma	%r23, 4(TO)
2:	addib,=,n	4, COUNT, 4f
3:	multiply_one
	addib,>	-1, COUNT, 3b
	stws,ma	%r21, 4(TO)
4:	evc_return_frame 64
evc_end evc_bn_words_hppa_xmpyu_mul

square_words evc_bn_words_hppa_xmpyu_sqr

/* ---- Columns --------------------------------------------------------------------------------- */

/* a is in the left halves of fr4 to fr11, b in the right ones. The products of a column are
 * parked in one of two banks, each reached from two registers, while the column before is
 * summed from the other. */

.macro park_product i, j
	xmpyu	%fr\i\()L, %fr\j\()R, product
	.set	slot, product - (FIRST_PRODUCT)
	.if	slot < 4
	.set	bank, bank0
	.else
	.set	bank, bank1
	.endif
	fstds	product, (slot & 3) * 8 - 16(bank)
	.set	product, product + 1
.endm

/* Adds the slot-th parked product to c2, c1, c0; c2 is new in a column. */
.macro sum_product
	.if	slot < 4
	.set	bank, bank0
	.else
	.set	bank, bank1
	.endif
	.set	low, 20 + (slot & 1) * 2
	.set	high, low + 1
	ldw	(slot & 3) * 8 - 12(bank), low
	ldw	(slot & 3) * 8 - 16(bank), high
	add	low, c0, c0
	addc	high, c1, c1
	.if	slot
	addc	%r0, c2, c2
	.else
	addc	%r0, %r0, c2
	.endif
	.set	slot, slot + 1
.endm

/* The registers of the bank of column k. */
.macro use_bank k
	.if	(\k) & 1
	.set	bank0, 24
	.set	bank1, 25
	.else
	.set	bank0, 1
	.set	bank1, 31
	.endif
.endm

.macro sum_column k, n
	.set	slot, 0
	.rept	8
	.if	(\k < \n && slot <= \k) || (\k >= \n && slot < 2 * \n - 1 - \k)
	sum_product
	.endif
	.endr
	stws,ma	c0, 4(TO)
	.set	rotated, c0
	.set	c0, c1
	.set	c1, c2
	.set	c2, rotated
.endm

.macro load_left i
	fldws,ma	4(FROM), %fr\i\()L
.endm
.macro load_right j
	fldws,ma	4(COUNT), %fr\j\()R
.endm

.macro comba n
	.irp	i, 4, 5, 6, 7, 8, 9, 10, 11
	.if	\i < 4 + \n
	load_left \i
	load_right \i
	.endif
	.endr
	ldo	16(%r30), %r1
	ldo	48(%r30), %r31
	ldo	80(%r30), %r24
	ldo	112(%r30), %r25
	evc_frame 128
	ldi	0, %r28
	ldi	0, %r29
	.set	c0, 28
	.set	c1, 29
	.set	c2, 19
	use_bank 0
	park_column 0, \n
	.irp	k, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
	.if	\k < 2 * \n - 1
	.if	\k + 1 < 2 * \n - 1
	use_bank \k+1
	park_column \k+1, \n
	.endif
	use_bank \k
	sum_column \k, \n
	.endif
	.endr
	stws	c0, 0(TO)
	evc_return_frame 128
.endm

evc_function evc_bn_words_hppa_xmpyu_comba4
	comba 4
evc_end evc_bn_words_hppa_xmpyu_comba4

evc_function evc_bn_words_hppa_xmpyu_comba8
	comba 8
evc_end evc_bn_words_hppa_xmpyu_comba8

/* ---- Remainders ------------------------------------------------------------------------------ */

/* end of a, turns > 0, powers of B, sum (low, high): as mod_words_folded of
 * steps.h, four words a turn. */
evc_function evc_bn_words_hppa_xmpyu_fold
	fldws,ma	4(%r24), %fr4L
	fldws,ma	4(%r24), %fr5L
	fldws,ma	4(%r24), %fr6L
	fldws,ma	4(%r24), %fr7L
	fldws,ma	4(%r24), %fr8L
	ldo	16(%r30), %r1
	ldo	48(%r30), %r31
	evc_frame 64
	ldw	0(%r23), %r28
	ldw	4(%r23), %r29
1:	stw	%r28, 0(%r31)
	stw	%r29, 4(%r31)
	ldo	-16(%r26), %r26
	fldws	0(%r31), %fr25L
	fldws	4(%r31), %fr26L
	fldws	4(%r26), %fr22L
	fldws	8(%r26), %fr23L
	fldws	12(%r26), %fr24L
	xmpyu	%fr7L, %fr25L, %fr25
	xmpyu	%fr8L, %fr26L, %fr26
	xmpyu	%fr4L, %fr22L, %fr22
	xmpyu	%fr5L, %fr23L, %fr23
	xmpyu	%fr6L, %fr24L, %fr24
	fstds	%fr22, -16(%r1)
	fstds	%fr23, -8(%r1)
	fstds	%fr24, 0(%r1)
	fstds	%fr25, 8(%r1)
	fstds	%fr26, 8(%r31)
	ldw	0(%r26), %r28
	ldw	-12(%r1), %r19
	ldw	-16(%r1), %r20
	add	%r19, %r28, %r28
	ldw	-4(%r1), %r21
	addc	%r0, %r20, %r29
	ldw	-8(%r1), %r22
	add	%r21, %r28, %r28
	ldw	4(%r1), %r19
	addc	%r22, %r29, %r29
	ldw	0(%r1), %r20
	add	%r19, %r28, %r28
	ldw	12(%r1), %r21
	addc	%r20, %r29, %r29
	ldw	8(%r1), %r22
	add	%r21, %r28, %r28
	ldw	12(%r31), %r19
	addc	%r22, %r29, %r29
	ldw	8(%r31), %r20
	add	%r19, %r28, %r28
	addib,>	-1, %r25, 1b
	addc	%r20, %r29, %r29
	stw	%r28, 0(%r23)
	stw	%r29, 4(%r23)
	evc_return_frame 64
evc_end evc_bn_words_hppa_xmpyu_fold
#endif
